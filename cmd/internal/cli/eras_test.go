package cli

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/runtime/dial"
)

// TestErasAtOnce: serve connects to many servers at once, and forgets of none what it
// speaks.
func TestErasAtOnce(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Now().UTC()
	a := &app{environment: environment{log: slog.New(slog.DiscardHandler), getenv: func(name string) string {
		return map[string]string{"HOME": dir, "XDG_STATE_HOME": dir, "LocalAppData": dir, "USERPROFILE": dir}[name]
	}}}
	const servers = 20
	var all sync.WaitGroup
	for i := range servers {
		all.Go(func() { a.eras().Put(fmt.Sprint(i), negotiate.KnownEra{Era: "legacy", Found: now}) })
	}
	all.Wait()
	files, err := filepath.Glob(filepath.Join(dir, "*", "verdicts.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the files are %v, %v", files, err)
	}
	later := dial.NewEraCache(files[0], nil)
	for i := range servers {
		if later.Get(fmt.Sprint(i)).Era != "legacy" {
			t.Errorf("server %d is forgotten", i)
		}
	}
}
