//go:build unix

package proxy_test

import (
	"bufio"
	"context"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestOneSocketForBoth serves a client on one socket, as inetd and some hosts
// hand it over: non-blocking output must not make reading fail.
func TestOneSocketForBoth(t *testing.T) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	// Both are opened again by number, as standard input and output are.
	second, err := syscall.Dup(fds[0])
	require.NoError(t, err)
	in, out, far := os.NewFile(uintptr(fds[0]), "in"), os.NewFile(uintptr(second), "out"), os.NewFile(uintptr(fds[1]), "far")
	p, err := proxy.NewAllowed(proxy.Options{Servers: proxy.Named("a"), Dial: two().dial})
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- p.ServeStdio(context.Background(), in, out) }()
	answers := bufio.NewReader(far)
	for range 2 {
		if _, err := far.WriteString(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"); err != nil {
			t.Fatal(err)
		}
		if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, `"result":{}`) {
			t.Fatalf("got %q %v", line, err)
		}
	}
	_ = far.Close()
	<-served // the far end is gone: an error of the write or the end of input
	_, _, _ = p.Close(), in.Close(), out.Close()
}
