package wait

import "time"

// What mcpctl promises in real time, ten times over, for a busy machine. What comes later
// than that would never come.
const (
	// Gone is how long a process of a server may outlive mcpctl, or its end: half a second of
	// grace, five until the kill (internal/proc), and half for the machine.
	Gone = 10 * 6 * time.Second
	// GoneBusy is the same where calls are under way, which are waited for first: the end of
	// serve is bounded to ten seconds (gateway.EndBound), whatever happens.
	GoneBusy = 10 * 11 * time.Second
	// Ended is how long serve may take from the signal to its end: gateway.EndBound.
	Ended = 10 * 10 * time.Second
	// EndedAtOnce is the same where it is told again: gateway.ReapTimeout, after the pause
	// that tells a second signal from the first.
	EndedAtOnce = 10 * 1 * time.Second
	// Killed is how long after the end of a server its calls may wait for their answers: a
	// second, of which half is exitWait of runtime/transport.
	Killed = 10 * 1 * time.Second
	// Interrupted is how long a command may take to end after a signal: endTimeout of
	// cmd/internal/cli.
	Interrupted = 10 * 5 * time.Second
	// FirstList is how long the first list waits for servers that are still starting: the
	// listGrace of two seconds that tests set.
	FirstList = 10 * 2 * time.Second
)
