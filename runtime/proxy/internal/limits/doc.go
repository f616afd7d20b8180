// Package limits holds the bounds that the rooms of the proxy share, and counts the
// bytes that clients make it hold: messages being received, and messages that wait
// for clients. It owns no lock, and knows no request, client or server.
package limits
