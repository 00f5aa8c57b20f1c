#!/usr/bin/env node
// conformance/test_prompts.mjs - the official TypeScript SDK client lists and gets prompts and completes their
// arguments: of the fixture component in C, and of the folder beside it that says the same without C. Whatever
// one answers, the other must, word for word. Completion of databases, tables and row ids on top.
// All traffic is judged.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { connect, pages } from './client.mjs';
import { completions, prompts } from './fixture_cases.mjs';
import { startRecorder } from './recorder.mjs';
import { Judge } from './schema.mjs';
import { fixture, startServer, top } from './server.mjs';
import { done, test } from './tap.mjs';
import { judgeExchanges } from './traffic.mjs';

const methodsExpected = ['initialize', 'prompts/list', 'prompts/get', 'completion/complete'];
const components = { C: fixture, 'a folder': join(top, 'conformance/fixture') };

// Calls that have to be refused, with their code.
const refused = [
  ['an unknown prompt', 'test_no_prompt', undefined, -32602, /test_no_prompt/],
  ['both missing arguments are named', 'test_prompt_with_arguments', undefined, -32602, /arg1.*arg2/],
  ['one missing argument is named', 'test_prompt_with_arguments', { arg1: 'x' }, -32602, /arg2/],
];

async function promptsOf(say, client) {
  const seen = {};
  await test(say('prompts/list, page by page'), async () => {
    const { found, n } = await pages((params) => client.listPrompts(params), 'prompts');
    assert.deepEqual(found.map(({ name }) => name).sort(), Object.keys(prompts).sort());
    assert.ok(found.every(({ name, description }) => name && description));
    assert.equal(n, 2);
    const { arguments: named } = found.find(({ name }) => name === 'test_prompt_with_arguments');
    assert.deepEqual(named.map(({ name, required }) => [name, required]), [['arg1', true], ['arg2', true]]);
    seen.listed = found;
  });
  await test(say('PR-05 PR-06 PR-07 PR-08 prompts/get of each: its messages, arguments as they are'), async () => {
    for (const [name, [args, messages]] of Object.entries(prompts)) {
      const result = await client.getPrompt({ name, ...(args && { arguments: args }) });
      assert.deepEqual(result.messages, messages, name);
      seen[name] = result;
    }
  });
  for (const [what, name, args, code, words] of refused) {
    await test(say(`PR-03 ${what}`), async () => {
      await assert.rejects(client.getPrompt({ name, ...(args && { arguments: args }) }), (error) => {
        seen[what] = error.message;
        assert.equal(error.code, code);
        assert.match(error.message, words);
        return true;
      });
    });
  }
  await test(say('CM-02 CM-04 completion of arguments'), async () => {
    seen.completed = [];
    for (const [ref, name, value, values] of completions) {
      const { completion } = await client.complete({ ref, argument: { name, value } });
      assert.deepEqual(completion.values, values, `${name} ${value}`);
      assert.ok(!completion.hasMore && (completion.total ?? values.length) === values.length);
      seen.completed.push(completion);
    }
  });
  await test(say('CM-06 completion of what is not there'), async () => {
    const nothing = [[{ type: 'ref/prompt', name: 'test_no_prompt' }, 'arg1'], [{ type: 'ref/resource', uri: 'test://{nothing}' }, 'nothing']];
    for (const [ref, name] of nothing) {
      await assert.rejects(client.complete({ ref, argument: { name, value: '' } }), { code: -32602 });
    }
  });
  return seen;
}

// What both servers have: the sample tables.
async function schemaOf(say, client, hasContext) {
  const complete = async (uri, name, value, context) => (await client.complete({ ref: { type: 'ref/resource', uri },
    argument: { name, value }, ...(context && { context: { arguments: context } }) })).completion;
  const row = 'db://{database}/{table}/{id}';
  await test(say('completion of databases and tables, in any case'), async () => {
    assert.deepEqual((await complete(row, 'database', 'G')).values, ['geo']);
    assert.deepEqual((await complete(row, 'database', 'x')).values, []);
    const { values, total, hasMore } = await complete('db://{database}/{table}', 'table', 'C');
    assert.deepEqual(values.toSorted(), ['countries', 'currencies']);
    assert.equal(total ?? 2, 2);
    assert.ok(!hasMore);
  });
  if (!hasContext) return;
  await test(say('CM-07 the context narrows'), async () => {
    assert.deepEqual((await complete(row, 'table', '', { database: 'none' })).values, []);
    assert.deepEqual((await complete(row, 'table', 'l', { database: 'geo' })).values, ['languages']);
  });
  await test(say('CM-03 row ids of the table in the context: 100 at most, more are told, upper case matters'), async () => {
    const of = (value, table) => complete(row, 'id', value, { database: 'geo', table });
    const { values, hasMore } = await of('IT-', 'subdivisions');
    assert.equal(values.length, 100);
    assert.equal(hasMore, true);
    assert.deepEqual(values, values.toSorted());
    assert.ok(values.every((id) => id.startsWith('IT-')));
    assert.deepEqual((await of('EUR', 'currencies')).values, ['EUR']);
    assert.deepEqual((await of('eur', 'currencies')).values, []);
  });
}

async function templateOf(say, client) {
  await test(say('CM-03 CM-04 completion of a template\'s variable, with its total'), async () => {
    const ref = { type: 'ref/resource', uri: 'test://template/{id}/data' };
    const { completion: all } = await client.complete({ ref, argument: { name: 'id', value: '' } });
    assert.equal(all.values.length, 100);
    assert.deepEqual([all.total, all.hasMore], [150, true]);
    const { completion: some } = await client.complete({ ref, argument: { name: 'id', value: '14' } });
    assert.deepEqual(some.values, ['14', '140', '141', '142', '143', '144', '145', '146', '147', '148', '149']);
    assert.ok(!some.hasMore);
  });
}

async function session(kind, recorder, revision) {
  const say = (name) => `${revision} of ${kind}: ${name}`;
  const { client, transport } = await connect(recorder.url, revision);
  await test(say('PR-01 CM-01 what is declared'), () => {
    const { prompts: declared, completions: completes } = client.getServerCapabilities();
    assert.equal(transport.protocolVersion, revision);
    assert.deepEqual([declared, completes], [{ listChanged: true }, {}]);
  });
  const seen = await promptsOf(say, client);
  await schemaOf(say, client, revision === '2025-06-18');
  if (kind === 'C') await templateOf(say, client);
  await client.close();
  return seen;
}

const answers = {};
for (const [kind, component] of Object.entries(components)) {
  const server = await startServer({ listPageSize: 3 }, {}, ['--component', component]);
  const recorder = await startRecorder(server.port);
  for (const revision of ['2025-06-18', '2025-03-26']) {
    answers[`${revision} ${kind}`] = await session(kind, recorder, revision);
    await test(`GEN-01 ${revision} of ${kind}: every message validates, every method was seen`, () => {
      const { judged, methods } = judgeExchanges(new Judge(revision), recorder.exchanges);
      console.log(`# ${judged} messages judged`);
      assert.deepEqual(methodsExpected.filter((method) => !methods.has(method)), []);
    });
  }
  await recorder.close();
  await test(`the server of ${kind} ends well`, async () => assert.equal(await server.stop(), 0));
}
for (const revision of ['2025-06-18', '2025-03-26']) {
  await test(`${revision}: the folder answers as the component in C`, () => {
    const { listed, ...others } = answers[`${revision} a folder`];
    const { listed: wanted, ...wantedOthers } = answers[`${revision} C`];
    const byName = (a, b) => (a.name < b.name ? -1 : 1);
    assert.deepEqual(listed.toSorted(byName), wanted.toSorted(byName));
    assert.deepEqual(others, wantedOthers);
  });
}
done();
