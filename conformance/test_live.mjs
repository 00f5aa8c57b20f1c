#!/usr/bin/env node
// conformance/test_live.mjs - the official TypeScript SDK client and calls that say something before their
// answer: progress, log messages, questions to the client, cancellation, lost connections, changed lists;
// against two workers with the fixture component. All traffic passes a recorder, which can break streams;
// at the end every session is judged (schema.mjs, traffic.mjs).

import assert from 'node:assert/strict';
import {
  CallToolResultSchema, CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema, LoggingMessageNotificationSchema,
  ResourceListChangedNotificationSchema, ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { connect, pages } from './client.mjs';
import { contents, logLines, newTable, resources, schema2020, tools, until } from './fixture_cases.mjs';
import { startRecorder } from './recorder.mjs';
import { Judge } from './schema.mjs';
import { createTable, fixture, startServer, tenon } from './server.mjs';
import { done, test } from './tap.mjs';
import { judgeExchanges } from './traffic.mjs';

const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];
const methodsExpected = ['initialize', 'ping', 'tools/list', 'tools/call', 'resources/list', 'resources/read',
  'resources/templates/list', 'logging/setLevel'];
const sentExpected = { '2025-06-18': ['elicitation/create'], '2025-03-26': [] };
const sentAlways = ['notifications/progress', 'notifications/message', 'sampling/createMessage', 'roots/list',
  'notifications/tools/list_changed', 'notifications/resources/list_changed', 'notifications/cancelled'];

const server = await startServer({ mcp: { serverRequest: { timeoutMs: 1500 } } }, {}, ['--allow-client-delete', '--component', fixture]);
const recorder = await startRecorder(server.port);

const say = (text) => [{ type: 'text', text }];
const call = (client, name, args, options) => client.callTool({ name, ...(args && { arguments: args }) }, undefined, options);
const callText = async (...words) => (await call(...words)).content[0].text;
const last = () => recorder.exchanges.at(-1);
const calls = (name) => recorder.exchanges.filter(({ request }) => request.text.includes(`"${name}"`) && request.text.includes('tools/call'));
const isListening = (exchange) => exchange.method === 'GET' && exchange.response && !exchange.response.ended && !exchange.cut;

// What a user of the client does; a test changes it.
function user() {
  const state = { logs: [], lists: [], questions: [], roots: [{ uri: 'file:///home/one', name: 'One' }],
    sample: () => ({ role: 'assistant', model: 'test-model', stopReason: 'endTurn',
      content: { type: 'text', text: 'This is a test response from the client' } }),
    elicit: () => ({ action: 'accept', content: { username: 'testuser', email: 'test@example.com' } }) };
  const answer = (make) => (request, extra) => {
    state.questions.push(request);
    return state[make](request, extra);
  };
  state.listRoots = () => ({ roots: state.roots });
  state.prepare = (structured) => (client) => {
    client.setRequestHandler(CreateMessageRequestSchema, answer('sample'));
    client.setRequestHandler(ListRootsRequestSchema, answer('listRoots'));
    if (structured) client.setRequestHandler(ElicitRequestSchema, answer('elicit'));
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => state.logs.push(params));
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => state.lists.push('tools'));
    client.setNotificationHandler(ResourceListChangedNotificationSchema, () => state.lists.push('resources'));
  };
  return state;
}

const allCapabilities = { sampling: {}, elicitation: {}, roots: { listChanged: true } };
const capabilitiesOf = (structured) => (structured ? allCapabilities : { sampling: {}, roots: { listChanged: true } });

async function plain(say_, client) {
  await test(say_('TL-02 lists every tool, its schema verbatim'), async () => {
    const { found } = await pages((params) => client.listTools(params), 'tools');
    const byName = new Map(found.map((tool) => [tool.name, tool]));
    assert.deepEqual(tools.filter((name) => !byName.has(name)), []);
    assert.deepEqual(byName.get('json_schema_2020_12_tool').inputSchema, schema2020);
    assert.ok(tools.every((name) => byName.get(name).description && byName.get(name).inputSchema.type === 'object'));
  });
  await test(say_('TL-15 text, image, audio and embedded resources'), async () => {
    for (const [name, content] of Object.entries(contents)) {
      const result = await call(client, name);
      assert.deepEqual(result.content, content, name);
      assert.ok(!result.isError);
      assert.match(last().response.headers['content-type'], /^application\/json/);
    }
  });
  await test(say_('TL-07 a tool that fails: isError and its words'), async () => {
    const result = await call(client, 'test_error_handling');
    assert.deepEqual(result, { isError: true, content: say('This tool intentionally returns an error for testing') });
  });
  await test(say_('TL-05 TL-08 an unknown tool, bad arguments'), async () => {
    await assert.rejects(call(client, 'test_nothing'), { code: -32602 });
    await assert.rejects(call(client, 'test_slow', { seconds: 'two' }), { code: -32602 });
    await assert.rejects(call(client, 'test_sampling'), { code: -32602 });
  });
  await test(say_('resources and templates of the component'), async () => {
    const { found } = await pages((params) => client.listResources(params), 'resources');
    const uris = found.map((resource) => resource.uri);
    for (const uri of ['test://static-text', 'test://static-binary', 'test://watched-resource']) assert.ok(uris.includes(uri), uri);
    const templates = await pages((params) => client.listResourceTemplates(params), 'resourceTemplates');
    assert.ok(templates.found.some(({ uriTemplate }) => uriTemplate === 'test://template/{id}/data'));
    for (const [uri, content] of Object.entries(resources)) assert.deepEqual((await client.readResource({ uri })).contents, content);
    await assert.rejects(client.readResource({ uri: 'test://nonexistent-resource' }), { code: -32002 });
  });
}

async function structuredContent(say_, client, structured) {
  await test(say_(`TL-10 TL-13 ${structured ? 'structured content and links' : 'no structured content, no link'}`), async () => {
    const result = await call(client, 'test_structured');
    assert.deepEqual(JSON.parse(result.content[0].text), { answer: 42 });
    assert.deepEqual(result.structuredContent, structured ? { answer: 42 } : undefined);
    const link = await call(client, 'test_link');
    assert.equal(link.content.some(({ type }) => type === 'resource_link'), structured);
  });
}

async function progress(say_, client) {
  await test(say_('G-03 progress reaches the callback, in order, on an event stream'), async () => {
    const seen = [];
    const result = await call(client, 'test_tool_with_progress', {}, { onprogress: (step) => seen.push(step) });
    assert.ok(!result.isError);
    assert.deepEqual(seen.map((step) => [step.progress, step.total]), [[0, 100], [50, 100], [100, 100]]);
    const { headers } = calls('test_tool_with_progress').at(-1).response;
    assert.match(headers['content-type'], /^text\/event-stream/);
    assert.equal(headers['cache-control'], 'no-store');
    assert.equal(headers['x-accel-buffering'], 'no');
  });
  await test(say_('G-06 without a token no progress, so plain JSON'), async () => {
    await call(client, 'test_tool_with_progress', {});
    assert.match(last().response.headers['content-type'], /^application\/json/);
  });
  await test(say_('G-01 20 calls at once: each callback gets its own progress'), async () => {
    await Promise.all(Array.from({ length: 20 }, async () => {
      const seen = [];
      await call(client, 'test_tool_with_progress', {}, { onprogress: (step) => seen.push(step.progress) });
      assert.deepEqual(seen, [0, 50, 100]);
    }));
  });
}

async function logging(say_, client, state) {
  await test(say_('LG-02 LG-09 each level: what is below it stays away, on any worker'), async () => {
    for (const level of levels) {
      state.logs.length = 0;
      await client.setLoggingLevel(level);
      for (let i = 0; i < 2; i += 1) await call(client, 'test_tool_with_logging');
      const heard = levels.indexOf(level) <= levels.indexOf('info') ? [...logLines, ...logLines] : [];
      assert.deepEqual(state.logs.map((log) => log.data), heard, level);
      assert.ok(state.logs.every((log) => log.level === 'info'));
    }
    await client.setLoggingLevel('debug');
  });
  await test(say_('LG-03 an unknown level'), async () => {
    await assert.rejects(client.setLoggingLevel('verbose'), { code: -32602 });
  });
}

async function sampling(say_, client, state) {
  await test(say_('SM-02 sampling: the request as the tool made it, the answer reaches it'), async () => {
    state.questions.length = 0;
    assert.equal(await callText(client, 'test_sampling', { prompt: 'Is this "it"? 漢' }),
      'LLM response: This is a test response from the client');
    assert.deepEqual(state.questions.map(({ method, params }) => [method, params]), [['sampling/createMessage',
      { messages: [{ role: 'user', content: { type: 'text', text: 'Is this "it"? 漢' } }], maxTokens: 100 }]]);
  });
  await test(say_('SM-05 an error of the client reaches the tool'), async () => {
    const { sample } = state;
    state.sample = () => { throw Object.assign(new Error('the user said no'), { code: -1 }); };
    const result = await call(client, 'test_sampling', { prompt: 'x' });
    state.sample = sample;
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, /Sampling failed.*the user said no/);
  });
  await test(say_('SR-01 20 questions at once: each answer reaches its own call'), async () => {
    const { sample } = state;
    state.sample = ({ params }) => ({ ...sample(), content: { type: 'text', text: `echo ${params.messages[0].content.text}` } });
    await Promise.all(Array.from({ length: 20 }, async (_, i) => {
      assert.equal(await callText(client, 'test_sampling', { prompt: `p${i}` }), `LLM response: echo p${i}`);
    }));
    state.sample = sample;
  });
  await test(say_('L-15 L-16 no answer in time: the tool is told, the client gets a cancellation'), async () => {
    const { sample } = state;
    let aborted = false;
    state.sample = (request, { signal }) => new Promise((answer) => {
      signal.addEventListener('abort', () => { aborted = true; answer(sample()); });
    });
    const result = await call(client, 'test_sampling', { prompt: 'never' });
    state.sample = sample;
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, /Sampling failed/);
    assert.ok(aborted);
  });
}

async function roots(say_, client, state) {
  const listed = async () => JSON.parse(await callText(client, 'test_roots')).roots;
  await test(say_('roots/list, and again after they have changed'), async () => {
    assert.deepEqual(await listed(), state.roots);
    state.roots = [{ uri: 'file:///home/two', name: 'Two' }, { uri: 'file:///home/three' }];
    await client.sendRootsListChanged();
    assert.deepEqual(await listed(), state.roots);
  });
  await test(say_('RT-04 a root that is no file is left out'), async () => {
    const before = state.roots;
    state.roots = [...before, { uri: 'https://example.com/' }];
    const got = await listed();
    state.roots = before;
    assert.deepEqual(got, before);
  });
}

async function elicitation(say_, client, state) {
  const ask = () => call(client, 'test_elicitation', { message: 'Who are you?' });
  await test(say_('EL-05 accept, decline and cancel are three outcomes'), async () => {
    const { elicit } = state;
    state.questions.length = 0;
    assert.equal((await ask()).content[0].text,
      'User response: action=accept, content={"username":"testuser","email":"test@example.com"}');
    assert.equal(state.questions[0].params.message, 'Who are you?');
    assert.deepEqual(Object.keys(state.questions[0].params.requestedSchema.properties), ['username', 'email']);
    for (const action of ['decline', 'cancel']) {
      state.elicit = () => ({ action });
      assert.match((await ask()).content[0].text, new RegExp(`^User response: action=${action}`));
    }
    state.elicit = elicit;
  });
  await test(say_('EL-04 content that is not what was asked for'), async () => {
    const { elicit } = state;
    state.elicit = () => ({ action: 'accept', content: { username: 7 } });
    const result = await ask();
    state.elicit = elicit;
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, /Elicitation failed/);
  });
}

async function noCapabilities(say_, revision, names) {
  await test(say_('L-10 L-11 who can answer nothing is asked nothing'), async () => {
    const { client } = await connect(recorder.url, revision);
    for (const [name, args] of names) {
      const result = await call(client, name, args);
      assert.equal(result.isError, true, name);
      assert.match(last().response.headers['content-type'], /^application\/json/, name);
    }
    await client.close();
  });
}

async function cancellation(say_, client) {
  await test(say_('C-03 P-01 an AbortSignal ends the call; a ping is answered meanwhile'), async () => {
    const abort = new AbortController();
    let step;
    const first = new Promise((seen) => { step = seen; });
    const running = call(client, 'test_slow', { seconds: 600 }, { signal: abort.signal, onprogress: step, timeout: 60000 });
    running.catch(() => {});
    await first;
    const { response } = calls('test_slow').at(-1);
    const before = performance.now();
    assert.deepEqual(await client.ping(), {});
    assert.ok(performance.now() - before < 500, `a ping took ${performance.now() - before} ms`);
    abort.abort('enough');
    await assert.rejects(running, /enough/);
    await until('the cancelled call ends its stream', () => response.ended, 2000);
    assert.ok(response.events.every(({ data }) => !data || JSON.parse(data).method === 'notifications/progress'));
    const cancel = recorder.exchanges.findLast(({ request }) => request.text.includes('notifications/cancelled'));
    assert.equal(cancel.response.status, 202);
  });
  await test(say_('C-10 30 calls cancelled at once, whichever worker has them'), async () => {
    const before = calls('test_slow').length;
    const abort = new AbortController();
    const running = Array.from({ length: 30 }, () => call(client, 'test_slow', { seconds: 600 },
      { signal: abort.signal, onprogress: () => {}, timeout: 60000 }));
    const over = Promise.allSettled(running);
    await until('all are running', () => calls('test_slow').slice(before).filter(({ response }) => response?.events?.length > 0).length === 30);
    abort.abort('all');
    assert.ok((await over).every(({ status }) => status === 'rejected'));
    await until('all streams end', () => calls('test_slow').slice(before).every(({ response }) => response.ended), 3000);
  });
  await test(say_('C-04 cancelling what is over or was never changes nothing'), async () => {
    for (const requestId of [999999, 'none', 0]) await client.notification({ method: 'notifications/cancelled', params: { requestId } });
    assert.deepEqual(await client.ping(), {});
  });
}

async function lostStreams(say_, client, transport, revision) {
  await test(say_('X-03 T-15 a stream that breaks: the SDK resumes it, nothing is lost or doubled'), async () => {
    for (let i = 0; i < 6; i += 1) {
      const seen = [];
      const before = calls('test_slow').length;
      const result = await call(client, 'test_slow', { seconds: 0.6 }, { onprogress: ({ progress: step }) => {
        seen.push(step);
        if (seen.length === 1 + i % 3) recorder.cut((exchange) => exchange === calls('test_slow')[before]);
      } });
      assert.equal(result.content[0].text, 'Slept for 0.6 seconds');
      assert.deepEqual(seen, [100, 200, 300, 400, 500, 600]);
      assert.ok(calls('test_slow')[before].cut);
    }
  });
  // a client that knows no more than the session's id
  const joinSession = async (name) => {
    const joined = new StreamableHTTPClientTransport(new URL(recorder.url), { sessionId: transport.sessionId });
    joined.setProtocolVersion(revision);
    const other = new Client({ name, version: '1' });
    await other.connect(joined);
    return other;
  };
  const resume = async (token) => {
    const other = await joinSession('resumes');
    const result = await other.request({ method: 'tools/call', params: { name: 'test_slow', arguments: { seconds: 1 } } },
      CallToolResultSchema, { resumptionToken: token, timeout: 10000 });
    await other.close();
    return result;
  };
  const breakAfterFirst = async (seconds) => {
    const before = calls('test_slow').length;
    const tokens = [];
    const leaver = await joinSession('leaves');
    const running = leaver.request({ method: 'tools/call', params: { name: 'test_slow', arguments: { seconds } } },
      CallToolResultSchema, { onresumptiontoken: (token) => tokens.push(token), onprogress: () => {} });
    running.catch(() => {});
    await until('a first event', () => tokens.length > 0);
    await leaver.close(); // kills the connection
    return { token: tokens[0], exchange: calls('test_slow')[before] };
  };
  await test(say_('X-03 resumed by hand while the call runs'), async () => {
    const { token } = await breakAfterFirst(1);
    assert.equal((await resume(token)).content[0].text, 'Slept for 1 seconds');
  });
  await test(say_('X-03 resumed by hand after the call has ended, more than once'), async () => {
    const { token } = await breakAfterFirst(0.2);
    await new Promise((wake) => setTimeout(wake, 400)); // the call ends unseen: there is nothing to wait for
    for (let i = 0; i < 3; i += 1) assert.equal((await resume(token)).content[0].text, 'Slept for 0.2 seconds');
  });
  await test(say_('X-07 an event that is unknown, malformed or of another session'), async () => {
    const { transport: foreign, client: stranger } = await connect(recorder.url, revision);
    const { token } = await breakAfterFirst(0.2);
    const get = (session, id) => fetch(recorder.url, { headers: { accept: 'text/event-stream', 'mcp-session-id': session,
      'last-event-id': id, 'mcp-protocol-version': revision } });
    for (const [session, id] of [[foreign.sessionId, token], [transport.sessionId, '0123456789abcdef.7'], [transport.sessionId, 'made up']]) {
      const answer = await get(session, id);
      assert.equal(answer.status, 400, id);
      assert.match(answer.headers.get('content-type'), /^application\/json/);
      assert.ok((await answer.json()).error.message);
    }
    await stranger.close();
  });
}

let tablesMade = 0;
// A table appears and goes: `changes` of them.
function changeTables(changes) {
  for (let i = 0; i < changes; i += 1) {
    tablesMade += 1;
    const name = `live.t${tablesMade}`;
    createTable(server, name, newTable);
    if (i % 2) tenon(['table', 'drop', '--data', server.data, '--yes', name]);
  }
}

async function changedLists(say_, revision, structured) {
  const users = [user(), user(), user()];
  const made = [];
  for (const state of users) made.push(await connect(recorder.url, revision, capabilitiesOf(structured), state.prepare(structured)));
  const streamOf = ({ transport }) => recorder.exchanges.findLast((exchange) => isListening(exchange) &&
    exchange.request.headers['mcp-session-id'] === transport.sessionId);
  await test(say_('TL-03 a table of the command line: every session hears of it once, on its GET stream'), async () => {
    await until('every session listens', () => made.every(streamOf));
    changeTables(1);
    await until('all have heard', () => users.every(({ lists }) => lists.includes('tools') && lists.includes('resources')));
    assert.deepEqual(users.map(({ lists }) => [...lists].sort()), users.map(() => ['resources', 'tools']));
    const { found } = await pages((params) => made[0].client.listTools(params), 'tools');
    assert.ok(found.some(({ name }) => name === `get_t${tablesMade}`));
  });
  await test(say_('T-26 two GET streams of a session: a message is on one of them'), async () => {
    const second = new AbortController();
    const before = recorder.exchanges.length;
    fetch(recorder.url, { signal: second.signal, headers: { accept: 'text/event-stream', 'mcp-protocol-version': revision,
      'mcp-session-id': made[0].transport.sessionId } }).catch(() => {});
    const newer = await until('the second stream', () => recorder.exchanges.slice(before).find(isListening));
    const older = recorder.exchanges.slice(0, before).findLast((exchange) => exchange.method === 'GET' &&
      exchange.request.headers['mcp-session-id'] === made[0].transport.sessionId);
    const olderEvents = older.response.events.length;
    changeTables(2);
    await until('the newer stream has it', () => newer.response.events.filter(({ data }) => data?.includes('tools/list_changed')).length > 0);
    assert.equal(older.response.events.length, olderEvents);
    second.abort();
    await until('the second stream is closed', () => !recorder.open.has(newer));
  });
  await test(say_('X-03 what changes while the GET stream is broken is heard after it'), async () => {
    const { lists } = users[1];
    lists.length = 0;
    assert.equal(recorder.cut((exchange) => exchange === streamOf(made[1])), 1);
    changeTables(1);
    await until('the list change', () => lists.includes('tools') && lists.includes('resources'));
  });
  await test(say_('ending a session ends its GET stream; then it is gone'), async () => {
    const stream = streamOf(made[2]);
    await made[2].transport.terminateSession();
    await until('the stream ends', () => stream.response.ended || stream.cut || !recorder.open.has(stream), 2000);
    await made[2].client.close();
  });
  for (const { client } of made.slice(0, 2)) await client.close();
}

async function ending(say_, client, transport) {
  await test(say_('ending a session ends what runs in it'), async () => {
    const before = calls('test_slow').length;
    const running = call(client, 'test_slow', { seconds: 600 }, { onprogress: () => {}, timeout: 20000 });
    running.catch(() => {});
    const { response } = await until('it runs', () => calls('test_slow').slice(before).find((exchange) => exchange.response?.events?.length));
    const id = transport.sessionId;
    await transport.terminateSession();
    await until('its stream ends', () => response.ended, 2000);
    const after = await fetch(recorder.url, { headers: { accept: 'text/event-stream', 'mcp-session-id': id } });
    assert.equal(after.status, 404);
    await client.close();
  });
}

async function session(revision, structured) {
  const say_ = (name) => `SDK ${revision}: ${name}`;
  const state = user();
  let client;
  let transport;
  await test(say_('connect: what is live is declared'), async () => {
    ({ client, transport } = await connect(recorder.url, revision, capabilitiesOf(structured), state.prepare(structured)));
    assert.equal(transport.protocolVersion, revision);
    const { logging: logs, tools: listed, resources: readable } = client.getServerCapabilities();
    assert.deepEqual([logs, listed.listChanged, readable.listChanged], [{}, true, true]);
  });
  if (!client) return;
  await plain(say_, client);
  await structuredContent(say_, client, structured);
  await progress(say_, client);
  await logging(say_, client, state);
  await sampling(say_, client, state);
  await roots(say_, client, state);
  if (structured) await elicitation(say_, client, state);
  await noCapabilities(say_, revision, [['test_sampling', { prompt: 'x' }], ['test_roots'], ['test_elicitation', { message: 'x' }]]);
  await cancellation(say_, client);
  await lostStreams(say_, client, transport, revision);
  await changedLists(say_, revision, structured);
  await ending(say_, client, transport);
}

async function judgeAll() {
  const { exchanges } = recorder;
  await test('every exchange was answered', () => {
    assert.deepEqual(exchanges.filter((exchange) => exchange.failed).map(({ request, failed }) => [request.text.slice(0, 100), failed]), []);
  });
  for (const revision of Object.keys(sentExpected)) {
    await test(`GEN-01 ${revision}: every message validates, every method was seen`, () => {
      const { judged, methods, sent } = judgeExchanges(new Judge(revision), exchanges);
      console.log(`# ${judged} messages judged`);
      assert.deepEqual(methodsExpected.filter((method) => !methods.has(method)), [], 'got no result');
      assert.deepEqual([...sentAlways, ...sentExpected[revision]].filter((method) => !sent.has(method)), [], 'was never sent');
      assert.ok(judged > 200);
    });
  }
}

await session('2025-06-18', true);
await session('2025-03-26', false);
await judgeAll();
await recorder.close();
await test('the server ends well', async () => assert.equal(await server.stop(), 0));
done();
