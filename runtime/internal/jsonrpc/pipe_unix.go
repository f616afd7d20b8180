//go:build unix && !linux

package jsonrpc

import "syscall"

// widen does nothing: only Linux lets the size of a pipe be chosen.
func widen(uintptr) {}

// readNow is read(2) on a descriptor that does not block.
func readNow(fd uintptr, p []byte) (int, error) {
	n, err := syscall.Read(int(fd), p)
	return max(n, 0), err
}

// writeNow is write(2) on a descriptor that does not block.
func writeNow(fd uintptr, p []byte) (int, error) {
	n, err := syscall.Write(int(fd), p)
	return max(n, 0), err
}
