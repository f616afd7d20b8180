// Package demo holds what mcpctl can show without a network.
//
// [Server] is an MCP server, a small workshop whose stock can be searched,
// taken from and drawn. It is a real one: it speaks every protocol revision
// over stdio and Streamable HTTP, and checks its arguments. Each Server has a
// world of its own, which lives in memory only.
//
// [Tour] runs mcpctl's own commands, as processes, against such a server and a
// sample registry. It prints what they print, and leaves nothing behind.
package demo
