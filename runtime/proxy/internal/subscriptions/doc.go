// Package subscriptions tells clients what has changed: lists, resources and tasks
// for subscriptions/listen of the modern era, resources for resources/subscribe of
// the handshake era.
//
// A [Hub] owns who is subscribed to which resource over which slot, keeps those
// slots connected, and subscribes once at each server, again after a new
// connection, a move or a replacement. Changes of lists come from the catalog's
// publisher, those of tasks from the function that the hub is made with.
//
// Locks: Hub.mu is taken after a backend's and before that of a slot's keeps; a
// listen's own lock is for memory work alone. No lock is held while a server or a
// client is written to: who tells a server has the turn of its resource. The package
// knows no endpoint: a [Channel] is what it needs of a stream.
package subscriptions
