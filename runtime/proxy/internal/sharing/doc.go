// Package sharing decides which clients share a connection to a server. It is pure:
// package upstream makes and keeps the connections.
package sharing
