//go:build unix && !linux

package jsonrpc

// widen does nothing: only Linux lets the size of a pipe be chosen.
func widen(uintptr) {}
