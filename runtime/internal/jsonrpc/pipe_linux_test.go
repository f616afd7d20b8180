package jsonrpc_test

import (
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcpctl/mcpctl/runtime/internal/jsonrpc"
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
	for range 3 {
		require.NoError(t, to.Append(make([]byte, 30<<10)))
		to.Flush()
	}
	if n := size(); n != 1<<16 {
		t.Errorf("small messages: the pipe holds %d bytes", n)
	}
	_, err = io.ReadFull(r, make([]byte, 90<<10))
	require.NoError(t, err)
	require.NoError(t, to.Append(make([]byte, page)))
	to.Flush()
	if n, err := unix.IoctlGetInt(int(r.Fd()), unix.TIOCINQ); n != page {
		t.Errorf("%d of %d bytes were taken: %v", n, page, err)
	}
}
