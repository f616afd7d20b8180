//go:build unix && !linux && !darwin

package proc

import "github.com/mcpctl/mcpctl/internal/proctree"

// await waits for the end of a child and returns how it has ended.
func await(c proctree.Child) string { return waitText(c.Wait()) }
