package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/store"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// memory is a store without a disk.
type memory struct {
	mu      sync.Mutex // guards what follows
	records map[store.ID]store.Record
	wrote   int // catalogues
	fail    error
}

func (m *memory) Load(_ context.Context, ids []store.ID) (map[string]store.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[string]store.Record{}
	for _, id := range ids {
		if r, ok := m.records[id]; ok {
			out[id.Name] = r
		}
	}
	return out, m.fail
}

func (m *memory) Keep(_ context.Context, changes []store.Change) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.records == nil {
		m.records = map[store.ID]store.Record{}
	}
	for _, c := range changes {
		r := m.records[c.ID]
		if c.Catalog != nil {
			r.Catalog = *c.Catalog
			m.wrote++
		} else if !c.Verified.IsZero() {
			r.Catalog.Verified = c.Verified
		}
		if c.Usage != nil {
			r.Usage = *c.Usage
		}
		m.records[c.ID] = r
	}
	return m.fail
}

// writes tells how many catalogues were written.
func (m *memory) writes() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wrote
}

// of gives what is kept of a server.
func (m *memory) of(name string) store.Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, r := range m.records {
		if id.Name == name {
			return r
		}
	}
	return store.Record{}
}

// digested gives servers that are stored.
func digested(names ...string) []proxy.Server {
	out := proxy.Named(names...)
	for i := range out {
		out[i].Digest = "digest of " + out[i].Name
	}
	return out
}

// lister offers something in each list.
func lister(version string) *stub {
	return &stub{version: version, answers: map[string]string{
		"tools/list": `{"tools":[{"name":"a\u0062","title":"T","inputSchema":{"type":"object"}},` +
			`{"name":"w","outputSchema":{"type":"array"},"execution":{"taskSupport":"optional"},"inputSchema":{"type":"object"}},` +
			`{"name":"ui","_meta":{"ui":{"resourceUri":"ui://x/y"}},"inputSchema":{"type":"object"},
			"grease":1.0}]}`,
		"prompts/list":             `{"prompts":[{"name":"p","title":"T","icons":[{"src":"http://a/b"},{"src":"https://a/b"}]}]}`,
		"resources/list":           `{"resources":[{"uri":"x://a/b","name":"r"}]}`,
		"resources/templates/list": `{"resourceTemplates":[{"uriTemplate":"y://a/{b}","name":"r"}]}`,
		"tools/call":               `{"content":[]}`,
		"resources/read":           `{"contents":[]}`,
	}}
}

// run gives a client of a proxy over servers, counting the connections that it
// makes; end ends the proxy.
func run(t *testing.T, dial proxy.Dial, o proxy.Options) (c *client, p *proxy.Proxy, end func()) {
	t.Helper()
	o.Dial = dial
	o.Info = runtime.Implementation{Name: "mcpctl", Version: "t"}
	p, err := proxy.NewAllowed(o)
	require.NoError(t, err)
	c = attach(t, p)
	end = sync.OnceFunc(func() {
		c.end()
		_ = p.Close()
	})
	t.Cleanup(end)
	return c, p, end
}

// dialled counts connections by server.
type dialled struct {
	to proxy.Dial
	mu sync.Mutex
	n  map[string]int
}

func (d *dialled) dial(ctx context.Context, key proxy.Key, h runtime.Handler) (*runtime.Client, error) {
	d.mu.Lock()
	if d.n == nil {
		d.n = map[string]int{}
	}
	d.n[key.Server]++
	d.mu.Unlock()
	return d.to(ctx, key, h)
}

// who gives the servers that were dialled, sorted, and forgets them.
func (d *dialled) who() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	names := slices.Sorted(maps.Keys(d.n))
	d.n = nil
	return names
}

const greeting = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`

// ask gives the answers to everything that a start of a host asks.
func ask(c *client) (answers []string) {
	c.t.Helper()
	answers = append(answers, c.result("initialize", greeting))
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for _, method := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list"} {
		answers = append(answers, c.result(method, `{}`))
	}
	return answers
}

// TestStored: what servers offered in an earlier process is served before any
// of them is connected, the same to the byte.
func TestStored(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		synctest.Test(t, func(t *testing.T) {
			stored := &memory{}
			o := proxy.Options{Servers: digested("a", "b"), Store: stored}
			c, p, end := run(t, stubs{"a": lister(version), "b": lister(version)}.dial, o)
			ask(c)
			other := attach(t, p)
			want := ask(other) // now that all is known
			other.end()
			end()
			never := &dialled{to: stubs{}.dial}
			c, _, end = run(t, never.dial, o)
			for i, got := range ask(c) {
				if got != want[i] {
					t.Errorf("%s:\n got %s\nwant %s", version, got, want[i])
				}
			}
			if n := len(never.who()); n > 0 {
				t.Errorf("%d servers were connected before the lists were answered", n)
			}
			end()
		})
	}
}

// TestStoredOfAnother: what is stored is used for the very configuration only,
// server by server, and not where it is damaged.
func TestStoredOfAnother(t *testing.T) {
	stored := &memory{}
	o := proxy.Options{Servers: digested("a", "b", "c"), Store: stored}
	servers := stubs{"a": lister("2025-11-25"), "b": lister("2025-11-25"), "c": lister("2025-11-25")}
	c, _, end := run(t, servers.dial, o)
	want := ask(c)[1]
	end()
	o.Servers[1].Digest = "another"
	for id, r := range stored.records {
		if id.Name == "c" {
			r.Catalog.Data = slices.Clone(r.Catalog.Data)
			r.Catalog.Data[len(r.Catalog.Data)-3] ^= 1
			stored.records[id] = r
		}
	}
	d := &dialled{to: servers.dial}
	c, _, _ = run(t, d.dial, o)
	if got := ask(c)[1]; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got := d.who(); !slices.Equal(got, []string{"b", "c"}) {
		t.Errorf("connected: %v, want b, whose entry has changed, and c, of which what is stored is damaged", got)
	}
}

// TestNotStored: what was empty, and servers without a digest, are asked at
// each start; what has not changed is not written again.
func TestNotStored(t *testing.T) {
	stored := &memory{}
	empty := &stub{version: "2025-11-25", answers: map[string]string{"tools/list": `{"tools":[]}`}}
	half := &stub{version: "2025-11-25", answers: map[string]string{"tools/list": `{"tools":[]}`, "prompts/list": `{"prompts":[{"name":"p"}]}`}}
	servers := stubs{"empty": empty, "half": half, "nameless": lister("2025-11-25")}
	o := proxy.Options{Servers: digested("empty", "half", "nameless"), Store: stored}
	o.Servers[2].Digest = ""
	d := &dialled{to: servers.dial}
	for i, want := range []string{"empty half nameless", "empty nameless"} {
		c, _, end := run(t, d.dial, o)
		ask(c)
		if got := strings.Join(d.who(), " "); got != want {
			t.Errorf("start %d: connected %s, want %s", i, got, want)
		}
		if i > 0 {
			c.call("prompts/get", `{"name":"half__p"}`) // which connects it
		}
		end()
		if n := stored.writes(); n != 1 {
			t.Errorf("start %d: %d catalogues written, want one", i, n)
		}
	}
}

// TestStoreFails: a store that fails costs nothing but what it is for, and says
// so once.
func TestStoreFails(t *testing.T) {
	stored := &memory{fail: errors.New("disk is full")}
	o, said := logged(proxy.Options{Servers: digested("a"), Store: stored})
	for range 2 {
		c, _, end := run(t, stubs{"a": lister("2025-11-25")}.dial, o)
		if got := ask(c)[1]; !strings.Contains(got, "a__w") {
			t.Errorf("got %s", got)
		}
		end()
	}
	if got := said(); strings.Count(got, "disk is full") != 2 {
		t.Errorf("want one line in each start, got %s", got)
	}
}

// TestStoreIsBusy: a store that another process uses at the start is no reason to warn: the
// servers are asked.
func TestStoreIsBusy(t *testing.T) {
	stored := &memory{fail: fmt.Errorf("f: %w", store.ErrBusy)}
	o, said := logged(proxy.Options{Servers: digested("a"), Store: stored})
	c, _, end := run(t, stubs{"a": lister("2025-11-25")}.dial, o)
	if got := ask(c)[1]; !strings.Contains(got, "a__w") {
		t.Errorf("got %s", got)
	}
	end()
	if got := said(); !strings.Contains(got, "level=INFO msg=\"what servers offered") || strings.Contains(got, "level=WARN msg=\"what servers") {
		t.Errorf("got %s", got)
	}
}

// TestVerified: a server that offers what it offered before is noted to, without
// writing that again.
func TestVerified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stored := &memory{}
		o := proxy.Options{Servers: digested("a"), Store: stored}
		servers := stubs{"a": lister("2025-11-25")}
		c, _, end := run(t, servers.dial, o)
		ask(c)
		end()
		first := stored.of("a").Catalog.Verified
		time.Sleep(time.Hour)
		c, _, end = run(t, servers.dial, o)
		c.result("tools/call", `{"name":"a__w"}`)
		end()
		if got := stored.of("a").Catalog.Verified.Sub(first); got != time.Hour || stored.writes() != 1 {
			t.Errorf("verified %v later, %d writes", got, stored.writes())
		}
	})
}

// logged has a proxy log to a buffer.
func logged(o proxy.Options) (proxy.Options, func() string) {
	b := wire.NewOutput()
	o.Logger = slog.New(slog.NewTextHandler(b, nil))
	return o, b.String
}
