package clitool

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/test/kit"
	"github.com/mcpctl/mcpctl/test/require"
)

// asKit is the variable that makes this binary the tool of package kit; it stands in
// the place of its name.
const asKit = "CLITOOL_AS_KIT"

func TestMain(m *testing.M) {
	if os.Getenv(asKit) != "" {
		os.Exit(kit.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	goleak.VerifyTestMain(m)
}

// kitOptions returns the options for kit, with a cache of its own.
func kitOptions(t *testing.T, e Exposure) Options {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	// A name of its own: that of the test binary differs from system to system.
	dir := t.TempDir()
	path := filepath.Join(dir, "kit.exe")
	if err := os.Symlink(exe, path); err != nil {
		t.Skip("no symbolic links: ", err)
	}
	return Options{
		Program:  Program{Command: path, Env: map[string]string{asKit: "1", "GORACE": "atexit_sleep_ms=0", kit.Asked: filepath.Join(dir, "asked")}},
		Exposure: e, Name: "kit", Cache: filepath.Join(dir, "cache"),
	}
}

func open(t *testing.T, o Options) *Transport {
	t.Helper()
	tr, err := Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { tr.Close() })
	return tr
}

// result is a result of tools/call as far as tests look.
type result struct {
	Content    []struct{ Type, Text, URI string }
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool
	Meta       map[string]json.RawMessage `json:"_meta"`
}

func (r result) text() string {
	var all []string
	for _, c := range r.Content {
		all = append(all, strings.TrimSuffix(c.Text, "\n"))
	}
	return strings.Join(all, "\n")
}

func call(ctx context.Context, tr *Transport, name, args string) (result, error) {
	var r result
	raw, err := tr.Call(ctx, &runtime.Request{Method: "tools/call", Params: json.RawMessage(`{"name":"` + name + `","arguments":` + args + `}`)})
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	return r, err
}
