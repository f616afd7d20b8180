package layers_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/internal/layers"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// watched is a watcher and what it has reported.
type watched struct {
	*layers.Watcher
	news chan string
	mu   sync.Mutex // guards log
	log  bytes.Buffer
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(p)
}

func (w *watched) logged() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.String()
}

// watch follows the layers of a world.
func watch(t *testing.T, w *world) *watched {
	t.Helper()
	out := &watched{news: make(chan string, 100)}
	out.Watcher = layers.Watch(layers.WatchOptions{
		Places: layers.Find(w.getenv, w.at("user", "servers.json"), w.at("home", "shop")), Trust: w.trust, Set: w.set(t),
		Logger: slog.New(slog.NewTextHandler(out, nil)),
		Changed: func(f *config.File, err error) {
			if err != nil {
				out.news <- "error: " + err.Error()
				return
			}
			var names []string
			for _, e := range f.Entries() {
				names = append(names, e.Name)
			}
			out.news <- strings.Join(names, " ")
		},
	})
	t.Cleanup(out.Close)
	return out
}

// wants waits for a report.
func (w *watched) wants(t *testing.T, want string) {
	t.Helper()
	deadline := wait.Late(t)
	for {
		select {
		case got := <-w.news:
			if got == want || strings.HasPrefix(want, "error") && strings.Contains(got, strings.TrimPrefix(want, "error ")) {
				return
			}
		case <-deadline:
			t.Fatalf("no report of %q; the log is %s", want, w.logged())
		}
	}
}

// TestWatch: each layer is followed, and a project's file only with trust.
func TestWatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(t, w.at("system", "servers.json"), "s")
	w.write(t, w.project(), "p")
	trust := func() {
		t.Helper()
		f, err := config.Load(w.project())
		require.NoError(t, err)
		require.NoError(t, w.trust.Decide(w.project(), f.Digest(), true))
	}
	trust()
	seen := watch(t, w)

	w.write(t, w.at("user", "servers.json"), "u") // there was none
	seen.wants(t, "p u s")
	w.write(t, w.at("system", "servers.json"), "s2")
	seen.wants(t, "p u s2")
	w.text(t, w.at("system", "servers.json"), `{"mcpServers": `)
	seen.wants(t, "error system")
	w.write(t, w.at("system", "servers.json"), "s3")
	seen.wants(t, "p u s3")

	// One that has nothing in it may be half written, and is no file without servers.
	w.text(t, w.at("system", "servers.json"), "")
	seen.Look()
	seen.wants(t, "error the file is empty")
	w.write(t, w.at("system", "servers.json"), "s3")
	seen.wants(t, "p u s3")

	// Not trusted, what it said before stays, and the others are followed.
	w.write(t, w.project(), "p2")
	seen.wants(t, "p u s3")
	w.write(t, w.at("user", "servers.json"), "u2")
	seen.wants(t, "p u2 s3")
	if got := seen.logged(); strings.Count(got, "has changed and is not trusted") != 1 {
		t.Errorf("the log is %s", got)
	}
	trust()
	w.text(t, w.at("home", "shop", ".mcpctl", "note"), "") // or a few seconds later
	seen.wants(t, "p2 u2 s3")
	// Trust that is withdrawn takes the servers away.
	_, err := w.trust.Forget(w.project())
	require.NoError(t, err)
	seen.Look()
	seen.wants(t, "u2 s3")
}
