// Package interaction answers what servers ask and passes on what they log without
// saying inside which call. A question goes to the one client whose it can be: to
// the only one with calls in flight over the connection, else to the one whose own
// the connection is; where there are several it is refused. A log line that can be
// nobody's goes to the proxy's own log.
//
// It owns the log levels of clients and the telling of levels and of changed roots
// to servers. A [ServerRequests]'s lock is held for memory work only, and no other lock is
// taken under it. It knows no endpoint: a client is asked through the Origin that its
// endpoint has made.
//
// A [SuspendedCalls] holds calls whose clients have to be asked between two requests.
package interaction
