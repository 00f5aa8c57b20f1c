// conformance/judge/judge.mjs - an outside judge (ajv on the published schemas) against the tables.
//
//   node judge.mjs SHARED VERDICTS
//
// SHARED is the folder with spec/official and spec/examples; VERDICTS is the program that reads lines
// "Definition<tab>JSON" and answers each with "ok" or the fault (tests/judge/verdicts.c). Writes TAP.
//
// Judged are mutants of the official examples, which belong to one revision (the others get every few
// of them, by what their own schema says of a definition of that name), and instances of every
// definition of every revision, made from its schema, with mutants of them.
import { readdirSync, readFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import Ajv07 from 'ajv';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { fixes } from './fixes.mjs';
import { InstanceMaker } from './instances.mjs';
import { makeMutants } from './mutants.mjs';

const EXAMPLES = '2026-07-28';
const OTHERS = ['2025-03-26', '2025-06-18', '2025-11-25'];
const OTHERS_STRIDE = 5;
const SEED = 20260728;
const EXAMPLE_MUTANTS = { pairs: 60 };
const INSTANCE_MUTANTS = { pairs: 6, limit: 40 };
const MUTANTS_MIN = 16000;

const [shared, program] = process.argv.slice(2);

let n = 0;
function report(passed, name, notes = []) {
  console.log(`${passed ? 'ok' : 'not ok'} ${++n} - judge: ${name}`);
  for (const note of notes.slice(0, +(process.env.JUDGE_NOTES ?? 20))) console.log(`# ${note}`);
  if (notes.length > 20) console.log(`# and ${notes.length - 20} more`);
}

function readExamples() {
  const folder = join(shared, 'spec/examples', EXAMPLES);
  const examples = [];
  for (const definition of readdirSync(folder).sort())
    for (const file of readdirSync(join(folder, definition)).sort()) {
      const value = JSON.parse(readFileSync(join(folder, definition, file), 'utf8'));
      examples.push({ definition, name: `${definition}/${file}`, value });
    }
  return examples;
}

function readSchema(revision, folder = join(shared, 'spec/official')) {
  return JSON.parse(readFileSync(join(folder, revision, 'schema.json'), 'utf8'));
}

// Answers (definition, value) with true or false.
function makeOutside(schema) {
  const container = schema.$defs ? '$defs' : 'definitions';
  const ajv = new (schema.$defs ? Ajv2020 : Ajv07)({ strict: false, logger: false });
  addFormats(ajv, ['uri', 'uri-template', 'byte']);
  ajv.addSchema(schema, 'mcp');
  const compiled = new Map();
  return (definition, value) => {
    if (!compiled.has(definition)) compiled.set(definition, ajv.getSchema(`mcp#/${container}/${definition}`));
    return compiled.get(definition)(value);
  };
}

function askTables(revision, cases) {
  const input = cases.map(({ definition, text }) => `${definition}\t${text}\n`).join('');
  const run = spawnSync(program, [revision], { input, encoding: 'utf8', maxBuffer: 1 << 28 });
  const answers = (run.stdout ?? '').split('\n').slice(0, -1);
  if (run.error || run.status !== 0 || answers.length !== cases.length)
    throw new Error(`${program}: ${run.error ?? `status ${run.status}`}, ${answers.length} of ${cases.length} answers: ${run.stderr}`);
  return answers;
}

// How many of the cases each fix decides alone, among those that all together decide.
function countFixes(revision, cases, applied, accepts) {
  const published = makeOutside(readSchema(revision));
  const decided = cases.filter(({ definition, value }) => accepts(definition, value) !== published(definition, value));
  return applied.map((fix) => {
    const schema = readSchema(revision);
    fix.apply(schema);
    const alone = makeOutside(schema);
    const n = decided.filter(({ definition, value }) => alone(definition, value) !== published(definition, value)).length;
    return { fix, n };
  });
}

// What tenon-gen import made of the published schema decides as that does.
function judgeImport(revision, cases) {
  const published = makeOutside(readSchema(revision)), facts = makeOutside(readSchema(revision, 'spec'));
  const wrong = cases.filter(({ definition, value }) => published(definition, value) !== facts(definition, value));
  report(wrong.length === 0, `${revision}: spec/ decides as the published schema on ${cases.length} mutants`,
    wrong.map(({ name, text }) => `${name}: ${text.slice(0, 400)}`));
}

// Definitions that spec/overlay.mcp leaves without a table, with its reasons.
function omittedNames() {
  const overlay = readFileSync('spec/overlay.mcp', 'utf8').replace(/#.*/g, '');
  return [...overlay.matchAll(/\bomit\s+([^;"]*?)\s+because\b/g)].flatMap((match) => match[1].split(/\s+/));
}

function judgeOmitted(revision, definitions, cases, answers) {
  const without = new Set(cases.filter((_, i) => answers[i] === 'no table').map(({ definition }) => definition));
  const omitted = omittedNames().filter((name) => name in definitions);
  const wrong = [...without].filter((name) => !omitted.includes(name)).map((name) => `${name} has no table`);
  wrong.push(...omitted.filter((name) => !without.has(name)).map((name) => `${name} is omitted, but has a table`));
  report(wrong.length === 0, `${revision}: every definition has a table, but for ${omitted.length} that the overlay omits`, wrong);
}

function makeCases(revision, schema, mutants) {
  const definitions = schema.$defs ?? schema.definitions;
  const maker = new InstanceMaker(schema);
  const instances = Object.keys(definitions).flatMap((definition) =>
    maker.instancesOf(definition).map((value, i) => ({ definition, name: `${definition}/${i}`, value, text: JSON.stringify(value) })));
  const more = [...instances, ...makeMutants(instances, SEED, INSTANCE_MUTANTS)];
  return [...mutants.filter(({ definition }) => definition in definitions), ...more]
    .map((one) => ({ ...one, value: JSON.parse(one.text) }));
}

function judge(revision, mutants) {
  const schema = readSchema(revision);
  const cases = makeCases(revision, schema, mutants);
  judgeImport(revision, cases);
  const answers = askTables(revision, cases);
  judgeOmitted(revision, schema.$defs ?? schema.definitions, cases, answers);
  const applied = fixes.filter((fix) => !fix.revisions || fix.revisions.includes(revision));
  for (const fix of applied) fix.apply(schema);
  const accepts = makeOutside(schema);
  const wrong = [];
  let accepted = 0;
  cases.forEach(({ definition, name, text, value }, i) => {
    if (answers[i] === 'no table') return;
    const theirs = accepts(definition, value);
    accepted += theirs;
    if ((answers[i] === 'ok') !== theirs)
      wrong.push(`${name}: ajv ${theirs ? 'accepts' : 'refuses'}, tables: ${answers[i]}: ${text.slice(0, 400)}`);
  });
  report(wrong.length === 0 && cases.length > 0,
    `GEN-02 ${revision}: ajv and the tables agree on ${cases.length} messages, ${accepted} of them right`, wrong);
  return countFixes(revision, cases, applied, accepts);
}

function judgeExamples(examples) {
  const cases = examples.map(({ definition, name, value }) => ({ definition, name, text: JSON.stringify(value) }));
  const refused = askTables(EXAMPLES, cases).map((answer, i) => `${cases[i].name}: ${answer}`)
    .filter((line) => !line.endsWith(': ok'));
  report(examples.length === 129 && refused.length === 0, `the tables accept the ${examples.length} official examples`, refused);
}

const examples = readExamples();
judgeExamples(examples);

const mutants = [...makeMutants(examples, SEED, EXAMPLE_MUTANTS)];
report(mutants.length >= MUTANTS_MIN, `${mutants.length} mutants, at least ${MUTANTS_MIN}`);
const again = [...makeMutants(examples.slice(0, 10), SEED, EXAMPLE_MUTANTS)];
report(JSON.stringify(mutants.slice(0, again.length)) === JSON.stringify(again), 'the same seed makes the same mutants');

const counts = judge(EXAMPLES, mutants);
const some = mutants.filter((_, i) => i % OTHERS_STRIDE === 0);
for (const revision of OTHERS) counts.push(...judge(revision, some));
for (const fix of fixes) {
  const decided = counts.filter((count) => count.fix === fix).reduce((sum, count) => sum + count.n, 0);
  report(decided > 0, `fix "${fix.name}" decides ${decided} mutants: ${fix.reason}`);
}
console.log(`1..${n}`);
