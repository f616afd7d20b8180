//go:build !linux

package main

import (
	"time"

	"github.com/mcpctl/mcpctl/test/wire"
)

// cpuTime returns the time that a process has used so far, 0 where the system does
// not say.
func cpuTime(pid int) time.Duration { return wire.ReadUsage(pid).CPU }
