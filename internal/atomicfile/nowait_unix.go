//go:build unix

package atomicfile

import "syscall"

// NoWait is what to add to the flags of [os.OpenFile] at a path of a
// configuration or of state: a named pipe there is opened without waiting for
// its other end, and a terminal does not become the controlling one. Regular
// files are read as ever.
const NoWait = syscall.O_NONBLOCK | syscall.O_NOCTTY
