package clitool

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestPlaces: a call runs in a directory of the roots, or it does not run.
func TestPlaces(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, dir := range []string{"one/deep", "one-more", "two"} {
		require.NoError(t, os.MkdirAll(filepath.Join(base, dir), 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(base, "one", "file"), nil, 0o600))
	require.NoError(t, os.Symlink(base, filepath.Join(base, "one", "out")))
	require.NoError(t, os.Symlink(filepath.Join(base, "one", "deep"), filepath.Join(base, "link")))

	o := kitOptions(t, Exposure{Only: []string{"act"}})
	o.Roots = []string{filepath.Join(base, "one"), filepath.Join(base, "two")}
	tr := open(t, o)
	cases := map[string]string{
		``:                      base + "/one",
		`null`:                  base + "/one",
		`"deep"`:                base + "/one/deep",
		`"."`:                   base + "/one",
		`"deep/../deep"`:        base + "/one/deep",
		`"` + base + `/two"`:    base + "/two",
		`"../two"`:              base + "/two",
		`"` + base + `/link"`:   base + "/one/deep",
		`"` + base + `"`:        "cwd: it must be in",
		`".."`:                  "cwd: it must be in",
		`"../one-more"`:         "cwd: it must be in",
		`"out"`:                 "cwd: it must be in",
		`"out/two/../one-more"`: "cwd: it must be in",
		`"/"`:                   "cwd: it must be in",
		`"/nowhere/at/all"`:     "cwd: it must be in",
		`"nowhere"`:             "cwd: there is no such directory",
		`"file"`:                "cwd: it is not a directory",
		`""`:                    "cwd: want the path of a directory",
		`7`:                     "cwd: want the path of a directory",
		`"a\u0000b"`:            "cwd: want the path of a directory",
	}
	for given, want := range cases {
		args := `{"word":["cwd"]}`
		if given != "" {
			args = `{"word":["cwd"],"cwd":` + given + `}`
		}
		r, err := call(t.Context(), tr, "act", args)
		require.NoError(t, err)
		if want = filepath.FromSlash(want); !strings.HasPrefix(r.text(), want) || r.IsError != !filepath.IsAbs(want) || !r.IsError && r.text() != want {
			t.Errorf("cwd %s: got %q, want %q", given, r.text(), want)
		}
	}
}

// TestPlacesOfATool: the argument is there only where the entry gives a choice, and a
// flag of that name has another one then.
func TestPlacesOfATool(t *testing.T) {
	t.Parallel()
	o := kitOptions(t, Exposure{Only: []string{"act"}})
	tr := open(t, o)
	r, err := call(t.Context(), tr, "act", `{"word":["cwd"],"cwd":"."}`)
	require.NoError(t, err)
	if !r.IsError || r.text() != "cwd is not an argument of act" {
		t.Errorf("got %q", r.text())
	}
	o.Roots = []string{"nowhere"}
	o.Program.Dir = t.TempDir()
	if _, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), `cliRoots "nowhere": there is no such directory`) {
		t.Errorf("got %v", err)
	}
	o.Roots = []string{"."} // below Dir
	tr = open(t, o)
	raw, err := tr.Call(t.Context(), &runtime.Request{Method: "tools/list"})
	require.NoError(t, err)
	if !strings.Contains(string(raw), `"cwd":{"type":"string"`) {
		t.Errorf("got %s", raw)
	}
}

// logged keeps the log messages of a call.
type logged struct {
	runtime.NopHandler
	mu   sync.Mutex
	data []string
}

func (l *logged) Notification(_ context.Context, _ *runtime.Request, method string, params json.RawMessage) {
	var m struct{ Level, Logger, Data string }
	if json.Unmarshal(params, &m) != nil || method != "notifications/message" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.data = append(l.data, fmt.Sprintf("%s %s %s", m.Level, m.Logger, m.Data))
}

// TestLogs: the lines of standard error are log messages for who has asked for these.
func TestLogs(t *testing.T) {
	t.Parallel()
	tr := open(t, kitOptions(t, Exposure{Only: []string{"act"}}))
	for _, c := range []struct {
		level string
		want  []string
	}{
		{"", nil},
		{"debug", []string{"info act one", "info act two"}},
		{"warning", nil},
		{"info", []string{"info act one", "info act two"}},
	} {
		if c.level != "" {
			_, err := tr.Call(t.Context(), &runtime.Request{Method: "logging/setLevel", Params: json.RawMessage(`{"level":"` + c.level + `"}`)})
			require.NoError(t, err)
		}
		var l logged
		_, err := tr.Call(t.Context(), &runtime.Request{
			Method: "tools/call", Params: json.RawMessage(`{"name":"act","arguments":` + words("err=one", "say=x", "err=two") + `}`), Events: &l,
		})
		require.NoError(t, err)
		if !slices.Equal(l.data, c.want) {
			t.Errorf("level %q: got %q", c.level, l.data)
		}
	}
	if _, err := tr.Call(t.Context(), &runtime.Request{Method: "logging/setLevel", Params: json.RawMessage(`{"level":"loud"}`)}); err == nil || !strings.Contains(err.Error(), "unknown level: loud") {
		t.Errorf("got %v", err)
	}
}
