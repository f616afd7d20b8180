// Package runtime is the library of mcpctl itself and of the clients it generates:
// a connection to one Model Context Protocol (MCP) server, whatever its transport
// and protocol revision.
//
// Data stays raw. A [Transport] moves params and results as the bytes that
// were sent; typed views such as [ToolResult] are decoded at the edge and keep
// their bytes, so nothing a server adds is lost.
//
// Package runtime needs the standard library and a JSON scanner, and no
// net/http: programs that use a generated client link what they dial with,
// nothing else. Its exported API is a semver promise (testdata/api.txt).
package runtime
