/** What a tool returns that does not declare its result. */
export interface ToolResult {
  content: { type: string; text?: string; [member: string]: unknown }[];
  structuredContent?: unknown;
}

declare const process: { env: { [name: string]: string | undefined } };

/** Calls a tool at MCPCTL_URL, the address of the view. MCPCTL_TOKEN is sent as a bearer token. */
async function call(name: string, args: object = {}, repeated: string[][] = []): Promise<ToolResult> {
  const url = process.env.MCPCTL_URL;
  if (!url) throw new Error("MCPCTL_URL is not set: it is the address of the view, as in http://127.0.0.1:8080/mcp/NAME");
  const headers: { [name: string]: string } = {
    "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": headerText(name),
  };
  if (process.env.MCPCTL_TOKEN) headers["Authorization"] = "Bearer " + process.env.MCPCTL_TOKEN;
  for (const [header = "", ...path] of repeated) {
    const value = path.reduce<any>((at, key) => at?.[key], args);
    if (value !== undefined && value !== null) headers[header] = headerText(String(value));
  }
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "mcpctl-declarations", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args, _meta: meta } };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(message), redirect: "error" });
  const answer = messageOf(await response.text());
  if (answer?.error) throw new Error(name + ": " + answer.error.message);
  if (!answer?.result) throw new Error(name + ": no answer, HTTP status " + response.status);
  const result = answer.result;
  if (result.resultType === "input_required") throw new Error(name + ": it asks for input, which cannot be given here");
  if (result.isError) throw new Error(name + ": " + result.content?.map((c: any) => c.text ?? c.type).join("\n"));
  return result;
}

/** Calls a tool that declares its result. */
async function structured<T>(name: string, args?: object, repeated: string[][] = []): Promise<T> {
  return (await call(name, args, repeated)).structuredContent as T;
}

/** Finds the answer in a body, which is JSON or a stream of events. */
function messageOf(body: string): any {
  for (const line of [body, ...body.split("\n").filter((l) => l.startsWith("data:")).map((l) => l.slice(5))]) {
    try {
      const message = JSON.parse(line);
      if (message.id === 1) return message;
    } catch {} // not this one
  }
}

function headerText(text: string): string {
  if (/^[!-~]([ -~]*[!-~])?$/.test(text) && !text.startsWith("=?base64?")) return text;
  return "=?base64?" + btoa(String.fromCharCode(...new TextEncoder().encode(text))) + "?=";
}
