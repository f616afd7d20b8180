package proxy_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/store"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// TestStoredOfTheSuccessor: what is learned of a server that has been replaced,
// at its end, does not take the place of what is kept of the one after it.
func TestStoredOfTheSuccessor(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	linger := handMade("dawdle", func(context.Context, *runtimetest.Call) (json.RawMessage, error) {
		close(begun)
		<-release
		return runtimetest.Text("slow"), nil
	})
	f := newFleet(map[string]*runtimetest.Server{"a": named("old", linger)})
	db := store.Open(filepath.Join(t.TempDir(), "mcpctl.db"), store.Options{})
	t.Cleanup(func() { _ = db.Close() })
	p := f.start(t, proxy.Options{Servers: digests("a=1"), Store: db})
	c := attach(t, p)
	c.result("tools/list", `{}`)
	answer := c.begin(`"1"`, "tools/call", `{"name":"a__dawdle"}`)
	<-begun
	stored := func(digest string) store.Record {
		all, err := db.Load(t.Context(), []store.ID{{Name: "a", Digest: digest}})
		require.NoError(t, err)
		return all["a"]
	}
	wait.Until(t, "it is stored", func() bool { return stored("1").Catalog.Data != nil })
	f.put("a", named("new"))
	reconfigure(t, p, digests("a=2"))
	c.result("tools/call", `{"name":"a__who"}`)
	wait.Until(t, "the new one is stored", func() bool { return stored("2").Catalog.Data != nil })
	close(release)
	if got := <-answer; !strings.Contains(got, "slow") {
		t.Errorf("got %s", got)
	}
	wait.Until(t, "the old one ends", func() bool { return f.opened("a") == 1 })
	c.end()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if stored("2").Catalog.Data == nil {
		t.Error("nothing is stored of the new one any more")
	}
}
