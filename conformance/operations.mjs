// conformance/operations.mjs - what the operations are called with, in this order.
//
// A step: `tool`, `args(context)`; `says` what is special in it; `until(value)`: asked again until it
// holds, for jobs. Or `run(context)` for what takes more than one call. context holds the last value of
// each tool under its name, and of the session `results`, `revision` and `connect` (to make another).

import assert from 'node:assert/strict';

const goods = { database: 'shop', table: 'goods' };
const languages = { database: 'geo', table: 'languages' };
const definition = { title: 'Goods', primaryKey: 'id', indexes: [{ on: ['name', '-price'] }], schema: { type: 'object',
  properties: { id: { type: 'integer' }, name: { type: 'string' }, price: { type: 'number' } }, required: ['name'] } };
const wider = { ...definition, description: 'Things', indexes: undefined,
  schema: { ...definition.schema, properties: { ...definition.schema.properties, weight: { type: 'number' } } } };

// The job that `tool` has just started, until it is over.
const job = (tool) => ({ tool: 'get_job', says: `of ${tool}`, args: (context) => ({ id: context[tool].job }),
  until: ({ state, error }) => {
    assert.ok(!['failed', 'cancelled'].includes(state), error);
    return state === 'done';
  } });

// A job may be over before it is asked to stop; then another one is started.
async function cancelOne({ results }) {
  for (let n = 0; n < 20; n += 1) {
    const name = `to_cancel_${n}`;
    const { job: id } = await results.call('create_index', { ...languages, index: { name, on: ['name', '-code'] } });
    const answer = await results.client.callTool({ name: 'cancel_job', arguments: { id } });
    let now;
    do now = await results.call('get_job', { id }); while (['queued', 'running'].includes(now.state));
    if (now.state === 'done') await results.call('drop_index', { ...languages, index: name });
    if (!answer.isError) {
      results.judge('cancel_job', answer);
      return;
    }
  }
  assert.fail('every job was over before it could be cancelled');
}

async function closeOne({ results, connect, url }) {
  const other = await connect(url, null);
  const before = (await results.call('list_sessions', {})).sessions;
  const newest = before.at(-1).created >= before[0].created ? before.at(-1) : before[0];
  await results.call('close_session', { session: newest.session });
  const after = (await results.call('list_sessions', {})).sessions;
  assert.equal(after.length, before.length - 1);
  await assert.rejects(other.client.ping());
}

export const operationSteps = [
  { tool: 'describe_all', args: () => ({}) },
  { tool: 'describe_table', args: () => ({ database: 'shop', table: 'orders' }) },
  { tool: 'describe_table', says: 'with attributes', args: () => ({ database: 'shop', table: 'people' }) },
  { tool: 'describe_table', says: 'of a sample', args: () => ({ database: 'geo', table: 'countries' }) },
  { tool: 'read_log', args: () => ({}) },
  { tool: 'read_log', says: 'a few lines', args: () => ({ limit: 2, level: 'info' }) },
  { tool: 'system_information', args: () => ({}) },
  { tool: 'explain_search', args: () => languages },
  { tool: 'explain_search', says: 'by an index', args: () => ({ ...languages, where: "type = 'C'", order_by: ['-name'] }) },
  { tool: 'explain_search', says: 'by a scan',
    args: () => ({ ...languages, where: "name like '%a%' and scope != 'I'", order_by: ['scope'] }) },
  { tool: 'create_table', args: () => ({ ...goods, definition }) },
  { tool: 'describe_table', says: 'of a new table', args: () => goods },
  { tool: 'alter_table', args: () => ({ ...goods, definition: wider }) },
  job('alter_table'),
  { tool: 'describe_table', says: 'of an altered table', args: () => goods },
  { tool: 'create_index', args: () => ({ ...languages, index: { name: 'by_scope', on: ['scope', '-name'] } }) },
  job('create_index'),
  { tool: 'describe_table', says: 'with an index', args: () => languages },
  { tool: 'drop_index', args: () => ({ ...languages, index: 'by_scope' }) },
  { tool: 'cancel_job', run: cancelOne },
  { tool: 'export_table', args: ({ revision }) => ({ ...languages, name: `languages-${revision}.ndjson` }) },
  job('export_table'),
  { tool: 'import_table', args: ({ moveExport, revision }) => {
    moveExport(`languages-${revision}.ndjson`);
    return { ...languages, name: `languages-${revision}.ndjson`, replace: true };
  } },
  job('import_table'),
  { tool: 'list_jobs', args: () => ({}) },
  { tool: 'list_jobs', says: 'of a state', args: () => ({ state: 'done', limit: 1 }) },
  { tool: 'drop_table', args: () => goods },
  { tool: 'whoami', args: () => ({}) },
  { tool: 'put_role', args: () => ({ name: 'clerk', permissions: { databases: { shop: { tables: { '*': { read: true } } } } } }) },
  { tool: 'describe_role', args: () => ({ name: 'clerk' }) },
  { tool: 'list_roles', args: () => ({ limit: 10 }) },
  { tool: 'create_user', args: () => ({ name: 'Ann', roles: ['clerk'] }) },
  { tool: 'alter_user', args: () => ({ name: 'Ann', disabled: true }) },
  { tool: 'list_users', args: () => ({}) },
  { tool: 'create_token', args: () => ({ user: 'Ann', label: 'till' }) },
  { tool: 'list_tokens', args: () => ({ user: 'Ann' }) },
  { tool: 'revoke_token', args: ({ create_token: { id } }) => ({ id }) },
  { tool: 'drop_user', args: () => ({ name: 'Ann' }) },
  { tool: 'drop_role', args: () => ({ name: 'clerk' }) },
  { tool: 'list_sessions', args: () => ({}) },
  { tool: 'close_session', run: closeOne },
];
