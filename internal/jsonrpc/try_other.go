//go:build !unix

package jsonrpc

import (
	"io"
	"os"
)

// tryWriter returns nil: only Unix has a write that cannot block.
func tryWriter(io.Writer) func([]byte) (int, error) { return nil }

// pipeInput returns r.
func pipeInput(r io.Reader) io.Reader { return r }

// Nonblocking returns f as it is.
func Nonblocking(f *os.File) (*os.File, func()) { return f, func() {} }
