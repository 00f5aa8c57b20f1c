// conformance/client.mjs - the official TypeScript SDK client, connected.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

// The SDK always proposes its newest revision; this one proposes what it is told.
class ProposingTransport extends StreamableHTTPClientTransport {
  proposal = null;

  send(message, options) {
    if (this.proposal && message.method === 'initialize') {
      message = { ...message, params: { ...message.params, protocolVersion: this.proposal } };
    }
    return super.send(message, options);
  }
}

let headers = {};

// For all that connect from then on.
export function useToken(token) {
  headers = { Authorization: `Bearer ${token}` };
}

// `proposal` null: the SDK's own. `prepare` gets the client before it connects, to set its handlers.
export async function connect(url, proposal, capabilities = {}, prepare = () => {}) {
  const transport = new ProposingTransport(new URL(url), { requestInit: { headers }, reconnectionOptions: { initialReconnectionDelay: 20,
    maxReconnectionDelay: 200, reconnectionDelayGrowFactor: 1.5, maxRetries: 5 } });
  transport.proposal = proposal;
  const client = new Client({ name: 'conformance', version: '1' }, { capabilities });
  prepare(client);
  await client.connect(transport);
  return { client, transport };
}

// All entries of a list method, page by page: {found, n}, n pages.
export async function pages(ask, key) {
  const found = [];
  let cursor;
  let n = 0;
  do {
    const page = await ask(cursor ? { cursor } : undefined);
    found.push(...page[key]);
    cursor = page.nextCursor;
    n += 1;
  } while (cursor !== undefined && n < 1000);
  return { found, n };
}
