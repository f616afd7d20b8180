package dial_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestErasAreKeptOnDisk: a process that ends on the question is started once
// the second time, whoever connects; another environment is another server.
func TestErasAreKeptOnDisk(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state", "verdicts.json")
	connect := func(e config.Entry, o dial.Options) string {
		t.Helper()
		log := filepath.Join(dir, "log")
		require.NoError(t, os.WriteFile(log, nil, 0o600))
		e.Args = append(e.Args, "-log", log)
		o.Eras = dial.NewEraCache(path, nil)
		c, err := dial.Dial(t.Context(), e, quick(o))
		require.NoError(t, err)
		_ = c.Close()
		raw, err := os.ReadFile(log)
		require.NoError(t, err)
		return fmt.Sprintf("%d %d", strings.Count(string(raw), `"server/discover"`), strings.Count(string(raw), `"initialize"`))
	}
	killed := stdioEntry("-exit-on-probe")
	other := stdioEntry("-exit-on-probe")
	other.Env["TOKEN"] = "secret-value"
	for i, c := range []struct {
		entry config.Entry
		o     dial.Options
		want  string
	}{
		{killed, dial.Options{}, "1 1"},
		{killed, dial.Options{}, "0 1"},
		{other, dial.Options{}, "1 1"},
		{other, dial.Options{}, "0 1"},
		{stdioEntry("-both"), dial.Options{}, "1 0"},
		{stdioEntry("-both"), dial.Options{Legacy: true}, "1 1"},
		{stdioEntry("-both"), dial.Options{Version: "2025-11-25"}, "0 1"},
	} {
		if got := connect(c.entry, c.o); got != c.want {
			t.Errorf("%d: got %s questions and handshakes, want %s", i, got, c.want)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(raw), "secret") || strings.Contains(string(raw), "fake") {
		t.Errorf("got %s %v", raw, err)
	}
	for name, mode := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700 | os.ModeDir} {
		if info, err := os.Stat(name); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
}

func TestEraFileIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.json")
	require.NoError(t, os.WriteFile(path, []byte("not JSON"), 0o600))
	v := dial.NewEraCache(path, nil)
	if got := v.Get("a"); got != (negotiate.KnownEra{}) {
		t.Errorf("got %+v of rubbish", got)
	}
	now := time.Now().UTC()
	var text strings.Builder
	text.WriteString(`{"version":1,"servers":{`)
	for i := range 1000 {
		fmt.Fprintf(&text, `"k%d":{"era":"legacy","found":%q},`, i, now.Add(time.Duration(i)*time.Second).Format(time.RFC3339))
	}
	text.WriteString(`"last":{"era":"modern","found":"2020-01-01T00:00:00Z"}}}`)
	require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o600))
	v.Put("new", negotiate.KnownEra{Era: "legacy", Found: now})
	for key, want := range map[string]string{"new": "legacy", "k999": "legacy", "k1": "legacy", "k0": "", "last": ""} {
		if got := v.Get(key); got.Era != want {
			t.Errorf("%s: got %+v", key, got)
		}
	}
	v.Put("new", negotiate.KnownEra{})
	if got := v.Get("new"); got != (negotiate.KnownEra{}) {
		t.Errorf("forgotten: got %+v", got)
	}
}

// TestEraFileAtOnce: servers that are found out at the same time are all in the file, for
// another process, which sees changes of it.
func TestEraFileAtOnce(t *testing.T) {
	t.Parallel()
	path, now := filepath.Join(t.TempDir(), "state", "v.json"), time.Now().UTC()
	one, other := dial.NewEraCache(path, nil), dial.NewEraCache(path, nil)
	key := func(i int) string { return fmt.Sprintf("k%d", i) }
	const servers = 50
	if other.Get(key(0)).Era != "" {
		t.Fatal("found before it was put")
	}
	var all sync.WaitGroup
	for i := range servers {
		all.Go(func() {
			one.Put(key(i), negotiate.KnownEra{Era: "legacy", Found: now})
			if one.Get(key(i)).Era != "legacy" {
				t.Errorf("%s is not known", key(i))
			}
		})
	}
	all.Wait()
	for i := range servers {
		if got := other.Get(key(i)); got.Era != "legacy" {
			t.Errorf("%s: another process finds %+v", key(i), got)
		}
	}
	other.Put("late", negotiate.KnownEra{Era: "modern", Found: now})
	if got := one.Get("late"); got.Era != "modern" {
		t.Errorf("what another process has put: %+v", got)
	}
	require.NoError(t, os.Remove(path))
	if got := one.Get("late"); got != (negotiate.KnownEra{}) {
		t.Errorf("of a file that is gone: %+v", got)
	}
}
