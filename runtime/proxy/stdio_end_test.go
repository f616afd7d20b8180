package proxy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// leaving is a client of a stdio endpoint that can be told to end.
type leaving struct {
	t       *testing.T
	in      io.WriteCloser
	answers chan string // closed when the endpoint has ended
	served  chan error
	tell    context.CancelFunc
}

func attachLeaving(t *testing.T, p *proxy.Proxy) *leaving {
	t.Helper()
	toProxy, in := io.Pipe()
	out, fromProxy := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	r := &leaving{t: t, in: in, answers: make(chan string, 20), served: make(chan error, 1), tell: cancel}
	go func() {
		r.served <- p.ServeStdio(ctx, toProxy, fromProxy)
		_ = fromProxy.Close()
	}()
	go func() {
		defer close(r.answers)
		for s := bufio.NewScanner(out); s.Scan(); {
			r.answers <- s.Text()
		}
	}()
	return r
}

func (r *leaving) send(lines string) {
	r.t.Helper()
	_, err := io.WriteString(r.in, lines)
	require.NoError(r.t, err)
}

// refused returns the ids that the endpoint has answered at its end, sorted.
func (r *leaving) refused() (ids []string) {
	r.t.Helper()
	require.NoError(r.t, <-r.served)
	for line := range r.answers {
		var m struct {
			ID    json.RawMessage
			Error struct {
				Message string
				Data    struct{ Kind string }
			}
		}
		if json.Unmarshal([]byte(line), &m) != nil || !strings.Contains(m.Error.Message, "shutting down") || m.Error.Data.Kind == "" {
			r.t.Errorf("got %s", line)
		}
		ids = append(ids, string(m.ID))
	}
	slices.Sort(ids)
	return ids
}

func legacyLine(id, method, params string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + "}\n"
}

// TestStdioEndAnswers: a stdio endpoint that is told to end answers each request that is
// still pending, once, whatever way it is served.
func TestStdioEndAnswers(t *testing.T) {
	const slow = `{"name":"a__slow","arguments":{"ms":3600000}}`
	two := legacyLine("1", "tools/call", slow) + legacyLine(`"two"`, "tools/call", slow)
	for _, tt := range []struct {
		name    string
		plain   bool // no fast calls
		serial  bool
		send    string
		pending []string
	}{
		{name: "fast", send: two, pending: []string{`"two"`, `1`}},
		{name: "long way", plain: true, send: two, pending: []string{`"two"`, `1`}},
		{name: "stateless", send: julyLine("1", "tools/call", slow, `{}`, "") + "\n", pending: []string{`1`}},
		{name: "stateless, long way", plain: true, send: julyLine("1", "tools/call", slow, `{}`, "") + "\n", pending: []string{`1`}},
		{name: "one that connects", send: legacyLine("1", "tools/call", `{"name":"b__x"}`), pending: []string{`1`}},
		{name: "serial", serial: true, send: two + legacyLine("3", "tools/list", `{}`), pending: []string{`"two"`, `1`, `3`}},
		{name: "cancelled", send: two + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"two"}}` + "\n", pending: []string{`1`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := &backends{servers: map[string]*runtimetest.Server{"a": runtimetest.New()}, hold: map[string]chan struct{}{"b": make(chan struct{})}, plain: tt.plain}
			p, err := proxy.NewAllowed(proxy.Options{Servers: proxy.Named("a", "b"), Dial: b.dial, Serial: tt.serial})
			require.NoError(t, err)
			defer func() { _ = p.Close() }()
			r := attachLeaving(t, p)
			defer func() { _ = r.in.Close() }()
			// The server is connected, so that calls in either era can be fast.
			const echo = `{"name":"a__echo","arguments":{"message":"m"}}`
			for _, warm := range []string{legacyLine("0", "tools/call", echo), julyLine("0", "tools/call", echo, `{}`, "") + "\n"} {
				r.send(warm)
				if got := <-r.answers; !strings.Contains(got, `"result"`) {
					t.Fatal(got)
				}
			}
			r.send(tt.send)
			if tt.serial {
				for p.Status().Clients.Recent[0].InFlight == 0 {
					time.Sleep(time.Millisecond)
				}
				time.Sleep(20 * time.Millisecond) // the others have been read
			} else {
				r.send(legacyLine("9", "ping", `{}`))
				<-r.answers // all before it has been read
			}
			r.tell()
			if ids := r.refused(); !slices.Equal(ids, tt.pending) {
				t.Errorf("answered: %v, want %v", ids, tt.pending)
			}
		})
	}
}

// lists is a server that lists a tool and never answers a call.
type lists struct{ instant }

func (lists) Call(ctx context.Context, r *runtime.Request) (json.RawMessage, error) {
	if r.Method == "tools/list" {
		return json.RawMessage(oneTool), nil
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestStdioEndOfInputAnswers: the same where the client has closed its side, after the
// time that its requests may go on.
func TestStdioEndOfInputAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := proxy.NewAllowed(proxy.Options{Servers: proxy.Named("a"), RequestTimeout: -1, Dial: func(context.Context, proxy.Key, runtime.Handler) (*runtime.Client, error) {
			return runtime.NewClient(lists{}, runtime.ClientOptions{Timeout: -1, Info: runtime.ServerInfo{Version: "2025-11-25", Capabilities: json.RawMessage(`{"tools":{}}`)}}), nil
		}})
		require.NoError(t, err)
		defer func() { _ = p.Close() }()
		r := attachLeaving(t, p)
		r.send(legacyLine("1", "tools/call", `{"name":"a__x"}`) + legacyLine("2", "tools/call", `{"name":"a__x"}`))
		start := time.Now()
		_ = r.in.Close()
		if ids := r.refused(); !slices.Equal(ids, []string{"1", "2"}) || time.Since(start) != 30*time.Second {
			t.Errorf("answered after %s: %v", time.Since(start), ids)
		}
		r.tell()
	})
}
