// Package dial connects to a server of servers.json: it chooses the transport, expands the
// placeholders, adds credentials, and negotiates the protocol revision. It is the package that
// most programs start with.
//
//	client, err := dial.Server(ctx, "gh", dial.Options{})
//	if err != nil {
//		return err
//	}
//	defer client.Close()
//	result, err := client.CallTool(ctx, "create_issue", json.RawMessage(`{"title":"A crash"}`), nil)
//
// [Server] reads the user's servers.json. [Dial] takes an entry, from package config or written
// by the program. A generated client takes the [*runtime.Client] that both return.
//
// # Concurrency
//
// All functions may be called concurrently, also for the same entry: each call makes its own
// connection. The context of a function bounds connecting alone. The client lives until Close.
//
// # Errors
//
// A fault of the entry or a missing variable is an error of kind "config" (ExitKind() string).
// A server that cannot be started or reached is a [*runtime.ConnectError], one that does not
// answer in time a [*runtime.TimeoutError], one that does not speak MCP a
// [*runtime.ProtocolError]. Errors with a remedy have Hint() string.
//
// # Secrets
//
// Values of placeholders are expanded in memory and never written. Errors and logs show
// "[redacted]" instead of what the Redactor of the options knows.
package dial
