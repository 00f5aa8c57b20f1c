// conformance/recorder.mjs - an HTTP proxy in front of the server that keeps every exchange.
//
// An exchange is {method, path, request: {headers, text}, response: {status, headers, text}}. An answer
// that is an event stream is passed on byte by byte as it comes; its `response` has `events` (each
// {id, name, data, retry}) instead of a text, and `ended` once the server has ended it. `left`: the client
// went away before there was an answer; `failed`: the server broke it. Nothing is changed on the way, so what clients see is what the server sent; unless a test sets `alter`, a function of a JSON
// answer's text, to see whether a client notices, or breaks open streams with `cut`.

import http from 'node:http';
import { EventReader } from './event_stream.mjs';

async function textOf(stream) {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}

function ask(port, request, response, body) {
  return new Promise((resolve, reject) => {
    const onward = http.request({ host: '127.0.0.1', port, method: request.method, path: request.url,
      headers: { ...request.headers, host: `127.0.0.1:${port}` }, agent: false }, resolve);
    onward.on('error', reject);
    response.once('close', () => onward.destroy()); // a client that leaves is to be seen by the server
    onward.end(body);
  });
}

const isStream = (answer) => answer.headers['content-type']?.startsWith('text/event-stream') === true;

class Recorder {
  constructor(port) {
    this.port = port;
    this.exchanges = [];
    this.alter = null;
    this.open = new Map(); // exchange -> function that breaks its stream
  }

  // Breaks the open streams whose exchange `which` accepts: both sides see a lost connection. Returns how many.
  cut(which = () => true) {
    const found = [...this.open].filter(([exchange]) => which(exchange));
    for (const [exchange, breakIt] of found) {
      exchange.cut = true;
      breakIt();
    }
    return found.length;
  }

  async pass(request, response) {
    const body = await textOf(request);
    const exchange = { method: request.method, path: request.url,
      request: { headers: request.headers, text: body.toString('utf8') } };
    this.exchanges.push(exchange);
    try {
      const answer = await ask(this.port, request, response, body);
      await (isStream(answer) ? this.passStream(exchange, answer, response) : this.passText(exchange, answer, response));
    } catch (error) {
      exchange.left = response.closed && !exchange.response;
      if (exchange.left) return;
      exchange.failed = `${error.code ?? ''} ${error}`;
      console.log(`# recorder: ${exchange.request.text.slice(0, 200)}: ${exchange.failed}`);
      response.destroy();
    }
  }

  async passText(exchange, answer, response) {
    const bytes = await textOf(answer);
    exchange.response = { status: answer.statusCode, headers: answer.headers,
      text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
    const { 'transfer-encoding': chunked, connection, ...headers } = answer.headers;
    const sent = this.alter ? Buffer.from(this.alter(exchange.response.text)) : bytes;
    if (this.alter) headers['content-length'] = sent.length;
    response.writeHead(answer.statusCode, headers).end(sent);
  }

  passStream(exchange, answer, response) {
    const record = { status: answer.statusCode, headers: answer.headers, text: '', events: [], ended: false };
    exchange.response = record;
    const reader = new EventReader((event) => record.events.push(event));
    const { 'transfer-encoding': chunked, connection, ...headers } = answer.headers;
    response.writeHead(answer.statusCode, headers);
    response.flushHeaders();
    return new Promise((over, failed) => {
      const stop = (wrong) => {
        if (!this.open.delete(exchange)) return;
        record.comments = reader.comments;
        answer.destroy();
        if (wrong) failed(wrong);
        else over();
      };
      this.open.set(exchange, () => {
        response.destroy();
        stop();
      });
      response.on('close', () => stop());
      answer.on('data', (bytes) => {
        try {
          reader.push(bytes);
          response.write(bytes);
        } catch (error) {
          stop(error);
        }
      });
      answer.on('end', () => {
        record.ended = true;
        response.end();
        stop(reader.unfinished ? new Error('the event stream ended within an event') : null);
      });
      answer.on('error', (error) => {
        response.destroy();
        stop(error);
      });
    });
  }
}

// Returns a Recorder with url and close().
export async function startRecorder(port) {
  const recorder = new Recorder(port);
  const server = http.createServer((request, response) => recorder.pass(request, response));
  server.keepAliveTimeout = 0; // a client in this process may be busy for long between two requests
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  recorder.url = `http://127.0.0.1:${server.address().port}/mcp`;
  recorder.close = () => new Promise((closed) => {
    recorder.cut();
    server.closeAllConnections();
    server.close(closed);
  });
  return recorder;
}
