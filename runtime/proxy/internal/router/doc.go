// Package router takes one request of a client to a backend and its answer
// back. [Router.Answer] and [Router.ServeModern] dispatch by method, each
// request on a goroutine of its own. [Router.FastCall] and
// [Router.FastCallModern] start a tools/call to a connected stdio backend from
// the endpoint's reader: it has no goroutine, channel or timer, and the backend's
// reader finishes it.
//
// The router builds the rooms under it (backends, catalogue, questions,
// subscriptions, parked calls) and reports to each what happens at the servers. It
// owns what a request is: its rewriting, its conversion between revisions, its
// deadline, the state that a modern client keeps between rounds, and which
// connection a task belongs to. It knows an endpoint only as [ReplyTo] or [Responder].
//
// The judge decides once about each request, before anything is connected for it.
//
// Locks: Router.reconfiguring comes before all others of the proxy, and is taken
// by Reconfigure and Close alone. The lock of the task owners is a leaf but for
// a slot's keeps. A PendingFastCall's lock is never held when the pipe is
// called: the pipe holds its own while it looks for a call.
package router
