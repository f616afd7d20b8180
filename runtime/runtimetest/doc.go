// Package runtimetest has a fake MCP server for tests: mcpctl's own and those
// of programs that use package runtime.
//
// A [Server] is a value whose fields say what it offers and how it misbehaves.
// It speaks newline-delimited JSON over any pair of streams ([Server.Serve]),
// over memory ([Server.Connect] returns a ready [runtime.Transport]), over HTTP
// ([Server.Handler]) and as a child process ([Main]). Results are raw JSON and
// reach the wire byte for byte, so a test can compare bytes end to end.
//
// It is written against the specification alone, with encoding/json, and shares
// no framing code with mcpctl: a mistake made there does not cancel out here.
package runtimetest
