// Package negotiate joins the protocol eras. MCP up to 2025-11-25 (legacy) opens a
// connection with a handshake; 2026-07-28 (modern) makes every request
// self-contained. Connect finds out which one a server speaks and wraps its
// bare transport into one that hides the difference, so that runtime.Client
// and everything above it is era-blind.
//
// It owns, for each connection: the handshake and its repetition in a new
// session, the listens of a modern server and the goroutine that keeps them, the
// tasks that calls wait for, and what lists have said of tools. Close ends and
// waits for all of it. What a revision says is package revision's.
//
// Locks are held for memory work only, none while another one is taken, with two
// exceptions. A handshake holds legacySession.handshakes, a channel used as a
// lock, across its I/O; legacySession.mu may be taken inside of it. And
// taskQuestions.mu may be held when legacyTasks.mu is taken, or background.mu.
//
// It does not know who calls: clients, principals and names that a proxy exposes
// are none of its business, and neither is how a transport reaches its server.
package negotiate
