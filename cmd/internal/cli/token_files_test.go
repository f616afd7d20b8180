package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/cli"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestKept: accounts of principals are reported beside this user's tokens, one that
// cannot be read is a warning, and each is forgotten alone.
func TestTokenFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	k := &cli.TokenFiles{Store: &tokenstore.Store{Path: filepath.Join(dir, "auth.json")}, Accounts: &tokenstore.Folder{Dir: filepath.Join(dir, "accounts")}, Kind: "file"}
	const gh, other = "https://gh.example/mcp", "https://other.example/mcp"
	for _, token := range []tokenstore.Token{{Server: gh}, {Server: gh, Principal: "token|alice"}, {Server: other, Principal: "token|alice"}, {Server: gh, Principal: "token|bob"}} {
		token.Access = "hush"
		s := k.Store
		if token.Principal != "" {
			s = k.Accounts.Of(token.Principal)
		}
		require.NoError(t, s.Put(t.Context(), token))
	}
	report := func(wanted map[string]bool) string {
		t.Helper()
		var out bytes.Buffer
		u := ui.New(strings.NewReader(""), &out, &out)
		r, err := k.Report(u, map[string]string{gh: "gh"}, wanted)
		require.NoError(t, err)
		require.NoError(t, r.Print(u))
		if strings.Contains(out.String(), "hush") {
			t.Errorf("it shows a token: %s", out.String())
		}
		return out.String()
	}
	forget := func(server, principal string, want bool) {
		t.Helper()
		var out bytes.Buffer
		had, err := k.Forget(t.Context(), ui.New(strings.NewReader(""), &out, &out), server, principal)
		if had != want || err != nil {
			t.Errorf("forget %s of %q: %t, %v", server, principal, had, err)
		}
	}
	got := report(nil)
	for _, want := range []string{"PRINCIPAL", "one for all", "token|alice", "token|bob", other, filepath.Join(dir, "accounts")} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
	if got := report(map[string]bool{gh: true}); strings.Contains(got, other) {
		t.Errorf("got what was not asked for:\n%s", got)
	}
	forget(gh, "token|alice", true)
	forget(gh, "token|alice", false)
	if got := report(nil); strings.Count(got, "token|alice") != 1 || strings.Count(got, "gh ") != 2 {
		t.Errorf("after one was forgotten:\n%s", got)
	}
	if _, err := k.Forget(t.Context(), nil, gh, "token|carol"); err == nil || !strings.Contains(err.Error(), "token|carol has linked no account") {
		t.Errorf("got %v", err)
	}
	require.NoError(t, os.WriteFile(k.Accounts.Of("token|bob").Path, []byte("rubbish"), 0o600))
	if got := report(nil); !strings.Contains(got, "warning: not all accounts of principals can be read") || !strings.Contains(got, "one for all") || strings.Contains(got, "token|bob") {
		t.Errorf("with a file that cannot be read:\n%s", got)
	}
	require.NoError(t, os.RemoveAll(k.Accounts.Dir))
	if got := report(nil); strings.Contains(got, "PRINCIPAL") {
		t.Errorf("without accounts:\n%s", got)
	}
}
