package hosts_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/hosts"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestUpdate: a file is replaced whole and keeps its mode; an error of the edit, and an
// edit that changes nothing, leave it alone.
func TestUpdate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := place()
	p.Home = dir
	l := &hosts.Find("cursor").Locations(p)[0]
	set := func(f *hosts.File, _ bool) (*hosts.File, error) {
		return f.Set("a", json.RawMessage(`{"command":"a"}`))
	}
	require.NoError(t, hosts.Update(t.Context(), l, filepath.Join(dir, "state"), set))
	info, err := os.Stat(l.Path)
	require.NoError(t, err)
	if info.Mode().Perm()&0o077 != 0 {
		t.Errorf("a new file has mode %v", info.Mode())
	}
	before, err := os.ReadFile(l.Path)
	require.NoError(t, err)
	fails := errors.New("no")
	err = hosts.Update(t.Context(), l, filepath.Join(dir, "state"), func(f *hosts.File, exists bool) (*hosts.File, error) {
		if !exists || len(f.Names()) != 1 {
			t.Errorf("exists %v, names %q", exists, f.Names())
		}
		return nil, fails
	})
	if !errors.Is(err, fails) {
		t.Errorf("got %v", err)
	}
	if after, _ := os.ReadFile(l.Path); string(after) != string(before) {
		t.Errorf("the file has changed:\n%s", after)
	}
	require.NoError(t, os.WriteFile(l.Path, []byte("{"), 0o600))
	err = hosts.Update(t.Context(), l, filepath.Join(dir, "state"), set)
	if wrong, ok := errors.AsType[*hosts.FileError](err); !ok || wrong.Path != l.Path || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a broken file: %v", err)
	}
}

// TestClaudeCodeLock: the lock of Claude Code is respected while it is held, and taken
// over when it was left behind.
func TestClaudeCodeLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := place()
	p.Home = dir
	l := &hosts.Find("claude-code").Locations(p)[0]
	lock := l.Path + ".lock"
	set := func(f *hosts.File, _ bool) (*hosts.File, error) {
		if _, err := os.Stat(lock); err != nil {
			t.Errorf("edited without the lock: %v", err)
		}
		return f.Set("a", json.RawMessage(`{"command":"a"}`))
	}
	require.NoError(t, os.Mkdir(lock, 0o700))
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	if err := hosts.Update(ctx, l, filepath.Join(dir, "state"), set); err == nil {
		t.Error("edited while the host holds its lock")
	}
	old := time.Now().Add(-time.Minute)
	require.NoError(t, os.Chtimes(lock, old, old))
	require.NoError(t, hosts.Update(t.Context(), l, filepath.Join(dir, "state"), set))
	if _, err := os.Stat(lock); err == nil {
		t.Error("the lock is left behind")
	}
}
