package proxy

import "github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"

// StartLimiter hands out turns to start servers on this machine, 16 for each processor: a
// [Proxy] takes one for each start, and so can a program that starts many by itself. Its methods
// may be called concurrently.
type StartLimiter = upstream.StartLimiter

// NewStartLimiter returns turns for this machine.
func NewStartLimiter() *StartLimiter { return upstream.NewStartLimiter() }
