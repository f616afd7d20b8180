//go:build unix && (!linux || race)

package jsonrpc

import "syscall"

// readNow is read(2) on a descriptor that does not block. The race detector has to
// know of it, and of writeNow.
func readNow(fd uintptr, p []byte) (int, error) {
	n, err := syscall.Read(int(fd), p)
	return max(n, 0), err
}

// writeNow is write(2) on a descriptor that does not block.
func writeNow(fd uintptr, p []byte) (int, error) {
	n, err := syscall.Write(int(fd), p)
	return max(n, 0), err
}
