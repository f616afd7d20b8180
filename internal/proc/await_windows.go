package proc

import "github.com/mcpctl/mcpctl/internal/proctree"

// await waits for the end of a child and returns how it has ended. The job is ours by
// its handle, not by a number.
func await(c proctree.Child) string { return c.Wait() }
