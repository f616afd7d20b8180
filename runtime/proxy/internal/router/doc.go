// Package router takes one request of a client to a backend and its answer
// back. [Router.Answer] and [Router.ServeModern] dispatch by method, each
// request on a goroutine of its own. [Router.FastCall] and
// [Router.FastCallModern] start a tools/call to a connected stdio backend from
// the front's reader: it has no goroutine, channel or timer, and the backend's
// reader finishes it.
//
// The router builds the rooms under it (backends, catalogue, questions,
// subscriptions, parked calls) and reports to each what happens at the servers. It
// owns what a request is: its rewriting, its conversion between revisions, its
// deadline, the state that a modern client keeps between rounds, and which
// connection a task belongs to. A front is known to it only as a [ReplyTo] or a
// [PendingFront].
//
// It asks the gate once for each request, when it is known what that leads to and before
// anything is connected for it: see admit in policy.go. A denial is an error
// whatever the method.
//
// Locks: Router.reconfiguring comes before all others of the proxy, and is taken
// by Reconfigure and Close alone. The lock of the task owners is a leaf but for
// a slot's keeps. A PendingFastCall's lock is never held when the pipe is
// called: the pipe holds its own while it looks for a call.
package router
