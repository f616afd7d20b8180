package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/client"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// dials are the keys that a server was connected with.
type dials struct {
	mu      sync.Mutex // guards what follows
	all     []Key
	refused []string
}

// refuse refuses principals from now on, with those before; nobody where none is given.
func (d *dials) refuse(ids ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refused = append(d.refused, ids...); len(ids) == 0 {
		d.refused = nil
	}
}

// note notes a dial.
func (d *dials) note(key Key) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, key)
	if slices.Contains(d.refused, key.Principal.Key()) {
		return errors.New("no credentials of " + key.Principal.Key())
	}
	return nil
}

// ids returns whose the connections were, in order.
func (d *dials) ids() (all []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, key := range d.all {
		all = append(all, key.Principal.Key())
	}
	return all
}

// apart is a backend over a fake server in memory.
func apart(t *testing.T, s *runtimetest.Server, set Server) (*upstream.Backend, *dials) {
	t.Helper()
	set.Name = "a"
	d := &dials{}
	p, err := newAllowed(Options{
		Servers: []Server{set},
		Dial: func(ctx context.Context, key Key, h runtime.Handler) (*runtime.Client, error) {
			if err := d.note(key); err != nil {
				return nil, err
			}
			return ConnectAs(ctx, key, h, negotiate.Options{}, func(h runtime.Handler) (runtime.Transport, error) { return s.Connect(h), nil })
		},
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	b := p.router.Set.All()[0]
	routers.Store(b, p.router)
	return b, d
}

// by returns the origin with a principal: another value each time, as of one token
// after another.
func by(id string, from *upstream.Caller) *upstream.Caller {
	from.Who = &access.Principal{ID: id}
	return from
}

// TestPrincipalsApart: those of one share as the settings say, and nobody else does.
func TestPrincipalsApart(t *testing.T) {
	for name, x := range map[string]struct {
		set      Server
		versions []string
		want     string // equal letters share
	}{
		"auto":                  {Server{}, nil, "aaaaaaa"},
		"principal":             {Server{Isolation: IsolationPrincipal}, nil, "aaabbbc"},
		"principal, modern":     {Server{Isolation: IsolationPrincipal}, []string{"2026-07-28"}, "aaabbbc"},
		"principal, both eras":  {Server{Isolation: IsolationPrincipal}, []string{"2026-07-28", "2025-11-25"}, "aabccde"},
		"own credentials":       {Server{PerPrincipal: true}, nil, "aaabbbc"},
		"and shared":            {Server{PerPrincipal: true, Isolation: IsolationShared}, nil, "aaabbbc"},
		"and one for a session": {Server{PerPrincipal: true, Isolation: IsolationSession}, nil, "abcdefg"},
		"one for a session":     {Server{Isolation: IsolationSession}, nil, "abcdecf"},
	} {
		s := runtimetest.New()
		s.Versions = x.versions
		b, d := apart(t, s, x.set)
		_, done := get(t, b, settledPeer(`{}`)) // so that it is known
		done()
		b.Pool.SetRemote(false) // as a process is
		callers := []*upstream.Caller{
			by("p|alice", settledPeer(formOnly)), by("p|alice", settledPeer(`{}`)), by("p|alice", alone(canAll)),
			by("p|bob", settledPeer(formOnly)), by("p|bob", settledPeer(canAll)), by("p|bob", alone(formOnly)),
			settledPeer(formOnly),
		}
		seen, got := map[*upstream.Conn]byte{}, ""
		for range 2 { // the second time what was noted with a session counts
			got = ""
			for _, from := range callers {
				c, done := get(t, b, from)
				done()
				if seen[c] == 0 {
					seen[c] = byte('a' + len(seen))
				}
				got += string(seen[c])
				if key := c.Slot.Key; key.Principal != "" && key.Principal != from.Who.ID {
					t.Errorf("%s: %s uses the connection of %s", name, from.Who.Key(), key.Principal)
				}
				if from.Client != nil && x.set.Isolation == IsolationPrincipal && from.Client.State.ConnTo(b) != c {
					t.Errorf("%s: fast calls take another connection", name)
				}
			}
		}
		if got != x.want {
			t.Errorf("%s: got %s, want %s, connected for %q", name, got, x.want, d.ids())
		}
	}
}

// TestPrincipalsAreBounded: the idlest makes room once it is idle for long enough, and
// nobody who is being served.
func TestPrincipalsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, d := apart(t, runtimetest.New(), Server{Isolation: IsolationPrincipal, MaxPrincipals: 2})
		acquire := func(id string) error {
			_, done, err := b.Pool.Acquire(t.Context(), by(id, alone(`{}`)))
			if err == nil {
				done()
			}
			return err
		}
		require.NoError(t, acquire("p|1"))
		time.Sleep(time.Second)
		require.NoError(t, acquire("p|2"))
		crowded, ok := errors.AsType[*upstream.CrowdedError](acquire("p|3"))
		if !ok || crowded.Most != 2 || crowded.In != upstream.YieldIdle-time.Second {
			t.Fatalf("got %v", crowded)
		}
		time.Sleep(upstream.YieldIdle - time.Second/2)
		require.NoError(t, acquire("p|3")) // in the place of 1
		release := b.Pool.Connections()
		if err := acquire("p|1"); err == nil {
			t.Errorf("2 was idle for less than %s", upstream.YieldIdle)
		}
		if len(release) != 3 { // with the one of nobody in particular
			t.Errorf("%d connections", len(release))
		}
		time.Sleep(2 * upstream.YieldIdle)
		for _, c := range b.Pool.Connections() {
			defer c.Slot.Keeps.Add(time.Time{})()
		}
		if err := acquire("p|1"); err == nil {
			t.Error("connections that are kept make room")
		}
		if got := len(d.ids()); got != 4 {
			t.Errorf("connected for %q", d.ids())
		}
	})
}

// TestPrincipalsEnd: their connections are closed when they are idle.
func TestPrincipalsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, d := apart(t, runtimetest.New(), Server{Isolation: IsolationPrincipal})
		get(t, b, by("p|1", alone(`{}`)))
		get(t, b, by("p|1", settledPeer(`{}`)))
		time.Sleep(upstream.OwnIdle + 2*upstream.ReapEvery)
		if n := b.Pool.CountSlots(); n != 0 {
			t.Errorf("%d connections are left", n)
		}
		get(t, b, by("p|1", alone(`{}`)))
		if got := d.ids(); len(got) != 3 || got[2] != "p|1" {
			t.Errorf("connected for %q", got)
		}
	})
}

// TestPerPrincipal: a server with the credentials of who calls is connected for somebody
// only. The first of them has it listed, without what may be that one's alone.
func TestPerPrincipal(t *testing.T) {
	s := runtimetest.New()
	s.Resources = []runtimetest.Resource{{Definition: json.RawMessage(`{"uri":"file:///alice","name":"alice"}`)}}
	b, d := apart(t, s, Server{PerPrincipal: true})
	rt, _ := routers.Load(b)
	catalog := rt.(*router.Router).Catalog
	list := func(k inventory.Kind, from *upstream.Caller) string {
		out, err := catalog.List(t.Context(), from.Audience, k, nil, true, nil)
		require.NoError(t, err)
		return string(out)
	}
	d.refuse("")
	d.refuse("p|mallory")
	for _, from := range []*upstream.Caller{alone(`{}`), by("p|mallory", alone(`{}`))} {
		if out := list(inventory.Tools, from); strings.Contains(out, `"a__`) || !strings.Contains(out, `"kind":"auth"`) || strings.Contains(out, "mallory") {
			t.Errorf("nobody whose credentials are taken has called: got %s", out)
		}
	}
	if out := list(inventory.Tools, by("p|alice", alone(`{}`))); !strings.Contains(out, `"a__`) {
		t.Errorf("alice: got %s", out)
	}
	if got := d.ids(); !slices.Equal(got, []string{"", "p|mallory", "p|alice"}) {
		t.Errorf("connected for %q", got)
	}
	if out := list(inventory.Resources, by("p|alice", alone(`{}`))); strings.Contains(out, "alice") {
		t.Errorf("what one principal has is in the lists of all: got %s", out)
	}
	if _, _, err := b.Pool.Acquire(t.Context(), by("p|mallory", alone(`{}`))); err == nil {
		t.Error("mallory uses alice's connection")
	}
	c, done := get(t, b, by("p|bob", alone(`{}`)))
	done()
	if c.Slot.Key.Principal != "p|bob" {
		t.Errorf("bob uses the connection of %q", c.Slot.Key.Principal)
	}
	var said []string
	for _, c := range b.Pool.Connected() {
		said = append(said, c.For+" "+c.Principal)
	}
	if !slices.Equal(said, []string{ForPrincipal + " p|alice", ForPrincipal + " p|bob"}) {
		t.Errorf("status says %q", said)
	}
}

// TestLoggedIn: the connections of the one who has logged in are made again.
func TestLoggedIn(t *testing.T) {
	b, d := apart(t, runtimetest.New(), Server{PerPrincipal: true})
	d.refuse("p|alice")
	acquire := func(id string) error {
		_, done, err := b.Pool.Acquire(t.Context(), by(id, alone(`{}`)))
		if err == nil {
			done()
		}
		return err
	}
	if acquire("p|alice") == nil {
		t.Fatal("alice is connected")
	}
	require.NoError(t, acquire("p|bob"))
	d.refuse()
	b.LoggedIn("p|alice")
	require.NoError(t, acquire("p|alice"))
	require.NoError(t, acquire("p|bob"))
	if got := d.ids(); !slices.Equal(got, []string{"p|alice", "p|bob", "p|alice"}) {
		t.Errorf("connected for %q", got)
	}
}

// TestSubscriptionsOfPrincipals are over their connections, also when the server has been
// replaced: changes reach the one who has subscribed.
func TestSubscriptionsOfPrincipals(t *testing.T) {
	s := runtimetest.Full("2025-11-25")
	set := Server{Isolation: IsolationPrincipal, Connection: "1"}
	b, d := apart(t, s, set)
	held, _ := routers.Load(b)
	rt := held.(*router.Router)
	heard := make(chan string, 10)
	subscriber := func(id string) *upstream.Caller {
		from := by("p|"+id, settledPeer(`{}`))
		from.Client = upstream.NewClient(func(frame []byte) error {
			heard <- id + " " + string(frame)
			return nil
		})
		from.Client.Terms.Store(&client.Terms{Version: "2025-11-25", Capabilities: json.RawMessage(`{}`)})
		t.Cleanup(from.Client.State.End)
		return from
	}
	alice, bob := subscriber("alice"), subscriber("bob")
	require.NoError(t, rt.Hub.SubscribeClient(t.Context(), alice, "fake://note"))
	require.NoError(t, rt.Hub.SubscribeClient(t.Context(), bob, "fake://blob"))
	hears := func(uri, want string) {
		t.Helper()
		s.Touch(uri)
		if got := wait.For(t, want+" hears of "+uri, heard); !strings.HasPrefix(got, want+" ") || !strings.Contains(got, uri) {
			t.Errorf("got %s, want %s for %s", got, uri, want)
		}
	}
	hears("fake://note", "alice")
	hears("fake://blob", "bob")
	if got := d.ids(); !slices.Equal(got, []string{"", "p|alice", "p|bob"}) {
		t.Errorf("connected for %q", got)
	}
	rt.Hub.UnsubscribeClient(bob.Client, "fake://blob")
	set.Name, set.Connection = "a", "2"
	_, err := rt.Reconfigure(settingsOf([]Server{set}))
	require.NoError(t, err)
	select {
	case got := <-heard: // it may have missed something meanwhile
		if !strings.HasPrefix(got, "alice ") {
			t.Errorf("got %s", got)
		}
	case <-wait.Late(t):
		t.Fatal("the subscription has not moved")
	}
	hears("fake://note", "alice")
	if got := d.ids(); !slices.Equal(got[3:], []string{"p|alice"}) {
		t.Errorf("connected again for %q", got[3:])
	}
}
