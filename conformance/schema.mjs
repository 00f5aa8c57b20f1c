// conformance/schema.mjs - the published schema of a revision as judge of single messages of the server.
//
// ajv reads spec/<revision>/schema.json; nothing here comes from generated/. The type of a message follows
// from the schema: of a request or notification from the members of ServerRequest and ServerNotification
// by their method, of a result by the schema's own naming: tools/list is the method of ListToolsRequest,
// so ListToolsResult.

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
    this.results = this.resultsByMethod();
    this.requests = this.membersByMethod('ServerRequest');
    this.notifications = this.membersByMethod('ServerNotification');
  }

  resultsByMethod() {
    const results = new Map();
    for (const [name, definition] of Object.entries(this.definitions)) {
      const method = definition.properties?.method?.const;
      if (!method || !name.endsWith('Request')) continue;
      const result = name.replace(/Request$/, 'Result');
      results.set(method, this.definitions[result] ? result : 'EmptyResult');
    }
    return results;
  }

  membersByMethod(union) {
    const names = this.definitions[union].anyOf.map(({ $ref }) => $ref.split('/').pop());
    return new Map(names.map((name) => [this.definitions[name].properties.method.const, name]));
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

  // A request or a notification that the server sent.
  checkSaid(message) {
    const isRequest = 'id' in message;
    this.check(isRequest ? 'JSONRPCRequest' : 'JSONRPCNotification', message);
    const name = (isRequest ? this.requests : this.notifications).get(message.method);
    if (!name) throw new Error(`the server sent ${message.method}, which no server of ${this.revision} may send`);
    this.check(name, message);
  }
}
