// conformance/tap.mjs - writes TAP. `test` runs one step; a step that throws fails, and the next one runs.

let count = 0;
let failed = 0;

export async function test(name, step) {
  let problem = null;
  try {
    await step();
  } catch (error) {
    problem = error;
  }
  count += 1;
  failed += problem ? 1 : 0;
  console.log(`${problem ? 'not ok' : 'ok'} ${count} - ${name}`);
  if (problem) {
    console.log(`${problem.stack ?? problem}${problem.cause ? `\n${problem.cause.stack}` : ''}`.split('\n').slice(0, 12).map((line) => `# ${line}`).join('\n'));
  }
}

export function skip(name, why) {
  count += 1;
  console.log(`ok ${count} - ${name} # SKIP ${why}`);
}

export function done() {
  console.log(`1..${count}`);
  process.exitCode = failed ? 1 : 0;
}
