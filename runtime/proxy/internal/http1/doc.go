// Package http1 serves the usual request, a POST on a kept-alive HTTP/1.1
// connection, for less than net/http takes. Everything else it leaves to net/http.
//
// A connection is read by a goroutine of its own. As long as each head on it has
// the exact shape that head.go describes, the handler is called from there. The
// first other head ends that: the connection goes to the [net/http.Server] for
// good, with all bytes that the handler has not seen in front. What net/http says
// to wrong, odd and ambiguous requests is therefore what clients get.
//
// Handlers see what they see under net/http, with these differences:
//   - The header, the URL and their values are shared by the requests of a
//     connection, and must not be changed. Content-Length is not in the header.
//   - A client that disconnects is noticed when its request is one to two ticks
//     old, not earlier.
//   - Deadlines for slow clients are up to one tick late, and begin again when a
//     connection goes to net/http.
//   - There are no informational responses, no trailers and no hijacking.
//
// Locks: Server.mu before conn.mu.
package http1
