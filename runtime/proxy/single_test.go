package proxy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/ability"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// ordered is a server that notes what it gets, and takes notifications once it is let.
type ordered struct {
	connects, takes chan struct{} // closed: connecting, and notifications, go on
	sends, answers  chan struct{} // closed: calls are sent, and answered; nil: at once

	mu  sync.Mutex // guards got
	got []string
}

func (o *ordered) note(what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.got = append(o.got, what)
}

func (o *ordered) seen() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(o.got), func(s string) bool { return s == "tools/list" }) // as the proxy likes
}

func (o *ordered) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	if o.sends != nil && req.Method == "tools/call" {
		select {
		case <-o.sends:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	o.note(req.Method)
	if sent := ability.Sent(ctx); sent != nil {
		sent()
	}
	if o.answers != nil && req.Method == "tools/call" {
		select {
		case <-o.answers:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if req.Method == "tools/list" {
		return json.RawMessage(`{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}`), nil
	}
	return json.RawMessage(`{"content":[]}`), nil
}

func (o *ordered) Notify(ctx context.Context, req *runtime.Request) error {
	o.note(req.Method)
	select {
	case <-o.takes:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (o *ordered) Close() error { return nil }

// single serves a client of a proxy that stands for the server. Lines are what the client
// gets, in order.
func single(t *testing.T, o *ordered) (send func(lines ...string), lines func() []string) {
	t.Helper()
	p, err := proxy.NewAllowed(proxy.Options{
		Servers: proxy.Named("a"), Single: true, SingleClient: true, Info: runtime.Implementation{Name: "mcpctl", Version: "test"},
		Dial: func(ctx context.Context, _ proxy.Key, _ runtime.Handler) (*runtime.Client, error) {
			select {
			case <-o.connects:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			return runtime.NewClient(o, runtime.ClientOptions{Info: runtime.ServerInfo{Version: "2025-11-25", Capabilities: json.RawMessage(`{"tools":{}}`)}}), nil
		},
	})
	require.NoError(t, err)
	toProxy, in := io.Pipe()
	out, fromProxy := io.Pipe()
	ended, read := make(chan error, 1), make(chan struct{})
	go func() {
		ended <- p.ServeStdio(t.Context(), toProxy, fromProxy)
		_ = fromProxy.Close()
	}()
	var mu sync.Mutex
	var got []string
	go func() {
		defer close(read)
		for s := bufio.NewScanner(out); s.Scan(); {
			mu.Lock()
			got = append(got, s.Text())
			mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		_ = in.Close()
		require.NoError(t, <-ended)
		<-read
		require.NoError(t, p.Close())
	})
	send = func(lines ...string) {
		go func() { // the proxy may read them later
			_, _ = io.WriteString(in, strings.Join(lines, "\n")+"\n")
		}()
		synctest.Wait()
	}
	return send, func() []string {
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(got)
	}
}

func initialize(version string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
}

const (
	ownNote = `{"jsonrpc":"2.0","method":"notifications/acme","params":{}}`
	callX   = `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"x","arguments":{}}}`
)

// TestNothingOvertakesInitialize: what comes before its answer waits for it, whatever the
// proxy could answer itself.
func TestNothingOvertakesInitialize(t *testing.T) {
	for name, early := range map[string]string{
		"ping":         `{"jsonrpc":"2.0","id":9,"method":"ping"}`,
		"list":         `{"jsonrpc":"2.0","id":9,"method":"tools/list"}`,
		"call":         callX,
		"unknown":      `{"jsonrpc":"2.0","id":9,"method":"acme/own"}`,
		"batch":        `[{"jsonrpc":"2.0","id":9,"method":"ping"}]`,
		"notification": ownNote + "\n" + callX,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &ordered{connects: make(chan struct{}), takes: make(chan struct{})}
				close(o.takes)
				send, lines := single(t, o)
				send(initialize("2025-03-26"), early)
				if got, seen := lines(), o.seen(); len(got) > 0 || len(seen) > 0 {
					t.Errorf("before the server is there, the client got %q, the server %q", got, seen)
				}
				close(o.connects)
				got := lines()
				if len(got) != 2 || !strings.Contains(got[0], `"id":1,"result"`) || !strings.Contains(got[1], `"id":9,"result"`) {
					t.Errorf("got %q, want the answers in the order of the requests", got)
				}
			})
		})
	}
}

// TestNotificationsKeepTheirPlace: what comes behind a notification is sent once the
// server has that, or has not taken it for ten seconds.
func TestNotificationsKeepTheirPlace(t *testing.T) {
	for name, delayed := range map[string]bool{"taken": false, "not taken": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &ordered{connects: make(chan struct{}), takes: make(chan struct{})}
				close(o.connects)
				send, lines := single(t, o)
				send(initialize("2025-11-25"), `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
				send(ownNote, callX)
				time.Sleep(10*time.Second - time.Nanosecond)
				if got, want := o.seen(), []string{"notifications/acme"}; !slices.Equal(got, want) {
					t.Errorf("while the notification is not taken, the server saw %q", got)
				}
				if delayed {
					time.Sleep(time.Nanosecond)
				} else {
					close(o.takes)
				}
				got := lines()
				if seen, want := o.seen(), []string{"notifications/acme", "tools/call"}; !slices.Equal(seen, want) || !strings.Contains(got[len(got)-1], `"id":9,"result"`) {
					t.Errorf("the server saw %q, the client %q", seen, got)
				}
			})
		})
	}
}

// TestNotificationsWaitForRequests: a notification is sent once the requests before it
// are, answered or not, or after ten seconds.
func TestNotificationsWaitForRequests(t *testing.T) {
	for name, delayed := range map[string]bool{"sent": false, "not sent": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &ordered{connects: make(chan struct{}), takes: make(chan struct{}), sends: make(chan struct{}), answers: make(chan struct{})}
				close(o.connects)
				close(o.takes)
				send, lines := single(t, o)
				send(initialize("2025-11-25"), `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
				send(callX, ownNote)
				time.Sleep(10*time.Second - time.Nanosecond)
				if got := o.seen(); len(got) > 0 {
					t.Errorf("while the call is not sent, the server saw %q", got)
				}
				want := []string{"tools/call", "notifications/acme"}
				if delayed {
					time.Sleep(time.Nanosecond)
					synctest.Wait()
					want = []string{"notifications/acme", "tools/call"}
				}
				close(o.sends)
				synctest.Wait()
				if got := o.seen(); !slices.Equal(got, want) {
					t.Errorf("while the call is not answered, the server saw %q, want %q", got, want)
				}
				close(o.answers)
				if got := lines(); !strings.Contains(got[len(got)-1], `"id":9,"result"`) {
					t.Errorf("got %q", got)
				}
			})
		})
	}
}

// TestSingleMissing: what a gateway says that its lists go without is told by a proxy that
// stands for it, also where policies hide some tools, and not by one with servers of its own.
func TestSingleMissing(t *testing.T) {
	t.Parallel()
	const tools = `"tools":[{"name":"x","inputSchema":{"type":"object"}},{"name":"y","inputSchema":{"type":"object"}}]`
	missing := `"dev.mcpctl/partial":[{"server":"gone","kind":"connect"}]`
	a := runtimetest.Full("2025-11-25")
	a.Methods = map[string]runtimetest.Func{
		"tools/list": func(context.Context, *runtimetest.Call) (json.RawMessage, error) {
			return json.RawMessage(`{` + tools + `,"_meta":{` + missing + `}}`), nil
		},
	}
	hide := `@id("hide") forbid (principal, action, resource == Tool::"a/x");`
	for _, tt := range []struct {
		single   bool
		policies string
		want     int // how many tools
		tells    bool
	}{
		{true, "", 2, true},
		{true, allowAll + hide, 1, true},
		{true, hide, 0, false}, // what is hidden has no list to go without something
		{false, "", 2, false},
		{false, allowAll, 2, false},
	} {
		o := proxy.Options{Single: tt.single}
		if tt.policies != "" {
			o.Gate = gated(t, tt.policies)
		}
		c := attach(t, newPool(map[string]*runtimetest.Server{"a": a}).serve(t, o))
		c.hello("2025-11-25", `{}`, "c")
		got := c.result("tools/list", `{}`)
		if strings.Count(got, `"inputSchema"`) != tt.want || strings.Contains(got, missing) != tt.tells || strings.Count(got, "gone") > 1 {
			t.Errorf("%+v: got %s", tt, got)
		}
		c.end()
	}
}

// TestAnnouncementsArrive: that its lists have changed is passed on each time a server says
// so, soon and also where they look the same: by a proxy that stands for the server to
// everybody, else to those who have seen a list.
func TestAnnouncementsArrive(t *testing.T) {
	for _, alone := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var h runtime.Handler
			p, err := proxy.NewAllowed(proxy.Options{Servers: proxy.Named("a"), Single: alone, Dial: func(_ context.Context, _ proxy.Key, handler runtime.Handler) (*runtime.Client, error) {
				h = handler
				lists := &scripted{answer: func(string, json.RawMessage) (json.RawMessage, error) { return json.RawMessage(oneTool), nil }}
				return runtime.NewClient(lists, runtime.ClientOptions{Info: runtime.ServerInfo{Version: "2025-11-25", Capabilities: json.RawMessage(`{"tools":{"listChanged":true}}`)}}), nil
			}})
			require.NoError(t, err)
			defer p.Close()
			c := attach(t, p)
			defer c.end()
			c.hello("2025-11-25", `{}`, "t")
			if !alone {
				c.result("tools/list", `{}`)
			}
			for i := range 20 {
				time.Sleep(1500 * time.Millisecond)
				h.Notification(t.Context(), nil, "notifications/tools/list_changed", nil)
				time.Sleep(500 * time.Millisecond)
				if got := len(c.notes); got != i+1 {
					t.Fatalf("alone: %v: %d of %d announcements have arrived", alone, got, i+1)
				}
			}
		})
	}
}
