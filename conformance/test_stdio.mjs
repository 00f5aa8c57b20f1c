#!/usr/bin/env node
// conformance/test_stdio.mjs - `tenon stdio --component` under the official TypeScript SDK's stdio client:
// what the server says while a call runs has the same pipe as its answers. Every line of both is judged.

import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema, LoggingMessageNotificationSchema,
  ResourceListChangedNotificationSchema, ResourceUpdatedNotificationSchema, ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { askPrompts, contents, logLines, newTable, resources, sdkPrompts, tools, until } from './fixture_cases.mjs';
import { Judge } from './schema.mjs';
import { binary, createTable, fixture, freshData, tenon } from './server.mjs';
import { done, test } from './tap.mjs';
import { Session } from './traffic.mjs';

const sentExpected = ['notifications/progress', 'notifications/message', 'sampling/createMessage', 'elicitation/create',
  'roots/list', 'notifications/tools/list_changed', 'notifications/resources/list_changed', 'notifications/resources/updated'];
const methodsExpected = ['initialize', 'ping', 'tools/list', 'tools/call', 'resources/list', 'resources/read',
  'resources/templates/list', 'logging/setLevel', 'prompts/list', 'prompts/get', 'completion/complete', 'resources/subscribe',
  'resources/unsubscribe'];

// Keeps the lines of the pipe as they are, in both directions: {from, message}.
class WatchedTransport extends StdioClientTransport {
  lines = [];

  async start() {
    await super.start();
    let rest = '';
    this._process.stdout.on('data', (bytes) => {
      const lines = (rest + bytes.toString('latin1')).split('\n');
      rest = lines.pop();
      for (const line of lines) this.lines.push({ from: 'server', message: JSON.parse(Buffer.from(line, 'latin1').toString('utf8')) });
    });
    this.ended = new Promise((over) => this._process.once('close', over));
  }

  send(message) {
    this.lines.push({ from: 'client', message });
    return super.send(message);
  }
}

const place = freshData();
const transport = new WatchedTransport({ command: binary, args: ['stdio', '--data', place.data, '--component', fixture], stderr: 'inherit' });
const client = new Client({ name: 'conformance', version: '1' }, { capabilities: { sampling: {}, elicitation: {}, roots: { listChanged: true } } });
const logs = [];
const lists = [];
const updates = [];
const roots = [{ uri: 'file:///home/stdio', name: 'Home' }];
client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => ({ role: 'assistant', model: 'test-model',
  content: { type: 'text', text: `echo ${params.messages[0].content.text}` } }));
client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'decline' }));
client.setRequestHandler(ListRootsRequestSchema, () => ({ roots }));
client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => logs.push(params.data));
client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => updates.push(params));
client.setNotificationHandler(ToolListChangedNotificationSchema, () => lists.push('tools'));
client.setNotificationHandler(ResourceListChangedNotificationSchema, () => lists.push('resources'));

const call = (name, args, options) => client.callTool({ name, ...(args && { arguments: args }) }, undefined, options);
const textOf = (result) => result.content[0].text;
const said = (method) => transport.lines.filter(({ from, message }) => from === 'server' && message.method === method);

await test('stdio: connect', async () => {
  await client.connect(transport);
  assert.ok(client.getServerCapabilities().logging);
  assert.deepEqual(await client.ping(), {});
});
await test('stdio: tools and resources of the component', async () => {
  const names = (await client.listTools()).tools.map(({ name }) => name);
  assert.deepEqual(tools.filter((name) => !names.includes(name)), []);
  for (const [name, content] of Object.entries(contents)) assert.deepEqual((await call(name)).content, content, name);
  for (const [uri, content] of Object.entries(resources)) assert.deepEqual((await client.readResource({ uri })).contents, content);
  assert.ok((await client.listResources()).resources.some(({ uri }) => uri === 'test://static-text'));
  assert.ok((await client.listResourceTemplates()).resourceTemplates.some(({ uriTemplate }) => uriTemplate === 'test://template/{id}/data'));
  assert.equal((await call('test_error_handling')).isError, true);
  await assert.rejects(call('test_nothing'), { code: -32602 });
});
await test('stdio: progress before the answer, none without a token', async () => {
  await call('test_tool_with_progress');
  assert.equal(said('notifications/progress').length, 0);
  await call('test_tool_with_progress', {}, { onprogress: () => {} });
  assert.deepEqual(said('notifications/progress').map(({ message }) => message.params.progress), [0, 50, 100]);
});
await test('stdio: log messages from the level on', async () => {
  await client.setLoggingLevel('warning');
  await call('test_tool_with_logging');
  assert.deepEqual(logs, []);
  await client.setLoggingLevel('info');
  await call('test_tool_with_logging');
  assert.deepEqual(logs, logLines);
});
await test('stdio: sampling, elicitation, roots', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => call('test_sampling', { prompt: `p${i}` })));
  assert.deepEqual(answers.map(textOf), answers.map((_, i) => `LLM response: echo p${i}`));
  assert.match(textOf(await call('test_elicitation', { message: 'x' })), /^User response: action=decline/);
  assert.deepEqual(JSON.parse(textOf(await call('test_roots'))), { roots });
});
await test('stdio: prompts and completion', () => askPrompts(assert, sdkPrompts(client)));
await test('stdio: a resource and a row are subscribed to, changed here and by another process', async () => {
  const [watched, row, table] = ['test://watched-resource', 'db://geo/currencies/EUR', 'db://geo/currencies'];
  for (const uri of [watched, row, table]) await client.subscribeResource({ uri });
  const hears = (uri) => until(uri, () => updates.some((update) => update.uri === uri), 20000);
  await call('test_touch_watched');
  await hears(watched);
  await call('update_currencies', { id: 'EUR', changes: { name: 'Changed' } });
  await Promise.all([row, table].map(hears));
  updates.length = 0;
  const file = join(place.dir, 'rows.ndjson');
  writeFileSync(file, '{"code":"XX8","numeric":"996","name":"Imported"}\n');
  tenon(['import', '--data', place.data, 'geo.currencies', file]);
  await hears(table);
  assert.ok(updates.every(({ uri }) => uri === table));
  for (const uri of [watched, row, table]) await client.unsubscribeResource({ uri });
  updates.length = 0;
  await call('update_currencies', { id: 'EUR', changes: { name: 'Changed again' } });
  await client.ping();
  assert.deepEqual(updates, []);
});
await test('stdio: C-03 a cancelled call has no answer, others go on', async () => {
  const abort = new AbortController();
  let step;
  const first = new Promise((seen) => { step = seen; });
  const running = call('test_slow', { seconds: 600 }, { signal: abort.signal, onprogress: step, timeout: 60000 });
  running.catch(() => {});
  await first;
  const { id } = transport.lines.findLast(({ message }) => message.params?.name === 'test_slow').message;
  abort.abort('enough');
  await assert.rejects(running, /enough/);
  const other = call('test_slow', { seconds: 0.3 });
  assert.deepEqual(await client.ping(), {});
  assert.equal(textOf(await other), 'Slept for 0.3 seconds');
  assert.ok(!transport.lines.some(({ from, message }) => from === 'server' && message.id === id && !message.method));
});
await test('stdio: TL-03 a table that another process creates', async () => {
  createTable(place, 'live.stdio', newTable);
  await until('both lists change', () => lists.includes('tools') && lists.includes('resources'));
  assert.deepEqual([...lists].sort(), ['resources', 'tools']);
  assert.ok((await client.listTools()).tools.some(({ name }) => name === 'get_stdio'));
});
await test('stdio: ends when its input does, also while a call runs', async () => {
  call('test_slow', { seconds: 600 }, { timeout: 60000 }).catch(() => {});
  transport._process.stdin.end();
  await Promise.race([transport.ended, new Promise((_, late) => { setTimeout(late, 5000, new Error('it runs on')).unref(); })]);
  await client.close();
});
await test('GEN-01 stdio: every message validates, every method was seen', () => {
  const session = new Session(new Judge('2025-06-18'));
  const pipe = { pushes: true };
  for (const { from, message } of transport.lines) {
    if (from === 'server') session.said(message, pipe);
    else if ('method' in message && 'id' in message) session.asked(message, pipe);
  }
  session.finish();
  console.log(`# ${session.judged} messages judged`);
  assert.deepEqual(methodsExpected.filter((method) => !session.methods.has(method)), [], 'got no result');
  assert.deepEqual(sentExpected.filter((method) => !session.sent.has(method)), [], 'was never sent');
});
rmSync(place.dir, { recursive: true, force: true });
done();
