package auth

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
)

// TestExternalToken: what a file or a program may have is one token, as it is written in many
// forms.
func TestExternalToken(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"abc\n":                   "abc",
		"Bearer abc":              "abc",
		"bearer abc\n":            "abc",
		`{"access_token":"abc"}`:  "abc",
		`{"accessToken":"abc"}`:   "abc",
		"Bearer":                  "Bearer",
		"":                        "",
		"a b":                     "",
		"Basic abc":               "",
		"Bearer a b":              "",
		"Bearer ":                 "Bearer",
		`{"token":""}`:            "",
		"Bearer {\"token\":\"a b": "",
	} {
		file := filepath.Join(t.TempDir(), "token")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		got, err := externalToken(t.Context(), nil, file)
		if got.Access != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v", text, got.Access, err)
		}
	}
}
