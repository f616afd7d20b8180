//go:build !unix

package jsonrpc

import (
	"io"
	"os"
)

// tryWriter returns nil: only Unix has a write that cannot block.
func tryWriter(io.Writer) func([]byte) (int, error) { return nil }

// Nonblocking returns f as it is.
func Nonblocking(f *os.File) (*os.File, func()) { return f, func() {} }
