//go:build !race

// The race detector makes pools forget at random.

package proxy_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/mcpctl/mcpctl/internal/audit"
	recording "github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestCallDoesNotAllocate holds the gain of the asynchronous path: a call to a
// connected stdio backend allocates nothing in the proxy. The bound leaves
// room for a garbage collection that empties the pools.
func TestCallDoesNotAllocate(t *testing.T) {
	c := newPath(t, fmt.Appendf(nil, pathResult, "r"))
	const batch = 100
	lines := bytes.Repeat(echoLine(100), batch)
	for range 10 {
		c.round(t, lines, batch)
	}
	perCall := testing.AllocsPerRun(50, func() { c.round(t, lines, batch) }) / batch
	if perCall > 0.1 {
		t.Errorf("got %.2f allocations a call, want none", perCall)
	}
}

// TestModernCallAllocates little on stdio: what stands for the client, and its
// line, since the server may ask. The bound leaves the same room.
func TestModernCallAllocates(t *testing.T) {
	c := newPath(t, fmt.Appendf(nil, pathResult, "r"))
	const batch = 100
	lines := bytes.Repeat(julyEcho(100), batch)
	for range 10 {
		c.round(t, lines, batch)
	}
	if perCall := testing.AllocsPerRun(50, func() { c.round(t, lines, batch) }) / batch; perCall > 3.1 {
		t.Errorf("got %.2f allocations a call, want 3", perCall)
	}
}

// TestHTTPModernCallAllocates little beside what net/http does.
func TestHTTPModernCallAllocates(t *testing.T) {
	c := newWebPath(t, fmt.Appendf(nil, pathResult, "r"))
	c.modern()
	for range 10 {
		c.round()
	}
	if n := testing.AllocsPerRun(500, c.round); n > 5 {
		t.Errorf("got %.2f allocations a call, want 4", n)
	}
}

// TestRecordsAllocateNothing: a call that is recorded has the allocations of one that is
// not, on each of the ways that are fast.
func TestRecordsAllocateNothing(t *testing.T) {
	result := fmt.Appendf(nil, pathResult, "r")
	for name, measure := range map[string]func(j *recording.Journal) float64{
		"stdio": func(j *recording.Journal) float64 {
			return perCall(t, newPathOf(t, pathProxyOf(t, result, j)), echoLine(100))
		},
		"stdio, stateless": func(j *recording.Journal) float64 {
			return perCall(t, newPathOf(t, pathProxyOf(t, result, j)), julyEcho(100))
		},
		"session": func(j *recording.Journal) float64 {
			c := newWebPathOf(t, pathProxyOf(t, result, j), nil, "")
			return testing.AllocsPerRun(500, c.round)
		},
		"http, stateless": func(j *recording.Journal) float64 {
			c := newWebPathOf(t, pathProxyOf(t, result, j), nil, "")
			c.modern()
			return testing.AllocsPerRun(500, c.round)
		},
		"http, stateless, with a token": func(j *recording.Journal) float64 {
			d, alice, _, _, _ := newAuthenticator(t)
			c := newWebPathOf(t, pathProxyOf(t, result, j), d, alice)
			c.modern()
			return testing.AllocsPerRun(500, c.round)
		},
	} {
		store := stuck{make(chan struct{}, 100), make(chan struct{})} // so that what is counted is none of the writer's
		o := recording.Options{Dir: t.TempDir(), Log: store, Digest: func(dst, _ []byte) []byte { return append(dst, "hmac:x"...) }}
		j, err := recording.Open(t.Context(), o)
		require.NoError(t, err)
		for range 600 { // until the writer is stuck
			_, err := j.Begin(&recording.Request{Kind: audit.KindCall})
			require.NoError(t, err)
		}
		<-store.begun
		without, with := measure(nil), measure(j)
		if n := j.Health().Records; n < 500 {
			t.Errorf("%s: %d records", name, n)
		}
		close(store.goOn)
		closeJournal(t, j)
		if with > without+0.2 {
			t.Errorf("%s: %.2f allocations a call, and %.2f with records", name, without, with)
		}
	}
}

// TestHooksAllocateNothing: a call of a tool that no hook wants has the allocations of one
// without hooks, on each of the ways that are fast.
func TestHooksAllocateNothing(t *testing.T) {
	result := fmt.Appendf(nil, pathResult, "r")
	asked := 0
	others := hookNamed("others", spy{
		wants: func(to proxy.Target) proxy.Phases {
			return map[bool]proxy.Phases{false: proxy.PhaseRequest}[to.Tool == "echo"]
		},
		request: func(*proxy.HookCall) error { asked++; return nil },
	})
	for name, measure := range map[string]func(p *proxy.Proxy) float64{
		"stdio":            func(p *proxy.Proxy) float64 { return perCall(t, newPathOf(t, p), echoLine(100)) },
		"stdio, stateless": func(p *proxy.Proxy) float64 { return perCall(t, newPathOf(t, p), julyEcho(100)) },
		"session":          func(p *proxy.Proxy) float64 { return testing.AllocsPerRun(500, newWebPathOf(t, p, nil, "").round) },
		"http, stateless": func(p *proxy.Proxy) float64 {
			c := newWebPathOf(t, p, nil, "")
			c.modern()
			return testing.AllocsPerRun(500, c.round)
		},
	} {
		p := pathProxyOf(t, result, nil)
		require.NoError(t, p.SetHooks(others))
		without, with := measure(pathProxyOf(t, result, nil)), measure(p)
		if with > without+0.2 {
			t.Errorf("%s: %.2f allocations a call, and %.2f with hooks of other tools", name, without, with)
		}
	}
	if asked > 0 {
		t.Errorf("a hook is asked %d times about what it does not want", asked)
	}
}

// stuck is a log that forgets what it gets, and takes no more before it may go on.
type stuck struct{ begun, goOn chan struct{} }

func (s stuck) Append(context.Context, *audit.Batch) (int64, error) {
	s.begun <- struct{}{}
	<-s.goOn
	return 0, nil
}
func (stuck) State(context.Context, string) ([]byte, error) { return nil, nil }
func (stuck) Checkpoint(context.Context) ([]byte, error)    { return nil, nil }

// TestViewsAllocateNothing: a call through a view has the allocations of one without views, on
// each of the ways that are fast.
func TestViewsAllocateNothing(t *testing.T) {
	result := fmt.Appendf(nil, pathResult, "r")
	through := proxy.Options{Views: viewsOf(t, "v", map[string]views.Config{
		"v": {Tools: []string{"a__*"}, Groups: []string{"eng"}, Clients: []string{"claude*"}, Override: map[string]views.Override{"a__echo": {Title: "Echo"}, "a__other": {Result: &views.Result{MaxTokens: 9}}}},
	})}
	for name, measure := range map[string]func(o proxy.Options) float64{
		"stdio": func(o proxy.Options) float64 {
			return perCall(t, newPathOf(t, pathProxyBy(t, result, o)), echoLine(100))
		},
		"stdio, stateless": func(o proxy.Options) float64 {
			return perCall(t, newPathOf(t, pathProxyBy(t, result, o)), julyEcho(100))
		},
		"session": func(o proxy.Options) float64 {
			c := newWebPathOf(t, pathProxyBy(t, result, o), nil, "")
			return testing.AllocsPerRun(500, c.round)
		},
		"http, stateless": func(o proxy.Options) float64 {
			c := newWebPathOf(t, pathProxyBy(t, result, o), nil, "")
			c.modern()
			return testing.AllocsPerRun(500, c.round)
		},
	} {
		if with, without := measure(through), measure(proxy.Options{}); with > without+0.1 {
			t.Errorf("%s: got %.2f allocations a call with a view, %.2f without", name, with, without)
		}
	}
}

// perCall returns the allocations of one of many calls at once.
func perCall(t *testing.T, c *path, line []byte) float64 {
	t.Helper()
	const batch = 100
	lines := bytes.Repeat(line, batch)
	for range 10 {
		c.round(t, lines, batch)
	}
	return testing.AllocsPerRun(30, func() { c.round(t, lines, batch) }) / batch
}

// TestAskingAllocatesNothing: a call with a token has the allocations of one without.
func TestAskingAllocatesNothing(t *testing.T) {
	for _, modern := range []bool{false, true} {
		var got [2]float64
		for i, c := range []*webPath{newWebPath(t, fmt.Appendf(nil, pathResult, "r")), newAskingPath(t)} {
			if modern {
				c.modern()
			}
			for range 10 {
				c.round()
			}
			got[i] = testing.AllocsPerRun(500, c.round)
		}
		if got[0] == 0 || got[1] > got[0] {
			t.Errorf("stateless %t: %.2f allocations a call, and %.2f with a token", modern, got[0], got[1])
		}
	}
}

// TestHTTPCallAllocates little beside what net/http does: the exchange, its
// channel, the answer.
func TestHTTPCallAllocates(t *testing.T) {
	c := newWebPath(t, fmt.Appendf(nil, pathResult, "r"))
	for range 10 {
		c.round()
	}
	if n := testing.AllocsPerRun(500, c.round); n > 5 {
		t.Errorf("got %.2f allocations a call, want 4", n)
	}
}

// TestHTTPToHTTPAllocates holds what a call over HTTP costs on both sides, with
// what net/http does on the side of the server and of the endpoint.
func TestHTTPToHTTPAllocates(t *testing.T) {
	for era, most := range map[string]float64{"session": 80, "stateless": 112} {
		c := newWebPathOf(t, httpProxy(t, fmt.Appendf(nil, pathResult, "r")), nil, "")
		if era == "stateless" {
			c.modern()
		}
		for range 10 {
			c.round()
		}
		if n := testing.AllocsPerRun(200, c.round); n > most {
			t.Errorf("%s: got %.0f allocations a call, want at most %.0f", era, n, most)
		}
	}
}
