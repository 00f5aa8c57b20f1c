#!/usr/bin/env node
// conformance/test_results.mjs - every tool that the running server lists is called, and every result is
// held against the outputSchema that was listed for it: by the official SDK's client and by ajv.
//
// Which tools there are is the server's word (tools/list); what to call them with stands in tables.mjs
// and operations.mjs. A tool that is listed and has no arguments there fails the run by its name.

import assert from 'node:assert/strict';
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { connect, useToken } from './client.mjs';
import { operationSteps } from './operations.mjs';
import { startRecorder } from './recorder.mjs';
import { Results, judgesOf } from './results.mjs';
import { makeUser, putRole, startServer } from './server.mjs';
import { tables } from './tables.mjs';
import { done, test } from './tap.mjs';

const verbs = ['create', 'get', 'search', 'update', 'delete'];
const made = Object.entries(tables).filter(([, table]) => table.definition);
const server = await startServer({ mcp: { operations: { allow: ['*'] } } },
  Object.fromEntries(made.map(([name, table]) => [`shop.${name}`, table.definition])));
putRole(server, 'all', { super_user: true });
useToken(makeUser(server, 'root', 'all')); // operations make more users, and then everybody needs one
const recorder = await startRecorder(server.port);
const operationsUrl = `${recorder.url}/operations`;

async function listAll(client) {
  const { tools, nextCursor } = await client.listTools(); // one page: the SDK forgets schemas with the next
  assert.equal(nextCursor, undefined);
  return tools;
}

function assertHaveArguments(tools, known) {
  const unknown = tools.map((tool) => tool.name).filter((name) => !known.has(name));
  assert.deepEqual(unknown, [], 'listed tools that this test has no arguments for');
}

// ---- the tools of a table

const keyOf = (tool) => tool.inputSchema.properties.id;

async function searchPages(results, tool, args) {
  const rows = [];
  let cursor;
  do {
    const page = await results.call(tool, { ...args, ...(cursor && { cursor }) });
    rows.push(...page.rows);
    cursor = page.nextCursor;
  } while (cursor && rows.length < 200);
  return rows;
}

async function searches(results, tool, { where, order_by: orders }, attributes) {
  const { rows, total } = await results.call(tool, { total: true });
  assert.ok(rows.length > 0 && total >= rows.length);
  assert.equal((await results.call(tool, {})).total, undefined);
  for (const filter of where) await results.call(tool, { where: filter, limit: 25 });
  for (const order of orders) await results.call(tool, { order_by: order, limit: 25 });
  for (const attribute of attributes) {
    const part = await results.call(tool, { select: [attribute], limit: 10 });
    assert.ok(part.rows.every((row) => Object.keys(row).every((name) => name === attribute)));
  }
  assert.deepEqual((await searchPages(results, tool, { limit: 1, where: where[0] })).length > 0, true);
  await searchPages(results, tool, { limit: 7, order_by: orders[0], select: attributes.slice(0, 2) });
}

async function useTable(results, tools, name, table) {
  const tool = Object.fromEntries(verbs.map((verb) => [verb, `${verb}_${name}`]));
  const attributes = tools.find(({ name: found }) => found === tool.search)
    .inputSchema.properties.select.items.enum;
  const created = [];
  for (const row of table.rows) {
    const value = await results.call(tool.create, row);
    assert.deepEqual({ ...value, ...row }, value); // it may be more: what the server fills
    created.push(value);
  }
  for (const name of table.hidden ?? []) {
    assert.ok(!attributes.includes(name));
    assert.ok(!JSON.stringify(tools).includes(`"${name}"`), `${name} is hidden`);
  }
  const key = attributes.find((attribute) => ['id', 'key', 'code'].includes(attribute));
  for (const row of created) assert.deepEqual(await results.call(tool.get, { id: row[key] }), row);
  await results.refused(tool.create, { ...table.rows[0], [key]: created[0][key] }, /./);
  await searches(results, tool.search, table, attributes);
  const { rows } = await results.call(tool.search, { limit: 25 });
  for (const row of rows) await results.call(tool.get, { id: row[key] });
  for (const changes of table.changes) await results.call(tool.update, { id: created[0][key], changes });
  await results.call(tool.update, { id: created[0][key], row: { ...table.rows[0], [key]: created[0][key] } });
  for (const row of created) {
    assert.equal((await results.call(tool.delete, { id: row[key] })).deleted, true);
    assert.equal((await results.call(tool.delete, { id: row[key] })).deleted, false);
    await results.refused(tool.get, { id: row[key] }, /./);
  }
}

let judges; // of the revision that has output schemas

async function tablesSession(revision, proposal, structured) {
  const { client, transport } = await connect(recorder.url, proposal);
  let tools = [];
  await test(`${revision}: every listed tool of a table has arguments here`, async () => {
    assert.equal(transport.protocolVersion, revision);
    tools = await listAll(client);
    judges ??= judgesOf(tools);
    const known = Object.keys(tables).flatMap((name) => verbs.map((verb) => `${verb}_${name}`));
    assertHaveArguments(tools, new Set(known));
    assert.equal(tools.length, known.length);
  });
  const results = new Results(client, judges, structured);
  for (const [name, table] of Object.entries(tables)) {
    await test(`TL-11 ${revision}: results of ${name} fit the listed outputSchema`,
      () => useTable(results, tools, name, table));
  }
  results.report();
  await test(`${revision}: no tool of a table was left out`, () => results.assertAllCalled());
  await transport.terminateSession().catch(() => {});
  await client.close();
}

// ---- operations

// What was exported is put where imports are read.
function moveExport(name) {
  const imports = join(server.dir, 'data', 'imports');
  mkdirSync(imports, { recursive: true });
  renameSync(join(server.dir, 'data', 'exports', name), join(imports, name));
}

async function operationsSession(revision, proposal, structured) {
  const { client } = await connect(operationsUrl, proposal);
  const tools = await listAll(client);
  const results = new Results(client, operationJudges ??= judgesOf(tools), structured);
  await test(`${revision}: every listed operation has arguments here`, () => {
    assertHaveArguments(tools, new Set(operationSteps.map((step) => step.tool)));
  });
  const context = { results, revision, connect, url: operationsUrl, moveExport };
  for (const { tool, args, says, until, run } of operationSteps) {
    await test(`${revision}: ${tool}${says ? `, ${says}` : ''}: the result fits`, async () => {
      if (run) {
        await run(context);
        return;
      }
      context[tool] = await results.call(tool, await args(context));
      for (let n = 0; until && !until(context[tool]) && n < 2000; n += 1) {
        await new Promise((wake) => setTimeout(wake, 5));
        context[tool] = await results.call(tool, await args(context));
      }
      if (until) assert.ok(until(context[tool]), JSON.stringify(context[tool]));
    });
  }
  results.report();
  await test(`${revision}: no operation was left out`, () => results.assertAllCalled());
  await client.close();
}
let operationJudges;

// ---- the judges themselves

async function judgesJudge() {
  const { client } = await connect(recorder.url, null);
  const tools = await listAll(client);
  const alter = (change) => (text) => {
    if (!text) return text; // of a 202
    const message = JSON.parse(text);
    if (message.result?.structuredContent) change(message.result.structuredContent);
    return JSON.stringify(message);
  };
  await test('the SDK refuses a result that breaks its outputSchema', async () => {
    recorder.alter = alter((row) => { row.name = 7; });
    await assert.rejects(client.callTool({ name: 'get_countries', arguments: { id: 'IT' } }), /name must be string/);
    recorder.alter = alter((row) => { delete row.name; });
    await assert.rejects(client.callTool({ name: 'get_countries', arguments: { id: 'IT' } }), /required property/);
    recorder.alter = null;
  });
  await test('ajv refuses what is wrong, in both dialects', () => {
    const all = judgesOf(tools);
    assert.match(all.get('get_orders')({ ...tables.orders.rows[0], lines: [] }), /fewer than 1 items/);
    assert.match(all.get('get_orders')({ ...tables.orders.rows[0], address: { city: 'x', country: 'FR', place: [91, 0] } }),
      /<= 90/);
    assert.match(all.get('get_events')({ ...tables.events.rows[0], where: [1, 2, 3] }), /2 items/);
    assert.equal(all.get('get_events')(tables.events.rows[0]), null);
  });
  await client.close();
}

await tablesSession('2025-06-18', null, true);
await tablesSession('2025-03-26', '2025-03-26', false);
await operationsSession('2025-06-18', null, true);
await operationsSession('2025-03-26', '2025-03-26', false);
await judgesJudge();
await recorder.close();
await test('the server of the results ends well', async () => assert.equal(await server.stop(), 0));
done();
