package require

import (
	"os"
	"syscall"
)

// WriteProgram writes an executable file. Meanwhile no process is started: it would have the
// file open, and what is open for writing cannot be run (ETXTBSY, golang.org/issue/22315).
func WriteProgram(path string, text []byte, perm os.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, text, perm)
}
