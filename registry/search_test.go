package registry_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/registrytest"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/test/require"
)

func TestSearch(t *testing.T) {
	c := through(t, samples(t), registry.Options{})
	for query, want := range map[string][]string{
		// Both words are six letters long; "github" is asked for, being first,
		// and "issues" found in a name here and a description there.
		"github issues": {"io.github.acme/github-issues@1.0.3", "com.example.digest/github-digest@0.2.0"},
		"issues github": {"io.github.acme/github-issues@1.0.3"},
		"THING":         {"io.github.acme/thing@1.3.0"},
		"atlas":         {"io.github.acme/atlas@3.0.0-rc.1"},
		"calendar":      {"com.example.oak/calendar@3.0.1", "io.github.birch/calendar@1.4.2"},
		// No name holds the longest word, so the next one is asked for.
		"forecasts weather": {"io.github.acme/weather-desk@0.6.1"},
		"at weather":        {"io.github.acme/weather-desk@0.6.1"},
		"gone":              {},
		"nothing-of-it":     {},
	} {
		l, err := c.Search(t.Context(), query)
		if err != nil {
			t.Errorf("%q: %v", query, err)
			continue
		}
		if diff := cmp.Diff(want, names(l.Records)); diff != "" {
			t.Errorf("%q: %s", query, diff)
		}
	}
}

// TestSearchAsksForLatest: without version=latest a registry returns every version.
func TestSearchAsksForLatest(t *testing.T) {
	var asked []string
	h := samples(t)
	c := through(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RawQuery)
		h.ServeHTTP(w, r)
	}), registry.Options{})
	if _, err := c.Search(t.Context(), "a thing of acme"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"limit=100&search=thing&version=latest", "limit=100&search=acme&version=latest"}, asked); diff != "" {
		t.Error(diff)
	}
}

func TestSearchRanks(t *testing.T) {
	doc := func(name, title, description string) json.RawMessage {
		b, _ := json.Marshal(map[string]string{"name": name, "title": title, "description": description, "version": "1.0.0"})
		return b
	}
	h, err := registrytest.NewServer([]json.RawMessage{
		doc("a.notes/x1", "", ""),
		doc("a.notes/x2", "", "Keeps notes"),
		doc("a.notes/x3", "Notes", ""),
		doc("a.b/my-notes-mcp", "", ""),
		doc("z.z/notes", "", ""),
		doc("b.b/Notes", "", ""),
	}, registrytest.Options{})
	require.NoError(t, err)
	l, err := through(t, h, registry.Options{}).Search(t.Context(), "notes")
	require.NoError(t, err)
	want := []string{"b.b/Notes@1.0.0", "z.z/notes@1.0.0", "a.b/my-notes-mcp@1.0.0", "a.notes/x3@1.0.0", "a.notes/x2@1.0.0", "a.notes/x1@1.0.0"}
	if diff := cmp.Diff(want, names(l.Records)); diff != "" {
		t.Error(diff)
	}
}

func TestShortWordsAreNotAskedFor(t *testing.T) {
	asked := false
	c := through(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }), registry.Options{})
	for _, query := range []string{"", "  ", "ab", "a b c", "éé"} {
		_, err := c.Search(t.Context(), query)
		var usage *registry.UsageError
		if !errors.As(err, &usage) || asked {
			t.Errorf("%q: got %v, asked %v; want a usage error and no request", query, err, asked)
		}
	}
}

func TestResolve(t *testing.T) {
	c := through(t, samples(t), registry.Options{})
	for name, tt := range map[string]struct {
		arg   string
		pre   bool
		want  string
		notes []string
	}{
		"whole name":            {arg: "io.github.acme/thing", want: "io.github.acme/thing@1.3.0"},
		"last part":             {arg: "Thing", want: "io.github.acme/thing@1.3.0"},
		"version":               {arg: "io.github.acme/thing@1.2.0", want: "io.github.acme/thing@1.2.0", notes: []string{"not the latest; that is 1.3.0"}},
		"version of last part":  {arg: "thing@1.2.0", want: "io.github.acme/thing@1.2.0", notes: []string{"1.3.0"}},
		"newest version named":  {arg: "thing@1.3.0", want: "io.github.acme/thing@1.3.0"},
		"latest by name":        {arg: "thing@latest", want: "io.github.acme/thing@1.3.0"},
		"release over preview":  {arg: "io.github.acme/atlas", want: "io.github.acme/atlas@2.1.0", notes: []string{"3.0.0-rc.1 is a prerelease, so 2.1.0 is used; --pre"}},
		"preview when asked":    {arg: "atlas", pre: true, want: "io.github.acme/atlas@3.0.0-rc.1"},
		"preview by its number": {arg: "atlas@3.0.0-rc.1", want: "io.github.acme/atlas@3.0.0-rc.1"},
		"deprecated":            {arg: "old-clock", want: "io.github.acme/old-clock@0.9.0", notes: []string{"is deprecated: Use io.github.acme/atlas"}},
	} {
		t.Run(name, func(t *testing.T) {
			res, err := c.Resolve(t.Context(), tt.arg, tt.pre)
			require.NoError(t, err)
			if got := res.Record.Server.Name + "@" + res.Record.Server.Version; got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if len(res.Notes) != len(tt.notes) {
				t.Fatalf("got notes %q, want %q", res.Notes, tt.notes)
			}
			for i, n := range tt.notes {
				if !strings.Contains(res.Notes[i], n) {
					t.Errorf("got note %q, want one with %q", res.Notes[i], n)
				}
			}
		})
	}
}

func TestResolveFails(t *testing.T) {
	c := through(t, samples(t), registry.Options{})
	find := func(arg string) error { _, err := c.Resolve(t.Context(), arg, false); return err }

	var ambiguous *registry.AmbiguousError
	if err := find("calendar"); !errors.As(err, &ambiguous) || len(ambiguous.Found) != 2 || ambiguous.ExitKind() != "usage" {
		t.Errorf("calendar: got %v, want an ambiguity of two", err)
	}
	for arg, near := range map[string][]string{
		"calend":                {"com.example.oak/calendar", "io.github.birch/calendar"},
		"mcp-weather":           {"io.github.acme/weather-desk"},
		"com.example/notebooks": nil,
		"io.github.x/notebook":  {"io.github.acme/notebook"},
		"thing@9.9.9":           nil,
	} {
		var missing *registry.NotFoundError
		err := find(arg)
		if !errors.As(err, &missing) {
			t.Errorf("%s: got %v, want a NotFoundError", arg, err)
			continue
		}
		if diff := cmp.Diff(near, missing.Near); diff != "" {
			t.Errorf("%s: near names: %s", arg, diff)
		}
	}
	var deleted *registry.DeletedError
	if err := find("io.github.acme/gone"); !errors.As(err, &deleted) || !strings.Contains(err.Error(), "Published by mistake") {
		t.Errorf("gone: got %v, want that it was deleted, and why", err)
	}
	var usage *registry.UsageError
	if err := find("ab"); !errors.As(err, &usage) {
		t.Errorf("ab: got %v, want a usage error", err)
	}
}

func TestSplitVersion(t *testing.T) {
	for arg, want := range map[string][2]string{
		"a.b/c":          {"a.b/c", ""},
		"a.b/c@1.0.0":    {"a.b/c", "1.0.0"},
		"a@b/c@1@2":      {"a@b/c@1", "2"},
		"thing@1.0":      {"thing", "1.0"},
		"@thing":         {"@thing", ""},
		"a.b/c@":         {"a.b/c", ""},
		"user@host/name": {"user@host/name", ""},
	} {
		if n, v := registry.SplitVersion(arg); n != want[0] || v != want[1] {
			t.Errorf("%s: got %q %q, want %q", arg, n, v, want)
		}
	}
}

func TestCompareVersions(t *testing.T) {
	ordered := []string{
		"nightly", "0.0.1", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11",
		"1.0.0-rc.1", "1.0.0", "1.2.0", "1.10.0", "2026.8.31", "99999999999999999999.0.0",
	}
	for i, a := range ordered {
		for j, b := range ordered {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := registry.CompareVersions(a, b); got != want {
				t.Errorf("%s and %s: got %d, want %d", a, b, got, want)
			}
		}
	}
	for _, v := range []string{"1.0", "1.0.0.0", "01.0.0", "1.0.0-", "1.0.0-01", "1.0.0-a..b", "1.0.0+", "", "1.x.0"} {
		if registry.CompareVersions(v, "0.0.0-0") != -1 {
			t.Errorf("%q counts as semantic", v)
		}
	}
	if registry.CompareVersions("v1.0.0+linux", "1.0.0+mac") != 0 {
		t.Error("build metadata or a leading v changes the order")
	}
}
