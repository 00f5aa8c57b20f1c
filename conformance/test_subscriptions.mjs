#!/usr/bin/env node
// conformance/test_subscriptions.mjs - the official TypeScript SDK client subscribes to rows, tables and the
// fixture's watched resource, of two workers, through a recorder that breaks its streams. Many clients at once
// hear exactly of what is theirs. All traffic is judged.

import assert from 'node:assert/strict';
import { EmptyResultSchema, ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { connect } from './client.mjs';
import { newTable, until } from './fixture_cases.mjs';
import { startRecorder } from './recorder.mjs';
import { Judge } from './schema.mjs';
import { createTable, fixture, startServer, tenon } from './server.mjs';
import { done, test } from './tap.mjs';
import { judgeExchanges } from './traffic.mjs';

const WAIT_MS = 20000;
const watched = 'test://watched-resource';
const table = 'db://geo/currencies';
const rowOf = (id) => `${table}/${id}`;
const methodsExpected = ['initialize', 'tools/call', 'resources/subscribe', 'resources/unsubscribe'];

const server = await startServer({}, {}, ['--allow-client-delete', '--component', fixture]);
const recorder = await startRecorder(server.port);

// A connected client, with what it heard: URIs, and the notifications as they came.
async function listener(revision) {
  const heard = [];
  const raw = [];
  const { client, transport } = await connect(recorder.url, revision, {}, (one) => {
    one.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
      heard.push(params.uri);
      raw.push(params);
    });
  });
  const stream = () => recorder.exchanges.findLast((exchange) => exchange.method === 'GET' && exchange.response?.status === 200 &&
    !exchange.response.ended && !exchange.cut && exchange.request.headers['mcp-session-id'] === transport.sessionId);
  await until('its stream', stream, WAIT_MS);
  const hears = (uris) => until(`to hear of ${uris}, not ${heard}`, () => uris.every((uri) => heard.includes(uri)), WAIT_MS);
  const forget = () => { heard.length = 0; raw.length = 0; };
  return { client, transport, heard, raw, stream, hears, forget };
}

const call = async (client, name, args) => {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError, `${name}: ${result.content[0]?.text}`);
};
let numeric = 1000;
const change = (client, id) => {
  numeric += 1;
  return call(client, 'update_currencies', { id, changes: { name: `Changed ${numeric}` } });
};
const subscribe = (client, uri, meta) => client.request({ method: 'resources/subscribe', params: { uri, ...(meta && { _meta: meta }) } }, EmptyResultSchema);

async function basics(say, me, other) {
  await test(say('RS-01 subscriptions are declared'), () => assert.equal(me.client.getServerCapabilities().resources.subscribe, true));
  await test(say('RS-10 a row, its table, a resource: {} each, then an update of each'), async () => {
    for (const uri of [rowOf('EUR'), table, watched]) assert.deepEqual(await me.client.subscribeResource({ uri }), {});
    await change(other.client, 'EUR');
    await me.hears([rowOf('EUR'), table]);
    await call(other.client, 'test_touch_watched', {});
    await me.hears([watched]);
    assert.deepEqual(me.raw.filter(({ _meta }) => _meta), []);
  });
  await test(say('RS-11 another row is told as a change of the table only; who did not subscribe hears nothing'), async () => {
    me.forget();
    await change(other.client, 'USD');
    await me.hears([table]);
    assert.deepEqual(me.heard, [table]);
    assert.deepEqual(other.heard, []);
  });
  await test(say('a row that is not there yet, created and deleted'), async () => {
    await me.client.subscribeResource({ uri: rowOf('XX9') });
    for (const [name, args] of [['create_currencies', { code: 'XX9', numeric: '997', name: 'New' }], ['delete_currencies', { id: 'XX9' }]]) {
      me.forget();
      await call(other.client, name, args);
      await me.hears([rowOf('XX9'), table]);
    }
    await assert.rejects(me.client.readResource({ uri: rowOf('XX9') }), { code: -32002 });
  });
  await test(say('RS-10 unsubscribe: {} and silence, also of what is not subscribed to'), async () => {
    for (const uri of [table, rowOf('XX9'), table]) assert.deepEqual(await me.client.unsubscribeResource({ uri }), {});
    me.forget();
    await change(other.client, 'USD');
    await change(other.client, 'EUR');
    await me.hears([rowOf('EUR')]);
    assert.deepEqual(me.heard, [rowOf('EUR')]);
  });
  await test(say('what cannot be subscribed to'), async () => {
    const cases = [['tenon://about', -32602, /subscribable/], ['test://static-text', -32602, /subscribable/], ['test://nothing', -32002],
      ['db://geo/nothing', -32002], ['db://geo/nothing/1', -32002], ['not a uri', undefined]];
    for (const [uri, code, words] of cases) {
      await assert.rejects(me.client.subscribeResource({ uri }), (error) => {
        if (code) assert.equal(error.code, code, uri);
        if (words) assert.match(error.message, words, uri);
        return true;
      });
    }
    for (const meta of [{ 'tenon/mode': 'some' }, { 'tenon/coalesceMs': -1 }, { 'tenon/coalesceMs': 1e9 }, { 'tenon/coalesceMs': 'soon' }]) {
      await assert.rejects(subscribe(me.client, table, meta), { code: -32602 }, JSON.stringify(meta));
    }
  });
}

async function everyChange(say, me, other) {
  const seqs = (uri) => me.raw.filter((params) => params.uri === uri).map(({ _meta }) => _meta['tenon/seq']);
  await test(say('mode all: an update for each of 50 changes, its sequence rises, a table names the row'), async () => {
    await subscribe(me.client, rowOf('JPY'), { 'tenon/mode': 'all' });
    await subscribe(me.client, table, { 'tenon/mode': 'all' });
    me.forget();
    for (let i = 0; i < 50; i += 1) await change(other.client, 'JPY');
    await until('50 of each', () => seqs(rowOf('JPY')).length >= 50 && seqs(table).length >= 50, WAIT_MS);
    assert.deepEqual(seqs(table), seqs(rowOf('JPY')));
    assert.equal(new Set(seqs(table)).size, 50);
    assert.deepEqual(seqs(table), seqs(table).toSorted((a, b) => a - b));
    assert.ok(me.raw.filter(({ uri }) => uri === table).every(({ _meta }) => _meta['tenon/uri'] === rowOf('JPY')));
  });
  await test(say('mode all: its stream is broken again and again, the SDK resumes, nothing is lost or doubled'), async () => {
    me.forget();
    for (let i = 0; i < 60; i += 1) {
      await change(other.client, 'JPY');
      if (i % 10 === 5) recorder.cut((exchange) => exchange === me.stream());
    }
    await until('60 of each', () => seqs(rowOf('JPY')).length >= 60 && seqs(table).length >= 60, WAIT_MS);
    for (const uri of [rowOf('JPY'), table]) {
      assert.equal(seqs(uri).length, 60);
      assert.deepEqual(seqs(uri), [...new Set(seqs(uri))].toSorted((a, b) => a - b));
    }
  });
  await test(say('subscribed again without the mode: merged from now on'), async () => {
    for (const uri of [rowOf('JPY'), table]) await me.client.subscribeResource({ uri });
    me.forget();
    await change(other.client, 'JPY');
    await me.hears([rowOf('JPY'), table]);
    assert.ok(me.raw.every(({ _meta }) => !_meta?.['tenon/seq']));
    for (const uri of [rowOf('JPY'), table]) await me.client.unsubscribeResource({ uri });
  });
}

async function broken(say, me, other) {
  await test(say('RS-12 changes while its stream is broken are told once it is back, each URI'), async () => {
    for (const uri of [rowOf('GBP'), rowOf('CHF')]) await me.client.subscribeResource({ uri });
    for (let i = 0; i < 10; i += 1) {
      me.forget();
      await until('its stream', me.stream, WAIT_MS);
      assert.equal(recorder.cut((exchange) => exchange === me.stream()), 1);
      for (const id of ['GBP', 'CHF', 'GBP']) await change(other.client, id);
      await me.hears([rowOf('GBP'), rowOf('CHF')]);
    }
  });
}

async function many(say, revision, other) {
  const N = 30;
  const all = await Promise.all(Array.from({ length: N }, () => listener(revision)));
  const idOf = (i) => `Q${String(i).padStart(2, '0')}`;
  await test(say(`${N} sessions, each hears of its own row and all of the table`), async () => {
    await Promise.all(all.map(async ({ client }, i) => {
      await call(client, 'create_currencies', { code: idOf(i), numeric: String(900 + i), name: idOf(i) });
      await client.subscribeResource({ uri: rowOf(idOf(i)) });
      await subscribe(client, table, { 'tenon/mode': 'all' });
    }));
    for (const one of all) one.forget();
    await Promise.all(all.map((one, i) => change(other.client, idOf(i))));
    await until('everybody', () => all.every((one) => one.heard.length >= N + 1), WAIT_MS);
    for (const [i, one] of all.entries()) {
      assert.deepEqual(one.heard.filter((uri) => uri !== table), [rowOf(idOf(i))]);
      const seqs = one.raw.filter(({ uri }) => uri === table).map(({ _meta }) => _meta['tenon/seq']);
      assert.deepEqual(seqs, [...new Set(seqs)].toSorted((a, b) => a - b));
      assert.equal(seqs.length, N);
    }
  });
  await test(say('ending sessions that are subscribed'), async () => {
    for (const [i, { client, transport }] of all.entries()) {
      await call(client, 'delete_currencies', { id: idOf(i) });
      await transport.terminateSession();
      await client.close();
    }
  });
}

async function tables(say, me, other, name) {
  await test(say('a table that is dropped tells who subscribed to it and its rows; made again, it goes on'), async () => {
    createTable(server, `later.${name}`, newTable);
    const uris = [`db://later/${name}`, `db://later/${name}/one`];
    for (const uri of uris) await me.client.subscribeResource({ uri });
    await call(other.client, `create_${name}`, { id: 'one' });
    await me.hears(uris);
    me.forget();
    tenon(['table', 'drop', '--data', server.data, '--yes', `later.${name}`]);
    await me.hears(uris);
    me.forget();
    createTable(server, `later.${name}`, newTable);
    await call(other.client, `create_${name}`, { id: 'one' });
    await me.hears(uris);
  });
}

async function session(revision, name) {
  const say = (what) => `SDK ${revision}: ${what}`;
  const me = await listener(revision);
  const other = await listener(revision);
  await basics(say, me, other);
  await everyChange(say, me, other);
  await broken(say, me, other);
  await many(say, revision, other);
  await tables(say, me, other, name);
  for (const one of [me, other]) {
    await one.transport.terminateSession();
    await one.client.close();
  }
}

await session('2025-06-18', 'new_one');
await session('2025-03-26', 'old_one');
await test('every exchange was answered', () => {
  assert.deepEqual(recorder.exchanges.filter(({ failed }) => failed).map(({ request, failed }) => [request.text.slice(0, 100), failed]), []);
});
for (const revision of ['2025-06-18', '2025-03-26']) {
  await test(`GEN-01 ${revision}: every message validates, every method was seen`, () => {
    const { judged, methods, sent } = judgeExchanges(new Judge(revision), recorder.exchanges);
    console.log(`# ${judged} messages judged`);
    assert.deepEqual(methodsExpected.filter((method) => !methods.has(method)), []);
    assert.ok(sent.has('notifications/resources/updated'));
  });
}
await recorder.close();
await test('the server ends well', async () => assert.equal(await server.stop(), 0));
done();
