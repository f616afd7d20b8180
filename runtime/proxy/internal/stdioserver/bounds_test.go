package stdioserver

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/internal/seal"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/endpoint"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// paused is a server that answers calls when it is let.
type paused struct{ let chan struct{} }

func (m *paused) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	if req.Method == "tools/list" {
		return json.RawMessage(`{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}`), nil
	}
	select {
	case <-m.let:
		return json.RawMessage(`{"content":[]}`), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (m *paused) Notify(context.Context, *runtime.Request) error { return nil }
func (m *paused) Close() error                                   { return nil }

// mutely returns endpoints of a server a that answers calls once let is closed.
func mutely(t *testing.T) (f *endpoint.Set, let chan struct{}) {
	t.Helper()
	m := &paused{let: make(chan struct{})}
	log := slog.New(slog.DiscardHandler)
	rt := router.New(router.Options{
		Backends: upstream.Options{Logger: log, Dial: func(context.Context, upstream.Key, *access.Principal, runtime.Handler) (*runtime.Client, error) {
			return runtime.NewClient(m, runtime.ClientOptions{Info: runtime.ServerInfo{Version: "2025-11-25", Capabilities: json.RawMessage(`{"tools":{}}`)}}), nil
		}},
		Catalog: catalog.Options{Separator: "__", NameLimit: 44, Ring: seal.NewKeyring(), Logger: log}, Logger: log,
	})
	if _, err := rt.Reconfigure([]upstream.Settings{{Name: "a"}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rt.Close)
	return endpoint.NewSet(rt), m.let
}

const callOfX = `{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"a__x","arguments":{}}}`

// TestBatchesCount: each request of a batch on standard input is one in flight,
// and large ones count by size.
func TestBatchesCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		endpoints, let := mutely(t)
		in, client := io.Pipe()
		f := make(chan error, 1)
		go func() { f <- Serve(t.Context(), endpoints, in, io.Discard, Options{}) }()
		lines := []string{
			`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{}}}`,
			"[" + strings.TrimSuffix(strings.Repeat(callOfX+",", 40), ",") + "]",
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a__x","arguments":{"m":"` + strings.Repeat("m", limits.FreeBody) + `"}}}`,
		}
		for _, line := range lines {
			_, _ = io.WriteString(client, line+"\n")
		}
		time.Sleep(time.Second) // as time goes in the bubble
		s, ok := endpoints.List()[0].(*server)
		if !ok {
			t.Fatal("no front")
		}
		if n, held := s.load.inFlight.Load(), s.load.held.Load(); n != 41 || held < limits.FreeBody {
			t.Errorf("%d in flight, %d bytes", n, held)
		}
		close(let)
		_ = client.Close()
		if err := <-f; err != nil {
			t.Error(err)
		}
		if n, held := s.load.inFlight.Load(), s.load.held.Load(); n != 0 || held != 0 {
			t.Errorf("%d in flight, %d bytes at the end", n, held)
		}
	})
}

// TestLogFloodIsDropped: of log messages that a client does not read little is kept,
// and everything else.
func TestLogFloodIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		endpoints, _ := mutely(t)
		in, client := io.Pipe()
		taken, out := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- Serve(t.Context(), endpoints, in, out, Options{}) }()
		synctest.Wait()
		s, ok := endpoints.List()[0].(*server)
		if !ok {
			t.Fatal("no front")
		}
		line := json.RawMessage(`{"level":"info","data":"` + strings.Repeat("x", 100<<10) + `"}`)
		for range 40 {
			s.sender.Client.Tell(revision.NotificationMessage, line)
			s.Notify(revision.NotificationMessage, line)
		}
		s.Notify(revision.NotificationToolsListChanged, nil)
		_ = client.Close()
		read := make(chan []byte, 1)
		go func() {
			all, _ := io.ReadAll(taken)
			read <- all
		}()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		_ = out.Close()
		all := string(<-read)
		if n := strings.Count(all, revision.NotificationMessage); n < 5 || n > 20 {
			t.Errorf("%d of 80 log messages came", n)
		}
		if !strings.Contains(all, revision.NotificationToolsListChanged) {
			t.Error("what is not a log message was dropped")
		}
	})
}
