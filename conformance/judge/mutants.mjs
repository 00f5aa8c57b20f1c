// conformance/judge/mutants.mjs - many nearly right messages out of a few right ones.
//
// Of each example: every place is left out, renamed and replaced by each odd value, every object
// gets a stranger, every array loses and repeats members; then seeded pairs of such steps. The same
// examples and seed give the same mutants. Duplicate members are not made: JSON.parse, on which the
// outside judge stands, cannot see them.

// What JSON.stringify would not write is a marked string until the text is made.
const RAW = '\u0001raw:';
const raw = (text) => RAW + text;

const ODD_VALUES = [
  null, true, false, 0, 1, -1, 1.5, 100, 9007199254740991, '', 'x', 'text', 'form', 'https://example.com/a?b#c',
  'not a uri', 'aGk=', 'a{b}', 'a{', [], [null], ['x'], [1], {}, { x: null }, { x: { y: 1.5 } }, [{}], [[]],
  raw('1.0'), raw('1e2'), raw('-0'), raw('12345678901234567890123'), raw('1e400'), raw('0.1e1'),
];
// Values that decide which alternative of a union is meant, or that an enum may hold.
const TAGS = [
  'image', 'audio', 'resource', 'resource_link', 'tool_use', 'tool_result', 'url', 'accept', 'user', 'assistant',
  'public', 'private', 'complete', 'input_required', 'ref/prompt', 'ref/resource', 'object', 'array', 'string',
  'number', 'integer', 'boolean', 'debug', 'email', '2.0', 'ping', 'tools/call', 'roots/list', 'none', 'auto',
];

export function makeRandom(seed) {
  let state = seed >>> 0;
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % n;
  };
}

export function textOf(value) {
  return JSON.stringify(value).replace(/"\\u0001raw:([^"]*)"/g, '$1');
}

function* places(value, path = []) {
  if (path.length) yield path;
  if (value && typeof value === 'object')
    for (const key of Object.keys(value)) yield* places(value[key], [...path, key]);
}

function parentOf(root, path) {
  return path.slice(0, -1).reduce((at, key) => at[key], root);
}

// A step takes a copy of the example, changes it and returns it.
const remove = (path) => (root) => {
  const parent = parentOf(root, path);
  if (Array.isArray(parent)) parent.splice(path.at(-1), 1);
  else delete parent[path.at(-1)];
  return root;
};
const replace = (path, value) => (root) => {
  if (!path.length) return structuredClone(value);
  parentOf(root, path)[path.at(-1)] = structuredClone(value);
  return root;
};
const rename = (path) => (root) => {
  const parent = parentOf(root, path);
  if (Array.isArray(parent)) parent.push(structuredClone(parent[path.at(-1)]));
  else {
    parent[path.at(-1) + 'X'] = parent[path.at(-1)];
    delete parent[path.at(-1)];
  }
  return root;
};
const wrap = (path) => (root) => replace(path, [path.reduce((at, key) => at[key], root)])(root);
const addStranger = (path) => (root) => {
  const at = path.reduce((value, key) => value[key], root);
  if (Array.isArray(at)) at.push({ stranger: null });
  else if (at && typeof at === 'object') at.stranger = { deep: [null, 1.5] };
  return root;
};

function stepsOf(example) {
  const steps = [addStranger([]), ...ODD_VALUES.map((value) => replace([], value))];
  for (const path of places(example)) {
    const value = path.reduce((at, key) => at[key], example);
    steps.push(remove(path), rename(path), wrap(path));
    if (value && typeof value === 'object') steps.push(addStranger(path));
    for (const odd of ODD_VALUES) steps.push(replace(path, odd));
    if (typeof value === 'string') for (const tag of TAGS) steps.push(replace(path, tag));
  }
  return steps;
}

// A later step may find that an earlier one took its place away.
function applySteps(example, steps) {
  let value = structuredClone(example);
  for (const step of steps) {
    try {
      value = step(value);
    } catch {
      return undefined;
    }
  }
  return value;
}

// A seeded choice of at most `limit`, in their order.
function choose(plans, limit, random) {
  if (plans.length <= limit) return plans;
  const picked = new Set();
  while (picked.size < limit) picked.add(random(plans.length));
  return plans.filter((_, i) => picked.has(i));
}

// examples: [{definition, name, value}]; of each at most `limit` plain steps and `pairs` pairs. Yields
// {definition, name, text}, each text of a definition once.
export function* makeMutants(examples, seed, { pairs, limit = Infinity }) {
  const random = makeRandom(seed);
  const seen = new Set();
  for (const example of examples) {
    const steps = stepsOf(example.value);
    const plans = choose(steps.map((step) => [step]), limit, random);
    for (let i = 0; i < pairs; i++) plans.push([steps[random(steps.length)], steps[random(steps.length)]]);
    for (const plan of plans) {
      const value = applySteps(example.value, plan);
      if (value === undefined) continue;
      const text = textOf(value);
      const key = example.definition + '\t' + text;
      if (seen.has(key)) continue;
      seen.add(key);
      yield { definition: example.definition, name: example.name, text };
    }
  }
}
