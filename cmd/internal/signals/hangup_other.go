//go:build !unix

package signals

// controllingTerminal returns false: there is no signal HUP.
func controllingTerminal() bool { return false }
