// conformance/server.mjs - starts `tenon serve` with two workers on a fresh data directory that holds the
// sample tables (iso-codes: geo.countries, subdivisions, languages, currencies), and stops it.
// `fixture` is the component whose tools and resources the live tests and the official suites call.

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const top = dirname(dirname(fileURLToPath(import.meta.url)));
export const binary = process.env.TENON ?? join(top, 'build/tenon');
export const fixture = join(top, 'build/conformance-fixture.so');

function readPort(file) {
  try {
    const text = readFileSync(file, 'utf8');
    return text.endsWith('\n') ? Number(text.trim().split(':').pop()) : 0;
  } catch {
    return 0;
  }
}

async function waitForPort(file, child) {
  const end = Date.now() + 15000;
  while (Date.now() < end && child.exitCode === null) {
    const port = readPort(file);
    if (port) return port;
    await new Promise((wake) => setTimeout(wake, 10));
  }
  throw new Error('the server did not start');
}

export function tenon(words) {
  const run = spawnSync(binary, words, { encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`tenon ${words.join(' ')}: ${run.stdout}${run.stderr}`);
  return run.stdout;
}

// A fresh folder {dir, data} with the sample tables.
export function freshData() {
  const dir = mkdtempSync(join(tmpdir(), 'tenon-conformance-'));
  const data = join(dir, 'data');
  const load = spawnSync(join(top, 'runtime/sample/load'), [data], {
    env: { ...process.env, TENON: binary },
    encoding: 'utf8',
  });
  if (load.status !== 0) throw new Error(`the sample data did not load: ${load.stdout}${load.stderr}`);
  return { dir, data };
}

export function createTable({ dir, data }, name, definition) {
  const file = join(dir, `${name}.json`);
  writeFileSync(file, JSON.stringify(definition));
  tenon(['table', 'create', '--data', data, name, file]);
}

// Also while a server runs.
export function putRole({ dir, data }, name, permissions) {
  const file = join(dir, `${name}.role.json`);
  writeFileSync(file, JSON.stringify(permissions));
  tenon(['role', 'put', '--data', data, name, file]);
}

// A user with this role, also while a server runs; returns a token of his.
export function makeUser({ data }, name, role) {
  tenon(['user', 'create', '--data', data, name, '--role', role]);
  return tenon(['token', 'create', '--data', data, name]).trim();
}

// Returns {port, dir, data, stop()}; stop resolves to the exit status, and shows
// what the server logged. `definitions`: further tables by
// DATABASE.TABLE, empty. `words`: further words of the command line.
export async function startServer(config, definitions = {}, words = []) {
  const { dir, data } = freshData();
  for (const [name, definition] of Object.entries(definitions)) createTable({ dir, data }, name, definition);
  const configFile = join(dir, 'config.json');
  const portFile = join(dir, 'port');
  writeFileSync(configFile, JSON.stringify(config));
  const log = openSync(join(dir, 'log'), 'a');
  const child = spawn(binary, ['serve', '--config', configFile, '--data', data, '--listen', '127.0.0.1:0',
    '--metrics-listen', 'off', '--no-rate-limit', '--workers', '2', '--port-file', portFile, ...words], { stdio: ['ignore', log, log] });
  const ended = new Promise((wake) => child.once('exit', (code) => wake(code)));
  const port = await waitForPort(portFile, child).catch((error) => {
    child.kill('SIGKILL');
    throw new Error(`${error.message}\n${readFileSync(join(dir, 'log'), 'utf8')}`);
  });
  const stop = async () => {
    child.kill('SIGTERM');
    const status = await ended;
    const said = readFileSync(join(dir, 'log'), 'utf8').split('\n').filter((line) => line && !line.startsWith('listening'));
    for (const line of said.slice(0, 20)) console.log(`# server: ${line}`);
    rmSync(dir, { recursive: true, force: true });
    return status;
  };
  return { port, dir, data, stop };
}
