// conformance/judge/fixes.mjs - where Tenon's tables knowingly differ from the published schemas.
//
// Each fix is a line of spec/overlay.mcp or a decision of the wire layer, told as a change of the
// published schema; with all of them applied both judges must agree on every mutant. A fix that
// decides no mutant is reported: it would be stale.

const UNTIL_2025_06_18 = ['2025-03-26', '2025-06-18'];

const definitionsOf = (schema) => schema.$defs ?? schema.definitions;

// Calls visit(schema) for each schema position.
function walk(schema, visit) {
  if (!schema || typeof schema !== 'object') return;
  visit(schema);
  for (const key of ['properties', '$defs', 'definitions'])
    for (const child of Object.values(schema[key] ?? {})) walk(child, visit);
  for (const key of ['items', 'additionalProperties']) walk(schema[key], visit);
  for (const key of ['anyOf', 'allOf']) for (const child of schema[key] ?? []) walk(child, visit);
}

export const fixes = [
  {
    name: 'integers of 64 bits',
    reason: 'an integer that a 64-bit field cannot hold is refused; ids and tokens are kept as text',
    apply: (schema) => walk(schema, (at) => {
      if (at.type !== 'integer') return;
      at.exclusiveMaximum = 2 ** 63;
      at.minimum ??= -(2 ** 63);
    }),
  },
  {
    name: 'finite doubles',
    reason: 'a number that a double cannot hold is refused where the field is one; kept as text elsewhere',
    apply: (schema) => walk(schema, (at) => {
      if (at.type === 'number') at.maximum ??= Number.MAX_VALUE; // JSON.parse makes infinity of 1e400
    }),
  },
  {
    name: 'number in ElicitResult.content',
    reason: 'the publisher\'s tool wrote integer where the source says number',
    revisions: ['2025-06-18', '2025-11-25', '2026-07-28'],
    apply: (schema) => walk(definitionsOf(schema).ElicitResult.properties.content, (at) => {
      if (Array.isArray(at.type)) at.type = at.type.map((type) => (type === 'integer' ? 'number' : type));
    }),
  },
  {
    name: 'any JSONValue',
    reason: 'the publisher\'s tool lost null and fractions; the source means any JSON',
    revisions: ['2026-07-28'],
    apply: (schema) => {
      definitionsOf(schema).JSONValue = {};
    },
  },
  {
    name: 'add _meta to params',
    reason: 'narrowed away in the published type; the base Request has it, with its progress token',
    revisions: UNTIL_2025_06_18,
    apply: (schema) => {
      const meta = definitionsOf(schema).Request.properties.params.properties._meta;
      for (const { properties } of Object.values(definitionsOf(schema))) {
        if (!properties?.method?.const || !properties.params) continue;
        const isNote = properties.method.const.startsWith('notifications/');
        (properties.params.properties ??= {})._meta ??= isNote ? { type: 'object' } : meta;
      }
    },
  },
];
