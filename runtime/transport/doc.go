// Package transport connects to MCP servers: a child process that speaks over its standard
// streams, Streamable HTTP, and the deprecated HTTP+SSE of 2024-11-05. Each connection is a
// [runtime.Transport]: it carries raw messages and knows nothing of protocol revisions. Most
// programs use package dial instead, which chooses the transport from an entry of servers.json
// and negotiates the revision.
//
//	t, err := transport.StartStdio(transport.StdioOptions{Command: "npx", Args: []string{"-y", "server"}})
//	if err != nil {
//		return err
//	}
//	defer t.Close()
//	result, err := t.Call(ctx, &runtime.Request{Method: "ping"})
//
// # Concurrency
//
// All methods of a transport may be called concurrently. What a server sends outside calls goes
// to the Handler of the options, in the order of arrival, on the goroutine that reads: it must
// not wait for another call of the same transport. Close returns when all goroutines of the
// transport have ended, and with them its child process.
//
// # Errors
//
// An error of a call of which no byte was sent matches [runtime.ErrNotSent]: the call can be
// made again. An answer of the server that is an error is a [*runtime.Error]. What is no MCP is
// a [*runtime.ProtocolError], a status of HTTP a [*StatusError], the end of a child process an
// [*ExitError]. No error contains a credential that the Redactor of the options knows.
//
// # Limits
//
// A message of a server has at most 64 MiB unless the options say otherwise. Redirects are
// followed to the same origin only. Headers that the protocol owns cannot be set.
package transport
