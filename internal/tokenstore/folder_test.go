package tokenstore_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/tokenstore"
	"github.com/mcpctl/mcpctl/test/require"
)

const server = "https://api.example.com/mcp"

func token(principal, text string) tokenstore.Token {
	return tokenstore.Token{Server: server, Issuer: "https://as.example", Principal: principal, Access: text, Refresh: "refresh " + text, Source: tokenstore.SourceOAuth}
}

// files returns the files of a folder, by their names.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		out[d.Name()] = raw
		return err
	}))
	return out
}

// TestFolder: each principal has tokens of their own, which nobody reads in the files,
// and another process finds them.
func TestFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "accounts")
	f := &tokenstore.Folder{Dir: dir}
	if all, err := f.Tokens(); err != nil || len(all) > 0 {
		t.Fatalf("got %v, %v", all, err)
	}
	require.NoError(t, f.Of("token|bob").Put(t.Context(), token("token|bob", "hush-bob")))
	require.NoError(t, f.Of("token|alice").Put(t.Context(), token("token|alice", "hush-alice")))
	require.NoError(t, f.Clients("gh").PutClient(t.Context(), tokenstore.Client{Issuer: "https://as.example", ID: "c", Secret: "hush-client"}))
	other := &tokenstore.Folder{Dir: dir}
	for _, f := range []*tokenstore.Folder{f, other} {
		for _, who := range []string{"alice", "bob"} {
			all, err := f.Of("token|" + who).Tokens(server)
			if err != nil || len(all) != 1 || all[0].Access != "hush-"+who || all[0].Refresh != "refresh hush-"+who {
				t.Errorf("%s: got %d, %v", who, len(all), err)
			}
		}
		all, err := f.Tokens()
		if err != nil || len(all) != 2 || all[0].Principal != "token|alice" {
			t.Errorf("got %v, %v", all, err)
		}
		if c, ok := f.Clients("gh").Client("https://as.example"); !ok || c.Secret != "hush-client" {
			t.Errorf("got %v", ok)
		}
		if _, ok := f.Clients("other").Client("https://as.example"); ok {
			t.Error("a registration for one server is another's")
		}
	}
	if all, err := other.Of("token|carol").Tokens(""); err != nil || len(all) > 0 {
		t.Errorf("got %v, %v", all, err)
	}
	for name, raw := range files(t, dir) {
		if bytes.Contains(raw, []byte("hush")) || bytes.Contains(raw, []byte("alice")) || strings.Contains(name, "alice") {
			t.Errorf("%s says too much", name)
		}
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: mode %v", name, info.Mode())
		}
	}
}

// TestFolderMixedUp: the file of one principal does not open as another's, nor with
// another key; the others are still there.
func TestFolderMixedUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := &tokenstore.Folder{Dir: dir}
	paths := map[string]string{}
	for _, who := range []string{"alice", "bob"} {
		require.NoError(t, f.Of(who).Put(t.Context(), token(who, "hush-"+who)))
		paths[who] = f.Of(who).Path
	}
	raw, err := os.ReadFile(paths["alice"])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(paths["bob"], raw, 0o600))
	for _, f := range []*tokenstore.Folder{f, {Dir: dir}} {
		if all, err := f.Of("bob").Tokens(""); err == nil || len(all) > 0 || !strings.Contains(err.Error(), "cannot be decrypted") || strings.Contains(err.Error(), "hush") {
			t.Errorf("got %v, %v", all, err)
		}
		all, err := f.Tokens()
		if err == nil || len(all) != 1 || all[0].Principal != "alice" {
			t.Errorf("got %v, %v", all, err)
		}
	}
	require.NoError(t, os.Remove(filepath.Join(dir, "key")))
	again := &tokenstore.Folder{Dir: dir}
	if all, err := again.Of("alice").Tokens(""); err == nil || len(all) > 0 {
		t.Errorf("without its key: got %v, %v", all, err)
	}
	// What cannot be read is not overwritten.
	if err := again.Of("alice").Put(t.Context(), token("alice", "new")); err == nil {
		t.Error("a file that cannot be read was overwritten")
	}
}
