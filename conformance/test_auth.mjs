#!/usr/bin/env node
// conformance/test_auth.mjs - the official TypeScript SDK client with its OAuth provider, the test's
// authorization server, and the server as a protected resource with two workers: discovery, the whole flow,
// expiry and refresh, tokens for others, scopes, keys that rotate, keys that cannot be had.

import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Provider, startAuthorizationServer } from './authorization_server.mjs';
import { startServer, tenon } from './server.mjs';
import { done, test } from './tap.mjs';

const FETCH_AGAIN_MS = 10000; // as the README says
const MAX_AGE_S = 600;
const OUTAGE_FACTOR = 6;

// A port for a URL that must be known before the server listens.
async function freePort() {
  const probe = createServer();
  await new Promise((ready) => probe.listen(0, '127.0.0.1', ready));
  const { port } = probe.address();
  await new Promise((closed) => probe.close(closed));
  return port;
}

const scratch = mkdtempSync(join(tmpdir(), 'tenon-auth-'));
process.env.TENON_CLOCK_FILE = join(scratch, 'clock');
writeFileSync(process.env.TENON_CLOCK_FILE, '0');

const issuer = await startAuthorizationServer(scratch);
process.env.SSL_CERT_FILE = issuer.certificate; // for the server
const port = await freePort();
const url = `http://127.0.0.1:${port}/mcp`;
const server = await startServer({ auth: { issuer: issuer.url, jwks: issuer.jwksUrl, resource: url, scopes: ['read=reader', 'write=writer'],
  requiredScope: 'read', jwksMaxAgeSeconds: MAX_AGE_S }, mcp: { session: { idleTimeoutSeconds: 86400 } } }, {}, ['--listen', `127.0.0.1:${port}`]);

// Time for both: the server's workers and the authorization server.
function advance(ms) {
  const file = process.env.TENON_CLOCK_FILE;
  issuer.clockMs += ms;
  writeFileSync(`${file}.new`, String(issuer.clockMs));
  renameSync(`${file}.new`, file); // it is read at any time
}

// A jump of the clock ends connections that are kept for later, just when they may be used.
const once = { Connection: 'close' };

const newTransport = (provider) => new StreamableHTTPClientTransport(new URL(url), { authProvider: provider, requestInit: { headers: once } });

async function open(provider) {
  const client = new Client({ name: 'conformance', version: '1' });
  const transport = newTransport(provider);
  await client.connect(transport);
  return { client, transport };
}

// Without a token the first attempt leads to the authorization, the second has one.
async function authorize(provider) {
  const transport = newTransport(provider);
  await assert.rejects(new Client({ name: 'conformance', version: '1' }).connect(transport), UnauthorizedError);
  await transport.finishAuth(provider.code);
  return open(provider);
}

const get = (client) => client.callTool({ name: 'get_countries', arguments: { id: 'CH' } });

const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } } };

// One POST by hand, on a connection of its own: {status, challenge, retry, text}.
function post(token, headers = {}, to = url) {
  return new Promise((resolve, reject) => {
    const ask = request(to, { method: 'POST', agent: false, headers: { 'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream', ...(token === null ? {} : { Authorization: `Bearer ${token}` }), ...headers } }, (answer) => {
      const parts = [];
      answer.on('data', (part) => parts.push(part));
      answer.on('error', reject);
      answer.on('end', () => resolve({ status: answer.statusCode, challenge: answer.headers['www-authenticate'],
        retry: answer.headers['retry-after'], text: Buffer.concat(parts).toString() }));
    });
    ask.on('error', reject);
    ask.end(JSON.stringify(initialize));
  });
}

const makeToken = (rules = {}) => {
  const kept = issuer.rules;
  issuer.rules = { ...kept, ...rules };
  const token = issuer.makeToken({ resource: url, scope: 'read', ...rules });
  issuer.rules = kept;
  return token;
};

const metadataUrl = `http://127.0.0.1:${port}/.well-known/oauth-protected-resource/mcp`;
const ann = new Provider();
let session;

await test('roles for two scopes are made while the server runs', () => {
  for (const [role, table] of [['reader', { read: true }], ['writer', { read: true, insert: true, update: true, delete: true }]]) {
    const file = join(scratch, `${role}.json`);
    writeFileSync(file, JSON.stringify({ databases: { geo: { describe: true, tables: { countries: table } } } }));
    tenon(['role', 'put', '--data', server.data, role, file]);
  }
});

await test('A-03 no token: 401 names the metadata and no error', async () => {
  const { status, challenge } = await post(null);
  assert.equal(status, 401);
  assert.match(challenge, /^Bearer /);
  assert.ok(challenge.includes(`resource_metadata="${metadataUrl}"`), challenge);
  assert.ok(!challenge.includes('error'), challenge);
});

await test('A-02 the metadata names the resource, its authorization server and its scopes', async () => {
  for (const at of [metadataUrl, metadataUrl.replace(/\/mcp$/, '')]) {
    const answer = await fetch(at);
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type'), /^application\/json/);
    assert.deepEqual(await answer.json(), { resource: url, authorization_servers: [issuer.url], scopes_supported: ['read', 'write'],
      bearer_methods_supported: ['header'] });
  }
});

await test('the SDK client finds the authorization server by the 401, registers, gets a token, calls a tool', async () => {
  session = await authorize(ann);
  assert.equal(ann.asked.length, 1);
  assert.equal(ann.asked[0].searchParams.get('resource'), url);
  assert.equal(issuer.count('POST /register'), 1);
  const { tools } = await session.client.listTools();
  assert.ok(tools.some(({ name }) => name === 'get_countries'));
  assert.ok(!tools.some(({ name }) => name.includes('languages')), 'what the role may not see is not listed');
  assert.ok(!(await get(session.client)).isError);
});

await test('A-06 an expired token is refreshed within the session', async () => {
  const old = ann.saved.access_token;
  const asked = issuer.count('POST /token');
  advance((issuer.rules.lifetimeS + 61) * 1000);
  const { status, challenge } = await post(old);
  assert.equal(status, 401);
  assert.match(challenge, /error="invalid_token"/);
  assert.ok(!(await get(session.client)).isError);
  assert.notEqual(ann.saved.access_token, old);
  assert.ok(issuer.count('POST /token') > asked); // the stream may have asked as well
  assert.equal(ann.asked.length, 1, 'nobody was asked again');
});

await test('A-08 each request of a session is judged: without the token it is refused', async () => {
  const { status } = await post(null, { 'Mcp-Session-Id': session.transport.sessionId });
  assert.equal(status, 401);
});

await test('A-09 a token in the query is no token', async () => {
  assert.equal((await post(null, {}, `${url}?access_token=${makeToken()}`)).status, 401);
});

await test('A-05 a token for another audience or of another issuer is refused', async () => {
  assert.equal((await post(makeToken())).status, 200);
  for (const rules of [{ audience: 'https://other.example/' }, { audience: [`${url}2`] }, { audience: issuer.url }, { issuer: `${issuer.url}/` }]) {
    const { status, challenge, text } = await post(makeToken(rules));
    assert.equal(status, 401, JSON.stringify(rules));
    assert.match(challenge, /error="invalid_token"/);
    assert.ok(!text.includes('geo'));
  }
});

await test('A-04 a tampered token is refused', async () => {
  const [head, claims, signature] = makeToken().split('.');
  const other = Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(claims, 'base64url')), sub: 'root' })).toString('base64url');
  for (const token of [`${head}.${other}.${signature}`, `${head}.${claims}.`, `${head}.${claims}`, `${Buffer.from('{"alg":"none"}').toString('base64url')}.${claims}.`]) {
    assert.equal((await post(token)).status, 401);
  }
});

await test('A-07 a token without the scope: 403 insufficient_scope, which the SDK client sees', async () => {
  const { status, challenge } = await post(makeToken({ scope: 'mail' }));
  assert.equal(status, 403);
  assert.match(challenge, /error="insufficient_scope"/);
  assert.match(challenge, /scope="read"/);
  assert.ok(challenge.includes(`resource_metadata="${metadataUrl}"`), challenge);
  const bob = new Provider();
  issuer.rules.scope = 'mail';
  await assert.rejects(authorize(bob), /403 after trying upscoping/);
  issuer.rules.scope = null;
  assert.ok(bob.asked.every((asked) => asked.searchParams.get('scope')?.split(' ').includes('read')));
});

await test('scopes give roles: what theirs do not allow is not there', async () => {
  const named = {};
  for (const scope of ['read', 'read write', 'read other']) {
    issuer.rules.scope = scope;
    const { client } = await authorize(new Provider());
    named[scope] = (await client.listTools()).tools.map(({ name }) => name).sort();
    await client.close();
  }
  issuer.rules.scope = null;
  assert.ok(named.read.includes('get_countries'));
  assert.deepEqual(named['read other'], named.read);
  const more = named['read write'].filter((name) => !named.read.includes(name));
  assert.deepEqual(more, ['create_countries', 'delete_countries', 'update_countries']);
});

await test('keys that rotate while the server runs: new tokens are good, those of the withdrawn key are not', async () => {
  for (const alg of ['ES256', 'RS256', 'ES256']) {
    const old = makeToken({ lifetimeS: 2 * MAX_AGE_S });
    assert.equal((await post(old)).status, 200);
    advance(FETCH_AGAIN_MS);
    issuer.rotate(alg);
    for (let i = 0; i < 8; i += 1) assert.equal((await post(makeToken())).status, 200, alg);
    advance(MAX_AGE_S * 1000); // a worker that saw no new token learns of it by then
    for (let i = 0; i < 8; i += 1) assert.equal((await post(old)).status, 401, alg);
  }
  assert.ok(!(await get(session.client)).isError, 'the session goes on with a new token');
});

await test('tokens with made-up keys make no storm of fetches', async () => {
  advance(FETCH_AGAIN_MS);
  const kept = issuer.key;
  const asked = issuer.count('GET /jwks');
  issuer.rotate();
  issuer.published = [kept];
  await Promise.all(Array.from({ length: 40 }, async () => {
    const { status } = await post(makeToken());
    assert.equal(status, 401);
  }));
  issuer.key = kept;
  assert.ok(issuer.count('GET /jwks') - asked <= 2, 'once for each worker at most');
});

await test('keys that cannot be had: those of before serve, then 503 with Retry-After, never access; and back', async () => {
  issuer.isDown = true;
  for (let age = 1; age < OUTAGE_FACTOR; age += 1) {
    advance(MAX_AGE_S * 1000);
    for (let i = 0; i < 4; i += 1) assert.equal((await post(makeToken())).status, 200, `${age} ages`);
  }
  advance((MAX_AGE_S + 1) * 1000);
  for (let i = 0; i < 8; i += 1) {
    const { status, retry } = await post(makeToken());
    assert.equal(status, 503);
    assert.match(retry, /^\d+$/);
  }
  issuer.isDown = false;
  advance(FETCH_AGAIN_MS);
  for (let i = 0; i < 8; i += 1) assert.equal((await post(makeToken())).status, 200);
});

await session?.client.close();
await test('the server ends in good order', async () => {
  assert.equal(await server.stop(), 0);
});
await issuer.stop();
rmSync(scratch, { recursive: true, force: true });
done();
