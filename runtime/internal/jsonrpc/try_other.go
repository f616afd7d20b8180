//go:build !unix

package jsonrpc

import (
	"io"
	"os"
)

// tryWriter gives nil: only Unix has a write that cannot block.
func tryWriter(io.Writer) func([]byte) (int, error) { return nil }

// Nonblocking gives f as it is.
func Nonblocking(f *os.File) (*os.File, func()) { return f, func() {} }
