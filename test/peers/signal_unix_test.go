//go:build integration && unix

package peers_test

import "os"

func interrupt(p *os.Process) error { return p.Signal(os.Interrupt) }
