package jsonrpc_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestPipeHoldsPage: a pipe to a client takes a page of a list, some 100 KiB,
// while the client is not looking. One that has got small messages alone stays as
// it is.
func TestPipeHoldsPage(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer func() { _ = r.Close() }()
	defer func() { _ = w.Close() }()
	const page = 200 << 10
	if _, err := unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 1<<18); err != nil {
		t.Skip("the system allows no such pipe: ", err)
	}
	if _, err := unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 1<<16); err != nil {
		t.Fatal(err)
	}
	out, restore := jsonrpc.Nonblocking(w)
	defer restore()
	size := func() int {
		n, err := unix.FcntlInt(r.Fd(), unix.F_GETPIPE_SZ, 0)
		require.NoError(t, err)
		return n
	}
	to := jsonrpc.NewWriter(out)
	defer to.Abandon()
	for range 2 {
		require.NoError(t, to.Append(make([]byte, 30<<10)))
		to.Flush()
	}
	if n := size(); n != 1<<16 {
		t.Errorf("small messages: the pipe holds %d bytes", n)
	}
	_, err = io.ReadFull(r, make([]byte, 60<<10))
	require.NoError(t, err)
	require.NoError(t, to.Append(make([]byte, page)))
	to.Flush()
	if n, err := unix.IoctlGetInt(int(r.Fd()), unix.TIOCINQ); n != page {
		t.Errorf("%d of %d bytes were taken: %v", n, page, err)
	}
}

// TestInputIsGivenBack: a pipe that is read without blocking is widened for a long
// line. When it is put back, a read under way ends, and the pipe blocks again.
func TestInputIsGivenBack(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer func() { _ = r.Close() }()
	defer func() { _ = w.Close() }()
	_ = r.Fd() // blocking, as standard input is
	in, restore := jsonrpc.Nonblocking(r)
	lines := jsonrpc.NewLineReader(in, 0)
	long := bytes.Repeat([]byte("x"), 100<<10)
	go func() { _, _ = w.Write(append(long, '\n')) }() // ends when it is read
	line, err := lines.Next()
	require.NoError(t, err)
	if !bytes.Equal(line, long) {
		t.Errorf("got %d bytes", len(line))
	}
	if n, err := unix.FcntlInt(w.Fd(), unix.F_GETPIPE_SZ, 0); err != nil || n <= 1<<16 {
		t.Errorf("after a long line the pipe holds %d bytes, %v", n, err)
	}
	ended := make(chan error)
	go func() {
		_, err := lines.Next()
		ended <- err
	}()
	restore()
	if err := <-ended; !errors.Is(err, os.ErrClosed) {
		t.Errorf("the read ended with %v", err)
	}
	if flags, err := unix.FcntlInt(r.Fd(), unix.F_GETFL, 0); err != nil || flags&unix.O_NONBLOCK != 0 {
		t.Errorf("the pipe's flags are %o, %v", flags, err)
	}
}
