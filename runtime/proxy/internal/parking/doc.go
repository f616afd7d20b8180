// Package parking keeps calls running while their client is away. A modern
// client cannot be asked in the middle of a request: it gets the questions as a
// result and comes back with the answers in a new request. A legacy server asks
// in the middle of a call and waits. A [Lot] holds the server's call between the
// client's requests, bounded in number and time.
//
// It owns the goroutine of each call, which Close waits for, and one timer per
// round of questions. Locks: a Call's before its Lot's, never the other way, and
// both for memory work only. It does not know which server a call goes to, what
// it says, or how a ticket is sealed and sent.
package parking
