//go:build !unix

package cli

// controllingTerminal reports whether the process belongs to a terminal; there is
// no signal HUP to tell that it has gone.
func controllingTerminal() bool { return false }
