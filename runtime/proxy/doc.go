// Package proxy puts many MCP servers behind one endpoint. An endpoint (stdio or
// HTTP) takes clients' messages; each backend is one server, connected when it
// is first needed and shared by all clients.
//
// The envelope is hop-by-hop, the payload end-to-end: id, method and the few
// members that the protocol makes a proxy own (names, URIs, progress tokens)
// are spliced, every other byte of params, result and error crosses as it
// came.
//
// This package holds the options and the status. The work is done in internal:
// stdioserver and httpserver read messages and write answers, and endpoint is
// what they share. router takes one request to a backend and back, and authorize
// decides whether it may go. catalog holds what clients see, as an immutable value
// behind an atomic pointer, which a call reads without a lock. subscriptions says
// who hears of a resource, interaction who is asked when a server asks. upstream
// holds the backends and their connections, inventory what one server offers.
// See docs/architecture.md.
package proxy
