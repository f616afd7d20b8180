package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestPath: the socket is of one file, one entry and one set of values, and its name does
// not show them.
func TestPath(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	expand := func(e config.Entry, token string) config.Expanded {
		t.Helper()
		x, err := e.Expand(func(string) (string, bool) { return token, true })
		require.NoError(t, err)
		return x
	}
	e := config.Entry{Name: "fake", Command: "fake-mcp", Env: map[string]string{"TOKEN": "${TOKEN}"}}
	if _, err := Path(state, "a.json", expand(e, "1"), false); !errors.Is(err, ErrNone) {
		t.Errorf("before any session: %v", err)
	}
	path := func(file string, x config.Expanded) string {
		t.Helper()
		p, err := Path(state, file, x, true)
		require.NoError(t, err)
		return p
	}
	first := path("a.json", expand(e, "s3cret"))
	if again := path("a.json", expand(e, "s3cret")); again != first {
		t.Errorf("the same again: %s, %s", first, again)
	}
	other := e
	other.Args = []string{"x"}
	named := e
	named.Name = "another"
	for what, p := range map[string]string{
		"another file":  path("b.json", expand(e, "s3cret")),
		"another value": path("a.json", expand(e, "s3cret2")),
		"another entry": path("a.json", expand(other, "s3cret")),
		"another name":  path("a.json", expand(named, "s3cret")),
	} {
		if p == first {
			t.Errorf("%s has the same socket", what)
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(state, keyName), []byte("short"), 0o600))
	if _, err := Path(state, "a.json", expand(e, "1"), false); err == nil || !strings.Contains(err.Error(), "it has 5 bytes, want 32") {
		t.Errorf("a broken key: %v", err)
	}
	require.NoError(t, os.Remove(filepath.Join(state, keyName)))
	if p := path("a.json", expand(e, "s3cret")); p == first {
		t.Error("the name does not depend on the key")
	}
	if _, err := Path("", "a.json", expand(e, "1"), true); err == nil {
		t.Error("no state directory, and no error")
	}
}

// TestKeyOnce: of processes that make the key at once, all use the same.
func TestKeyOnce(t *testing.T) {
	state := t.TempDir()
	var all sync.WaitGroup
	keys := make([]string, 20)
	for i := range keys {
		all.Go(func() {
			key, err := newKey(state)
			if err != nil {
				t.Error(err)
			}
			keys[i] = string(key)
		})
	}
	all.Wait()
	for _, k := range keys {
		if k != keys[0] {
			t.Fatal("two keys")
		}
	}
	if left, _ := os.ReadDir(state); len(left) != 1 {
		t.Errorf("left over: %v", left)
	}
}

// TestIdle: a session ends a while after its last request, and not during one.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		k := Keep(t.Context(), Options{Server: "fake", Idle: time.Minute}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
		over := func() bool {
			synctest.Wait()
			select {
			case <-k.Over():
				return true
			default:
				return false
			}
		}
		call := func() { k.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/mcp", nil)) }
		time.Sleep(50 * time.Second)
		done := make(chan struct{})
		go func() {
			call()
			close(done)
		}()
		time.Sleep(time.Hour)
		if over() {
			t.Fatal("it ended during a request")
		}
		close(release)
		<-done
		time.Sleep(59 * time.Second)
		if over() {
			t.Fatal("it ended too early")
		}
		k.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil)) // is no use
		time.Sleep(2 * time.Minute)
		if !over() {
			t.Fatal("it has not ended")
		}
	})
}

// TestAskAndEnd: a session says what it is, and ends once.
func TestAskAndEnd(t *testing.T) {
	k := Keep(context.Background(), Options{Server: "fake", Config: "/c", Protocol: func() string { return "2025-11-25" }}, http.NotFoundHandler())
	w := httptest.NewRecorder()
	k.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	var i Info
	if err := json.Unmarshal(w.Body.Bytes(), &i); err != nil || i.Server != "fake" || i.Config != "/c" || i.PID != os.Getpid() || i.ProtocolVersion != "2025-11-25" {
		t.Errorf("got %s, %v", w.Body, err)
	}
	for range 2 {
		w = httptest.NewRecorder()
		k.ServeHTTP(w, httptest.NewRequest(http.MethodDelete, path, nil))
		if w.Code != http.StatusOK {
			t.Errorf("status %d", w.Code)
		}
	}
	<-k.Over()
	w = httptest.NewRecorder()
	k.ServeHTTP(w, httptest.NewRequest(http.MethodPut, path, strings.NewReader("x")))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("status %d", w.Code)
	}
}

// TestFindNone: what is no session is not found, and left alone unless it is a dead one.
func TestFindNone(t *testing.T) {
	if got := Find(t.Context(), t.TempDir()); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

// TestStartError: what a process said why it ended, and how to fix it, without what it
// said before.
func TestStartError(t *testing.T) {
	for _, tt := range []struct{ stderr, message, hint string }{
		{"", "the session's process ended with exit code 5", ""},
		{"killed\n", "killed", ""},
		{"mcpctl: no log: is a directory\nhint: make it writable\n", "no log: is a directory", "make it writable"},
		{"warning: old\nhint: a\nmcpctl: it is\n  kind: config\n", "it is\n  kind: config", ""},
	} {
		err := &StartError{Code: 5, Stderr: []byte(tt.stderr)}
		if err.Error() != tt.message || err.Hint() != tt.hint {
			t.Errorf("%q: got %q, hint %q", tt.stderr, err, err.Hint())
		}
	}
}
