package http1client

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/httpsyntax"
)

// maxTrailers bounds the trailers of a body, which are checked and left out.
const maxTrailers = 100

// body is the body of a response. Whoever reads its end or an error gives the
// connection back, or else who closes it.
type body struct {
	x          *conn
	keep       bool // the connection can be used after the body
	chunked    bool
	untilClose bool
	begun      bool  // the first chunk has begun
	left       int64 // of the body, or of the chunk
	err        error // that all further reads return
	over       atomic.Bool
	closed     atomic.Bool
}

// Read implements [io.Reader]. Errors are io.ErrUnexpectedEOF for a body that is not
// whole, and the cause of the context's end for one that was given up.
func (b *body) Read(p []byte) (int, error) {
	if b.closed.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	n, err := b.read(p)
	if err != nil {
		b.err = b.end(err)
	}
	return n, b.err
}

// end returns the error of the body after the last read, and releases the connection.
func (b *body) end(err error) error {
	if !b.over.CompareAndSwap(false, true) {
		return http.ErrBodyReadAfterClose // closed meanwhile
	}
	if ctx := b.x.ctx; !errors.Is(err, io.EOF) && ctx.Err() != nil {
		err = deadline.Cause(ctx)
	}
	b.x.release(b.keep && errors.Is(err, io.EOF) && !b.untilClose)
	return err
}

// Close implements [io.Closer]. The connection of a body that was not read to its end
// is closed. It may be called while another goroutine reads.
func (b *body) Close() error {
	b.closed.Store(true)
	if b.over.CompareAndSwap(false, true) {
		b.x.watch.Stop()
		b.x.close()
	}
	return nil
}

func (b *body) read(p []byte) (int, error) {
	if b.untilClose {
		return b.x.Read(p)
	}
	if b.chunked && b.left == 0 {
		if err := b.nextChunk(); err != nil {
			return 0, err
		}
	}
	n, err := b.x.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if err == nil && b.left == 0 && !b.chunked {
		return n, io.EOF
	}
	return n, midway(err, true)
}

// nextChunk reads the line before a chunk, and all that follows the last one; then it
// returns io.EOF.
func (b *body) nextChunk() error {
	if b.begun {
		switch line, err := b.x.line(); {
		case err != nil:
			return err
		case line != "":
			return errChunk
		}
	}
	b.begun = true
	line, err := b.x.line()
	if err != nil {
		return err
	}
	size, ok := httpsyntax.ChunkSize(line)
	if !ok {
		return errChunk
	}
	b.left = size
	if size > 0 {
		return nil
	}
	for range maxTrailers + 1 {
		line, err := b.x.line()
		if err != nil {
			return err
		}
		if line == "" {
			return io.EOF
		}
		if _, _, ok := httpsyntax.Field(line); !ok {
			return errField
		}
	}
	return errTooLarge
}
