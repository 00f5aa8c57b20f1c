// conformance/recorder.mjs - an HTTP proxy in front of the server that keeps every exchange.
//
// An exchange is {method, path, request: {headers, text}, response: {status, headers, text}}. Nothing is
// changed on the way, so what clients see is what the server sent; unless a test sets `alter`, a function
// of the answer's text, to see whether a client notices.

import http from 'node:http';

async function textOf(stream) {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}

function forward(port, request, body) {
  return new Promise((resolve, reject) => {
    const onward = http.request({ host: '127.0.0.1', port, method: request.method, path: request.url,
      headers: { ...request.headers, host: `127.0.0.1:${port}` }, agent: false }, async (answer) => {
      try {
        resolve({ status: answer.statusCode, headers: answer.headers, raw: answer.rawHeaders,
          bytes: await textOf(answer) });
      } catch (error) {
        reject(error);
      }
    });
    onward.on('error', reject);
    onward.end(body);
  });
}

// Returns {url, exchanges, alter, close()}.
export async function startRecorder(port) {
  const exchanges = [];
  const recorder = { exchanges, alter: null };
  const server = http.createServer(async (request, response) => {
    const body = await textOf(request);
    const exchange = { method: request.method, path: request.url,
      request: { headers: request.headers, text: body.toString('utf8') } };
    exchanges.push(exchange);
    try {
      const answer = await forward(port, request, body);
      exchange.response = { status: answer.status, headers: answer.headers,
        text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(answer.bytes) };
      const { 'transfer-encoding': chunked, connection, ...headers } = answer.headers;
      const sent = recorder.alter ? Buffer.from(recorder.alter(exchange.response.text)) : answer.bytes;
      if (recorder.alter) headers['content-length'] = sent.length;
      response.writeHead(answer.status, headers).end(sent);
    } catch (error) {
      exchange.failed = `${error.code ?? ''} ${error}`;
      console.log(`# recorder: ${exchange.request.text.slice(0, 200)}: ${exchange.failed}`);
      response.destroy();
    }
  });
  server.keepAliveTimeout = 0; // a client in this process may be busy for long between two requests
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  recorder.url = `http://127.0.0.1:${server.address().port}/mcp`;
  recorder.close = () => new Promise((closed) => {
    server.closeAllConnections();
    server.close(closed);
  });
  return recorder;
}
