// conformance/traffic.mjs - judges whole sessions: every message of the server by the schema (schema.mjs),
// and what messages must keep between each other, whatever the client was.
//
// A session's messages come from origins: a POST, a GET that opened a stream, or stdio's one pipe. A GET
// with Last-Event-ID goes on with the origin of that event, and an event that is seen again there is the
// same event, not a second message.

import assert from 'node:assert/strict';

const show = (message) => JSON.stringify(message).slice(0, 300);
const idKey = (id) => JSON.stringify(id); // 1 and "1" are two ids

// One session. `asked` and `answered` take what the client sent, `said` what the server sent.
export class Session {
  constructor(judge) {
    this.judge = judge;
    this.requests = new Map(); // of the client, by id: {method, origin, done}
    this.tokens = new Map(); // of the client, by progress token: {request, last}
    this.questions = new Map(); // of the server, by id: its request
    this.events = new Map(); // by id: {origin, data}
    this.subscribed = new Set(); // URIs, at any time
    this.updated = new Set(); // URIs
    this.cancelled = new Set(); // ids of requests that the client cancelled
    this.deleted = false; // the client ended the session
    this.judged = 0;
    this.methods = new Set(); // that got a result
    this.sent = new Set(); // of requests and notifications of the server
  }

  asked(message, origin) {
    const request = { method: message.method, origin, done: false };
    this.requests.set(idKey(message.id), request);
    request.message = message;
    const token = message.params?._meta?.progressToken;
    if (token !== undefined) this.tokens.set(idKey(token), { request, last: -Infinity });
  }

  // What the client said besides requests.
  told(message) {
    if (message.method === 'notifications/cancelled') this.cancelled.add(idKey(message.params?.requestId));
  }

  // At the end: a stream that the server ended itself owes its answer, unless the client wanted none; and
  // only what was subscribed to is told.
  finish() {
    for (const [id, { origin, done, message }] of this.requests) {
      const owed = !done && !this.deleted && !this.cancelled.has(id) && origin.exchange?.response.ended;
      assert.ok(!owed, `T-13 the stream ended without an answer: ${show(message)}`);
    }
    for (const uri of this.updated) assert.ok(this.subscribed.has(uri), `RS-11 told of ${uri}, to which nobody subscribed`);
  }

  said(message, origin) {
    this.judged += 1;
    if (!('method' in message)) this.answer(message, origin);
    else {
      this.judge.checkSaid(message);
      this.sent.add(message.method);
      if ('id' in message) this.question(message);
      else this.notified(message, origin);
    }
  }

  answer(answer, origin) {
    const request = this.requests.get(idKey(answer.id));
    assert.ok(request, `nothing was asked with this id: ${show(answer)}`);
    assert.ok(!request.done, `a second answer: ${show(answer)}`);
    assert.equal(request.origin, origin, `T-23 an answer on a stream that is not its own: ${show(answer)}`);
    request.done = true;
    this.judge.checkAnswer(answer, request.method);
    if (!('result' in answer)) return;
    this.methods.add(request.method);
    if (request.method === 'resources/subscribe') this.subscribed.add(request.message.params.uri);
  }

  question(request) {
    assert.ok(!this.questions.has(idKey(request.id)), `a second request with this id: ${show(request)}`);
    this.questions.set(idKey(request.id), request);
  }

  notified(message, origin) {
    if (message.method === 'notifications/progress') this.progress(message, origin);
    if (message.method === 'notifications/cancelled') {
      assert.ok(this.questions.has(idKey(message.params.requestId)), `C-01 it cancels what it did not ask: ${show(message)}`);
    }
    if (/list_changed$|resources\/updated$/.test(message.method)) {
      assert.ok(origin.pushes, `T-12 not on the stream of a call: ${show(message)}`);
    }
    if (message.method === 'notifications/resources/updated') this.updated.add(message.params.uri);
  }

  progress(message, origin) {
    const { progressToken, progress } = message.params;
    const token = this.tokens.get(idKey(progressToken));
    assert.ok(token, `G-01 nobody gave this token: ${show(message)}`);
    assert.ok(!token.request.done, `G-07 progress after the answer: ${show(message)}`);
    assert.equal(token.request.origin, origin, `G-09 progress on another stream: ${show(message)}`);
    assert.ok(progress > token.last, `G-03 ${progress} after ${token.last}: ${show(message)}`);
    token.last = progress;
  }

  // One event of a stream of `origin`. Returns whether it is new.
  event({ id, name, data }, origin) {
    if (id !== undefined) {
      const known = this.events.get(id);
      if (known) {
        assert.equal(known.origin, origin, `X-04 event ${id} is of another stream`);
        assert.equal(known.data, data, `X-02 two events have the id ${id}`);
        return;
      }
      this.events.set(id, { origin, data });
    }
    if (!data) return;
    assert.ok(name === undefined || name === 'message', `T-27 an event named ${name}`);
    assert.ok(id !== undefined, `an event without id: ${data.slice(0, 200)}`);
    this.said(JSON.parse(data), origin);
  }
}

const list = (text) => {
  const value = text ? JSON.parse(text) : [];
  return Array.isArray(value) ? value : [value];
};

const kindOf = ({ headers }) => headers['content-type']?.split(';')[0];

function answersOf(response) {
  if (kindOf(response) === 'application/json') return list(response.text);
  return (response.events ?? []).filter((event) => event.data).map((event) => JSON.parse(event.data));
}

function findSession(sessions, judge, exchange, asked) {
  if (asked[0]?.method !== 'initialize') return sessions.get(exchange.request.headers['mcp-session-id']);
  const answer = answersOf(exchange.response).find((message) => message.id === asked[0].id);
  if (answer?.result?.protocolVersion !== judge.revision) return undefined;
  const session = new Session(judge);
  sessions.set(exchange.response.headers['mcp-session-id'], session);
  return session;
}

function originOf(session, exchange) {
  const after = exchange.request.headers['last-event-id'];
  if (exchange.method !== 'GET' || after === undefined) return { exchange, pushes: exchange.method === 'GET' };
  const event = session.events.get(after);
  assert.ok(event, `X-07 a stream for the event ${after}, which this session never had`);
  return event.origin;
}

function judgeExchange(session, exchange, asked) {
  const { response } = exchange;
  if (exchange.method === 'DELETE' && response.status < 300) session.deleted = true;
  const kind = kindOf(response);
  const isRequest = (message) => 'method' in message && 'id' in message;
  if (exchange.method === 'POST' && response.status < 300) {
    const empty = asked.every((message) => !isRequest(message));
    if (empty) assert.deepEqual([response.status, response.text], [202, ''], 'T-08');
    else if (response.status !== 202) assert.ok(['application/json', 'text/event-stream'].includes(kind), `T-10 ${kind}`);
  }
  if (exchange.method === 'GET' && response.status !== 200) return;
  const origin = originOf(session, exchange);
  for (const message of asked) {
    if (isRequest(message)) session.asked(message, origin);
    else session.told(message);
  }
  if (kind === 'application/json') for (const answer of list(response.text)) session.said(answer, origin);
  if (kind === 'text/event-stream') for (const event of response.events) session.event(event, origin);
}

// Judges all messages of the recorded exchanges whose session negotiated the judge's revision.
// Returns {judged, methods, sent}: how many messages of the server, which methods got a result, and which
// requests and notifications the server sent.
export function judgeExchanges(judge, exchanges) {
  const sessions = new Map();
  for (const exchange of exchanges) {
    if (exchange.left || exchange.failed) continue; // which a test of its own is to look at
    assert.ok(exchange.response, `an exchange without answer: ${exchange.request.text.slice(0, 200)}`);
    const asked = exchange.method === 'POST' ? list(exchange.request.text) : [];
    const session = findSession(sessions, judge, exchange, asked);
    if (session) judgeExchange(session, exchange, asked);
  }
  const all = [...sessions.values()];
  for (const session of all) session.finish();
  return {
    sessions: all,
    judged: all.reduce((sum, session) => sum + session.judged, 0),
    methods: new Set(all.flatMap((session) => [...session.methods])),
    sent: new Set(all.flatMap((session) => [...session.sent])),
  };
}
