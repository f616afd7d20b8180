//go:build faults && linux

package faults_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/audit/logfile"
	"github.com/mcpctl/mcpctl/internal/audit/verify"
	"github.com/mcpctl/mcpctl/test/faults/hostile"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// witnesses are what others have seen of calls.
type witnesses struct{ wire.Seen }

// ServeHTTP is a server that notes each call before anything else is done with it.
func (w *witnesses) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if _, rest, ok := bytes.Cut(raw, []byte(`"traceparent":"00-`)); ok && len(rest) > 32 {
		w.Backend(string(rest[:32]))
	}
	r.Body = io.NopCloser(bytes.NewReader(raw))
	hostile.Handler("good", "").ServeHTTP(rw, r)
}

// TestAuditKilled kills serve at random moments while 256 callers call: each call that a
// backend got has its decision in the audit log, and each answer that a client got its
// outcome. The next serve appends what the one before has left. No file has an argument, a
// result or a token.
func TestAuditKilled(t *testing.T) {
	rounds := *auditKills
	if testing.Short() {
		rounds = 2
	}
	for _, durability := range []string{"process", "power"} {
		t.Run(durability, func(t *testing.T) {
			w := new(witnesses)
			good := httptest.NewServer(w)
			defer good.Close()
			home, config := t.TempDir(), filepath.Join(t.TempDir(), "servers.json")
			var calls atomic.Uint64
			for range rounds {
				require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(config), "config.yaml"), []byte("audit: {durability: "+durability+"}\n"), 0o600))
				d := serveAs(t, wire.Setup{Servers: wire.Servers{"good": {"url": good.URL}}, Config: config, Home: home})
				w.until(t, d, &calls, time.Duration(100+rand.IntN(900))*time.Millisecond)
				<-d.Exited
			}
			// One that ends as it should writes the rest.
			serveAs(t, wire.Setup{Config: config, Home: home}).Stop(t)
			backend, client := w.Count()
			t.Logf("%d calls, backends got %d, clients %d answers", calls.Load(), backend, client)
			if client == 0 {
				t.Error("no client got an answer")
			}
			log := findLog(t, home)
			defer log.Close()
			w.Compare(t, log, 0)
		})
	}
}

// until calls from 256 goroutines, until serve is killed after a while.
func (w *witnesses) until(t *testing.T, d *daemon, calls *atomic.Uint64, after time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all sync.WaitGroup
	for range 16 {
		c := newCaller(d)
		defer c.Close()
		require.NoError(t, c.initialize(ctx))
		for range 16 {
			all.Go(func() {
				for {
					id := fmt.Sprintf("%032x", calls.Add(1))
					n := c.Next()
					res, err := c.Post(ctx, wire.Request(n, "tools/call",
						`{"_meta":{"traceparent":"00-`+id+`-00f067aa0ba902b7-01"},"name":"good__echo","arguments":{"message":"`+argument+id+`"}}`))
					if err != nil {
						return
					}
					if k, text := check(res.Message(), n, "good: "+argument+id); k == right {
						w.Client(id)
					} else if k == wrong {
						t.Error(text)
					}
				}
			})
		}
	}
	time.Sleep(after)
	require.NoError(t, d.Cmd.Process.Kill())
	all.Wait()
	noneIn(t, d.Home, argument, wire.Token())
}

// argument begins the arguments of all calls, and their results have it as well.
const argument = "canary-argument-"

// noneIn checks that no file below a folder has any of some texts.
func noneIn(t *testing.T, dir string, texts ...string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		for _, text := range texts {
			if text != "" && bytes.Contains(raw, []byte(text)) {
				t.Errorf("%s has %s", path, text)
			}
		}
		return err
	}))
}

// findLog opens the audit log below a folder, and verifies it.
func findLog(t *testing.T, home string) *logfile.Log {
	t.Helper()
	path := ""
	require.NoError(t, filepath.WalkDir(home, func(at string, e fs.DirEntry, err error) error {
		if err == nil && e.Name() == "audit.db" {
			path = at
		}
		if err == nil && strings.HasSuffix(at, ".ring") {
			t.Errorf("a ring is left: %s", at)
		}
		return err
	}))
	if path == "" {
		t.Fatal("there is no audit.db")
	}
	key, err := logfile.OpenKey(filepath.Join(filepath.Dir(path), "audit.key"))
	require.NoError(t, err)
	log, err := logfile.OpenReadOnly(t.Context(), path)
	require.NoError(t, err)
	report, err := verify.Log(t.Context(), log, verify.Options{Keys: key.Verifiers()})
	require.NoError(t, err)
	for _, f := range report.Findings {
		t.Errorf("verify: %s: %s", f.Kind, f.Text)
	}
	t.Logf("%d records of %d runs", report.Size, report.Runs)
	return log
}
