package registry_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/registrytest"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/test/require"
)

// document returns a record of a version. The later ones of a registry are published later.
func document(version, status string) json.RawMessage {
	return fmt.Appendf(nil, `{"server":{"name":"io.example/x","version":%q,"description":"x","packages":[]},
		"_meta":{"io.modelcontextprotocol.registry/official":{"status":%q}}}`, version, status)
}

func TestHistory(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		versions       string // VERSION:STATUS in the order of publication
		order          string
		latest, stable string
		newer, older   string
	}{
		"by version, not by text or time": {"1.10.0:active 1.2.0:active 1.9.0:active", "1.10.0 1.9.0 1.2.0", "1.10.0", "1.10.0", "1.10.0", "1.9.0"},
		"a prerelease":                    {"2.1.0:active 3.0.0-rc.1:active", "3.0.0-rc.1 2.1.0", "3.0.0-rc.1", "2.1.0", "3.0.0-rc.1", "2.1.0"},
		"prereleases only":                {"1.0.0-a:active 1.0.0-b:active", "1.0.0-b 1.0.0-a", "1.0.0-b", "1.0.0-b", "1.0.0-b", "1.0.0-a"},
		"a deleted one is shown":          {"1.0.0:active 1.1.0:deleted", "1.1.0 1.0.0", "1.0.0", "1.0.0", "1.1.0", "1.0.0"},
		"all deleted":                     {"1.0.0:deleted 1.1.0:deleted", "1.1.0 1.0.0", "", "", "1.1.0", "1.0.0"},
		"a deprecated one counts":         {"1.0.0:active 1.1.0:deprecated", "1.1.0 1.0.0", "1.1.0", "1.1.0", "1.1.0", "1.0.0"},
		"a deprecated release does not":   {"1.0.0:active 1.1.0:deprecated 2.0.0-a:active", "2.0.0-a 1.1.0 1.0.0", "2.0.0-a", "1.0.0", "2.0.0-a", "1.1.0"},
		"names by time":                   {"spring:active autumn:active", "autumn spring", "autumn", "autumn", "autumn", "spring"},
		"names below versions":            {"1.0.0:active nightly:active", "1.0.0 nightly", "1.0.0", "1.0.0", "1.0.0", "nightly"},
		"a later build":                   {"1.0.0+a:active 1.0.0+b:active", "1.0.0+b 1.0.0+a", "1.0.0+b", "1.0.0+b", "1.0.0+b", "1.0.0+a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var docs []json.RawMessage
			for word := range strings.FieldsSeq(tt.versions) {
				version, status, _ := strings.Cut(word, ":")
				docs = append(docs, document(version, status))
			}
			h, err := registrytest.NewServer(docs, registrytest.Options{})
			require.NoError(t, err)
			got := history(t, h)
			var order []string
			for i := range got {
				order = append(order, got[i].Server.Version)
			}
			if strings.Join(order, " ") != tt.order || versionOf(got.Latest()) != tt.latest || versionOf(got.Choice(true)) != tt.latest || versionOf(got.Choice(false)) != tt.stable {
				t.Errorf("got %q, latest %s, choice %s", order, versionOf(got.Latest()), versionOf(got.Choice(false)))
			}
			a, b := got.Find(tt.newer), got.Find(tt.older)
			if a == nil || b == nil || !registry.Newer(a, b) || registry.Newer(b, a) || registry.Newer(a, a) || got.Find("9") != nil {
				t.Errorf("%s is not newer than %s alone", tt.newer, tt.older)
			}
		})
	}
}

func versionOf(r *registry.Record) string {
	if r == nil {
		return ""
	}
	return r.Server.Version
}

func history(t *testing.T, h http.Handler) registry.History {
	t.Helper()
	srv := httptest.NewServer(h)
	defer srv.Close()
	c, err := registry.New(registry.Options{BaseURL: srv.URL, Retries: -1})
	require.NoError(t, err)
	got, err := c.History(t.Context(), "io.example/x")
	require.NoError(t, err)
	return got
}

// TestHistoryOdd: registries that have only a list, or refuse what they do not know.
func TestHistoryOdd(t *testing.T) {
	t.Parallel()
	list := `{"servers":[` + string(document("1.0.0", "active")) + `,` + string(document("2.0.0", "active")) + `,{"server":{"name":"io.example/y","version":"3.0.0"}}]}`
	for name, h := range map[string]http.HandlerFunc{
		"a file": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v0.1/servers" {
				http.NotFound(w, r)
				return
			}
			_, _ = w.Write([]byte(list))
		},
		"a strict one": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Has("include_deleted") {
				w.Header().Set("Content-Type", "application/problem+json")
				w.WriteHeader(http.StatusUnprocessableEntity)
				_, _ = w.Write([]byte(`{"title":"unknown parameter"}`))
				return
			}
			_, _ = w.Write([]byte(list))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := history(t, h); len(got) != 2 || versionOf(got.Latest()) != "2.0.0" {
				t.Errorf("got %d versions, latest %s", len(got), versionOf(got.Latest()))
			}
		})
	}
}
