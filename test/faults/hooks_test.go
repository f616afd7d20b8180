//go:build faults && linux

package faults_test

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/faults/hostile"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// hookTimeout is what the hook is given.
const hookTimeout = 2 * time.Second

// TestHooks: whatever the server of a hook does, calls that it looks into get their answer or
// an error that names the hook, in time; where it may fail open, their answer. Calls that it
// does not look into notice nothing, and nothing is left.
func TestHooks(t *testing.T) {
	faults := append(hostile.Faults(), "")
	if testing.Short() {
		faults = []string{"", "exit-on-call", "hang-call", "half-line", "wrong-ids", "flood-garbage"}
	}
	for _, fault := range faults {
		for name, open := range map[string]bool{"closed": false, "open": true} {
			t.Run(cmp.Or(fault, "none")+", "+name, func(t *testing.T) {
				t.Parallel()
				d := hookedBy(t, fault, open)
				others := startCallers(t, d, "other", 2, 5*time.Millisecond)
				throughHook(t, d, fault, open)
				others.finish()
			})
		}
	}
}

// TestHookPayload: a hook is shown arguments of 8 MB.
func TestHookPayload(t *testing.T) {
	t.Parallel()
	if k, text := attempt(hookedBy(t, "", false), "good", 8<<20); k != right {
		t.Errorf("%s: %.200s", k, text)
	}
}

// hookedBy is a serve whose calls of good go past a hook with a fault.
func hookedBy(t *testing.T, fault string, open bool) *daemon {
	t.Helper()
	if wire.Identity() {
		t.Skip("what is in config.yaml then has no hooks, which are the same whoever calls")
	}
	dir := t.TempDir()
	hook := map[string]any{"server": "bad", "tools": []string{"good__*"}, "timeout": hookTimeout.String(), "failOpen": open}
	if fault == "" {
		hook["timeout"] = patient.String()
	}
	written, err := json.Marshal(hook)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.yaml"), []byte("serve:\n  hooks:\n    - "+string(written)+"\n"), 0o600))
	return serveAs(t, wire.Setup{
		Config:  filepath.Join(dir, "servers.json"),
		Servers: wire.Servers{"good": hostileEntry("good", ""), "other": hostileEntry("other", ""), "bad": hostileEntry("bad", fault)},
	})
}

// throughHook makes calls side by side that a hook looks into.
func throughHook(t *testing.T, d *daemon, fault string, open bool) {
	t.Helper()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 2 {
				start := time.Now()
				k, text := attempt(d, "good", 0)
				if took := time.Since(start); took > 2*hookTimeout+patient+slack {
					t.Errorf("answered after %s", took)
				}
				switch {
				case k == right && (open || !slices.Contains([]string{"exit-at-once", "exit-on-call", "hang-initialize", "hang-list", "hang-call", "wrong-ids"}, fault)):
				case k == failed && strings.Contains(text, `hook "bad" has failed`) && fault != "" && !open:
				default:
					t.Errorf("got %s: %.300s", k, text)
				}
			}
		})
	}
	wg.Wait()
}
