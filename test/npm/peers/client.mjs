// A client of one of the TypeScript SDKs. It does the same with each backend
// that is behind the server it is given, and prints what came of it as JSON:
//
//   node client.mjs '{"sdk":"v1"|"v2","era":"legacy"|"modern","transport":"stdio"|"http"|"sse",
//                     "command":[…],"url":"…","backends":["a",…]}'
//
// "bare" says that the server has one backend, under its own names. "steps" are
// those to do, without it all that the test servers can. "calls" has other calls than
// those of the test servers, as {"echo":["tool",{…arguments…}],…}. "search" says that tools
// are found with search_tools and called through call_tool.
const o = JSON.parse(process.argv[2]);
const updated = [], logged = [];
let changes = 0;
const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };
const answers = {
  'elicitation/create': async () => ({ action: 'accept', content: { name: 'Ada' } }),
  'sampling/createMessage': async () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: 'roses are red' } }),
  'roots/list': async () => ({ roots: [{ uri: 'file:///here' }] }),
};

async function connect() {
  let c, t;
  if (o.sdk === 'v1') {
    const types = await import('@modelcontextprotocol/sdk/types.js');
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    c = new Client({ name: 'v1', version: '1' }, { capabilities });
    c.setRequestHandler(types.ElicitRequestSchema, answers['elicitation/create']);
    c.setRequestHandler(types.CreateMessageRequestSchema, answers['sampling/createMessage']);
    c.setRequestHandler(types.ListRootsRequestSchema, answers['roots/list']);
    c.setNotificationHandler(types.ResourceUpdatedNotificationSchema, (n) => { updated.push(n.params.uri); });
    c.setNotificationHandler(types.LoggingMessageNotificationSchema, (n) => { logged.push(n.params.data); });
    c.setNotificationHandler(types.ToolListChangedNotificationSchema, () => { changes++; });
    if (o.transport === 'stdio') {
      const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
      t = new StdioClientTransport({ command: o.command[0], args: o.command.slice(1), env: process.env });
    } else if (o.transport === 'sse') {
      const { SSEClientTransport } = await import('@modelcontextprotocol/sdk/client/sse.js');
      t = new SSEClientTransport(new URL(o.url));
    } else {
      const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
      t = new StreamableHTTPClientTransport(new URL(o.url));
    }
  } else {
    const sdk = await import('@modelcontextprotocol/client');
    c = new sdk.Client({ name: 'v2', version: '1' }, {
      capabilities, versionNegotiation: { mode: o.era === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
    });
    for (const [method, answer] of Object.entries(answers)) c.setRequestHandler(method, answer);
    c.setNotificationHandler('notifications/resources/updated', (n) => { updated.push(n.params.uri); });
    c.setNotificationHandler('notifications/message', (n) => { logged.push(n.params.data); });
    c.setNotificationHandler('notifications/tools/list_changed', () => { changes++; });
    if (o.transport === 'stdio') {
      const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
      t = new StdioClientTransport({ command: o.command[0], args: o.command.slice(1), env: process.env });
    } else if (o.transport === 'sse') {
      t = new sdk.SSEClientTransport(new URL(o.url));
    } else {
      t = new sdk.StreamableHTTPClientTransport(new URL(o.url));
    }
  }
  await c.connect(t);
  return c;
}

const soon = async (holds) => {
  for (let i = 0; i < 1500 && !(await holds()); i++) await new Promise((r) => setTimeout(r, 20));
};
const first = (r) => r.content[0].text;
const runs = (pid) => { try { process.kill(pid, 0); return true; } catch { return false; } };

async function tour(c, b) {
  const prefix = o.bare ? '' : `${b}__`;
  const send = (call, options) => o.sdk === 'v1' ? c.callTool(call, undefined, options) : c.callTool(call, options);
  const tool = async (name, args = {}, options = {}) => {
    const [itself, itsArgs] = o.calls?.[name] ?? [name, args];
    let call = { name: prefix + itself, arguments: itsArgs };
    if (o.search) {
      const found = first(await send({ name: 'search_tools', arguments: { queries: [`${b} ${itself}`], server: b, limit: 3 } }));
      // What is not found is asked for all the same.
      if (found.split('\n').some((line) => line.startsWith(`${call.name}(`)) === (name === 'missing')) throw new Error(`${call.name}: found: ${found}`);
      call = { name: 'call_tool', arguments: call };
    }
    if (options.meta) call._meta = options.meta;
    return send(call, options);
  };
  const note = `${b}://note`;
  const steps = {
    echo: async () => first(await tool('echo', { message: 'grüße\n\u2028' })),
    structured: async () => (await tool('add', { a: 40, b: 2 })).structuredContent,
    fail: async () => { const r = await tool('fail'); return [r.isError, first(r)]; },
    unknown: async () => { try { const r = await tool('missing'); return [r.isError, first(r)]; } catch (e) { return e.code; } },
    progress: async () => {
      const seen = [];
      await tool('steps', { n: 3 }, { onprogress: (p) => seen.push(p.progress) });
      // The SDKs drop what they read together with the answer.
      return seen.length > 0 && (o.calls?.steps !== undefined || seen.every((n, i) => n === i + 1));
    },
    // Before the questions: over stdio a server that asks may get a process for each call.
    updated: async () => {
      const sub = o.era === 'modern' ? await c.listen({ resourceSubscriptions: [note] }) : await c.subscribeResource({ uri: note });
      await tool('touch');
      await soon(() => updated.includes(note));
      if (o.era === 'modern') await sub.close();
      else await c.unsubscribeResource({ uri: note });
      return updated.includes(note);
    },
    log: async () => {
      if (o.era !== 'modern') await c.setLoggingLevel('debug');
      logged.length = 0;
      await tool('log', {}, { meta: o.era === 'modern' ? { 'io.modelcontextprotocol/logLevel': 'debug' } : undefined });
      await soon(() => logged.includes(`${b} says so`));
      return logged.includes(`${b} says so`);
    },
    ask: async () => first(await tool('ask')),
    sample: async () => first(await tool('sample')),
    read: async () => (await c.readResource({ uri: note })).contents[0].text,
    prompt: async () => (await c.getPrompt({ name: `${prefix}greet`, arguments: { who: 'Ada' } })).messages[0].content.text,
    complete: async () => (await c.complete({ ref: { type: 'ref/prompt', name: `${prefix}greet` }, argument: { name: 'who', value: 'A' } })).completion.values,
    cancel: async () => {
      const before = (await tool('waits').then(first)).split(' ').map(Number);
      const giveUp = new AbortController();
      const ended = tool('wait', {}, { signal: giveUp.signal }).then(() => 'a result', () => 'given up');
      await soon(async () => Number(first(await tool('waits')).split(' ')[0]) > before[0]);
      giveUp.abort();
      const how = await ended;
      let last;
      await soon(async () => { last = first(await tool('waits')); return Number(last.split(' ')[1]) > before[1]; });
      return [how, Number(last.split(' ')[1]) - before[1]];
    },
    // A tool that is a process, and says which in its progress.
    killed: async () => {
      let pid = 0;
      const giveUp = new AbortController();
      const ended = tool('wait', {}, { signal: giveUp.signal, onprogress: (p) => { pid = Number(p.message.split(' ')[1]); } })
        .then(() => 'a result', () => 'given up');
      await soon(() => pid > 0);
      const ran = pid > 0 && runs(pid);
      giveUp.abort();
      const how = await ended;
      await soon(() => !runs(pid));
      return [ran, how, runs(pid)];
    },
    changed: async () => {
      const sub = o.era === 'modern' ? await c.listen({ toolsListChanged: true }) : undefined;
      const before = changes;
      const name = first(await tool('grow'));
      await soon(() => changes > before);
      const listed = (await c.listTools()).tools.some((t) => t.name === prefix + name);
      await sub?.close();
      return [changes > before, listed];
    },
  };
  const out = {};
  const usual = Object.keys(steps).filter((s) => s !== 'killed' && (s !== 'changed' || tools.includes(`${prefix}grow`)));
  for (const name of o.steps ?? usual) {
    try { out[name] = await steps[name](); } catch (e) { out[name] = `error: ${e.message}`; }
  }
  return out;
}

const c = await connect();
const all = {};
const offers = c.getServerCapabilities() ?? {};
// Without those that came while others were here.
const tools = (await c.listTools()).tools.map((t) => t.name).filter((n) => !/grown\d+$/.test(n));
const resources = offers.resources ? (await c.listResources()).resources.map((r) => r.uri) : [];
const prompts = offers.prompts ? (await c.listPrompts()).prompts.map((p) => p.name) : [];
for (const b of o.backends) {
  const own = (n) => o.bare || n.startsWith(`${b}__`);
  all[b] = await tour(c, b);
  all[b].lists = [tools.filter(own).length, resources.filter((u) => u.startsWith(`${b}:`)).length, prompts.filter(own).length];
}
console.log(JSON.stringify(all));
await c.close();
process.exit(0);
