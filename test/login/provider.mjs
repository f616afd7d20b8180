// Authorization servers and the MCP servers that they protect:
//
//   node provider.mjs MODULES
//
// MODULES is the node_modules folder of test/npm. A line "URL …" says where pairs
// are made: POST /pairs with settings returns what Pair of provider_test.go has.
//
//   lifetime  seconds that an access token holds (3600)
//   jwt       access tokens are JWTs, which the server checks on its own (false:
//             opaque ones, about which it asks at each request)
//   dpop      the server takes only tokens that are bound to a key, and says so
//   nonce     proofs need a nonce, at both
//   documents it takes the URL of a client's metadata for its id: that of any
//             https://client.example/?redirect=URI says that it redirects there
//   issuer    is another program's, whose tokens are JWTs of the keys at keys
//
// POST /pairs/N/resource has pair N's authorization server issue tokens for another server:
// {"resource": URL}. Two clients need no person: machine, and bound, whose tokens are bound
// to the certificate in the header X-Test-Certificate. Their secret is that of the pair.
//
// Its client exchanger exchanges tokens (RFC 8693): a JWT of this authorization server for a
// resource of /pairs/N/accept, {"resource": URL}, becomes one of the same subject for another.
//
// POST /pairs/N/forget gives pair N another authorization server, at the same
// address, which knows nothing of the one before. POST /pairs/N/seen returns how many
// registrations, and grants of each type, have succeeded. POST /pairs/N/party gives it a
// client, which comes back to redirect, and issues JWTs for resource.
import { createServer } from 'node:http';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(join(process.argv[2], 'x.js'));
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { Provider, errors } = await load('oidc-provider');
const jose = await load('jose');
const { z } = await load('zod');
const { McpServer, OAuthError, createMcpHandler, requireBearerAuth } = await load('@modelcontextprotocol/server');

console.info = console.warn = () => {}; // oidc-provider's, about settings that are for tests alone

const scope = 'notes';
const resourceServer = { client_id: 'server', client_secret: randomBytes(16).toString('hex') };
const pairs = [];
const json = (status, body, headers = {}) => new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json', ...headers } });

// document is the metadata of a client whose id is a URL.
async function document(pair, id) {
  pair.seen.documents = (pair.seen.documents ?? 0) + 1;
  return json(200, {
    client_id: id, client_name: 'document', redirect_uris: [new URL(id).searchParams.get('redirect')], application_type: 'native',
    grant_types: ['authorization_code'], response_types: ['code'], token_endpoint_auth_method: 'none',
  });
}

const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange';
const accessToken = 'urn:ietf:params:oauth:token-type:access_token';

// exchanged answers a token exchange.
async function exchanged(pair, ctx) {
  const { params, client, provider: p } = ctx.oidc;
  if (params.subject_token_type !== accessToken) throw new errors.InvalidRequest('subject_token_type is another');
  const subject = await jose.jwtVerify(params.subject_token, pair.keys, { issuer: pair.issuer, audience: pair.resources })
    .catch((e) => { throw new errors.InvalidRequest(`subject_token: ${e.message}`); });
  const server = new p.ResourceServer(params.resource, { scope, audience: params.resource, accessTokenTTL: pair.lifetime, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'ES256' } } });
  const token = new p.AccessToken({ accountId: subject.payload.client_id, client, scope, gty: exchange, resourceServer: server });
  token.resourceServer = server;
  ctx.body = { access_token: await token.save(), issued_token_type: accessToken, token_type: 'Bearer', expires_in: token.expiration, scope };
}

// provider returns an authorization server that knows no client but the MCP server.
async function provider(pair) {
  if (!pair.key) {
    const { privateKey } = await jose.generateKeyPair('ES256', { extractable: true });
    pair.key = { ...await jose.exportJWK(privateKey), alg: 'ES256', use: 'sig', kid: randomUUID() };
  }
  const p = new Provider(pair.issuer, {
    clients: [
      { ...resourceServer, grant_types: [], response_types: [], redirect_uris: [] },
      { ...resourceServer, client_id: 'machine', grant_types: ['client_credentials'], response_types: [], redirect_uris: [] },
      { ...resourceServer, client_id: 'bound', grant_types: ['client_credentials'], response_types: [], redirect_uris: [], tls_client_certificate_bound_access_tokens: true },
      { ...resourceServer, client_id: 'exchanger', grant_types: [exchange], response_types: [], redirect_uris: [] },
      ...pair.parties,
    ],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    cookies: { keys: [randomUUID()] },
    features: {
      clientCredentials: { enabled: true },
      clientIdMetadataDocument: { enabled: Boolean(pair.documents), ack: 'draft-02' },
      deviceFlow: { enabled: true },
      dPoP: { enabled: true, nonceSecret: randomBytes(32), requireNonce: () => Boolean(pair.nonce) },
      introspection: { enabled: true, allowedPolicy: (_, client) => client.clientId === resourceServer.client_id },
      mTLS: {
        enabled: true, certificateBoundAccessTokens: true,
        getCertificate: (ctx) => {
          const der = ctx.get('x-test-certificate');
          return der ? `-----BEGIN CERTIFICATE-----\n${der}\n-----END CERTIFICATE-----\n` : undefined;
        },
      },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_, resource) => {
          if (pair.resources.includes(resource)) return { scope, audience: resource, accessTokenTTL: pair.lifetime, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'ES256' } } };
          if (resource !== pair.server) throw new Error(`no such resource: ${resource}`);
          return { scope, audience: resource, accessTokenTTL: pair.lifetime, accessTokenFormat: pair.jwt ? 'jwt' : 'opaque', jwt: { sign: { alg: 'ES256' } } };
        },
      },
      revocation: { enabled: true },
    },
    fetch: (to, options) => (new URL(to).hostname === 'client.example' ? document(pair, String(to)) : fetch(to, options)),
    jwks: { keys: [pair.key] },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    scopes: ['offline_access', scope],
  });
  p.registerGrantType(exchange, (ctx) => exchanged(pair, ctx), ['subject_token', 'subject_token_type', 'requested_token_type', 'audience', 'resource', 'scope'], ['resource']);
  p.on('registration_create.success', () => { pair.seen.registrations++; });
  p.on('grant.success', (ctx) => {
    const type = ctx.oidc.params.grant_type;
    pair.seen.grants[type] = (pair.seen.grants[type] ?? 0) + 1;
  });
  for (const event of ['server_error', 'grant.error', 'authorization.error', 'registration_create.error']) {
    p.on(event, (_, err) => console.error(event, err.message, err.error_description ?? ''));
  }
  pair.provider = p;
  pair.keys = jose.createRemoteJWKSet(new URL(`${pair.issuer}/jwks`));
}

// claims returns what a token says, read from it or asked of the issuer.
async function claims(pair, token) {
  if (pair.jwt) {
    return (await jose.jwtVerify(token, pair.keys, { issuer: pair.issuer, audience: pair.server })).payload;
  }
  const { client_id: id, client_secret: secret } = resourceServer;
  const answer = await fetch(`${pair.issuer}/token/introspection`, {
    method: 'POST', body: new URLSearchParams({ token }), headers: { Authorization: `Basic ${btoa(`${id}:${secret}`)}` },
  });
  const said = await answer.json();
  if (!said.active) throw new Error('the token is not active');
  return said;
}

async function authInfo(pair, token) {
  try {
    const c = await claims(pair, token);
    return { token, clientId: c.client_id, scopes: c.scope.split(' '), expiresAt: c.exp, resource: new URL(pair.jwt ? pair.server : c.aud), extra: { sub: c.sub, jkt: c.cnf?.jkt } };
  } catch (e) {
    console.error('token', e.message);
    throw new OAuthError('invalid_token', e.message);
  }
}

// bound checks a request with a token that is bound to a key (RFC 9449, 4.3 and 7). It
// returns who asks, or the refusal.
async function bound(pair, request) {
  const refuse = (error, headers = {}) => json(401, { error }, { ...headers, 'WWW-Authenticate': `DPoP error="${error}", algs="ES256", resource_metadata="${pair.metadata}", scope="${scope}"` });
  const [scheme, token] = (request.headers.get('authorization') ?? '').split(' ');
  if (scheme !== 'DPoP') return refuse('invalid_token');
  try {
    const { payload, protectedHeader } = await jose.jwtVerify(request.headers.get('dpop') ?? '', jose.EmbeddedJWK, { typ: 'dpop+jwt', algorithms: ['ES256'], maxTokenAge: '1m' });
    const info = await authInfo(pair, token);
    if (info.extra.jkt !== await jose.calculateJwkThumbprint(protectedHeader.jwk)) throw new Error('the key is another');
    if (payload.ath !== createHash('sha256').update(token).digest('base64url')) throw new Error('the proof is of another token');
    if (payload.htm !== request.method || payload.htu !== pair.server) throw new Error('the proof is of another request');
    if (pair.proofs.has(payload.jti)) throw new Error('the proof was used before');
    if (pair.nonce && payload.nonce !== pair.serverNonce) return refuse('use_dpop_nonce', { 'DPoP-Nonce': pair.serverNonce });
    pair.proofs.add(payload.jti);
    return info;
  } catch (e) {
    console.error('proof', e.message);
    return refuse('invalid_token');
  }
}

const mcp = createMcpHandler(() => {
  const s = new McpServer({ name: 'notes', version: '1' });
  s.registerTool('whoami', { inputSchema: z.object({}) }, (_, ctx) => ({ content: [{ type: 'text', text: `you are ${ctx.http.authInfo.extra.sub}` }] }));
  return s;
});

// serve is the MCP servers: pair N's is /N/mcp.
async function serve(request) {
  const { pathname } = new URL(request.url);
  const pair = pairs[/^\/(?:\.well-known\/oauth-protected-resource\/)?(\d+)\/mcp$/.exec(pathname)?.[1]];
  if (!pair) return json(404, {});
  if (pathname.startsWith('/.well-known')) {
    return json(200, { resource: pair.server, authorization_servers: [pair.issuer], scopes_supported: [scope], dpop_bound_access_tokens_required: Boolean(pair.dpop) });
  }
  const plain = requireBearerAuth({
    verifier: {
      verifyAccessToken: async (token) => {
        const info = await authInfo(pair, token);
        if (info.extra.jkt) throw new OAuthError('invalid_token', 'it is bound to a key');
        return info;
      },
    },
    requiredScopes: [scope], resourceMetadataUrl: pair.metadata, expectedResource: new URL(pair.server),
  });
  const wantsProof = pair.dpop || request.headers.get('authorization')?.startsWith('DPoP ');
  const info = await (wantsProof ? bound(pair, request) : plain(request));
  return info instanceof Response ? info : mcp.fetch(request, { authInfo: info });
}

// control makes pairs, and changes them.
async function control(request) {
  const [, , n, what] = new URL(request.url).pathname.split('/');
  if (n === undefined) {
    const at = pairs.length;
    const pair = {
      lifetime: 3600, issuer: `${addresses.issuers}/${at}`, ...await request.json(), resourceServer, server: `${addresses.servers}/${at}/mcp`,
      metadata: `${addresses.servers}/.well-known/oauth-protected-resource/${at}/mcp`, serverNonce: randomUUID(), proofs: new Set(), parties: [], resources: [], seen: { registrations: 0, grants: {} },
    };
    pairs.push(pair);
    if (pair.keys) Object.assign(pair, { jwt: true, keys: jose.createRemoteJWKSet(new URL(pair.keys)) });
    else await provider(pair);
    return json(200, { issuer: pair.issuer, server: pair.server, control: `${addresses.control}/pairs/${at}`, ...resourceServer });
  }
  if (what === 'resource') pairs[n].server = (await request.json()).resource;
  if (what === 'accept') pairs[n].resources.push((await request.json()).resource);
  if (what === 'forget') {
    pairs[n].key = undefined;
    await provider(pairs[n]);
  }
  if (what === 'party') {
    const { id, secret, redirect, resource } = await request.json();
    pairs[n].resources.push(resource);
    pairs[n].parties.push({ client_id: id, client_secret: secret, redirect_uris: [redirect] });
    await provider(pairs[n]);
  }
  return json(200, pairs[n].seen);
}

// fetching answers requests with a function of a Request.
const fetching = (answer) => async (req, res) => {
  try {
    const chunks = [];
    for await (const c of req) chunks.push(c);
    const r = await answer(new Request(new URL(req.url, `http://${req.headers.host}`), {
      method: req.method, headers: Object.entries(req.headers).filter(([, v]) => typeof v === 'string'), body: chunks.length ? Buffer.concat(chunks) : undefined,
    }));
    res.writeHead(r.status, Object.fromEntries(r.headers));
    res.end(Buffer.from(await r.arrayBuffer()));
  } catch (e) {
    console.error(e);
    if (!res.headersSent) res.writeHead(500);
    res.end();
  }
};

// issuers is the authorization servers: pair N's is /N.
function issuers(req, res) {
  const [, n, rest] = /^\/(\d+)(\/.*)$/.exec(req.url) ?? [];
  if (!pairs[n]) {
    res.writeHead(404).end();
    return;
  }
  req.originalUrl = req.url; // as with any framework, the path before it is mounted
  req.url = rest;
  pairs[n].provider.callback()(req, res);
}

const listen = (handler) => new Promise((resolve) => {
  const s = createServer(handler).listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${s.address().port}`));
});
const addresses = { issuers: await listen(issuers), servers: await listen(fetching(serve)), control: await listen(fetching(control)) };
process.stdin.resume().on('end', () => process.exit(0)); // whoever started it has gone
console.log(`URL ${addresses.control}`);
