package mirror_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/mirror"
	"github.com/mcpctl/mcpctl/test/require"
)

func (f *fake) set1(name, description string) { f.set(old(), name, "1", "active", description) }

func TestSearchOrder(t *testing.T) {
	t.Parallel()
	f, m := newFake(t), open(t)
	f.set1("io.github.acme/clock-mcp-server", "tells the time")
	f.set1("com.zeta/clock", "tells the time")
	f.set1("com.clock/mcp", "of its vendor")
	f.set1("io.github.acme/alarm", "a clock that rings")
	f.set1("com.beta/alarm", "a clock that rings")
	f.set1("io.github.acme/wall-clocks", "for walls")
	f.set1("io.github.acme/clockwork", "toys")
	f.set1("io.github.clock/else", "of a user with that name")
	f.set1("com.gamma/GitHub-Issues", "tickets")
	f.set1("io.github.acme/100_percent", "odd")
	require.NoError(t, m.Sync(t.Context(), f.client(one), mirror.Options{}))
	for words, want := range map[string]string{
		// The name, those of a domain first; then the word in the name; then in the text,
		// the domain first; then a part of the name.
		"clock": "com.clock/mcp@1, com.zeta/clock@1, io.github.acme/clock-mcp-server@1, io.github.acme/wall-clocks@1, io.github.clock/else@1, " +
			"com.beta/alarm@1, io.github.acme/alarm@1, io.github.acme/clockwork@1",
		"ringing alarms":      "com.beta/alarm@1, io.github.acme/alarm@1",
		"mcp clock server":    "com.clock/mcp@1, com.zeta/clock@1, io.github.acme/clock-mcp-server@1, io.github.acme/wall-clocks@1, io.github.clock/else@1, com.beta/alarm@1, io.github.acme/alarm@1",
		"work":                "io.github.acme/clockwork@1",
		"github issues":       "com.gamma/GitHub-Issues@1",
		"GitHub":              "com.gamma/GitHub-Issues@1",
		"_":                   "io.github.acme/100_percent@1",
		"%":                   "",
		"acme toys":           "io.github.acme/clockwork@1",
		`" OR clock* NEAR`:    "com.clock/mcp@1",
		"clock of its vendor": "com.clock/mcp@1",
	} {
		got := names(t, m, words)
		if words == "acme toys" || words[0] == '"' || words == "clock of its vendor" {
			got = got[:min(len(got), len(want))] // the best one
		}
		if got != want {
			t.Errorf("%q:\ngot  %s\nwant %s", words, got, want)
		}
	}
}

// TestSearchSeveral: the first registry that has a name wins, also if its record does not
// match.
func TestSearchSeveral(t *testing.T) {
	t.Parallel()
	f, g, m := newFake(t), newFake(t), open(t)
	f.set1("a.b/clock", "tells the time")
	f.set1("a.b/other", "nothing to see")
	g.set1("a.b/clock", "tells the time of another place")
	g.set1("a.b/other", "pretends to tell the time")
	g.set1("a.b/third", "the time again")
	require.NoError(t, m.Sync(t.Context(), f.client(one), mirror.Options{}))
	require.NoError(t, m.Sync(t.Context(), g.client(two), mirror.Options{}))
	for want, urls := range map[string][]string{
		"a.b/clock@1 of " + one + ", a.b/third@1 of " + two:                             {one, two},
		"a.b/clock@1 of " + two + ", a.b/other@1 of " + two + ", a.b/third@1 of " + two: {two, one},
		"a.b/clock@1": {one},
	} {
		if got := names(t, m, "tell time", urls...); !sameSet(got, want) {
			t.Errorf("%v: got %s, want %s", urls, got, want)
		}
	}
	if got := names(t, m, "time", "https://none.example.com"); got != "" {
		t.Errorf("a registry without a copy: got %s", got)
	}
}

func TestSearchFilters(t *testing.T) {
	t.Parallel()
	f, m := newFake(t), open(t)
	f.records["a"] = json.RawMessage(`{"name":"a.b/remote","version":"1","description":"clock","remotes":[{"type":"sse","url":"https://x.example"}]}`)
	f.records["b"] = json.RawMessage(`{"name":"a.b/image","version":"1","description":"clock","packages":[{"registryType":"oci","identifier":"x"},{"registryType":"npm"}]}`)
	require.NoError(t, m.Sync(t.Context(), f.client(one), mirror.Options{}))
	for kind, want := range map[string]string{"remote": "a.b/remote", "oci": "a.b/image", "npm": "a.b/image", "pypi": "", "": "a.b/image"} {
		res, err := m.Search(t.Context(), mirror.Query{Words: "clock", Registries: []string{one}, Type: kind, Limit: 1})
		require.NoError(t, err)
		got := ""
		if len(res.Hits) > 0 {
			got = res.Hits[0].Record.Server.Name
		}
		if total := map[string]int{"": 2, "pypi": 0}[kind]; got != want || res.More || res.Total != total && (kind == "" || kind == "pypi") {
			t.Errorf("%q: got %s of %d, want %s", kind, got, res.Total, want)
		}
	}
}

func TestGet(t *testing.T) {
	t.Parallel()
	f, m := newFake(t), open(t)
	f.set1("a.b/clock", "one")
	f.set1("a.b/Calendar", "one of two")
	f.set1("c.d/calendar", "the other")
	require.NoError(t, m.Sync(t.Context(), f.client(one), mirror.Options{}))
	for name, want := range map[string]string{"a.b/clock": "a.b/clock", "Clock": "a.b/clock", "calendar": "", "a.b/Calendar": "a.b/Calendar", "a.b/CLOCK": "", "none": "", "": ""} {
		rec, err := m.Get(t.Context(), one, name)
		require.NoError(t, err)
		if rec == nil && want != "" || rec != nil && rec.Server.Name != want {
			t.Errorf("%s: got %+v, want %s", name, rec, want)
		}
	}
	if rec, err := m.Get(t.Context(), two, "a.b/clock"); rec != nil || err != nil {
		t.Errorf("of another registry: got %+v, %v", rec, err)
	}
}

// TestPrune: a copy that nobody has updated for long goes with the next Sync of another.
func TestPrune(t *testing.T) {
	t.Parallel()
	f, m := newFake(t), open(t)
	f.set1("a.b/clock", "tells the time")
	require.NoError(t, m.Sync(t.Context(), f.client(one), mirror.Options{}))
	require.NoError(t, m.Age(t.Context(), 91*24*time.Hour))
	require.NoError(t, m.Sync(t.Context(), f.client(two), mirror.Options{}))
	if st, err := m.State(context.WithoutCancel(t.Context()), one); err != nil || st.Servers != 0 || !st.Synced.IsZero() {
		t.Errorf("got %+v, %v", st, err)
	}
	if got := names(t, m, "time", two); got != "a.b/clock@1" {
		t.Errorf("the other copy: got %s", got)
	}
}
