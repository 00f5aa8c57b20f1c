// conformance/judge/judge.mjs - an outside judge (ajv on the published schemas) against the tables.
//
//   node judge.mjs SHARED VERDICTS
//
// SHARED is the folder with spec/official and spec/examples; VERDICTS is the program that reads lines
// "Definition<tab>JSON" and answers each with "ok" or the fault (tests/judge/verdicts.c). Writes TAP.
//
// The official examples belong to one revision. The others are judged on every few of the same
// mutants, by what their own schema says of a definition of that name.
import { readdirSync, readFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import Ajv07 from 'ajv';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { contradictions, fixes } from './fixes.mjs';
import { makeMutants } from './mutants.mjs';

const EXAMPLES = '2026-07-28';
const OTHERS = ['2025-03-26', '2025-06-18', '2025-11-25'];
const OTHERS_STRIDE = 3;
const SEED = 20260728;
const PAIRS_PER_EXAMPLE = 60;
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

function judge(revision, mutants) {
  const schema = readSchema(revision);
  const definitions = schema.$defs ?? schema.definitions;
  const cases = mutants.filter(({ definition }) => definition in definitions).map((mutant) => ({ ...mutant, value: JSON.parse(mutant.text) }));
  judgeImport(revision, cases);
  const answers = askTables(revision, cases);
  const applied = fixes.filter((fix) => !fix.revisions || fix.revisions.includes(revision));
  for (const fix of applied) fix.apply(schema);
  const accepts = makeOutside(schema);
  const wrong = [];
  let accepted = 0;
  cases.forEach(({ definition, name, text, value }, i) => {
    const theirs = accepts(definition, value);
    accepted += theirs;
    if ((answers[i] === 'ok') !== theirs)
      wrong.push(`${name}: ajv ${theirs ? 'accepts' : 'refuses'}, tables: ${answers[i]}: ${text.slice(0, 400)}`);
  });
  report(wrong.length === 0 && cases.length > 0,
    `GEN-02 ${revision}: ajv and the tables agree on ${cases.length} mutants, ${accepted} of them right`, wrong);
  return countFixes(revision, cases, applied, accepts);
}

// All official examples are accepted, but for those that their own type refuses.
function judgeExamples(examples) {
  const cases = examples.map(({ definition, name, value }) => ({ definition, name, text: JSON.stringify(value) }));
  const answers = askTables(EXAMPLES, cases);
  const accepts = makeOutside(readSchema(EXAMPLES));
  const excused = new Set(contradictions.map(({ example }) => example));
  const refused = cases.map(({ name }, i) => `${name}: ${answers[i]}`)
    .filter((line, i) => answers[i] !== 'ok' && !excused.has(cases[i].name));
  report(examples.length === 129 && refused.length === 0,
    `the tables accept ${examples.length - excused.size} of ${examples.length} official examples`, refused);
  for (const { example, definition, part, reason } of contradictions) {
    const i = cases.findIndex(({ name }) => name === example);
    const contradicts = i >= 0 && answers[i] !== 'ok' && !accepts(definition, examples[i].value[part]);
    report(contradicts, `${example} is refused: ${reason}`);
  }
}

const examples = readExamples();
judgeExamples(examples);

const mutants = [...makeMutants(examples, SEED, PAIRS_PER_EXAMPLE)];
const again = [...makeMutants(examples, SEED, PAIRS_PER_EXAMPLE)];
report(mutants.length >= MUTANTS_MIN, `${mutants.length} mutants, at least ${MUTANTS_MIN}`);
report(JSON.stringify(mutants) === JSON.stringify(again), 'the same seed makes the same mutants');

const counts = judge(EXAMPLES, mutants);
const some = mutants.filter((_, i) => i % OTHERS_STRIDE === 0);
for (const revision of OTHERS) counts.push(...judge(revision, some));
for (const fix of fixes) {
  const decided = counts.filter((count) => count.fix === fix).reduce((sum, count) => sum + count.n, 0);
  report(decided > 0, `fix "${fix.name}" decides ${decided} mutants: ${fix.reason}`);
}
console.log(`1..${n}`);
