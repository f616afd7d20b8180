// A client of one of the TypeScript SDKs that knows a URL and nothing else. It logs in and
// calls a tool:
//
//   node login.mjs '{"sdk":"v1"|"v2","era":"legacy"|"modern","url":"…","redirect":"…","document":"…","tool":"…","arguments":{…}}'
//
// document is the URL of its metadata, for authorization servers that take that for its id.
// It writes "AUTHORIZE URL" for the browser, reads a line with the query that this ends
// with, and writes the text of the result.
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
const open = () => new Transport(new URL(o.url), { authProvider });
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
const r = await c.callTool({ name: o.tool, arguments: o.arguments });
console.log(r.content[0].text);
process.exit(0);
