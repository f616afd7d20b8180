package gateway

import (
	"encoding/json"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/internal/store"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestStored: what commands have listed of a server counts from when the server is served,
// as when a reload adds it, and only for the entry that it was listed of.
func TestStored(t *testing.T) {
	t.Parallel()
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	f, err := config.Parse(filepath.Join(dir, "servers.json"), []byte(`{"mcpServers":{"a":{"command":"x"},"b":{"command":"x"},"c":{"command":"x"}}}`))
	require.NoError(t, err)
	var entries atomic.Pointer[map[string]config.Entry]
	s := &stored{DB: store.Open(filepath.Join(dir, "mcpctl.db"), store.Options{Scope: f.Path(), Logger: log}), lists: find.NewKnown(dir, f.Path(), log), entries: &entries}
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	served := map[string]config.Entry{}
	load := func(name, digest string) bool {
		records, err := s.Load(t.Context(), []store.ID{{Name: name, Digest: digest}})
		require.NoError(t, err)
		return records[name].Catalog.Data != nil
	}
	a, _ := f.Entry("a")
	b, _ := f.Entry("b")
	c, _ := f.Entry("c")
	s.lists.Keep(a, "tools", []json.RawMessage{json.RawMessage(`{"name":"t","inputSchema":{"type":"object"}}`)})
	s.lists.Keep(b, "tools", []json.RawMessage{json.RawMessage(`{"name":"t","inputSchema":{"type":"object"}}`)})
	served["a"], served["c"] = a, c
	entries.Store(&served)
	if !load("a", a.Digest()) || load("a", "other") || load("b", b.Digest()) || load("c", c.Digest()) {
		t.Error("not what was listed of the served entries")
	}
	entries.Store(&map[string]config.Entry{"a": a, "b": b})
	if !load("b", b.Digest()) {
		t.Error("a server that is added has nothing")
	}
}
