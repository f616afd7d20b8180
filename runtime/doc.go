// Package runtime is the library of mcpctl itself and of the clients it generates:
// a connection to one Model Context Protocol (MCP) server, whatever its transport
// and protocol revision.
//
//	client, err := dial.Server(ctx, "gh", dial.Options{}) // package dial makes clients
//	if err != nil {
//		return err
//	}
//	defer client.Close()
//	result, err := client.CallTool(ctx, "create_issue", json.RawMessage(`{"title":"A crash"}`), nil)
//
// Data stays raw. A [Transport] moves params and results as the bytes that
// were sent; typed views such as [ToolResult] are decoded at the edge and keep
// their bytes, so nothing a server adds is lost.
//
// All methods of a [Client] may be called concurrently. Close returns when the connection has
// ended.
//
// An error that the server answered with is an [*Error]. A tool that ran and failed is no error:
// ToolResult.IsError says so. No answer in time is a [*TimeoutError], an answer that is no MCP a
// [*ProtocolError], a connection that cannot be made a [*ConnectError]. An error that matches
// [ErrNotSent] says that no byte of the request was sent.
//
// Package runtime needs the standard library and a JSON scanner, and no
// net/http: programs that use a generated client link what they dial with,
// nothing else. Its exported API is a semver promise (testdata/api.txt).
package runtime
