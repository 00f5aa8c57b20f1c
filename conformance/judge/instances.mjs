// conformance/judge/instances.mjs - right messages made from a schema alone.
//
// For definitions without an official example: of each the smallest instance, the fullest, and the
// fullest with each alternative of each union in turn. Deep recursion ends in the smallest.

const DEPTH_MAX = 6;

const SAMPLES = {
  uri: 'https://example.com/a', 'uri-template': 'https://example.com/{a}', byte: 'aGk=',
};

export class InstanceMaker {
  constructor(schema) {
    this.definitions = schema.$defs ?? schema.definitions;
  }

  resolve(schema) {
    while (schema.$ref) schema = this.definitions[schema.$ref.split('/').at(-1)];
    return schema;
  }

  // The alternative numbers that instances of a schema can be asked for: 0 .. n - 1.
  countAlternatives(schema, depth = 0) {
    schema = this.resolve(schema);
    if (depth > DEPTH_MAX) return 1;
    const parts = [...Object.values(schema.properties ?? {}), ...(schema.allOf ?? []), schema.items, schema.additionalProperties]
      .filter((part) => part && typeof part === 'object');
    const below = parts.map((part) => this.countAlternatives(part, depth + 1));
    const own = (schema.anyOf ?? []).map((part) => this.countAlternatives(part, depth + 1));
    return Math.max(1, schema.anyOf?.length ?? 1, schema.enum?.length ?? 1, Array.isArray(schema.type) ? schema.type.length : 1, ...below, ...own);
  }

  make(schema, full, choice, depth = 0) {
    schema = this.resolve(schema);
    if (depth > DEPTH_MAX) full = false;
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return schema.enum[choice % schema.enum.length];
    if (schema.anyOf) return this.make(schema.anyOf[choice % schema.anyOf.length], full, choice, depth + 1);
    if (schema.allOf)
      return Object.assign({}, ...schema.allOf.map((part) => this.make(part, full, choice, depth + 1)));
    const type = Array.isArray(schema.type) ? schema.type[choice % schema.type.length] : schema.type ?? (schema.properties ? 'object' : 'any');
    return this.makeType(schema, type, full, choice, depth);
  }

  makeType(schema, type, full, choice, depth) {
    switch (type) {
    case 'object': return this.makeObject(schema, full, choice, depth);
    case 'array': return full ? [this.make(schema.items, full, choice, depth + 1)] : [];
    case 'string': return SAMPLES[schema.format] ?? 'text';
    case 'integer': return Math.max(7, schema.minimum ?? 0);
    case 'number': return schema.maximum === undefined ? 2.5 : schema.maximum / 2;
    case 'boolean': return true;
    case 'null': return null;
    default: return full ? { any: [1, null] } : 'any';
    }
  }

  makeObject(schema, full, choice, depth) {
    const value = {};
    const required = new Set(schema.required ?? []);
    for (const [name, property] of Object.entries(schema.properties ?? {}))
      if (full || required.has(name)) value[name] = this.make(property, full, choice, depth + 1);
    const others = schema.additionalProperties;
    if (full && others && typeof others === 'object' && !schema.properties) value.other = this.make(others, full, choice, depth + 1);
    return value;
  }

  // All instances of a definition, each once.
  instancesOf(name) {
    const schema = this.definitions[name];
    const values = [this.make(schema, false, 0)];
    for (let choice = 0; choice < this.countAlternatives(schema); choice++)
      values.push(this.make(schema, false, choice), this.make(schema, true, choice));
    return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
  }
}
