//go:build faults && linux

package faults_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// mostStreams is the bound of an endpoint, see docs/serve.md, Limits.
const mostStreams = 10_000

// TestManyStreams opens as many sessions as there may be, each with a stream
// that nobody reads, while all of them are told of changes. It shows what
// clients can make mcpctl hold with streams alone.
func TestManyStreams(t *testing.T) {
	if testing.Short() {
		t.Skip("opens 10,000 connections")
	}
	n := mostStreams
	var files syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files))
	n = min(n-50, int(files.Cur)-1000) // less than an int holds
	d := serve(t, wire.Servers{"good": hostileEntry("good", ""), "loud": hostileEntry("loud", "flood-changes")})
	g := startCallers(t, d, "good", 2, 5*time.Millisecond)
	var left, refused atomic.Int64
	left.Store(int64(n))
	var mu sync.Mutex // guards all
	var all []net.Conn
	var work sync.WaitGroup
	for range 8 {
		work.Go(func() {
			c := newCaller(d)
			defer c.Close()
			for left.Add(-1) >= 0 {
				if err := c.initialize(t.Context()); err != nil {
					t.Error(err)
					return
				}
				conn, err := wire.Dial(d.URL)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				all = append(all, conn)
				mu.Unlock()
				_, _ = io.WriteString(conn, "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\nMcp-Session-Id: "+c.Session+"\r\n"+wire.Credential()+"\r\n")
				_ = conn.SetReadDeadline(wait.Deadline(t))
				res, err := http.ReadResponse(bufio.NewReaderSize(conn, 1024), nil)
				if err != nil {
					t.Error(err)
					return
				}
				if res.StatusCode != http.StatusOK {
					refused.Add(1)
				}
			}
		})
	}
	work.Wait()
	before := d.usage(t)
	for range 40 {
		if k, text := attempt(d, "loud", 0); k != right {
			t.Errorf("got %s: %s", k, text)
		}
		time.Sleep(50 * time.Millisecond) // so long it is told of changes
	}
	g.finish()
	during := d.usage(t)
	for _, c := range all {
		_ = c.Close()
	}
	wait.Until(t, lazyText(func() string { return "files come back: " + d.usage(t).String() }), func() bool { return d.usage(t).files < d.start.files+100 })
	t.Logf("%d streams: %v, %d refused; told of changes: %v, %d calls of others, the last %v; at the end %v", n, before, refused.Load(), during, g.calls.Load(), g.took[len(g.took)-1], d.usage(t))
	if refused.Load() > 0 || during.peak > d.start.peak+900*factor() {
		t.Errorf("%d streams are refused; memory %v, at the start %v", refused.Load(), during, d.start)
	}
}
