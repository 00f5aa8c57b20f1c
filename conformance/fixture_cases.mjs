// conformance/fixture_cases.mjs - what the fixture component's plain tools, resources and prompts have to answer,
// once, for every client and transport.

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const wav = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';

const resource = (uri, mimeType, text) => ({ type: 'resource', resource: { uri, mimeType, text } });

// tool -> content
export const contents = {
  test_simple_text: [{ type: 'text', text: 'This is a simple text response for testing.' }],
  test_image_content: [{ type: 'image', data: png, mimeType: 'image/png' }],
  test_audio_content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }],
  test_embedded_resource: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  test_multiple_content_types: [{ type: 'text', text: 'Multiple content types test:' },
    { type: 'image', data: png, mimeType: 'image/png' },
    resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}')],
};

// URI -> contents
export const resources = {
  'test://static-text': [{ uri: 'test://static-text', mimeType: 'text/plain',
    text: 'This is the content of the static text resource.' }],
  'test://static-binary': [{ uri: 'test://static-binary', mimeType: 'image/png', blob: png }],
  'test://template/123/data': [{ uri: 'test://template/123/data', mimeType: 'application/json',
    text: '{"id":"123","templateTest":true,"data":"Data for ID: 123"}' }],
};

const user = (content) => ({ role: 'user', content });
const userText = (text) => user({ type: 'text', text });

// prompt -> what it is asked with, and its messages
export const prompts = {
  test_simple_prompt: [undefined, [userText('This is a simple prompt for testing.')]],
  test_prompt_with_arguments: [{ arg1: 'testValue1', arg2: '{{arg1}} %s "2" 漢' },
    [userText('Prompt with arguments: arg1=\'testValue1\', arg2=\'{{arg1}} %s "2" 漢\'')]],
  test_prompt_with_embedded_resource: [{ resourceUri: 'test://example-resource' },
    [user(resource('test://example-resource', 'text/plain', 'Embedded resource content for testing.')),
      userText('Please process the embedded resource above.')]],
  test_prompt_with_image: [undefined, [user({ type: 'image', data: png, mimeType: 'image/png' }),
    userText('Please analyze the image above.')]],
};

const ofPrompt = { type: 'ref/prompt', name: 'test_prompt_with_arguments' };

// [what it is for, argument, what was typed, values]
export const completions = [
  [ofPrompt, 'arg1', 'par', ['paris', 'park', 'party']],
  [ofPrompt, 'arg1', 'PARK', ['park']],
  [ofPrompt, 'arg2', 'test', ['testValue1', 'testValue2']],
  [ofPrompt, 'arg2', '', ['paris', 'park', 'party', 'testValue1', 'testValue2']],
  [ofPrompt, 'arg1', 'nothing', []],
  [{ type: 'ref/prompt', name: 'test_prompt_with_embedded_resource' }, 'resourceUri', 't', []],
];

export const tools = [...Object.keys(contents), 'test_link', 'test_structured', 'test_tool_with_logging',
  'test_error_handling', 'test_tool_with_progress', 'test_sampling', 'test_elicitation',
  'test_elicitation_sep1034_defaults', 'test_elicitation_sep1330_enums', 'json_schema_2020_12_tool',
  'test_reconnection', 'test_slow', 'test_roots', 'test_touch_watched'];

export const schema2020 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { $anchor: 'addressDef', type: 'object',
    properties: { street: { type: 'string' }, city: { type: 'string' } } } },
  properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] }, phone: { type: 'string' }, email: { type: 'string' } },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

export const logLines = ['Tool execution started', 'Tool processing data', 'Tool execution completed'];

// A table that a test creates to see lists change.
export const newTable = { primaryKey: 'id', schema: { type: 'object', properties: { id: { type: 'string' } } } };

// Waits until `holds` gives something, for `ms` at most, and gives it back.
export async function until(what, holds, ms = 5000) {
  const end = performance.now() + ms;
  for (;;) {
    const got = holds();
    if (got) return got;
    if (performance.now() > end) throw new Error(`waited ${ms} ms: ${what}`);
    await new Promise((wake) => setTimeout(wake, 2));
  }
}

// Every client that can: lists the prompts, gets each, completes. `ask` has list(), get(name, args) and, if the
// client knows it, complete(ref, name, value).
export async function askPrompts(assert, ask) {
  const names = (await ask.list()).prompts.map(({ name }) => name);
  assert.deepEqual(Object.keys(prompts).filter((name) => !names.includes(name)), []);
  for (const [name, [args, messages]] of Object.entries(prompts)) assert.deepEqual((await ask.get(name, args)).messages, messages, name);
  if (!ask.complete) return;
  for (const [ref, name, value, values] of completions) assert.deepEqual((await ask.complete(ref, name, value)).completion.values, values);
}

// The same of the methods of a client of the SDK, v1 or v2.
export const sdkPrompts = (client) => ({
  list: () => client.listPrompts(),
  get: (name, args) => client.getPrompt({ name, ...(args && { arguments: args }) }),
  complete: (ref, name, value) => client.complete({ ref, argument: { name, value } }),
});
