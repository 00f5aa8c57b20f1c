// conformance/program.mjs - runs a client that is a program of its own. It gets a home folder of the
// test's, so that nothing of this machine's user is read or written.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { top } from './server.mjs';

export const packages = join(top, 'conformance/node_modules');

export const homeEnvironment = (home) => ({ ...process.env, HOME: home, MCPC_HOME_DIR: home, NO_UPDATE_NOTIFIER: '1' });

// {status, out, err} of `node script words...`; killed after `ms`, then `status` is null.
export function run(script, words, { cwd, home, ms = 30000 } = {}) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(packages, script), ...words],
      { cwd, env: home ? homeEnvironment(home) : process.env, stdio: ['ignore', 'pipe', 'pipe'], timeout: ms });
    let out = '';
    let err = '';
    child.stdout.on('data', (part) => { out += part; });
    child.stderr.on('data', (part) => { err += part; });
    child.on('close', (status) => resolve({ status, out, err }));
  });
}
