package gateway

// Texts of the help.
const (
	ServeLong = `Put all configured servers behind one endpoint: on standard input and output, as hosts start it, or over HTTP.
--http serves Streamable HTTP at /mcp, and the older HTTP+SSE at /sse. A server is started when it is first needed,
once for all clients. One that fails does not disturb the others.

Tools and prompts are called SERVER__NAME, in at most 44 characters: longer names get a hash.

With --socket it serves HTTP on a Unix socket (Windows: a named pipe), which only processes of this user can use.

--http takes addresses of this machine only, unless config.yaml asks clients for tokens (mcpctl access --help) or --insecure
allows others. With --url, or a command behind --, it serves only that server. The line "listening on http://ADDR/mcp"
on standard error says that the port is open.`

	BridgeLong = `Offer one remote server on standard input and output, for hosts that only start commands. Names, instructions and
capabilities stay the same; as long as the server wants a login, they are mcpctl's own. Bridge uses the credentials that
mcpctl stores or obtains for the server. It never asks on standard input.

With --http, offer a command or a configured server over HTTP: Streamable HTTP at /mcp, and HTTP+SSE at /sse. There is
no authentication, so --http accepts only addresses of this machine. --insecure allows others.

If the server cannot be used, the client gets a JSON-RPC error: -32001 for an HTTP status, which is in data.status,
and -32000 otherwise.`
)
