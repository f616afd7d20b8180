//go:build integration && windows

package peers_test

import "os"

// interrupt ends the process: Windows has no signal for one process alone.
func interrupt(p *os.Process) error { return p.Kill() }
