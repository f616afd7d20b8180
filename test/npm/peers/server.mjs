// A server of one of the TypeScript SDKs:
//
//   node server.mjs v1|v2 NAME stdio|http|sse DIR [legacy|modern]
//
// v2 speaks both eras unless one is named. Over HTTP a line "URL …" says where.
// DIR is for what its processes have in common.
import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const [sdk, name, transport, dir, era] = process.argv.slice(2);
const info = { name, version: '1' };
const note = `${name}://note`;
const text = (s) => ({ content: [{ type: 'text', text: s }] });
// What has become of calls to wait, in a file: there may be several processes.
const state = join(dir, `${name}.waits`);
const waits = () => {
  const all = existsSync(state) ? readFileSync(state, 'utf8') : '';
  return `${all.split('b').length - 1} ${all.split('c').length - 1}`;
};
const pause = () => new Promise((r) => setTimeout(r, 100));
const wait = (signal) => new Promise((_, reject) => {
  appendFileSync(state, 'b');
  signal.addEventListener('abort', () => { appendFileSync(state, 'c'); reject(new Error('cancelled')); });
});
const form = { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } };
const poem = { messages: [{ role: 'user', content: { type: 'text', text: 'a poem' } }], maxTokens: 10 };

// offer adds what both SDKs add in the same way. completable is the SDK's own.
function offer(s, completable, shape) {
  s.registerTool('echo', { inputSchema: z.object({ message: z.string() }) }, ({ message }) => text(message));
  s.registerTool('add', { inputSchema: z.object({ a: z.number(), b: z.number() }), outputSchema: z.object({ n: z.number() }) },
    ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { n: a + b } }));
  s.registerTool('fail', { inputSchema: z.object({}) }, () => ({ ...text('it did not work'), isError: true }));
  s.registerTool('waits', { inputSchema: z.object({}) }, () => text(waits()));
  s.registerResource('note', note, { mimeType: 'text/plain' }, (uri) => ({ contents: [{ uri: uri.href, text: `this is ${uri.href}` }] }));
  s.registerPrompt('greet', { argsSchema: shape({ who: completable(z.string(), (v) => [`${v}da`]) }) },
    ({ who }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Greet ${who}.` } }] }));
}

async function second() {
  const { McpServer, inputRequired, createMcpHandler, completable } = await import('@modelcontextprotocol/server');
  let handler;
  const make = (ctx) => {
    const s = new McpServer(info, { capabilities: { resources: { subscribe: true, listChanged: true }, tools: { listChanged: true }, logging: {} } });
    offer(s, completable, (v) => z.object(v));
    if ((ctx?.era ?? era) === 'legacy') {
      for (const m of ['resources/subscribe', 'resources/unsubscribe']) s.server.setRequestHandler(m, () => ({}));
    }
    s.registerTool('steps', { inputSchema: z.object({ n: z.number() }) }, async ({ n }, ctx) => {
      const progressToken = ctx.mcpReq._meta?.progressToken;
      for (let i = 1; i <= n && progressToken !== undefined; i++) {
        await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: i, total: n } });
        await pause(); // clients may drop what comes with the answer
      }
      return text('done');
    });
    s.registerTool('wait', { inputSchema: z.object({}) }, (_, ctx) => wait(ctx.mcpReq.signal));
    s.registerTool('log', { inputSchema: z.object({}) }, async (_, ctx) => {
      await ctx.mcpReq.log('debug', `${name} says so`);
      return text('logged');
    });
    s.registerTool('ask', { inputSchema: z.object({}) }, (_, ctx) => {
      const who = ctx.mcpReq.inputResponses?.who;
      if (!who) return inputRequired({ inputRequests: { who: inputRequired.elicit(form) } });
      return text(`${who.action} ${who.content?.name}`);
    });
    s.registerTool('sample', { inputSchema: z.object({}) }, (_, ctx) => {
      const poet = ctx.mcpReq.inputResponses?.poet;
      if (!poet) return inputRequired({ inputRequests: { poet: inputRequired.createMessage(poem) } });
      return text(`${poet.model} ${[poet.content].flat()[0].text}`);
    });
    s.registerTool('touch', { inputSchema: z.object({}) }, async () => {
      if (handler) handler.notify.resourceUpdated(note);
      else await s.server.sendResourceUpdated({ uri: note });
      return text('touched');
    });
    return s;
  };
  if (transport === 'stdio') {
    const { serveStdio } = await import('@modelcontextprotocol/server/stdio');
    if (era === 'modern') return serveStdio(make, { legacy: 'reject' });
    if (era === 'legacy') {
      const { StdioServerTransport } = await import('@modelcontextprotocol/server/stdio');
      return make().connect(new StdioServerTransport());
    }
    return serveStdio(make);
  }
  handler = createMcpHandler(make, era === 'modern' ? { legacy: 'reject' } : {});
  listen(async (req, res, body) => {
    const gone = new AbortController();
    res.on('close', () => gone.abort());
    const answer = await handler.fetch(new Request(new URL(req.url, 'http://127.0.0.1'), {
      method: req.method, headers: Object.entries(req.headers).filter(([, v]) => typeof v === 'string'), body: body.length ? body : undefined, signal: gone.signal,
    }));
    res.writeHead(answer.status, Object.fromEntries(answer.headers));
    res.flushHeaders();
    if (answer.body) for await (const chunk of answer.body) res.write(chunk);
    res.end();
  });
}

async function first() {
  const { McpServer } = await import('@modelcontextprotocol/sdk/server/mcp.js');
  const { completable } = await import('@modelcontextprotocol/sdk/server/completable.js');
  const { SubscribeRequestSchema, UnsubscribeRequestSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const make = () => {
    const s = new McpServer(info, { capabilities: { resources: { subscribe: true, listChanged: true }, tools: { listChanged: true }, logging: {} } });
    offer(s, completable, (v) => v);
    const raw = (shape) => ({ inputSchema: shape });
    s.registerTool('steps', raw({ n: z.number() }), async ({ n }, extra) => {
      const progressToken = extra._meta?.progressToken;
      for (let i = 1; i <= n && progressToken !== undefined; i++) {
        await extra.sendNotification({ method: 'notifications/progress', params: { progressToken, progress: i, total: n } });
        await pause(); // clients may drop what comes with the answer
      }
      return text('done');
    });
    s.registerTool('wait', raw({}), (_, extra) => wait(extra.signal));
    s.registerTool('log', raw({}), async (_, extra) => {
      await extra.sendNotification({ method: 'notifications/message', params: { level: 'debug', data: `${name} says so` } });
      return text('logged');
    });
    s.registerTool('ask', raw({}), async (_, extra) => {
      const { ElicitResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
      const who = await extra.sendRequest({ method: 'elicitation/create', params: form }, ElicitResultSchema);
      return text(`${who.action} ${who.content?.name}`);
    });
    s.registerTool('sample', raw({}), async (_, extra) => {
      const { CreateMessageResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
      const poet = await extra.sendRequest({ method: 'sampling/createMessage', params: poem }, CreateMessageResultSchema);
      return text(`${poet.model} ${poet.content.text}`);
    });
    s.server.setRequestHandler(SubscribeRequestSchema, () => ({}));
    s.server.setRequestHandler(UnsubscribeRequestSchema, () => ({}));
    s.registerTool('touch', raw({}), async () => {
      await s.server.sendResourceUpdated({ uri: note });
      return text('touched');
    });
    return s;
  };
  if (transport === 'stdio') {
    const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
    return make().connect(new StdioServerTransport());
  }
  const open = new Map();
  if (transport === 'sse') {
    const { SSEServerTransport } = await import('@modelcontextprotocol/sdk/server/sse.js');
    return listen(async (req, res, body) => {
      if (req.method === 'GET') {
        const t = new SSEServerTransport('/messages', res);
        open.set(t.sessionId, t);
        return make().connect(t);
      }
      const t = open.get(new URL(req.url, 'http://x').searchParams.get('sessionId'));
      if (!t) return void res.writeHead(404).end();
      await t.handlePostMessage(req, res, JSON.parse(body));
    });
  }
  const { StreamableHTTPServerTransport } = await import('@modelcontextprotocol/sdk/server/streamableHttp.js');
  listen(async (req, res, body) => {
    let t = open.get(req.headers['mcp-session-id']);
    if (!t) {
      t = new StreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID(), onsessioninitialized: (id) => open.set(id, t) });
      await make().connect(t);
    }
    await t.handleRequest(req, res, body.length ? JSON.parse(body) : undefined);
  });
}

function listen(handle) {
  const http = createServer(async (req, res) => {
    try {
      const chunks = [];
      for await (const c of req) chunks.push(c);
      await handle(req, res, Buffer.concat(chunks).toString());
    } catch (e) {
      if (!res.headersSent) res.writeHead(500);
      res.end(String(e));
    }
  });
  http.listen(0, '127.0.0.1', () => console.log(`URL http://127.0.0.1:${http.address().port}/${transport === 'sse' ? 'sse' : 'mcp'}`));
}

await (sdk === 'v1' ? first() : second());
