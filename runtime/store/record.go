package store

import "time"

// ID names a server in a database.
type ID struct {
	// Name is the configured one.
	Name string
	// Digest stands for everything that is configured of the server: what was
	// kept under another one is of another server, and is not given.
	Digest string
}

// Record is what is kept of a server. The zero value is nothing.
type Record struct {
	Catalog Catalog
	Usage   Usage
}

// Catalog is what a server offers.
type Catalog struct {
	// Data is in a form of the caller's own; nil is none.
	Data []byte
	// Verified is when the server was last seen to offer this.
	Verified time.Time
}

// Usage is how a server is used.
type Usage struct {
	// Count is of requests, First and Last are when they began.
	Count       uint64
	First, Last time.Time
	// Interval is the moving average of the time between two requests, zero
	// where there were not two.
	Interval time.Duration
	// Asks tells that the server has asked a client something, Untold that it
	// did not say inside which call.
	Asks, Untold bool
}

// Change is a part of a record that is to be kept. Nil parts stay as they are.
type Change struct {
	ID      ID
	Catalog *Catalog
	Usage   *Usage
	// Verified, unless zero, is when the catalogue that is kept was seen to be
	// what the server offers still. It has no effect on a server without one, or
	// beside Catalog.
	Verified time.Time
}
