// conformance/schema.mjs - the published schema of a revision as judge of recorded messages.
//
// ajv reads spec/<revision>/schema.json; nothing here comes from generated/. The result type of a method
// follows the schema's own naming: tools/list is the method of ListToolsRequest, so ListToolsResult.

import Ajv from 'ajv';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { top } from './server.mjs';

export class Judge {
  constructor(revision) {
    this.revision = revision;
    const schema = JSON.parse(readFileSync(join(top, 'spec', revision, 'schema.json'), 'utf8'));
    this.place = schema.definitions ? 'definitions' : '$defs';
    this.definitions = schema[this.place];
    this.ajv = new (schema.definitions ? Ajv : Ajv2020)({ strict: false, allErrors: true });
    addFormats(this.ajv);
    this.ajv.addSchema({ ...schema, $id: 'mcp' });
    this.results = new Map();
    for (const [name, definition] of Object.entries(this.definitions)) {
      const method = definition.properties?.method?.const;
      if (!method || !name.endsWith('Request')) continue;
      const result = name.replace(/Request$/, 'Result');
      this.results.set(method, this.definitions[result] ? result : 'EmptyResult');
    }
  }

  // Throws with every difference when `value` is no `name` of this revision.
  check(name, value) {
    const validate = this.ajv.getSchema(`mcp#/${this.place}/${name}`);
    if (!validate) throw new Error(`${this.revision} has no ${name}`);
    if (!validate(value)) {
      throw new Error(`${name} of ${this.revision}: ${this.ajv.errorsText(validate.errors)}\n` +
        JSON.stringify(value).slice(0, 600));
    }
  }

  checkAnswer(answer, method) {
    // the envelopes were renamed in 2025-11-25
    if ('error' in answer) {
      this.check(this.definitions.JSONRPCErrorResponse ? 'JSONRPCErrorResponse' : 'JSONRPCError', answer);
      return;
    }
    this.check(this.definitions.JSONRPCResultResponse ? 'JSONRPCResultResponse' : 'JSONRPCResponse', answer);
    if (!this.results.has(method)) throw new Error(`a result for ${method}, which ${this.revision} lacks`);
    this.check(this.results.get(method), answer.result);
  }
}

const list = (text) => {
  const value = text ? JSON.parse(text) : [];
  return Array.isArray(value) ? value : [value];
};

// Judges all messages of the recorded exchanges whose session negotiated the judge's revision.
// Returns {judged, methods}: how many server messages, and which methods got a result.
export function judgeExchanges(judge, exchanges) {
  const sessions = new Set();
  const methods = new Set();
  let judged = 0;
  for (const { request, response } of exchanges) {
    if (!response) throw new Error(`an exchange without answer: ${request.text.slice(0, 200)}`);
    if (response.headers['content-type']?.startsWith('application/json') !== true) continue;
    const asked = list(request.text);
    const answers = list(response.text);
    if (asked[0]?.method === 'initialize') {
      if (answers[0].result?.protocolVersion !== judge.revision) continue;
      sessions.add(response.headers['mcp-session-id']);
    } else if (!sessions.has(request.headers['mcp-session-id'])) {
      continue;
    }
    for (const answer of answers) {
      const question = asked.find((message) => message.id === answer.id);
      if (!question) throw new Error(`nothing was asked with this id: ${response.text.slice(0, 300)}`);
      judge.checkAnswer(answer, question.method);
      if ('result' in answer) methods.add(question.method);
      judged += 1;
    }
  }
  return { judged, methods };
}
