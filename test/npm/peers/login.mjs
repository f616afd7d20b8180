// A client of one of the TypeScript SDKs that knows a URL and nothing else. It logs in,
// lists the tools and calls one:
//
//   node login.mjs '{"sdk":"v1"|"v2","era":"legacy"|"modern","url":"…","redirect":"…","document":"…","tool":"…","arguments":{…},"outside":"…","blind":…}'
//
// document is the URL of its metadata, for authorization servers that take that for its id.
// outside is a tool that is called, too, and is unknown. blind is true for a client that is
// not told where the metadata of the server are.
// It writes "AUTHORIZE URL" for the browser, reads a line with the query that this ends
// with, and writes the path of the metadata that it has found, the names of the tools, the
// text of the result and what is wrong with outside, with " | " between them.
import { createInterface } from 'node:readline';

const o = JSON.parse(process.argv[2]);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const kept = {};
const authProvider = {
  redirectUrl: o.redirect,
  clientMetadata: { client_name: 'login', redirect_uris: [o.redirect], grant_types: ['authorization_code'], response_types: ['code'], token_endpoint_auth_method: 'none' },
  clientMetadataUrl: o.document || undefined,
  clientInformation: () => kept.client,
  saveClientInformation: (c) => { kept.client = c; },
  tokens: () => kept.tokens,
  saveTokens: (t) => { kept.tokens = t; },
  redirectToAuthorization: (url) => console.log(`AUTHORIZE ${url}`),
  saveCodeVerifier: (v) => { kept.verifier = v; },
  codeVerifier: () => kept.verifier,
};

async function parts() {
  if (o.sdk === 'v1') {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const { UnauthorizedError } = await import('@modelcontextprotocol/sdk/client/auth.js');
    return { client: () => new Client({ name: 'login', version: '1' }), Transport: StreamableHTTPClientTransport, UnauthorizedError };
  }
  const sdk = await import('@modelcontextprotocol/client');
  const versionNegotiation = { mode: o.era === 'modern' ? { pin: '2026-07-28' } : 'legacy' };
  return { client: () => new sdk.Client({ name: 'login', version: '1' }, { versionNegotiation }), Transport: sdk.StreamableHTTPClientTransport, UnauthorizedError: sdk.UnauthorizedError };
}

const { client, Transport, UnauthorizedError } = await parts();
let found = '';
async function watched(url, init) {
  const { pathname } = new URL(url);
  const r = await fetch(url, init);
  if (r.ok && pathname.startsWith('/.well-known/oauth-protected-resource')) found ||= pathname;
  if (!o.blind || r.status !== 401) return r;
  const headers = new Headers(r.headers);
  headers.delete('WWW-Authenticate');
  return new Response(r.body, { status: r.status, headers });
}
const open = () => new Transport(new URL(o.url), { authProvider, fetch: watched });
let c = client();
const first = open();
try {
  await c.connect(first);
  throw new Error('nobody has asked for a login');
} catch (e) {
  if (!(e instanceof UnauthorizedError)) throw e;
}
const query = new URLSearchParams((await lines.next()).value);
await (o.sdk === 'v1' ? first.finishAuth(query.get('code')) : first.finishAuth(query));
c = client();
await c.connect(open());
const { tools } = await c.listTools();
const r = await c.callTool({ name: o.tool, arguments: o.arguments });
const wrong = o.outside ? await c.callTool({ name: o.outside, arguments: {} }).then(() => 'none', (e) => e.message) : '';
console.log([found, tools.map((t) => t.name).join(' '), r.content[0].text, wrong].join(' | '));
process.exit(0);
