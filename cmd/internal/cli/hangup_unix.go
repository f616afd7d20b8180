//go:build unix

package cli

import (
	"os"
	"syscall"
)

// controllingTerminal reports whether the process belongs to a terminal.
func controllingTerminal() bool {
	f, err := os.OpenFile("/dev/tty", os.O_RDONLY|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	_ = f.Close()
	return true
}
