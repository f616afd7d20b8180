package jsonrpc_test

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcpctl/mcpctl/runtime/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestPipeHoldsPage: a pipe to a client takes a page of a list, some 100 KiB,
// while the client is not looking.
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
	if n, err := unix.Write(int(out.Fd()), make([]byte, page)); n != page {
		t.Errorf("%d of %d bytes were taken: %v", n, page, err)
	}
}
