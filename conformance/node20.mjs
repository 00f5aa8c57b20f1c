// conformance/node20.mjs - `node --import` this before the official suite on Node 20: the suite imports
// globSync from fs, which came with Node 22, for a command that is not used here.

import * as fs from 'node:fs';
import { register } from 'node:module';

const stub = `export * from 'node:fs'; export { default } from 'node:fs';
  export function globSync() { throw new Error('globSync needs Node 22'); }`;
const hooks = `export async function resolve(specifier, context, next) {
  const suite = /\\/(conformance|conformance-next)\\/dist\\//.test(context.parentURL ?? '');
  return suite && /^(node:)?fs$/.test(specifier)
    ? { url: ${JSON.stringify(`data:text/javascript,${encodeURIComponent(stub)}`)}, shortCircuit: true }
    : next(specifier, context);
}`;

if (!('globSync' in fs)) register(`data:text/javascript,${encodeURIComponent(hooks)}`);
