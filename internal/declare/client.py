from __future__ import annotations

import base64 as _base64
import json as _json
import os as _os
import urllib.request as _request
from typing import Any, Literal, Mapping, NotRequired, TypeAlias, TypedDict
from urllib.error import HTTPError as _HTTPError


class ToolResult(TypedDict):
    """What a tool returns that does not declare its result."""

    content: list[dict[str, Any]]
    structuredContent: NotRequired[Any]


class ToolError(Exception):
    """A tool that has failed, or could not be called."""


class _NoRedirect(_request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **more: Any) -> None:  # the token stays here
        return None


def _call(name: str, arguments: Mapping[str, Any], repeated: list[list[str]] = []) -> ToolResult:
    """Calls a tool at MCPCTL_URL, the address of the view. MCPCTL_TOKEN is sent as a bearer token."""
    url = _os.environ.get("MCPCTL_URL")
    if not url:
        raise ToolError("MCPCTL_URL is not set: it is the address of the view, as in http://127.0.0.1:8080/mcp/NAME")
    headers = {
        "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": _header(name),
    }
    if _os.environ.get("MCPCTL_TOKEN"):
        headers["Authorization"] = "Bearer " + _os.environ["MCPCTL_TOKEN"]
    for header, *path in repeated:
        value: Any = arguments
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if value is not None:
            headers[header] = _header(value if isinstance(value, str) else _json.dumps(value))
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "mcpctl-declarations", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments, "_meta": meta}}
    request = _request.Request(url, _json.dumps(message).encode(), headers)
    try:
        with _request.build_opener(_NoRedirect).open(request) as response:
            status, body = response.status, response.read().decode()
    except _HTTPError as error:
        status, body = error.code, error.read().decode(errors="replace")
    answer: Any = {}
    for line in [body] + [line[5:] for line in body.splitlines() if line.startswith("data:")]:
        try:
            found = _json.loads(line)
        except ValueError:  # not this one: the body is JSON, or a stream of events
            continue
        if isinstance(found, dict) and found.get("id") == 1:
            answer = found
    if "error" in answer:
        raise ToolError(name + ": " + answer["error"]["message"])
    if "result" not in answer:
        raise ToolError(f"{name}: no answer, HTTP status {status}")
    result: Any = answer["result"]
    if result.get("resultType") == "input_required":
        raise ToolError(name + ": it asks for input, which cannot be given here")
    if result.get("isError"):
        raise ToolError(name + ": " + "\n".join(c.get("text", c["type"]) for c in result["content"]))
    returned: ToolResult = result
    return returned


def _structured(name: str, arguments: Mapping[str, Any], repeated: list[list[str]] = []) -> Any:
    """Calls a tool that declares its result."""
    return _call(name, arguments, repeated).get("structuredContent")


def _header(text: str) -> str:
    if text.isascii() and text.isprintable() and text.strip() == text != "" and not text.startswith("=?base64?"):
        return text
    return "=?base64?" + _base64.b64encode(text.encode()).decode() + "?="
