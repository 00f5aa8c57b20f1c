// conformance/server.mjs - starts `tenon serve` with two workers on a fresh data directory that holds the
// sample tables (iso-codes: geo.countries, subdivisions, languages, currencies), and stops it.

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const top = dirname(dirname(fileURLToPath(import.meta.url)));
const binary = process.env.TENON ?? join(top, 'build/tenon');

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

function tenon(words) {
  const run = spawnSync(binary, words, { encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`tenon ${words.join(' ')}: ${run.stdout}${run.stderr}`);
}

// Returns {port, dir, stop()}; stop resolves to the exit status, and shows
// what the server logged. `definitions`: further tables by
// DATABASE.TABLE, empty.
export async function startServer(config, definitions = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'tenon-conformance-'));
  const data = join(dir, 'data');
  const load = spawnSync(join(top, 'runtime/sample/load'), [data], {
    env: { ...process.env, TENON: binary },
    encoding: 'utf8',
  });
  if (load.status !== 0) throw new Error(`the sample data did not load: ${load.stdout}${load.stderr}`);
  for (const [name, definition] of Object.entries(definitions)) {
    const file = join(dir, `${name}.json`);
    writeFileSync(file, JSON.stringify(definition));
    tenon(['table', 'create', '--data', data, name, file]);
  }
  const configFile = join(dir, 'config.json');
  const portFile = join(dir, 'port');
  writeFileSync(configFile, JSON.stringify(config));
  const log = openSync(join(dir, 'log'), 'a');
  const child = spawn(binary, ['serve', '--config', configFile, '--data', data, '--listen', '127.0.0.1:0',
    '--workers', '2', '--port-file', portFile], { stdio: ['ignore', log, log] });
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
  return { port, dir, stop };
}
