"""A server of the Python SDK, which speaks both eras:

    python server.py NAME stdio|http|sse DIR

Over HTTP a line "URL …" says where. DIR is for what its processes have in common.
"""

import socket
import sys
import warnings
from pathlib import Path
from typing import Annotated

import anyio
import uvicorn
from mcp import MCPDeprecationWarning
from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve, Sample
from mcp.types import (
    Completion,
    CreateMessageResult,
    EmptyResult,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    UnsubscribeRequestParams,
)
from pydantic import BaseModel

warnings.simplefilter("ignore", MCPDeprecationWarning)
name, transport, folder = sys.argv[1:4]
note = f"{name}://note"
server = MCPServer(name, version="1", instructions=f"this is {name}", log_level="ERROR")
grown = 0

# What has become of calls to wait, in a file: there may be several processes.
state = Path(folder) / f"{name}.waits"


def noted(letter: str) -> None:
    with state.open("a") as f:
        f.write(letter)


class Sum(BaseModel):
    n: int


class Who(BaseModel):
    name: str


@server.tool()
def echo(message: str) -> str:
    return message


@server.tool()
def add(a: int, b: int) -> Sum:
    return Sum(n=a + b)


@server.tool()
def fail() -> str:
    raise ToolError("it did not work")


@server.tool()
async def steps(n: int, ctx: Context) -> str:
    for i in range(n):
        await ctx.report_progress(i + 1, n, "step")
        await anyio.sleep(0.1)  # clients may drop what comes with the answer
    return "done"


@server.tool()
async def wait() -> str:
    noted("b")
    try:
        await anyio.sleep_forever()
    except anyio.get_cancelled_exc_class():
        noted("c")
        raise
    return ""


@server.tool()
def waits() -> str:
    told = state.read_text() if state.exists() else ""
    return f"{told.count('b')} {told.count('c')}"


def who() -> Elicit[Who]:
    return Elicit("Who?", Who)


@server.tool()
def ask(answer: Annotated[ElicitationResult[Who], Resolve(who)]) -> str:
    if isinstance(answer, AcceptedElicitation):
        return f"{answer.action} {answer.data.name}"
    return answer.action


def poet() -> Sample:
    return Sample([SamplingMessage(role="user", content=TextContent(text="a poem"))], max_tokens=10)


@server.tool()
def sample(poem: Annotated[CreateMessageResult, Resolve(poet)]) -> str:
    return f"{poem.model} {poem.content.text}"


@server.tool()
async def log(ctx: Context) -> str:
    await ctx.debug(f"{name} says so")
    return "logged"


def modern(ctx: Context) -> bool:
    return (ctx.protocol_version or "") >= "2026"


@server.tool()
async def touch(ctx: Context) -> str:
    if modern(ctx):
        await ctx.notify_resource_updated(note)
    else:
        await ctx.session.send_resource_updated(note)
    return "touched"


@server.tool()
async def grow(ctx: Context) -> str:
    global grown
    grown += 1
    more = f"grown{grown}"
    server.add_tool(lambda: more, name=more)
    if modern(ctx):
        await ctx.notify_tools_changed()
    else:
        await ctx.session.send_tool_list_changed()
    return more


@server.resource(note, mime_type="text/plain")
def read_note() -> str:
    return f"this is {note}"


@server.resource(name + "://item/{id}", mime_type="text/plain")
def read_item(id: str) -> str:
    return f"this is {name}://item/{id}"


@server.prompt()
def greet(who: str) -> str:
    return f"Greet {who}."


@server.completion()
async def complete(ref, argument, context) -> Completion:
    return Completion(values=[argument.value + "da"])


async def agreed(ctx, params) -> EmptyResult:
    return EmptyResult()


# The high-level server leaves these to those who want them.
for method, params in {
    "resources/subscribe": SubscribeRequestParams,
    "resources/unsubscribe": UnsubscribeRequestParams,
    "logging/setLevel": SetLevelRequestParams,
}.items():
    server._lowlevel_server.add_request_handler(method, params, agreed)

if transport == "stdio":
    server.run()
else:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    app, path = (server.sse_app(), "sse") if transport == "sse" else (server.streamable_http_app(), "mcp")
    print(f"URL http://127.0.0.1:{listener.getsockname()[1]}/{path}", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])
