// Package runtime is the library that mcpctl itself and the clients it
// generates are built on: a connection to one Model Context Protocol (MCP)
// server, whatever its transport and protocol revision.
//
// Data stays raw. A [Transport] moves params and results as the bytes that
// were sent; typed views such as [ToolResult] are decoded at the edge and keep
// the bytes they came from, so nothing a server adds is lost.
//
// Package runtime needs the standard library and a JSON scanner, and no
// net/http: programs that use a generated client link what they dial with,
// nothing else. Its exported API is a semver promise (testdata/api.txt).
package runtime
