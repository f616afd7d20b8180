// Package proxy puts many MCP servers behind one endpoint. A front (stdio or
// HTTP) takes clients' messages; each backend is one server, connected when it
// is first needed and shared by all clients.
//
// The envelope is hop-by-hop, the payload end-to-end: id, method and the few
// members that the protocol makes a proxy own (names, URIs, progress tokens)
// are spliced, every other byte of params, result and error crosses as it
// came.
//
// This package holds the options and the status; the work is done by the rooms
// in internal. front, front/stdio and front/web read messages and write
// answers. router takes one request to a backend and back. catalog holds what
// clients see, as an immutable value behind an atomic pointer, which a call
// reads without a lock; subscriptions and questions, who hears of a resource
// and who is asked. upstream holds the backends and their connections,
// inventory what one server offers. parking holds calls that wait for their
// client; breaker, limits and meter are small parts. See docs/architecture.md.
package proxy
