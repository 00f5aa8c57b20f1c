// conformance/operations.mjs - what the operations are called with, in this order.
//
// A step: `tool`, `args(context)`; `says` what is special in it; `until(value)`: asked again until it
// holds, for jobs. context holds the last value of each tool under its name, and the session's revision.

const orders = { database: 'shop', table: 'orders' };

export const operationSteps = [
  { tool: 'describe_all', args: () => ({}) },
  { tool: 'describe_table', args: () => orders },
  { tool: 'describe_table', says: 'of a sample', args: () => ({ database: 'geo', table: 'countries' }) },
  { tool: 'read_log', args: () => ({}) },
  { tool: 'read_log', says: 'a few lines', args: () => ({ limit: 2, level: 'info' }) },
  { tool: 'system_information', args: () => ({}) },
];
