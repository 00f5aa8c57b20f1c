// conformance/tables.mjs - the tables whose tools are judged, and what the tools are called with.
//
// Per table (by the name that its tools carry): `definition` for `tenon table create`, absent for the
// sample tables, which the server starts with; `rows` to create; `changes`, merge patches that are
// applied to the first row one after the other; `where` and `order_by` of searches. Between them the
// schemas use every way to say what a row may be: nested objects, arrays, tuples, enums, formats, $defs,
// nullable and conditional attributes, both dialects, indexes, and attributes that the server fills. (No
// `items` beside `prefixItems`: the SDK reads every schema as draft-07, where that means something else.)

const line = { type: 'object', additionalProperties: false, required: ['sku', 'quantity', 'price'], properties: {
  sku: { type: 'string', pattern: '^[A-Z]{3}-[0-9]+$' }, quantity: { type: 'integer', minimum: 1, maximum: 1000 },
  price: { type: 'number', exclusiveMinimum: 0 }, note: { type: ['string', 'null'] } } };
const address = { type: 'object', required: ['city', 'country'], properties: {
  street: { type: 'string' }, city: { type: 'string', minLength: 1 }, country: { $ref: '#/$defs/country' },
  place: { type: 'array', prefixItems: [{ type: 'number', minimum: -90, maximum: 90 },
    { type: 'number', minimum: -180, maximum: 180 }], maxItems: 2 } } };

const orders = {
  title: 'Orders', description: 'Orders with their lines.', primaryKey: 'id',
  indexes: [{ on: ['customer', '-placed'] }, { name: 'by_city', on: ['address.city'] }],
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object', additionalProperties: false,
    required: ['customer', 'placed', 'state', 'lines'],
    $defs: { line, country: { type: 'string', pattern: '^[A-Z]{2}$' } },
    properties: {
      id: { type: 'integer', minimum: 1 },
      customer: { type: 'string', minLength: 1, maxLength: 200 },
      email: { type: 'string', format: 'email' },
      placed: { type: 'string', format: 'date-time' },
      due: { type: ['string', 'null'], format: 'date' },
      token: { type: 'string', format: 'uuid' },
      link: { type: 'string', format: 'uri' },
      seen_from: { anyOf: [{ type: 'string', format: 'ipv4' }, { type: 'string', format: 'ipv6' }] },
      state: { enum: ['new', 'paid', 'sent', null] },
      kind: { const: 'order' },
      total: { type: 'number', minimum: 0, multipleOf: 0.5 },
      express: { type: 'boolean' },
      tags: { type: 'array', items: { type: 'string' }, uniqueItems: true, maxItems: 5 },
      address,
      lines: { type: 'array', minItems: 1, items: { $ref: '#/$defs/line' } },
      payment: { oneOf: [
        { type: 'object', required: ['card'], properties: { card: { type: 'string' } }, additionalProperties: false },
        { type: 'object', required: ['iban'], properties: { iban: { type: 'string' } }, additionalProperties: false },
        { type: 'null' }] },
      extra: { type: 'object', patternProperties: { '^x_': { type: 'integer' } }, additionalProperties: false,
        propertyNames: { maxLength: 8 }, maxProperties: 3 },
      anything: true, never: false,
    },
    dependentRequired: { express: ['address'] },
    if: { properties: { state: { const: 'paid' } } },
    then: { required: ['payment'] },
  },
};
const full = {
  id: 1, customer: 'Ann "A" \\ Bell – 漢字 😀', email: 'ann@mail.example', placed: '2025-01-31T10:00:00.5Z', due: null,
  token: '123e4567-e89b-42d3-a456-426614174000', link: 'https://shop.example/o/1?x=%20', seen_from: '2001:db8::1',
  state: 'paid', kind: 'order', total: 12.5, express: true, tags: ['old', 'small', ''],
  address: { street: 'One\nTwo', city: 'Lyon', country: 'FR', place: [45.75, -4.85], floor: 3 },
  lines: [{ sku: 'ABC-1', quantity: 2, price: 0.1, note: null }, { sku: 'XYZ-22', quantity: 1, price: 1e-7 }],
  payment: { iban: 'FR76' }, extra: { x_a: 1, x_b: -2 }, anything: [1, { deep: [null, [true]] }],
};
const small = { id: 2, customer: 'B', placed: '2025-02-01T00:00:00+02:00', state: null,
  lines: [{ sku: 'ABC-1', quantity: 1, price: 3 }] };

// the older dialect, its words for the same things, a text key with characters that URIs and JSON escape
const events = {
  primaryKey: 'key',
  schema: {
    $schema: 'http://json-schema.org/draft-07/schema#', $id: 'https://example.org/event',
    type: 'object', required: ['at'],
    definitions: { point: { type: 'array', items: [{ type: 'number' }, { type: 'number' }], additionalItems: false } },
    properties: {
      key: { type: 'string', minLength: 1 },
      at: { type: 'string', format: 'date' },
      where: { $ref: '#/definitions/point' },
      level: { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 10 },
      parts: { type: 'array', contains: { type: 'string' }, items: { type: ['string', 'integer'] } },
    },
    additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
    dependencies: { where: ['level'] },
  },
};

// what the server fills in, and what it keeps from clients
const people = {
  title: 'People', primaryKey: 'id', indexed: ['born'], indexes: [{ name: 'by_mail', on: ['mail'], unique: true }],
  attributes: { id: { default: 'uuid' }, secret: { hidden: true }, born: { nullable: true },
    made: { role: 'createdTime' }, changed: { role: 'updatedTime' }, revision: { role: 'version' },
    state: { default: { value: 'new' } }, since: { default: 'today' }, seen: { default: 'now' } },
  schema: {
    type: 'object', additionalProperties: false, required: ['mail', 'state', 'since'],
    properties: {
      id: { type: 'string', format: 'uuid' }, mail: { type: 'string', format: 'email' }, born: { type: 'integer' },
      secret: { type: 'string' }, made: { type: 'string', format: 'date-time' }, changed: { type: 'integer' },
      revision: { type: 'integer' }, state: { enum: ['new', 'old'] }, since: { type: 'string', format: 'date' },
      seen: { type: 'string', format: 'date-time' },
    },
  },
};

export const tables = {
  people: {
    definition: people,
    hidden: ['secret'],
    rows: [{ mail: 'a@mail.example', born: null }, { mail: 'b@mail.example', born: 1901, state: 'old' },
      { id: '123e4567-e89b-42d3-a456-426614174000', mail: 'c@mail.example', since: '2024-02-29' }],
    changes: [{ born: 1950 }, { born: null }, { state: 'old', seen: null }],
    where: ['born is null', "made > datetime '2025-01-01T00:00:00Z' and state in ('new')", { mail: 'b@mail.example' },
      'changed > 0', "since >= date '2024-01-01'"],
    order_by: [['-born', 'mail'], ['made', 'id'], ['state', '-since']],
  },
  orders: {
    definition: orders,
    rows: [full, small, { ...small, id: 9007199254740991, state: 'new', seen_from: '127.0.0.1', payment: null }],
    changes: [{ due: '2025-03-01' }, { payment: { iban: null, card: '4111' } }, { tags: [], extra: null },
      { state: 'sent', payment: null }, { anything: { nested: { a: 1 } } }, { address: { place: null, street: 'Three' } }],
    where: ["state = 'paid' or total > 10", "address.city like 'L%' and not express = false", 'due is null',
      "placed between datetime '2025-01-01T00:00:00Z' and datetime '2025-12-31T00:00:00Z'", 'id in (1, 2)',
      { state: 'paid' }, { id: 2 }, 'id < 0'],
    order_by: [['-total'], ['state', '-id'], ['address.city'], ['customer', 'placed']],
  },
  events: {
    definition: events,
    rows: [{ key: 'a/b c%20"ü', at: '2025-01-01', where: [1, 2.5], level: 9, parts: ['x', 1], more: null },
      { key: ' ', at: '2024-02-29', color: 'red', weight: 0.25, done: false }],
    changes: [{ parts: ['y'] }, { more: 1 }, { where: null, level: null }],
    where: ["at > date '2024-12-31'", { key: ' ' }, 'level between 1 and 9'],
    order_by: [['at'], ['-level', 'key']],
  },
  countries: {
    rows: [{ code: 'X1', code3: 'XX1', numeric: '999', name: 'Test – 漢字 😀' }],
    changes: [{ flag: '🏳' }, { flag: null }],
    where: [{ name: 'Italy' }, "code between 'A' and 'C'", "official_name is null and name like '%an%'"],
    order_by: [['-name'], ['numeric']],
  },
  currencies: {
    rows: [{ code: 'XX1', numeric: '998', name: 'Test' }],
    changes: [{ name: 'Test 2' }],
    where: [{ name: 'Euro' }, "numeric >= '900'"],
    order_by: [['name']],
  },
  languages: {
    rows: [{ code: 'xx1', name: 'Test', scope: 'I', type: 'C' }],
    changes: [{ scope: 'M' }],
    where: [{ type: 'C' }, "type in ('A', 'S') and scope != 'I'", 'code2 is not null'],
    order_by: [['-name'], ['scope', '-type']],
  },
  subdivisions: {
    rows: [{ code: 'XX-1', country: 'XX', name: 'Test', type: 'Province' }],
    changes: [{ parent: 'XX-0' }],
    where: [{ country: 'IT' }, "country = 'FR' and parent is not null"],
    order_by: [['country', '-name']],
  },
};
