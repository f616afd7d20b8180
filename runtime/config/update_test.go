package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

func TestUpdate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sub", "servers.json")
	add := func(name string) func(*config.File) error {
		return func(f *config.File) error { return f.Set(name, json.RawMessage(`{"command":"x"}`), false) }
	}
	require.NoError(t, config.Update(path, add("a")))
	if goruntime.GOOS != "windows" {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("a new file: %v, %v, want mode 600", info.Mode(), err)
		}
	}
	before, err := os.ReadFile(path)
	require.NoError(t, err)

	// An edit that fails, half done, writes nothing.
	boom := errors.New("boom")
	err = config.Update(path, func(f *config.File) error { return errors.Join(add("b")(f), boom) })
	if !errors.Is(err, boom) {
		t.Errorf("got %v, want boom", err)
	}
	if err := config.Update(path, add("a")); !errors.As(err, new(*config.ExistsError)) {
		t.Errorf("got %v, want an ExistsError", err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("failed edits changed the file to %s, %v", after, err)
	}

	// A broken file stays.
	broken := filepath.Join(dir, "broken.json")
	require.NoError(t, os.WriteFile(broken, []byte(`{"mcpServers": {`), 0o644))
	if err := config.Update(broken, add("a")); !errors.As(err, new(*config.Problem)) {
		t.Errorf("got %v, want a Problem", err)
	}
	if b, err := os.ReadFile(broken); err != nil || string(b) != `{"mcpServers": {` {
		t.Errorf("the broken file became %s, %v", b, err)
	}

	// A link stays a link.
	link := filepath.Join(dir, "link.json")
	if err := os.Symlink(path, link); err == nil {
		require.NoError(t, config.Update(link, add("c")))
		f, err := config.Load(path)
		require.NoError(t, err)
		if _, err := f.Use("c"); err != nil {
			t.Error("the edit through a link did not reach its target:", err)
		}
		if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Error("the link is gone")
		}
	}
}

func TestUpdateUnchanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "servers.json")
	require.NoError(t, config.Update(path, func(*config.File) error { return nil }))
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an edit without effect wrote a file: %v", err)
	}
}

// TestUpdateTogether: edits at once all arrive.
func TestUpdateTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "servers.json")
	const n = 20
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			err := config.Update(path, func(f *config.File) error {
				return f.Set(fmt.Sprintf("s%d", i), json.RawMessage(`{"command":"x"}`), false)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	f, err := config.Load(path)
	require.NoError(t, err)
	if got := len(f.Entries()); got != n || len(f.Faults()) != 0 {
		t.Errorf("%d entries, faults %v; want %d and none", got, f.Faults(), n)
	}
}
