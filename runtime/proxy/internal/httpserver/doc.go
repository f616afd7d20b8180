// Package httpserver serves clients over HTTP: Streamable HTTP of both eras, and the
// older HTTP+SSE.
//
// A request's own goroutine writes its answer and what comes before it. Readers
// of backends only put messages into bounded queues (stream, modernPost), so that
// none waits for a client. legacy_*.go hold sessions, streams that can be resumed
// and HTTP+SSE; modern*.go hold the stateless era.
//
// Locks, in the order in which they are taken: session.mu and replayBuffer.mu each
// before a stream.mu; sessions.Mu, SSE.Mu and writeDeadline.mu with none of these.
//
// [Guard] lets requests in: from where they come, and with whose credential.
//
// The package knows nothing of servers, names or eras of servers: router has them.
package httpserver
