// A client of one of the TypeScript SDKs. It does the same with each backend
// that is behind the server it is given, and prints what came of it as JSON:
//
//   node client.mjs '{"sdk":"v1"|"v2","era":"legacy"|"modern","transport":"stdio"|"http"|"sse",
//                     "command":[…],"url":"…","backends":["a",…]}'
const o = JSON.parse(process.argv[2]);
const updated = [];
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
  for (let i = 0; i < 250 && !(await holds()); i++) await new Promise((r) => setTimeout(r, 20));
};
const first = (r) => r.content[0].text;

async function tour(c, b) {
  const tool = (name, args = {}, options) => o.sdk === 'v1'
    ? c.callTool({ name: `${b}__${name}`, arguments: args }, undefined, options)
    : c.callTool({ name: `${b}__${name}`, arguments: args }, options);
  const out = {};
  const step = async (name, f) => {
    try { out[name] = await f(); } catch (e) { out[name] = `error: ${e.message}`; }
  };
  const note = `${b}://note`;
  await step('echo', async () => first(await tool('echo', { message: 'grüße\n\u2028' })));
  await step('structured', async () => (await tool('add', { a: 40, b: 2 })).structuredContent);
  await step('fail', async () => { const r = await tool('fail'); return [r.isError, first(r)]; });
  await step('unknown', async () => { try { return await tool('missing'); } catch (e) { return e.code; } });
  await step('progress', async () => {
    const seen = [];
    await tool('steps', { n: 3 }, { onprogress: (p) => seen.push(p.progress) });
    // The SDKs drop what they read together with the answer.
    return seen.length > 0 && seen.every((n, i) => n === i + 1);
  });
  // Before the questions: over stdio a server that asks may get a process for each call.
  await step('updated', async () => {
    const sub = o.era === 'modern' ? await c.listen({ resourceSubscriptions: [note] }) : await c.subscribeResource({ uri: note });
    await tool('touch');
    await soon(() => updated.includes(note));
    if (o.era === 'modern') await sub.close();
    else await c.unsubscribeResource({ uri: note });
    return updated.includes(note);
  });
  await step('ask', async () => first(await tool('ask')));
  await step('sample', async () => first(await tool('sample')));
  await step('read', async () => (await c.readResource({ uri: note })).contents[0].text);
  await step('prompt', async () => (await c.getPrompt({ name: `${b}__greet`, arguments: { who: 'Ada' } })).messages[0].content.text);
  await step('complete', async () => (await c.complete({ ref: { type: 'ref/prompt', name: `${b}__greet` }, argument: { name: 'who', value: 'A' } })).completion.values);
  await step('cancel', async () => {
    const before = (await tool('waits').then(first)).split(' ').map(Number);
    const giveUp = new AbortController();
    const ended = tool('wait', {}, { signal: giveUp.signal }).then(() => 'a result', () => 'given up');
    await soon(async () => Number(first(await tool('waits')).split(' ')[0]) > before[0]);
    giveUp.abort();
    const how = await ended;
    let last;
    await soon(async () => { last = first(await tool('waits')); return Number(last.split(' ')[1]) > before[1]; });
    return [how, Number(last.split(' ')[1]) - before[1]];
  });
  return out;
}

const c = await connect();
const all = {};
const tools = (await c.listTools()).tools.map((t) => t.name);
const resources = (await c.listResources()).resources.map((r) => r.uri);
const prompts = (await c.listPrompts()).prompts.map((p) => p.name);
for (const b of o.backends) {
  all[b] = await tour(c, b);
  all[b].lists = [tools.filter((n) => n.startsWith(`${b}__`)).length, resources.filter((u) => u.startsWith(`${b}:`)).length, prompts.filter((n) => n.startsWith(`${b}__`)).length];
}
console.log(JSON.stringify(all));
await c.close();
process.exit(0);
