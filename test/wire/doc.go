// Package wire has what suites share that speak to programs in bytes of their
// own: messages of JSON-RPC, server-sent events, clients over HTTP and over
// pipes, and mcpctl as a program that is built, started and ended. It needs the
// standard library alone, and none of mcpctl's own code.
package wire
