#!/usr/bin/env node
// conformance/test_judges.mjs - the judges of recorded traffic notice what they are there for: a made-up
// session that is right passes, and each way of spoiling it is refused by its reason.

import assert from 'node:assert/strict';
import { EventReader } from './event_stream.mjs';
import { Judge } from './schema.mjs';
import { done, test } from './tap.mjs';
import { judgeExchanges } from './traffic.mjs';

const judge = new Judge('2025-06-18');
const session = { 'mcp-session-id': 's' };
const event = (id, message) => ({ id, data: JSON.stringify({ jsonrpc: '2.0', ...message }) });
const post = (message, response) => ({ method: 'POST', request: { headers: session,
  text: JSON.stringify({ jsonrpc: '2.0', ...message }) }, response: { status: 200, headers: {}, ...response } });
const json = (message) => ({ headers: { 'content-type': 'application/json', ...session }, text: JSON.stringify({ jsonrpc: '2.0', ...message }) });
const stream = (events) => ({ headers: { 'content-type': 'text/event-stream' }, text: '', events, ended: true });
const get = (events, after) => ({ method: 'GET', request: { headers: { ...session, ...(after && { 'last-event-id': after }) }, text: '' },
  response: { status: 200, ...stream(events) } });

const step = (progress) => ({ method: 'notifications/progress', params: { progressToken: 1, progress } });
const answer = { id: 1, result: { content: [] } };
const question = (id) => ({ id, method: 'roots/list' });
const updated = (uri) => ({ method: 'notifications/resources/updated', params: { uri } });
const changed = { method: 'notifications/tools/list_changed' };

// Fresh each time: [initialize, a call whose stream broke after two events, its resumption, a GET stream, a subscription].
const right = () => [
  post({ id: 0, method: 'initialize', params: {} },
    json({ id: 0, result: { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'x', version: '1' } } })),
  post({ id: 1, method: 'tools/call', params: { name: 't', _meta: { progressToken: 1 } } },
    stream([event('a.1', step(1)), event('a.2', question('q'))])),
  get([event('a.2', question('q')), event('a.3', step(2)), event('a.4', answer)], 'a.1'),
  get([event('b.1', changed), event('b.2', updated('x:1'))]),
  post({ id: 2, method: 'resources/subscribe', params: { uri: 'x:1' } }, json({ id: 2, result: {} })),
  post({ method: 'notifications/cancelled', params: { requestId: 9 } }, { status: 202, text: '' }),
];

const spoiled = {
  'a result of another shape': [(all) => { all[2].response.events[2] = event('a.4', { id: 1, result: {} }); }, /CallToolResult/],
  'a notification of another shape': [(all) => { all[1].response.events[0] = event('a.1', step('1')); }, /ProgressNotification/],
  'a notification that clients send': [(all) => { all[3].response.events[0] = event('b.1', { method: 'notifications/initialized' }); }, /no server/],
  'a request that clients send': [(all) => { all[1].response.events[1] = event('a.2', { id: 'q', method: 'tools/list' }); all[2].response.events.shift(); }, /no server/],
  'a second answer': [(all) => all[2].response.events.push(event('a.5', answer)), /second answer/],
  'an answer to nothing': [(all) => all[2].response.events.push(event('a.5', { ...answer, id: '1' })), /nothing was asked/],
  'T-23 an answer on the GET stream': [(all) => all[3].response.events.push(event('b.3', all[2].response.events.pop() && answer)), /T-23/],
  'T-12 a changed list on the stream of a call': [(all) => all[2].response.events.splice(1, 0, event('a.9', changed)), /T-12/],
  'G-03 progress that stands still': [(all) => { all[2].response.events[1] = event('a.3', step(1)); }, /G-03/],
  'G-07 progress after the answer': [(all) => all[2].response.events.push(event('a.5', step(3))), /G-07/],
  'G-09 progress on the GET stream': [(all) => all[3].response.events.push(event('b.3', step(3))), /G-0[79]/],
  'G-01 a token of nobody': [(all) => { all[3].response.events[0] = event('b.1', { ...step(1), params: { progressToken: '1', progress: 1 } }); }, /G-01/],
  'X-02 an id of two events': [(all) => { all[2].response.events[0] = event('a.2', step(2)); }, /X-02/],
  'X-04 an event of another stream': [(all) => all[3].response.events.push(event('a.1', step(1))), /X-04/],
  'X-07 a stream for an unknown event': [(all) => { all[2].request.headers['last-event-id'] = 'z.1'; }, /X-07/],
  'C-01 a cancellation of nothing': [(all) => { all[3].response.events[0] = event('b.1', { method: 'notifications/cancelled', params: { requestId: 1 } }); }, /C-01/],
  'a question with a used id': [(all) => { all[2].response.events[1] = event('a.3', question('q')); }, /second request/],
  'T-13 a stream that ends without an answer': [(all) => all[2].response.events.pop(), /T-13/],
  'RS-11 an update of what nobody subscribed to': [(all) => all[3].response.events.push(event('b.3', updated('x:2'))), /RS-11/],
  'RS-11 an update though the subscription was refused': [(all) => Object.assign(all[4].response, json({ id: 2, error: { code: -32002, message: 'x' } })), /RS-11/],
  'T-12 an update on the stream of a call': [(all) => all[2].response.events.splice(1, 0, event('a.9', updated('x:1'))), /T-12/],
  'an event without id': [(all) => { delete all[3].response.events[0].id; }, /without id/],
  'T-08 a notification that is answered': [(all) => Object.assign(all[5].response, { status: 200 }), /T-08/],
};

await test('a session that is right', () => {
  const { judged, methods, sent } = judgeExchanges(judge, right());
  assert.equal(judged, 8);
  assert.deepEqual([...methods], ['initialize', 'tools/call', 'resources/subscribe']);
  assert.deepEqual([...sent].sort(), ['notifications/progress', 'notifications/resources/updated', 'notifications/tools/list_changed', 'roots/list']);
});
await test('T-13 no answer is owed to who cancelled, or ended the session', () => {
  for (const last of [post({ method: 'notifications/cancelled', params: { requestId: 1 } }, { status: 202, text: '' }),
    { method: 'DELETE', request: { headers: session, text: '' }, response: { status: 204, headers: {}, text: '' } }]) {
    const exchanges = [...right(), last];
    exchanges[2].response.events.pop();
    judgeExchanges(judge, exchanges);
  }
});
for (const [name, [spoil, why]] of Object.entries(spoiled)) {
  await test(`refused: ${name}`, () => {
    const exchanges = right();
    spoil(exchanges);
    assert.throws(() => judgeExchanges(judge, exchanges), why);
  });
}
await test('T-27 events are read whatever the pieces they come in', () => {
  const text = ': hi\nid: a.1\ndata: {"x":"é"}\n\nid: a.2\r\nretry: 500\r\ndata: \r\n\r\ndata: 1\ndata: 2\n\n';
  const bytes = Buffer.from(text);
  for (let size = 1; size <= bytes.length; size += 1) {
    const events = [];
    const reader = new EventReader((one) => events.push(one));
    for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
    assert.deepEqual(events, [{ id: 'a.1', data: '{"x":"é"}' }, { id: 'a.2', retry: 500, data: '' }, { data: '1\n2' }]);
    assert.deepEqual([reader.comments, reader.unfinished], [1, false]);
  }
});
done();
