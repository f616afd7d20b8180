"""A client of the Python SDK. It does what client.mjs of test/npm/peers does, with
the same options, and prints the same:

    python client.py '{"era":"legacy"|"modern","transport":"stdio"|"http"|"sse",
                       "command":[…],"url":"…","backends":["a",…]}'
"""

import json
import os
import re
import sys
import warnings

import anyio
from mcp import Client, MCPDeprecationWarning, MCPError, StdioServerParameters
from mcp.client import session
from mcp.client.sse import sse_client
from mcp.types import (
    CreateMessageResult,
    ElicitResult,
    ListRootsResult,
    LoggingMessageNotification,
    PromptReference,
    ResourceUpdatedNotification,
    Root,
    TextContent,
    ToolListChangedNotification,
)

warnings.simplefilter("ignore", MCPDeprecationWarning)
# The server behind may take long to start on a machine that is busy.
LIMIT = session.DISCOVER_TIMEOUT_SECONDS = 60
o = json.loads(sys.argv[1])
modern = o["era"] == "modern"
updated, logged, changes = set(), set(), 0


async def elicit(context, params):
    return ElicitResult(action="accept", content={"name": "Ada"})


async def sample(context, params):
    return CreateMessageResult(role="assistant", model="m", content=TextContent(text="roses are red"))


async def roots(context):
    return ListRootsResult(roots=[Root(uri="file:///here")])


async def told(message):
    global changes
    if isinstance(message, ResourceUpdatedNotification):
        updated.add(str(message.params.uri))
    elif isinstance(message, ToolListChangedNotification):
        changes += 1


async def log(params):
    logged.add(params.data)


async def soon(holds):
    for _ in range(1500):
        if await holds():
            return
        await anyio.sleep(0.02)


def runs(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


class Tour:
    """What is done with one backend."""

    def __init__(self, client, backend):
        self.client, self.backend, self.note = client, backend, f"{backend}://note"
        self.prefix = "" if o.get("bare") else f"{backend}__"

    async def tool(self, name, arguments=None, **options):
        name, arguments = o.get("calls", {}).get(name, [name, arguments])
        return await self.client.call_tool(self.prefix + name, arguments or {}, **options)

    async def text(self, name, arguments=None):
        return (await self.tool(name, arguments)).content[0].text

    async def echo(self):
        return await self.text("echo", {"message": "grüße\n\u2028"})

    async def structured(self):
        return (await self.tool("add", {"a": 40, "b": 2})).structured_content

    async def fail(self):
        r = await self.tool("fail")
        return [r.is_error, r.content[0].text]

    async def unknown(self):
        try:
            r = await self.tool("missing")
            return [r.is_error, r.content[0].text]
        except MCPError as e:
            return e.code

    async def progress(self):
        seen = []

        async def step(progress, total, message):
            seen.append(progress)

        await self.tool("steps", {"n": 3}, progress_callback=step)
        return seen == [1, 2, 3] if "steps" not in o.get("calls", {}) else len(seen) > 0

    async def updated(self):
        async def is_told():
            return self.note in updated

        if modern:
            async with self.client.listen(resource_subscriptions=[self.note]):
                await self.tool("touch")
                await soon(is_told)
        else:
            await self.client.subscribe_resource(self.note)
            await self.tool("touch")
            await soon(is_told)
            await self.client.unsubscribe_resource(self.note)
        return self.note in updated

    async def log(self):
        message = f"{self.backend} says so"

        async def is_logged():
            return message in logged

        if not modern:
            await self.client.set_logging_level("debug")
        logged.clear()
        await self.tool("log", meta={"io.modelcontextprotocol/logLevel": "debug"} if modern else None)
        await soon(is_logged)
        return message in logged

    async def ask(self):
        return await self.text("ask")

    async def sample(self):
        return await self.text("sample")

    async def read(self):
        return (await self.client.read_resource(self.note)).contents[0].text

    async def prompt(self):
        return (await self.client.get_prompt(self.prefix + "greet", {"who": "Ada"})).messages[0].content.text

    async def complete(self):
        ref = PromptReference(name=self.prefix + "greet")
        return (await self.client.complete(ref, {"name": "who", "value": "A"})).completion.values

    async def abandon(self, begun, **options):
        """Calls wait, and gives it up when that has begun."""
        how = "given up"

        async def call():
            nonlocal how
            await self.tool("wait", **options)
            how = "a result"

        async with anyio.create_task_group() as group:
            group.start_soon(call)
            await soon(begun)
            group.cancel_scope.cancel()
        return how

    async def cancel(self):
        async def waits():
            return [int(n) for n in (await self.text("waits")).split()]

        before = await waits()

        async def begun():
            return (await waits())[0] > before[0]

        async def ended():
            return (await waits())[1] > before[1]

        how = await self.abandon(begun)
        await soon(ended)
        return [how, (await waits())[1] - before[1]]

    async def killed(self):
        """A tool that is a process, and says which in its progress."""
        pid = 0
        ran = False

        async def step(progress, total, message):
            nonlocal pid
            pid = int(message.split()[1])

        async def begun():
            nonlocal ran
            ran = pid > 0 and runs(pid)
            return ran

        async def ended():
            return not runs(pid)

        how = await self.abandon(begun, progress_callback=step)
        await soon(ended)
        return [ran, how, runs(pid)]

    async def changed(self):
        before = changes

        async def is_told():
            return changes > before

        async def grow():
            more = await self.text("grow")
            await soon(is_told)
            tools = (await self.client.list_tools(cache_mode="refresh")).tools
            return [changes > before, self.prefix + more in [t.name for t in tools]]

        if modern:
            async with self.client.listen(tools_list_changed=True):
                return await grow()
        return await grow()


STEPS = """echo structured fail unknown progress updated log ask sample read prompt complete cancel changed""".split()


async def main():
    if o["transport"] == "stdio":
        at = StdioServerParameters(command=o["command"][0], args=o["command"][1:], env=dict(os.environ))
    elif o["transport"] == "sse":
        at = sse_client(o["url"], timeout=LIMIT)
    else:
        at = o["url"]
    out = {}
    async with Client(
        at,
        mode="auto" if modern else "legacy",
        read_timeout_seconds=LIMIT,
        elicitation_callback=elicit,
        sampling_callback=sample,
        list_roots_callback=roots,
        logging_callback=log,
        message_handler=told,
    ) as client:
        if (client.protocol_version >= "2026") != modern:
            raise SystemExit(f"got revision {client.protocol_version}")
        offers = client.server_capabilities
        # Without those that came while others were here.
        tools = [t.name for t in (await client.list_tools()).tools if not re.search(r"grown\d+$", t.name)]
        resources = (await client.list_resources()).resources if offers.resources else []
        prompts = [p.name for p in (await client.list_prompts()).prompts] if offers.prompts else []
        for backend in o["backends"]:
            def own(names):
                return len([n for n in names if o.get("bare") or n.startswith(f"{backend}__")])

            result = out[backend] = {}
            tour = Tour(client, backend)
            for step in o.get("steps") or [s for s in STEPS if s != "changed" or tour.prefix + "grow" in tools]:
                try:
                    result[step] = await getattr(tour, step)()
                except Exception as e:
                    result[step] = f"error: {type(e).__name__} {e}"
            result["lists"] = [own(tools), len([r for r in resources if str(r.uri).startswith(f"{backend}:")]), own(prompts)]
    print(json.dumps(out))


anyio.run(main)
