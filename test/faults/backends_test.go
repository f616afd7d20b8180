//go:build faults && linux

package faults_test

import (
	"cmp"
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/faults/hostile"
	"github.com/mcpctl/mcpctl/test/wire"
)

// expectation is what callers of a server with a fault may get.
type expectation struct {
	// right says that every call gets its own answer.
	right bool
	// size is how much each call sends, in bytes.
	size int
	// calls are made side by side; 0 is 4.
	calls int
	// slow says that what it waits for is half a minute, the bound of a server's
	// lists.
	slow bool
}

// lists is how long a server may take for its lists.
const lists = 30 * time.Second

func expected(fault string) expectation {
	switch fault {
	case "flood-notifications", "flood-garbage", "flood-stderr", "flood-changes", "twice", "null-id", "ask-pending-id",
		"", "http-flood-events", "http-ask-pending-id", "http-forgets",
		"exit-on-probe", "ignore-term", "linger", "huge-list", "slow-start", "grandchild", "grandchild-stubborn", "flood-progress":
		return expectation{right: true}
	case "long-answer":
		return expectation{right: true, calls: 2}
	case "never-reads":
		return expectation{size: 256 << 10}
	case "too-long":
		return expectation{calls: 1}
	case "hang-list", "hang-second-page", "flood-endless":
		return expectation{slow: true}
	}
	return expectation{}
}

// TestBackends: whatever one server does, its callers get an answer or a clear
// error in time, callers of another one notice nothing, and nothing is left.
func TestBackends(t *testing.T) {
	for _, fault := range hostile.Faults() {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			e := expected(fault)
			if e.slow && testing.Short() {
				t.Skip("takes half a minute")
			}
			withOthers(t, hostileEntry("bad", fault), e)
		})
	}
}

// TestRemotes does the same with servers over HTTP.
func TestRemotes(t *testing.T) {
	for _, fault := range hostile.HTTPFaults() {
		t.Run(cmp.Or(fault, "none"), func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(hostile.Handler("bad", fault))
			t.Cleanup(s.Close)
			d := withOthers(t, map[string]any{"url": s.URL + "/mcp", "connectTimeout": "5s"}, expected(fault))
			// Four answers at once of 64 MiB each, in buffers that grow by halves.
			if u, most := d.usage(t), d.start.peak+4*256*factor(); u.peak > most {
				t.Errorf("memory has reached %d MiB, want at most %d", u.peak, most)
			}
		})
	}
}

// withOthers attacks a server beside callers of one that behaves.
func withOthers(t *testing.T, bad map[string]any, e expectation) *daemon {
	t.Helper()
	if e.right {
		bad["requestTimeout"], bad["connectTimeout"] = patient.String(), patient.String()
	}
	d := serve(t, wire.Servers{"good": hostileEntry("good", ""), "bad": bad})
	g := startCallers(t, d, "good", 2, 5*time.Millisecond)
	attack(t, d, e)
	g.finish()
	if k, text := attempt(d, "good", 0); k != right {
		t.Errorf("afterwards: %s %s", k, text)
	}
	t.Logf("%d calls of another server; %v, at the start %v", g.calls.Load(), d.usage(t), d.start)
	return d
}

// attack calls the server with the fault, again and again side by side.
func attack(t *testing.T, d *daemon, e expectation) {
	t.Helper()
	if e.calls == 0 {
		e.calls = 4
	}
	rounds, within := 2, 2*requestTimeout+slack
	if testing.Short() {
		rounds = 1
	}
	switch {
	case e.right:
		within = patient + slack
	case e.slow:
		rounds, within = 1, lists+slack
	}
	var wg sync.WaitGroup
	for range e.calls {
		wg.Go(func() {
			for range rounds {
				start := time.Now()
				k, text := attempt(d, "bad", e.size)
				if took := time.Since(start); took > within {
					t.Errorf("answered after %s", took)
				}
				if k == wrong || k == unheard || e.right && k != right || k == failed && strings.TrimSpace(text) == "" {
					t.Errorf("got %s: %s", k, text)
				} else if k != right {
					t.Logf("%s after %s: %.150s", k, time.Since(start).Round(time.Millisecond), text)
				}
			}
		})
	}
	wg.Wait()
}

// attempt is one call of a client of its own.
func attempt(d *daemon, server string, size int) (kind, string) {
	ctx, cancel := context.WithTimeout(context.Background(), wire.Limit)
	defer cancel()
	c := newCaller(d)
	defer c.Close()
	err := c.initialize(ctx)
	if no, ok := errors.AsType[*refusal](err); ok {
		return refused, no.text
	}
	if err != nil {
		return unheard, err.Error()
	}
	defer func() { _ = c.End(context.Background()) }()
	return c.call(ctx, server, "echo", 0, size)
}
