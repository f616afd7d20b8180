// Package proxy puts many MCP servers behind one endpoint. A front (stdio or
// HTTP) takes clients' messages; each backend is one server, connected when it
// is first needed and shared by all clients.
//
// The envelope is hop-by-hop, the payload end-to-end: id, method and the few
// members that the protocol makes a proxy own (names, URIs, progress tokens)
// are spliced, every other byte of params, result and error crosses as it
// came. What clients may see is an immutable snapshot behind an atomic
// pointer; the path of a call reads it without a lock.
//
// A call to a connected stdio backend owns no goroutine, channel or timer: the
// front's reader starts it and the backend's reader finishes it. Whatever can
// wait for someone else (a backend to connect, an HTTP server, a list) has a
// goroutine of its own.
package proxy
