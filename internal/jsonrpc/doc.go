// Package jsonrpc frames JSON-RPC messages as lines and matches answers to
// calls. It is the asynchronous floor of every stdio connection, on both sides
// of mcpctl.
//
// Nothing that a call needs owns a goroutine, a channel or a timer. [Conn.Start]
// copies a request into an output buffer and returns; the connection's reader
// finishes the call by handing its [Receiver] the answer. [Conn.Call] waits on
// top of that. Output is a [Writer]: a buffer that producers append whole
// frames to and one of them flushes, so no lock is held across a write and a
// peer that stops reading holds nobody.
package jsonrpc
