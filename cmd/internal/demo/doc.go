// Package demo holds what mcpctl can show without a network: an MCP server of
// its own, a small workshop whose stock can be searched, taken from and drawn.
//
// [Server] is a real server: it speaks every protocol revision over stdio and
// Streamable HTTP, and checks its arguments. Its world is made anew for each
// Server and lives in memory only.
package demo
