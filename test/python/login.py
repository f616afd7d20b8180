"""A client of the Python SDK that knows a URL and nothing else. It logs in, lists the tools
and calls one, with the options of login.mjs of test/npm/peers, and writes and reads the same.
"""

import json
import sys
from urllib.parse import parse_qs

import anyio
import httpx2 as httpx
from mcp import Client, MCPError
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

o = json.loads(sys.argv[1])


class Kept:
    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


async def redirect(url):
    print("AUTHORIZE " + url, flush=True)


async def callback():
    query = parse_qs(await anyio.to_thread.run_sync(sys.stdin.readline))
    return AuthorizationCodeResult(**{name: query[name][0].strip() for name in ("code", "state", "iss") if name in query})


found = []


async def watch(response):
    if response.is_success and response.url.path.startswith("/.well-known/oauth-protected-resource"):
        found.append(response.url.path)
    if o["blind"] and response.status_code == 401:
        response.headers.pop("WWW-Authenticate", None)


async def failure(call):
    try:
        await call
    except MCPError as e:
        return str(e)
    return "none"


async def main():
    metadata = OAuthClientMetadata(client_name="login", redirect_uris=[o["redirect"]], token_endpoint_auth_method="none")
    auth = OAuthClientProvider(o["url"], metadata, Kept(), redirect, callback)
    async with httpx.AsyncClient(auth=auth, timeout=60, follow_redirects=True, event_hooks={"response": [watch]}) as http:
        mode = "2026-07-28" if o["era"] == "modern" else "legacy"
        async with Client(streamable_http_client(o["url"], http_client=http), mode=mode) as c:
            tools = (await c.list_tools()).tools
            r = await c.call_tool(o["tool"], o["arguments"])
            wrong = await failure(c.call_tool(o["outside"], {})) if o["outside"] else ""
            print(" | ".join([found[0], " ".join(t.name for t in tools), r.content[0].text, wrong]))


anyio.run(main)
