package store

import "time"

// ID names a server in a database.
type ID struct {
	// Name is the configured one.
	Name string
	// Digest is that of the server's configuration: records under another digest
	// are of another server, and not returned.
	Digest string
}

// Record is what is stored about a server.
type Record struct {
	Catalog Catalog
	Usage   Usage
}

// Catalog is what a server offers.
type Catalog struct {
	// Data is in the caller's format; nil is none.
	Data []byte
	// Verified is when the server was last seen to offer this.
	Verified time.Time
}

// Usage is how a server is used.
type Usage struct {
	// Count is the number of requests, First and Last are when they began.
	Count       uint64
	First, Last time.Time
	// Interval is the moving average of the time between two requests, zero
	// before the second.
	Interval time.Duration
	// Asks reports that the server has asked a client something, Untold that it
	// did not say inside which call.
	Asks, Untold bool
	// Results are how many results had how many bytes, in the caller's format; "" is none.
	Results string
}

// Change is a part of a record to store. Nil parts do not change.
type Change struct {
	ID      ID
	Catalog *Catalog
	Usage   *Usage
	// Verified, unless zero, is when the stored catalogue was last confirmed. It has
	// no effect on a server without one, or beside Catalog.
	Verified time.Time
}
