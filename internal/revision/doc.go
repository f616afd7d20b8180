// Package revision holds what the protocol's revisions say: which there are, the
// names they give to methods, members and extensions, and how a payload of one
// reads in another.
//
// Everything is pure: no goroutine, no lock, no clock, no I/O. Conversions splice
// raw JSON and leave every byte alone that the revisions agree about. The package
// does not know transports, connections, sessions or who calls whom.
package revision
