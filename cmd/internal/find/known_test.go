package find_test

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

func entries(t *testing.T, text string) []config.Entry {
	t.Helper()
	f, err := config.Parse("servers.json", []byte(text))
	require.NoError(t, err)
	return f.Entries()
}

// TestLists: a list is found again for the same server of the same configuration, and
// for no other.
func TestLists(t *testing.T) {
	t.Parallel()
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	servers := entries(t, `{"mcpServers":{"a":{"command":"a"},"b":{"command":"b"}}}`)
	lists := find.NewKnown(dir, "/x/servers.json", log)
	tools := []json.RawMessage{json.RawMessage(`{"name":"one","x":1.0}`)}
	lists.Keep(servers[0], "tools", tools)
	lists.Keep(servers[1], "prompts", nil)

	got := lists.Load(t.Context(), servers, "tools")
	if diff := cmp.Diff(tools, got["a"].Items); diff != "" || len(got) != 1 || time.Since(got["a"].At) > time.Minute {
		t.Errorf("got %v, %s", got, diff)
	}
	if got := lists.Load(t.Context(), servers, "prompts"); len(got) != 1 || got["b"].Items == nil || len(got["b"].Items) != 0 {
		t.Errorf("an empty list: %v", got)
	}
	// What does not change what runs keeps the list.
	for _, more := range []string{`,"labels":["x"]`, `,"trustAnnotations":true`, `,"requestTimeout":"9s"`, `,"disabled":true`} {
		same := entries(t, `{"mcpServers":{"a":{"command":"a"`+more+`}}}`)
		if got := lists.Load(t.Context(), same, "tools"); len(got) != 1 {
			t.Errorf("%s: got %v", more, got)
		}
	}
	changed := entries(t, `{"mcpServers":{"a":{"command":"a2"}}}`)
	for name, other := range map[string]map[string]find.Listed{
		"a changed entry":       lists.Load(t.Context(), changed, "tools"),
		"another configuration": find.NewKnown(dir, "/y/servers.json", log).Load(t.Context(), servers, "tools"),
		"no state directory":    find.NewKnown("", "/x/servers.json", log).Load(t.Context(), servers, "tools"),
	} {
		if len(other) != 0 {
			t.Errorf("%s: got %v", name, other)
		}
	}

	files, err := filepath.Glob(filepath.Join(dir, "lists", "*-tools.json"))
	require.NoError(t, err)
	if len(files) != 1 {
		t.Fatalf("files: %v", files)
	}
	// The same list again is as new as it is; a damaged one is none.
	old := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(files[0], old, old))
	if at := lists.Load(t.Context(), servers, "tools")["a"].At; time.Since(at) < 50*time.Minute {
		t.Errorf("listed at %s, want an hour ago", at)
	}
	lists.Keep(servers[0], "tools", tools)
	if at := lists.Load(t.Context(), servers, "tools")["a"].At; time.Since(at) > time.Minute {
		t.Errorf("listed at %s, want now", at)
	}
	require.NoError(t, os.WriteFile(files[0], []byte("{"), 0o600))
	if got := lists.Load(t.Context(), servers, "tools"); len(got) != 0 {
		t.Errorf("a damaged list: %v", got)
	}
	// What nobody has asked for in months is deleted.
	old = time.Now().Add(-100 * 24 * time.Hour)
	require.NoError(t, os.Chtimes(files[0], old, old))
	lists.Keep(servers[1], "tools", tools)
	if _, err := os.Stat(files[0]); err == nil {
		t.Error("an old list is kept")
	}
}

// TestQuick: a fresh list in a file is read as Load reads it; an old one is not taken
// alone.
func TestQuick(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	servers := entries(t, `{"mcpServers":{"a":{"command":"a"},"b":{"command":"b"}}}`)
	lists := find.NewKnown(dir, "/x/servers.json", slog.New(slog.DiscardHandler))
	if got := lists.Quick(t.Context(), servers[0], "tools"); len(got.Items) != 0 {
		t.Errorf("got %v", got)
	}
	lists.Keep(servers[0], "tools", []json.RawMessage{json.RawMessage(`{"name":"one","x":1.0}`), json.RawMessage(`{"name":"two"}`)})
	want := lists.Load(t.Context(), servers, "tools")["a"]
	if diff := cmp.Diff(want, lists.Quick(t.Context(), servers[0], "tools")); diff != "" || len(want.Items) != 2 {
		t.Error(diff)
	}
	files, err := filepath.Glob(filepath.Join(dir, "lists", "*-tools.json"))
	require.NoError(t, err)
	old := time.Now().Add(-25 * time.Hour)
	require.NoError(t, os.Chtimes(files[0], old, old))
	if got := lists.Quick(t.Context(), servers[0], "tools"); len(got.Items) != 2 {
		t.Errorf("an old list is better than none: %v", got)
	}
	changed := entries(t, `{"mcpServers":{"a":{"command":"a2"}}}`)
	none := find.NewKnown("", "/x/servers.json", slog.New(slog.DiscardHandler))
	if a, b := lists.Quick(t.Context(), changed[0], "tools"), none.Quick(t.Context(), servers[0], "tools"); len(a.Items)+len(b.Items) != 0 {
		t.Errorf("got %v, %v", a, b)
	}
}
