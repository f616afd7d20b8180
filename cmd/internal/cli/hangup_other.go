//go:build !unix

package cli

// controllingTerminal returns false: there is no signal HUP.
func controllingTerminal() bool { return false }
