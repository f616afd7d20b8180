// Package upstream connects to the servers behind the proxy. It decides which
// connection a client's request takes, connects and closes, asks for what a server
// offers, and keeps what it has learned for the next process. It knows no endpoint,
// and no name that clients see: what servers say goes to an [Observer].
//
// A [Set] holds the configured backends. A [Backend] is one server: its primary
// [Slot], which says what the server offers, the [Pool] with the slots of clients
// that cannot share it, its [Lists], and what is [Persisted] of it. A slot is idle,
// connecting, or holds a connected [Conn]. A [Client] is
// a session of the handshake era; an [Caller] is the way back to who has sent one
// request.
//
// Locks, each taken before those that follow it:
//
//   - Set.mu guards the backends that drain.
//   - Pool.mu guards the pool with its slots, and of a Conn what says so. No call
//     of a server and no wait happens under it. [Observer.Moved] is called under it.
//   - Those of Lists and Persisted, the reaper's, a clientState's and a Conn's calls'
//     are taken under Pool.mu. A pipe's own lock is held while the callbacks of Each
//     run.
//   - A slot's keeps come last.
//
// A call that finds its connection in an atomic pointer takes none of them.
package upstream
