// conformance/results.mjs - judges what tools return by the output schemas that tools/list gave.
//
// Twice: the SDK's client validates by itself once it has listed the tools (a result that does not fit
// makes callTool throw), and ajv does here, in the dialect that the schema names, 2020-12 if it names
// none. A revision without structured content is judged by its text and the schemas of one with it.

import assert from 'node:assert/strict';
import Ajv from 'ajv';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

function compile(schema) {
  const Dialect = schema.$schema?.includes('draft-07') ? Ajv : Ajv2020;
  const ajv = new Dialect({ strict: false, allErrors: true });
  addFormats(ajv);
  const validate = ajv.compile(schema); // throws if the schema itself breaks its dialect
  return (value) => (validate(value) ? null : ajv.errorsText(validate.errors));
}

// name -> function that gives null or what is wrong
export function judgesOf(tools) {
  for (const tool of tools) assert.ok(tool.outputSchema, `${tool.name} has no outputSchema`);
  return new Map(tools.map((tool) => [tool.name, compile(tool.outputSchema)]));
}

export class Results {
  constructor(client, judges, structured) {
    this.client = client;
    this.judges = judges;
    this.structured = structured;
    this.counts = new Map([...judges.keys()].map((name) => [name, 0]));
  }

  // The result's value, after it was judged. A failed call throws with the tool's own words.
  async call(name, args) {
    return this.judge(name, await this.client.callTool({ name, arguments: args }), args);
  }

  judge(name, result, args) {
    const text = result.content[0].text;
    assert.ok(!result.isError, `${name} ${JSON.stringify(args)}: ${text}`);
    assert.equal('structuredContent' in result, this.structured, name);
    const value = JSON.parse(text);
    if (this.structured) assert.deepEqual(result.structuredContent, value, name);
    const wrong = this.judges.get(name)(value);
    assert.equal(wrong, null, `${name} ${JSON.stringify(args)}: ${wrong}\n${text.slice(0, 600)}`);
    this.counts.set(name, this.counts.get(name) + 1);
    return value;
  }

  // What the tool is to refuse: a result with isError, of which no structured content is asked.
  async refused(name, args, pattern) {
    const result = await this.client.callTool({ name, arguments: args });
    assert.equal(result.isError, true, name);
    assert.match(result.content[0].text, pattern);
  }

  report() {
    const total = [...this.counts.values()].reduce((sum, n) => sum + n, 0);
    console.log(`# ${total} results of ${this.counts.size} tools judged:`);
    const words = [...this.counts].map(([name, n]) => `${name} ${n}`);
    for (let i = 0; i < words.length; i += 6) console.log(`#   ${words.slice(i, i + 6).join(', ')}`);
  }

  assertAllCalled() {
    const missed = [...this.counts].filter(([, n]) => n === 0).map(([name]) => name);
    assert.deepEqual(missed, [], 'listed tools that were never called');
  }
}
