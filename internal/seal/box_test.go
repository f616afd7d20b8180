package seal_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/internal/seal"
	"github.com/mcpctl/mcpctl/test/require"
)

func TestBox(t *testing.T) {
	t.Parallel()
	b, err := seal.NewBox(seal.NewBoxKey() + "\n")
	require.NoError(t, err)
	other, err := seal.NewBox(seal.NewBoxKey())
	require.NoError(t, err)
	sealed := b.Seal("alice", []byte("hush"))
	if plain, err := b.Open("alice", sealed); err != nil || string(plain) != "hush" || bytes.Contains(sealed, []byte("hush")) {
		t.Fatalf("got %q, %v", plain, err)
	}
	if bytes.Equal(sealed, b.Seal("alice", []byte("hush"))) {
		t.Error("equal texts are equal when sealed")
	}
	flip := func(i int) []byte {
		out := bytes.Clone(sealed)
		out[i] ^= 1
		return out
	}
	for name, c := range map[string]struct {
		box    *seal.Box
		name   string
		sealed []byte
	}{
		"another name": {b, "bob", sealed}, "no name": {b, "", sealed}, "another key": {other, "alice", sealed}, "nothing": {b, "alice", nil},
		"cut": {b, "alice", sealed[:len(sealed)-1]}, "longer": {b, "alice", append(bytes.Clone(sealed), 0)}, "another format": {b, "alice", flip(0)},
		"another nonce": {b, "alice", flip(1)}, "another text": {b, "alice", flip(14)}, "another sum": {b, "alice", flip(len(sealed) - 1)},
	} {
		if plain, err := c.box.Open(c.name, c.sealed); !errors.Is(err, seal.ErrTampered) {
			t.Errorf("%s: got %q, %v", name, plain, err)
		}
	}
}

// TestOpenBox: processes that start at once have one key, which nobody else can read.
func TestOpenBox(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a", "key")
	boxes := make([]*seal.Box, 8)
	var all sync.WaitGroup
	for i := range boxes {
		all.Go(func() {
			var err error
			if boxes[i], err = seal.OpenBox(t.Context(), path); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}
	sealed := boxes[0].Seal("a", []byte("b"))
	for _, b := range boxes {
		if _, err := b.Open("a", sealed); err != nil {
			t.Error(err)
		}
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	if info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %v", info.Mode())
	}
	require.NoError(t, os.WriteFile(path, []byte("short"), 0o600))
	if _, err := seal.OpenBox(t.Context(), path); err == nil || !strings.Contains(err.Error(), "it is not a key of 32 bytes") {
		t.Errorf("got %v", err)
	}
}
