#!/usr/bin/env node
// conformance/test_books.mjs - the walk-through of the README's "Write a component without C", as it stands
// there: its commands are run by a shell, on a free port and with the pinned Inspector's CLI.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, rmSync, symlinkSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { homeEnvironment, packages } from './program.mjs';
import { startServer, binary, top } from './server.mjs';
import { done, test } from './tap.mjs';

const section = readFileSync(join(top, 'README.md'), 'utf8').split(/^## /m).find((text) => text.startsWith('Write a component without C'));
const commands = section.split('\n').filter((line) => line.startsWith('    ')).map((line) => line.trim());

// A folder as a reader of the README has it: examples/ and build/tenon in it.
const folder = mkdtempSync(join(tmpdir(), 'tenon-books-'));
symlinkSync(join(top, 'examples'), join(folder, 'examples'));

function shell(text) {
  return new Promise((resolve) => {
    const child = spawn('bash', ['-euc', text], { cwd: folder, env: homeEnvironment(folder), stdio: ['ignore', 'pipe', 'pipe'], timeout: 60000 });
    let out = '';
    let err = '';
    child.stdout.on('data', (part) => { out += part; });
    child.stderr.on('data', (part) => { err += part; });
    child.on('close', (status) => resolve({ status, out, err }));
  });
}

const find = (part) => {
  const found = commands.filter((line) => line.includes(part));
  assert.equal(found.length, 1, part);
  return found[0];
};
const here = (line) => line.replace('build/tenon', binary);

let server;
await test('the README: cp, component check', async () => {
  const { status, out, err } = await shell(`${find('cp -r')}\n${here(find('component check'))}`);
  assert.equal(status, 0, err);
  assert.equal(out, 'books/component.json: 1 table, 1 tool, 1 prompt\n');
});
await test('the README: serve --component', async () => {
  assert.match(find('serve'), /^build\/tenon serve --component books &$/);
  server = await startServer({}, {}, ['--component', join(folder, 'books')]);
});

// The Inspector's CLI looks for its package.json from the working directory.
async function inspect(part) {
  const cli = join(packages, '@modelcontextprotocol/inspector-cli/build');
  const call = find('inspect() {').replace('npx @modelcontextprotocol/inspector-cli', `cd ${cli} && node cli.js`)
    .replace('127.0.0.1:8750', `127.0.0.1:${server.port}`);
  const { status, out, err } = await shell(`${call}\n${find(part)}`);
  assert.equal(status, 0, err + out);
  return JSON.parse(out);
}

await test('the README: a row of the table', async () => {
  const { structuredContent } = await inspect('create_books');
  assert.equal(structuredContent.author, 'Jane Austen');
  const { contents } = await inspect('resources/read');
  assert.equal(JSON.parse(contents[0].text).title, 'Emma');
});
await test('the README: the prompt', async () => {
  const { prompts } = await inspect('prompts/list');
  assert.deepEqual(prompts.map(({ name }) => name), ['recommend']);
  const { messages } = await inspect('prompts/get');
  assert.match(messages[0].content.text, /^I liked the books of Jane Austen\. .* It should be surprising\.$/);
});
await test('the README: the command', async () => {
  const { content } = await inspect('check_isbn');
  assert.equal(content[0].text.trim(), '978-0-306-40615-7 is right.');
});
await test('no command of the section is left out', () => {
  assert.equal(commands.length, 9);
});
await server?.stop();
rmSync(folder, { recursive: true });
done();
