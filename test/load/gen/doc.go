// Package gen puts servers of the Model Context Protocol under load and reports
// how they took it: calls a second, quantiles of the time a call takes, and
// what the system says of the process that is measured.
//
// Open (a command over its standard input and output, or a URL) or Attach (any
// pair of streams) returns a Conn; Conn.Run has N callers call one tool, each
// waiting for its answer before the next call. Every answer is checked: it has
// to bear the id of a request that waits and the very text that was sent with
// that request, which no other request has. An answer that does not is counted
// in Result.Wrong and never as a call that was served.
//
// The work that it does for a call is about that of an ordinary client which
// decodes its messages with encoding/json: what a proxy costs should show
// beside real ends, not beside ends that cost nothing.
package gen
