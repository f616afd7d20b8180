package gateway

import "github.com/mcpctl/mcpctl/runtime/proxy"

// NewTurns returns turns to start servers in, for commands that start many: as in serve.
func NewTurns() *proxy.StartLimiter { return proxy.NewStartLimiter() }
