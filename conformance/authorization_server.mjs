// conformance/authorization_server.mjs - an OAuth 2.1 authorization server for tests, on 127.0.0.1: metadata
// (RFC 8414), dynamic registration (RFC 7591), authorization with PKCE that asks nobody, tokens and refresh
// tokens, keys (by https). It signs as the test tells it to: `rules` may spoil a token, `isDown` the keys.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { join } from 'node:path';

const base64url = (value) => Buffer.from(value).toString('base64url');
const secret = () => randomBytes(24).toString('base64url');

// A key pair with its name; ES256 or RS256.
function makeKey(alg) {
  const pair = alg === 'ES256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('rsa', { modulusLength: 2048 });
  const kid = secret();
  return { alg, kid, pair, jwk: { ...pair.publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg } };
}

function sign({ alg, kid, pair }, claims) {
  const text = `${base64url(JSON.stringify({ alg, kid, typ: 'at+jwt' }))}.${base64url(JSON.stringify(claims))}`;
  const signature = createSign('sha256').update(text).sign({ key: pair.privateKey, dsaEncoding: 'ieee-p1363' });
  return `${text}.${base64url(signature)}`;
}

// A pair for this machine that is signed by itself.
function makeCertificate(file) {
  const key = `${file}.key`;
  const made = spawnSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2',
    '-subj', '/CN=issuer', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', file], { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  return { key: readFileSync(key), cert: readFileSync(file) };
}

async function readForm(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}

class AuthorizationServer {
  clients = new Map();

  codes = new Map();

  refreshes = new Map(); // good for ever: a client's stream and its request may refresh at once

  servers = [];

  seen = []; // METHOD PATH of each request

  // What the next tokens are like: `audience` null: the resource that was asked for; `scope` null: as asked.
  rules = { audience: null, scope: null, lifetimeS: 300, issuer: null };

  isDown = false;

  clockMs = 0; // ahead of the real one

  key = makeKey('ES256');

  published = [this.key];

  // From now on tokens are signed with another key. The old one is withdrawn.
  rotate(alg = 'ES256') {
    this.key = makeKey(alg);
    this.published = [this.key];
  }

  nowS() {
    return Math.floor((Date.now() + this.clockMs) / 1000);
  }

  makeToken({ resource, scope, subject = 'ann' }) {
    const now = this.nowS();
    return sign(this.key, { iss: this.rules.issuer ?? this.url, aud: this.rules.audience ?? resource, sub: subject, iat: now,
      exp: now + this.rules.lifetimeS, scope: this.rules.scope ?? scope, client_id: 'x', jti: secret() });
  }

  metadata() {
    return { issuer: this.url, authorization_endpoint: `${this.url}/authorize`, token_endpoint: `${this.url}/token`,
      registration_endpoint: `${this.url}/register`, jwks_uri: this.jwksUrl, response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'], code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'] };
  }

  register(text) {
    const wanted = JSON.parse(text);
    for (const uri of wanted.redirect_uris) assert.equal(new URL(uri).hostname, '127.0.0.1');
    const client = { ...wanted, client_id: secret(), client_id_issued_at: this.nowS(), token_endpoint_auth_method: 'none' };
    this.clients.set(client.client_id, client);
    return client;
  }

  // Where the browser is sent to: the client's redirect_uri with a code.
  authorize(query) {
    const client = this.clients.get(query.get('client_id'));
    const redirect = query.get('redirect_uri');
    assert.ok(client?.redirect_uris.includes(redirect), 'an unknown redirect_uri');
    assert.equal(query.get('response_type'), 'code');
    assert.equal(query.get('code_challenge_method'), 'S256');
    const code = secret();
    this.codes.set(code, { client: client.client_id, redirect, challenge: query.get('code_challenge'), resource: query.get('resource'),
      scope: query.get('scope') ?? '' });
    const to = new URL(redirect);
    to.searchParams.set('code', code);
    if (query.get('state')) to.searchParams.set('state', query.get('state'));
    return to.href;
  }

  grantOf(form) {
    if (form.get('grant_type') === 'refresh_token') {
      return this.refreshes.get(form.get('refresh_token'));
    }
    const grant = this.codes.get(form.get('code'));
    this.codes.delete(form.get('code'));
    const challenge = createHash('sha256').update(form.get('code_verifier') ?? '').digest('base64url');
    return grant && grant.challenge === challenge && grant.redirect === form.get('redirect_uri') ? grant : null;
  }

  token(text) {
    const form = new URLSearchParams(text);
    const grant = this.grantOf(form);
    if (!grant || grant.client !== form.get('client_id') || grant.resource !== form.get('resource')) return null;
    const refresh = secret();
    this.refreshes.set(refresh, grant);
    return { access_token: this.makeToken(grant), token_type: 'Bearer', expires_in: this.rules.lifetimeS, refresh_token: refresh,
      scope: grant.scope };
  }

  async answer(request, response) {
    const url = new URL(request.url, this.url);
    const say = (status, body, headers = {}) => {
      response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
      response.end(body === null ? '' : JSON.stringify(body));
    };
    this.seen.push(`${request.method} ${url.pathname}`);
    switch (`${request.method} ${url.pathname}`) {
      case 'GET /.well-known/oauth-authorization-server': return say(200, this.metadata());
      case 'GET /jwks': return this.isDown ? request.socket.destroy() : say(200, { keys: this.published.map(({ jwk }) => jwk) });
      case 'POST /register': return say(201, this.register(await readForm(request)));
      case 'GET /authorize': return say(302, null, { Location: this.authorize(url.searchParams) });
      case 'POST /token': {
        const made = this.token(await readForm(request));
        return made ? say(200, made) : say(400, { error: 'invalid_grant' });
      }
      default: return say(404, { error: 'not_found' });
    }
  }

  count(what) {
    return this.seen.filter((line) => line === what).length;
  }

  async listen(server) {
    await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
    this.servers.push(server);
    return server.address().port;
  }

  // `folder` gets the certificate, which whoever fetches the keys has to trust.
  async start(folder) {
    const answer = (request, response) => {
      this.answer(request, response).catch((error) => {
        console.log(`# authorization server: ${error.message}`);
        response.writeHead(400).end();
      });
    };
    this.certificate = join(folder, 'issuer.pem');
    this.url = `http://127.0.0.1:${await this.listen(createServer(answer))}`;
    this.jwksUrl = `https://127.0.0.1:${await this.listen(createTlsServer(makeCertificate(this.certificate), answer))}/jwks`;
    return this;
  }

  async stop() {
    for (const server of this.servers) {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    }
  }
}

export const startAuthorizationServer = (folder) => new AuthorizationServer().start(folder);

// What the SDK's client keeps of its user's authorizations, and a user who agrees at once.
export class Provider {
  redirectUrl = 'http://127.0.0.1:1/callback';

  clientMetadata = { client_name: 'conformance', redirect_uris: [this.redirectUrl], grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'], token_endpoint_auth_method: 'none' };

  code = null; // what the redirect brought

  asked = []; // URLs of authorization

  clientInformation() { return this.information; }

  saveClientInformation(information) { this.information = information; }

  tokens() { return this.saved; }

  saveTokens(tokens) { this.saved = tokens; }

  saveCodeVerifier(verifier) { this.verifier = verifier; }

  codeVerifier() { return this.verifier; }

  async redirectToAuthorization(url) {
    this.asked.push(url);
    const answer = await fetch(url, { redirect: 'manual' });
    this.code = new URL(answer.headers.get('location')).searchParams.get('code');
  }
}
