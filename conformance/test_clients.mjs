#!/usr/bin/env node
// conformance/test_clients.mjs - the official TypeScript SDK client and the Inspector's CLI work with
// the running server (two workers, real sample data). All traffic passes a recorder; at the end ajv holds
// every message of the server against the schema of the revision that its session negotiated.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect, pages } from './client.mjs';
import { startRecorder } from './recorder.mjs';
import { Judge } from './schema.mjs';
import { startServer } from './server.mjs';
import { done, test } from './tap.mjs';
import { judgeExchanges } from './traffic.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const tableNames = ['countries', 'currencies', 'languages', 'subdivisions'];
const verbs = ['create', 'delete', 'get', 'search', 'update'];
const methodsExpected = ['initialize', 'ping', 'tools/list', 'tools/call', 'resources/list',
  'resources/read', 'resources/templates/list'];

const server = await startServer({ listPageSize: 4,
  mcp: { session: { allowClientDelete: true }, application: { maxTools: 7 } } });
const recorder = await startRecorder(server.port);

const call = (client, name, args) => client.callTool({ name, arguments: args });
const textOf = (result) => JSON.parse(result.content[0].text);

// The steps that every revision must serve. `structured`: the revision has structuredContent.
async function sdkSession(revision, proposal, structured) {
  const say = (name) => `SDK ${revision}: ${name}`;
  let client;
  let transport;
  const row = { code: 'X1', code3: 'XX1', numeric: '999', name: `Test ${revision} – 漢字 😀` };

  await test(say('connect'), async () => {
    ({ client, transport } = await connect(recorder.url, proposal));
    assert.equal(transport.protocolVersion, revision);
    assert.ok(transport.sessionId);
    assert.ok(client.getServerCapabilities().tools);
    assert.ok(client.getServerCapabilities().resources);
    assert.ok(client.getServerVersion().name);
  });
  if (!client) return;
  await test(say('ping'), async () => assert.deepEqual(await client.ping(), {}));
  await test(say('list the tools page by page'), async () => {
    const { found, n } = await pages((params) => client.listTools(params), 'tools');
    const names = verbs.flatMap((verb) => tableNames.map((table) => `${verb}_${table}`));
    assert.deepEqual(found.map((tool) => tool.name).sort(), names.sort());
    assert.equal(n, 3);
    assert.ok(found.every((tool) => tool.description && tool.inputSchema.type === 'object'));
    assert.ok(found.every((tool) => Boolean(tool.outputSchema) === structured));
  });
  await test(say('list resources and templates page by page'), async () => {
    const { found, n } = await pages((params) => client.listResources(params), 'resources');
    const uris = found.map((resource) => resource.uri);
    assert.equal(new Set(uris).size, uris.length);
    assert.ok(n > 1);
    for (const table of tableNames) assert.ok(uris.includes(`db://geo/${table}`));
    const templates = await pages((params) => client.listResourceTemplates(params), 'resourceTemplates');
    assert.ok(templates.found.length > 0);
  });
  await test(say('read every listed resource'), async () => {
    const { found } = await pages((params) => client.listResources(params), 'resources');
    for (const { uri } of found) {
      const { contents } = await client.readResource({ uri });
      assert.ok(contents.length > 0 && contents.every((content) => content.uri && 'text' in content));
    }
  });
  await test(say('create a row and read it as tool and as resource'), async () => {
    const created = await call(client, 'create_countries', row);
    assert.ok(!created.isError, created.content?.[0]?.text);
    const got = await call(client, 'get_countries', { id: row.code });
    assert.deepEqual(textOf(got), row);
    assert.equal('structuredContent' in got, structured);
    if (structured) assert.deepEqual(got.structuredContent, row);
    const { contents } = await client.readResource({ uri: `db://geo/countries/${row.code}` });
    assert.deepEqual(JSON.parse(contents[0].text), row);
  });
  await test(say('create it again: an error of the tool'), async () => {
    assert.equal((await call(client, 'create_countries', row)).isError, true);
  });
  await test(say('update, search by an indexed and by another attribute'), async () => {
    await call(client, 'update_countries', { id: row.code, changes: { flag: '🏳' } });
    for (const where of [{ name: row.name }, { numeric: '999' }]) {
      const found = textOf(await call(client, 'search_countries', { where }));
      assert.deepEqual(found.rows, [{ ...row, flag: '🏳' }]);
    }
  });
  await test(say('search page by page returns every row once'), async () => {
    const all = [];
    let cursor;
    do {
      const page = textOf(await call(client, 'search_subdivisions',
        { where: { country: 'IT' }, limit: 50, ...(cursor && { cursor }) }));
      all.push(...page.rows.map((found) => found.code));
      cursor = page.nextCursor;
    } while (cursor);
    assert.ok(all.length > 100);
    assert.equal(new Set(all).size, all.length);
    assert.ok(all.every((code) => code.startsWith('IT-')));
  });
  await test(say('delete the row, then it is gone'), async () => {
    await call(client, 'delete_countries', { id: row.code });
    assert.equal((await call(client, 'get_countries', { id: row.code })).isError, true);
    await assert.rejects(client.readResource({ uri: `db://geo/countries/${row.code}` }), { code: -32002 });
  });
  await test(say('unknown tool and bad arguments are -32602'), async () => {
    await assert.rejects(call(client, 'no_such_tool', {}), { code: -32602 });
    await assert.rejects(call(client, 'get_countries', { id: 7 }), { code: -32602 });
    await assert.rejects(client.listTools({ cursor: 'made up' }), { code: -32602 });
  });
  await test(say('100 calls at once get each its own answer'), async () => {
    const codes = (await call(client, 'search_countries', { limit: 100 }).then(textOf)).rows.map((r) => r.code);
    const answers = await Promise.all(codes.map((id) => call(client, 'get_countries', { id })));
    assert.deepEqual(answers.map((answer) => textOf(answer).code), codes);
  });
  await test(say('terminate: the session is gone'), async () => {
    const id = transport.sessionId;
    await transport.terminateSession();
    const answer = await fetch(recorder.url, { method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream',
        'mcp-session-id': id } });
    assert.equal(answer.status, 404);
    await client.close();
  });
}

async function batchSession() {
  const post = (body, session) => fetch(recorder.url, { method: 'POST', body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream',
      ...(session && { 'mcp-session-id': session }) } });
  await test('fetch 2025-03-26: a batch', async () => {
    const opened = await post({ jsonrpc: '2.0', id: 0, method: 'initialize', params: {
      protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'batch', version: '1' } } });
    const session = opened.headers.get('mcp-session-id');
    assert.equal((await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, session)).status, 202);
    const answers = await (await post([{ jsonrpc: '2.0', id: 'a', method: 'ping' },
      { jsonrpc: '2.0', id: 'b', method: 'tools/call', params: { name: 'get_currencies', arguments: { id: 'EUR' } } },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'none' } }], session)).json();
    assert.deepEqual(answers.map((answer) => answer.id).sort(), ['a', 'b']);
    assert.equal(textOf(answers.find((answer) => answer.id === 'b').result).code, 'EUR');
  });
}

// The Inspector's CLI looks for its package.json from the working directory, so it runs in its folder.
function inspect(...words) {
  const folder = join(here, 'node_modules/@modelcontextprotocol/inspector-cli/build');
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['cli.js', '--cli', recorder.url, '--transport', 'http', ...words],
      { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let err = '';
    child.stdout.on('data', (part) => { out += part; });
    child.stderr.on('data', (part) => { err += part; });
    child.on('exit', (status) => resolve({ status, out, err }));
  });
}

async function inspector() {
  const run = async (...words) => {
    const { status, out, err } = await inspect(...words);
    assert.equal(status, 0, err + out);
    return JSON.parse(out);
  };
  await test('Inspector: tools/list', async () => {
    assert.equal((await run('--method', 'tools/list')).tools.length, 7);
  });
  await test('Inspector: tools/call', async () => {
    const result = await run('--method', 'tools/call', '--tool-name', 'get_countries', '--tool-arg', 'id=IT');
    assert.equal(result.structuredContent.name, 'Italy');
  });
  await test('Inspector: resources/list', async () => {
    assert.equal((await run('--method', 'resources/list')).resources.length, 4);
  });
  await test('Inspector: resources/read', async () => {
    const result = await run('--method', 'resources/read', '--uri', 'db://geo/currencies/EUR');
    assert.equal(JSON.parse(result.contents[0].text).name, 'Euro');
  });
  await test('Inspector: resources/templates/list', async () => {
    assert.ok((await run('--method', 'resources/templates/list')).resourceTemplates.length > 0);
  });
  await test('Inspector: a missing resource is an error', async () => {
    const { status, err } = await inspect('--method', 'resources/read', '--uri', 'db://geo/currencies/none');
    assert.equal(status, 1);
    assert.match(err, /32002/);
  });
}

async function judgeAll() {
  const { exchanges } = recorder;
  await test('every exchange was answered', () => {
    assert.deepEqual(exchanges.filter((exchange) => exchange.failed), []);
  });
  for (const revision of ['2025-06-18', '2025-03-26']) {
    await test(`GEN-01 ajv: every message of ${revision} sessions validates, no method is left out`, () => {
      const { judged, methods } = judgeExchanges(new Judge(revision), exchanges);
      assert.deepEqual(methodsExpected.filter((method) => !methods.has(method)), []);
      assert.ok(judged > 100);
      console.log(`# ${judged} messages judged`);
    });
  }
  await test('ajv refuses what is wrong (the judge itself)', () => {
    const judge = new Judge('2025-06-18');
    const wrong = { jsonrpc: '2.0', id: 1, result: { tools: [{ name: 'x' }] } };
    assert.throws(() => judge.checkAnswer(wrong, 'tools/list'), /inputSchema/);
  });
}

await sdkSession('2025-06-18', null, true);
await sdkSession('2025-03-26', '2025-03-26', false);
await batchSession();
await inspector();
await judgeAll();
await recorder.close();
await test('the server ends well', async () => assert.equal(await server.stop(), 0));
done();
