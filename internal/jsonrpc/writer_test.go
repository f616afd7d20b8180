package jsonrpc_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestReadHoldsBack: nothing is read from a peer while the output that its
// answers go to is far behind, and everything once that has caught up.
func TestReadHoldsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		taken, out := io.Pipe()
		client := jsonrpc.NewWriter(out)
		c, peer, in := wired(t, client)
		const n, size = 40, 1 << 20
		written := 0
		go func() {
			for range n {
				_, _ = in.Write(peer(size)) // blocks while nobody reads
				written++
			}
		}()
		synctest.Wait()
		if written >= n/2 {
			t.Errorf("%d of %d answers were read for a client that reads nothing", written, n)
		}
		got := int64(0)
		for range n {
			m, err := io.CopyN(io.Discard, taken, size)
			require.NoError(t, err)
			got += m
		}
		synctest.Wait()
		if written != n || got != n*size {
			t.Errorf("%d answers written, %d bytes came", written, got)
		}
		_ = in.Close()
		<-c
		client.Close()
	})
}

// TestAbandonLetsGo: who waits for an output is let go when it is given up.
func TestAbandonLetsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, out := io.Pipe()
		client := jsonrpc.NewWriter(out)
		c, peer, in := wired(t, client)
		go func() {
			for range 40 {
				_, _ = in.Write(peer(1 << 20))
			}
			_ = in.Close()
		}()
		synctest.Wait()
		select {
		case <-client.Failed():
			t.Fatal("failed too early")
		default:
		}
		client.Abandon()
		<-client.Failed()
		<-c // the reader has read on
		if err := client.Err(); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("got %v", err)
		}
		_ = out.Close()
		client.Close()
	})
}

// wired returns a connection whose answers all go to front: done is closed at
// its end, peer makes the next call and its answer, of which size bytes go to
// front.
func wired(t *testing.T, client *jsonrpc.Writer) (done chan struct{}, peer func(size int) []byte, in *io.PipeWriter) {
	t.Helper()
	r, in := io.Pipe()
	c := jsonrpc.NewConn(jsonrpc.NewWriter(io.Discard), quiet{}, false)
	done = make(chan struct{})
	go func() {
		defer close(done)
		c.Read(jsonrpc.NewLineReader(r, 0))
	}()
	return done, func(size int) []byte {
		id := c.NextID()
		if err := c.Start(&jsonrpc.Call{ID: id, Method: "m", Receiver: relay{client}}); err != nil {
			t.Error(err)
		}
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":"%s"}`+"\n", id, strings.Repeat("x", size))
	}, in
}

// relay passes the result on to an output, as a front does.
type relay struct{ to *jsonrpc.Writer }

func (r relay) Finish(a jsonrpc.Answer) *jsonrpc.Writer {
	if a.Err != nil || r.to.Append(bytes.Trim(a.Result, `"`)) != nil {
		return nil
	}
	return r.to
}

func (relay) Event(string, []byte) *jsonrpc.Writer { return nil }

// quiet is a peer that says nothing.
type quiet struct{}

func (quiet) Notification(string, []byte)    {}
func (quiet) Request([]byte, string, []byte) {}
func (quiet) Malformed([]byte, error) error  { return nil }
func (quiet) Closed(err error) error         { return err }

// TestOfferIsBounded: what may be left out is refused by an output whose reader has
// fallen behind, and all else is taken.
func TestOfferIsBounded(t *testing.T) {
	t.Parallel()
	_, out := io.Pipe()
	w := jsonrpc.NewWriter(out)
	defer func() { _ = out.Close(); w.Close() }()
	taken := 0
	for range 40 {
		if err := w.Offer(make([]byte, 100<<10)); err == nil {
			taken++
		} else if !errors.Is(err, jsonrpc.ErrFull) {
			t.Fatal(err)
		}
	}
	if taken < 10 || taken > 12 {
		t.Errorf("%d of 40 frames were taken", taken)
	}
	require.NoError(t, w.Append(make([]byte, 100<<10)))
	w.Abandon()
	if err := w.Offer([]byte("x")); err == nil || errors.Is(err, jsonrpc.ErrFull) {
		t.Errorf("an output that is closed: %v", err)
	}
}
