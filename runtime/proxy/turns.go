package proxy

import "github.com/mcpctl/mcpctl/runtime/proxy/internal/starts"

// Turns hands out turns to start servers on this machine, two for each processor and more
// where they only wait: a [Proxy] takes one for each start, and so can a program that starts
// many by itself. Its methods may be called concurrently.
type Turns = starts.Turns

// NewTurns returns turns for this machine.
func NewTurns() *Turns { return starts.NewTurns() }
