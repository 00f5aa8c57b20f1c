#!/usr/bin/env node
// conformance/test_others.mjs - clients beside the SDK's first generation work with the running server and
// the fixture component: the SDK v2 client, @ai-sdk/mcp (an implementation of its own), the mcp-remote bridge,
// mcpc, mcporter and the Inspector's CLI. All traffic passes a recorder and is judged at the end.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMCPClient, ElicitationRequestSchema } from '@ai-sdk/mcp';
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { CreateMessageRequestSchema, LoggingMessageNotificationSchema, ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { askPrompts, contents, logLines, newTable, prompts, resources, sdkPrompts, tools, until } from './fixture_cases.mjs';
import { homeEnvironment, packages, run } from './program.mjs';
import { startRecorder } from './recorder.mjs';
import { Judge } from './schema.mjs';
import { createTable, fixture, startServer } from './server.mjs';
import { done, test } from './tap.mjs';
import { judgeExchanges } from './traffic.mjs';

const sentExpected = ['notifications/progress', 'notifications/message', 'sampling/createMessage', 'elicitation/create',
  'roots/list', 'notifications/tools/list_changed', 'notifications/resources/updated'];
const methodsExpected = ['initialize', 'ping', 'tools/list', 'tools/call', 'resources/list', 'resources/read', 'logging/setLevel',
  'prompts/list', 'prompts/get', 'completion/complete', 'resources/subscribe', 'resources/unsubscribe'];

const server = await startServer({}, {}, ['--allow-client-delete', '--component', fixture]);
const recorder = await startRecorder(server.port);
const home = mkdtempSync(join(tmpdir(), 'tenon-client-'));

const sample = (text) => ({ role: 'assistant', model: 'test-model', stopReason: 'endTurn', content: { type: 'text', text } });
const person = { action: 'accept', content: { username: 'testuser', email: 'test@example.com' } };
const personText = `User response: action=accept, content=${JSON.stringify(person.content)}`;
const textOf = (result) => result.content[0].text;
const since = (start) => recorder.exchanges.slice(start);
const watched = 'test://watched-resource';
const slowCall = (start) => since(start).find(({ request }) => request.text.includes('test_slow'));

async function abortSlow(call) {
  const start = recorder.exchanges.length;
  const abort = new AbortController();
  const running = call(abort.signal);
  running.catch(() => {});
  await until('the call is running', () => slowCall(start));
  abort.abort('enough');
  await assert.rejects(running, /enough|abort/i);
  await until('the call ends without an answer', () => {
    const { response } = slowCall(start);
    return response?.ended || response?.status === 202;
  });
  assert.ok(since(start).some(({ request }) => request.text.includes('notifications/cancelled')));
}

// Subscribed, touched, heard; after unsubscribing silence.
async function subscribeAndTouch(client, touch, heard) {
  await client.subscribeResource({ uri: watched });
  for (let i = 1; i <= 3; i += 1) {
    await touch();
    await until('an update', () => heard.length >= i, 20000);
  }
  assert.deepEqual(heard, [watched, watched, watched]);
  await client.unsubscribeResource({ uri: watched });
  await touch();
  assert.equal(heard.length, 3);
}

async function sdk2(mode) {
  const say = (name) => `SDK v2 (${mode}): ${name}`;
  const logs = [];
  const heard = [];
  let lists = 0;
  let client;
  let transport;
  await test(say('connect'), async () => {
    client = new Client2({ name: 'conformance', version: '1' },
      { capabilities: { sampling: {}, elicitation: {}, roots: { listChanged: true } }, versionNegotiation: { mode } });
    client.setRequestHandler('sampling/createMessage', () => sample('of v2'));
    client.setRequestHandler('elicitation/create', () => person);
    client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///home/v2' }] }));
    client.setNotificationHandler('notifications/message', ({ params }) => logs.push(params.data));
    client.setNotificationHandler('notifications/tools/list_changed', () => { lists += 1; });
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => heard.push(params.uri));
    transport = new Transport2(new URL(recorder.url));
    await client.connect(transport);
    assert.equal(transport.protocolVersion, '2025-06-18');
  });
  if (!transport?.sessionId) return;
  await test(say('tools and resources'), async () => {
    assert.deepEqual(await client.ping(), {});
    const names = (await client.listTools()).tools.map(({ name }) => name);
    assert.deepEqual(tools.filter((name) => !names.includes(name)), []);
    for (const [name, content] of Object.entries(contents)) assert.deepEqual((await client.callTool({ name })).content, content, name);
    for (const [uri, content] of Object.entries(resources)) assert.deepEqual((await client.readResource({ uri })).contents, content);
    assert.equal((await client.callTool({ name: 'test_error_handling' })).isError, true);
    await assert.rejects(client.callTool({ name: 'test_nothing' }), { code: -32602 });
  });
  await test(say('prompts and completion'), () => askPrompts(assert, sdkPrompts(client)));
  await test(say('a subscription'), () => subscribeAndTouch(client, () => client.callTool({ name: 'test_touch_watched' }), heard));
  await test(say('progress and log messages'), async () => {
    const seen = [];
    await client.callTool({ name: 'test_tool_with_progress' }, { onprogress: ({ progress }) => seen.push(progress) });
    assert.deepEqual(seen, [0, 50, 100]);
    await client.setLoggingLevel('info');
    await client.callTool({ name: 'test_tool_with_logging' });
    assert.deepEqual(logs, logLines);
  });
  await test(say('sampling, elicitation, roots'), async () => {
    assert.equal(textOf(await client.callTool({ name: 'test_sampling', arguments: { prompt: 'x' } })), 'LLM response: of v2');
    assert.equal(textOf(await client.callTool({ name: 'test_elicitation', arguments: { message: 'x' } })), personText);
    assert.deepEqual(JSON.parse(textOf(await client.callTool({ name: 'test_roots' }))), { roots: [{ uri: 'file:///home/v2' }] });
  });
  await test(say('an aborted call'), () => abortSlow((signal) => client.callTool({ name: 'test_slow', arguments: { seconds: 600 } }, { signal })));
  await test(say('a stream that breaks is resumed'), async () => {
    const start = recorder.exchanges.length;
    const seen = [];
    const result = await client.callTool({ name: 'test_slow', arguments: { seconds: 0.5 } }, { onprogress: ({ progress }) => {
      seen.push(progress);
      if (seen.length === 1) recorder.cut((exchange) => exchange === slowCall(start));
    } });
    assert.equal(textOf(result), 'Slept for 0.5 seconds');
    assert.deepEqual(seen, [100, 200, 300, 400, 500]);
  });
  await test(say('the list of tools changes'), async () => {
    createTable(server, `others.${mode}`, newTable);
    await until('the notification', () => lists > 0);
    await transport.terminateSession();
    await client.close();
  });
}

async function aiSdk() {
  let client;
  let set;
  const call = (name, args = {}) => set[name].execute(args, { toolCallId: name, messages: [] });
  await test('AI SDK: connect, tools', async () => {
    client = await createMCPClient({ transport: { type: 'http', url: recorder.url }, capabilities: { elicitation: {} } });
    client.onElicitationRequest(ElicitationRequestSchema, () => person);
    set = await client.tools();
    assert.deepEqual(tools.filter((name) => !(name in set)), []);
  });
  if (!set) return;
  await test('AI SDK: plain calls', async () => {
    for (const [name, content] of Object.entries(contents)) assert.deepEqual((await call(name)).content, content, name);
    assert.equal((await call('test_error_handling')).isError, true);
    assert.equal(textOf(await call('test_slow', { seconds: 0.2 })), 'Slept for 0.2 seconds');
  });
  await test('AI SDK: resources', async () => {
    const listed = (await client.listResources()).resources.map(({ uri }) => uri);
    assert.ok(listed.includes('test://static-text'));
    for (const [uri, content] of Object.entries(resources)) assert.deepEqual((await client.readResource({ uri })).contents, content);
  });
  await test('AI SDK: prompts and completion', () => askPrompts(assert, {
    list: () => client.listPrompts(),
    get: (name, args) => client.getPrompt({ name, ...(args && { arguments: args }) }),
    complete: (ref, name, value) => client.complete({ ref, argument: { name, value } }),
  }));
  await test('AI SDK: elicitation on the stream of the call', async () => {
    assert.equal(textOf(await call('test_elicitation', { message: 'x' })), personText);
  });
  await test('AI SDK: sampling, which it did not declare', async () => {
    assert.equal((await call('test_sampling', { prompt: 'x' })).isError, true);
  });
  await test('AI SDK: close', () => client.close());
}

async function remote() {
  const logs = [];
  const heard = [];
  const client = new Client({ name: 'conformance', version: '1' }, { capabilities: { sampling: {} } });
  client.setRequestHandler(CreateMessageRequestSchema, () => sample('over stdio'));
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => logs.push(params.data));
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => heard.push(params.uri));
  const call = (name, args, options) => client.callTool({ name, ...(args && { arguments: args }) }, undefined, options);
  let connected = false;
  await test('mcp-remote: connect, a bridge from stdio', async () => {
    await client.connect(new StdioClientTransport({ command: process.execPath, stderr: 'ignore', env: homeEnvironment(home),
      args: [join(packages, 'mcp-remote/dist/proxy.js'), recorder.url, '--allow-http', '--transport', 'http-only'] }));
    connected = true;
    const names = (await client.listTools()).tools.map(({ name }) => name);
    assert.deepEqual(tools.filter((name) => !names.includes(name)), []);
  });
  if (!connected) return;
  await test('mcp-remote: calls, progress, log messages', async () => {
    for (const [name, content] of Object.entries(contents)) assert.deepEqual((await call(name)).content, content, name);
    const seen = [];
    await call('test_tool_with_progress', {}, { onprogress: ({ progress }) => seen.push(progress) });
    // the SDK forgets the callback when the answer is in the same read as the last step
    assert.deepEqual(seen.slice(0, 2), [0, 50]);
    await client.setLoggingLevel('info');
    await call('test_tool_with_logging');
    await until('three log messages', () => logs.length === logLines.length);
    assert.deepEqual(logs, logLines);
  });
  await test('mcp-remote: prompts and completion through the bridge', () => askPrompts(assert, sdkPrompts(client)));
  await test('mcp-remote: a subscription through the bridge', () => subscribeAndTouch(client, () => call('test_touch_watched'), heard));
  await test('mcp-remote: sampling through the bridge', async () => {
    assert.equal(textOf(await call('test_sampling', { prompt: 'x' })), 'LLM response: over stdio');
  });
  await test('mcp-remote: an aborted call', () => abortSlow((signal) => call('test_slow', { seconds: 600 }, { signal })));
  await client.close();
}

async function mcpc() {
  const mcpc = async (...words) => {
    const { status, out, err } = await run('@apify/mcpc/bin/mcpc', [...words, '--json'], { home });
    if (status !== 0) throw new Error(`mcpc ${words.join(' ')}: ${status}\n${out}${err}`);
    return JSON.parse(out);
  };
  const connect = async (tries) => {
    try {
      return await mcpc('connect', recorder.url, '@s');
    } catch (error) { // its background process has 5 s to start, which a busy machine may not give
      if (tries === 1 || !/Bridge failed to start/.test(error.message)) throw error;
      return connect(tries - 1);
    }
  };
  let connected = false;
  await test('mcpc: connect', async () => {
    const { protocolVersion, capabilities } = await connect(3);
    assert.equal(protocolVersion, '2025-06-18');
    assert.deepEqual(capabilities.tools, { listChanged: true });
    connected = true;
  });
  if (!connected) return;
  await test('mcpc: one session over many commands', async () => {
    assert.equal((await mcpc('@s', 'ping')).success, true);
    assert.deepEqual(await mcpc('@s', 'logging-set-level', 'debug'), { level: 'debug' });
    assert.equal(textOf(await mcpc('@s', 'tools-call', 'test_slow', 'seconds:=0.3')), 'Slept for 0.3 seconds');
    await mcpc('@s', 'tools-call', 'test_tool_with_logging');
    assert.deepEqual((await mcpc('@s', 'resources-read', 'test://static-text')).contents, resources['test://static-text']);
  });
  await test('mcpc: prompts', () => askPrompts(assert, {
    list: async () => { const listed = await mcpc('@s', 'prompts-list'); return listed.prompts ? listed : { prompts: listed }; },
    get: (name, args) => mcpc('@s', 'prompts-get', name, ...(args ? [JSON.stringify(args)] : [])),
  }));
  await test('mcpc: a subscription', async () => {
    const start = recorder.exchanges.length;
    const updates = () => recorder.exchanges.flatMap(({ response }) => response?.events ?? []).filter(({ data }) => data?.includes('resources/updated')).length;
    const before = updates();
    await mcpc('@s', 'resources-subscribe', watched);
    await mcpc('@s', 'tools-call', 'test_touch_watched');
    await until('the update', () => updates() > before, 20000);
    await mcpc('@s', 'resources-unsubscribe', watched);
    assert.ok(since(start).some(({ request }) => request.text.includes('resources/unsubscribe')));
  });
  await test('mcpc: a question that it declares but cannot answer', async () => {
    const result = await mcpc('@s', 'tools-call', 'test_sampling', 'prompt:=x');
    assert.equal(result.isError, true);
    assert.match(textOf(result), /Sampling failed.*Method not found/);
  });
  await test('mcpc: close ends the session', async () => {
    const start = recorder.exchanges.length;
    assert.equal((await mcpc('close', '@s')).closed, true);
    await until('DELETE', () => since(start).some((exchange) => exchange.method === 'DELETE' && exchange.response?.status < 300));
  });
}

async function mcporter() {
  const call = (name, ...words) => run('mcporter/dist/cli.js',
    ['call', `${recorder.url}.${name}`, ...words, '--allow-http', '--output', 'json'], { home });
  await test('mcporter: list and call', async () => {
    const listed = await run('mcporter/dist/cli.js', ['list', recorder.url, '--allow-http', '--json'], { home });
    assert.equal(listed.status, 0, listed.err);
    const names = JSON.parse(listed.out).tools.map(({ name }) => name);
    assert.deepEqual(tools.filter((name) => !names.includes(name)), []);
    const { status, out, err } = await call('test_embedded_resource');
    assert.equal(status, 0, err);
    assert.deepEqual(JSON.parse(out).content, contents.test_embedded_resource);
  });
  await test('mcporter: a tool that fails', async () => {
    const { status, out } = await call('test_error_handling');
    assert.equal(status, 1);
    assert.equal(JSON.parse(out).isError, true);
  });
}

async function inspector() {
  // it looks for its package.json from the working directory
  const cwd = join(packages, '@modelcontextprotocol/inspector-cli/build');
  const inspect = (...words) => run('@modelcontextprotocol/inspector-cli/build/cli.js',
    ['--cli', recorder.url, '--transport', 'http', '--method', ...words], { cwd, home });
  await test('Inspector: calls that log and that take a while', async () => {
    for (const [name, text] of [['test_tool_with_logging', 'Tool with logging executed successfully'],
      ['test_tool_with_progress', 'Tool with progress executed successfully']]) {
      const { status, out, err } = await inspect('tools/call', '--tool-name', name);
      assert.equal(status, 0, err);
      assert.equal(textOf(JSON.parse(out)), text);
    }
  });
  await test('Inspector: resources of the component', async () => {
    const { status, out, err } = await inspect('resources/read', '--uri', 'test://static-binary');
    assert.equal(status, 0, err);
    assert.deepEqual(JSON.parse(out).contents, resources['test://static-binary']);
  });
  await test('Inspector: prompts', async () => {
    const ask = async (...words) => {
      const { status, out, err } = await inspect(...words);
      assert.equal(status, 0, err);
      return JSON.parse(out);
    };
    const listed = (await ask('prompts/list')).prompts.map(({ name }) => name);
    assert.deepEqual(Object.keys(prompts).filter((name) => !listed.includes(name)), []);
    assert.deepEqual((await ask('prompts/get', '--prompt-name', 'test_prompt_with_image')).messages, prompts.test_prompt_with_image[1]);
    const { messages } = await ask('prompts/get', '--prompt-name', 'test_prompt_with_arguments', '--prompt-args', 'arg1=one', 'arg2=two');
    assert.equal(messages[0].content.text, "Prompt with arguments: arg1='one', arg2='two'");
  });
  await test('Inspector: logging/setLevel', async () => {
    // of its own names of levels only two are names of the protocol
    for (const level of ['debug', 'error']) {
      const { status, out, err } = await inspect('logging/setLevel', '--log-level', level);
      assert.equal(status, 0, err);
      assert.deepEqual(JSON.parse(out), {});
    }
  });
}

await sdk2('legacy');
await sdk2('auto');
await aiSdk();
await remote();
await mcpc();
await mcporter();
await inspector();

await test('every exchange was answered', () => {
  assert.deepEqual(recorder.exchanges.filter(({ failed }) => failed).map(({ request, failed }) => [request.text.slice(0, 100), failed]), []);
});
await test('GEN-01 2025-06-18: every message validates, every method was seen', () => {
  const { judged, methods, sent, sessions } = judgeExchanges(new Judge('2025-06-18'), recorder.exchanges);
  console.log(`# ${judged} messages of ${sessions.length} sessions judged`);
  assert.deepEqual(methodsExpected.filter((method) => !methods.has(method)), [], 'got no result');
  assert.deepEqual(sentExpected.filter((method) => !sent.has(method)), [], 'was never sent');
});
await recorder.close();
await test('the server ends well', async () => assert.equal(await server.stop(), 0));
rmSync(home, { recursive: true, force: true });
done();
