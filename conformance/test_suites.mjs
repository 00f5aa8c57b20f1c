#!/usr/bin/env node
// conformance/test_suites.mjs - the official conformance suite, its last release and its next one, against
// two workers with the fixture component: one step a scenario. suites/*.yml hold what has to fail because it
// is not there yet; the suite itself fails on entries that pass and, with such a list, on warnings.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packages } from './program.mjs';
import { fixture, startServer, top } from './server.mjs';
import { done, test } from './tap.mjs';

const here = join(top, 'conformance');
const suites = [
  { name: 'stable', folder: '@modelcontextprotocol/conformance', scenarios: 32, words: ['--suite', 'all'] },
  { name: 'next', folder: 'conformance-next', scenarios: 27, words: ['--suite', 'all', '--spec-version', '2025-06-18'] },
];

function run({ name, folder, words }, url, out) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--import', join(here, 'node20.mjs'), join(packages, folder, 'dist/index.js'), 'server',
      '--url', url, '-o', join(out, name), '--expected-failures', join(here, 'suites', `${name}.yml`), ...words],
    { stdio: ['ignore', 'pipe', 'pipe'], timeout: 120000 });
    let text = '';
    child.stdout.on('data', (part) => { text += part; });
    child.stderr.on('data', (part) => { text += part; });
    child.on('close', (status) => resolve({ status, text }));
  });
}

const server = await startServer({}, {}, ['--allow-client-delete', '--component', fixture]);
const out = mkdtempSync(join(tmpdir(), 'tenon-suite-'));
for (const suite of suites) {
  const { status, text } = await run(suite, `http://127.0.0.1:${server.port}/mcp`, out);
  const lines = [...text.matchAll(/^([✓✗]) (\S+): (\d+) passed, (\d+) failed/gm)];
  const total = /^Total: .*$/m.exec(text)?.[0];
  await test(`suite ${suite.name}: ${suite.scenarios} scenarios ran, none fails that is not listed, none listed passes`, () => {
    console.log(`# ${total}; not there yet: ${lines.filter((line) => line[1] === '✗').map((line) => line[2]).join(', ')}`);
    assert.equal(lines.length, suite.scenarios, text.slice(-2000));
    assert.equal(status, 0, text.slice(text.indexOf('SUMMARY')).slice(-2000));
  });
}
rmSync(out, { recursive: true, force: true });
await test('the server ends well', async () => assert.equal(await server.stop(), 0));
done();
