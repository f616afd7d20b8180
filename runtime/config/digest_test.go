package config_test

import (
	"testing"

	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestDigest: a digest depends on the configuration, not on its form or the values
// of secrets.
func TestDigest(t *testing.T) {
	digest := func(entry string) string {
		t.Helper()
		f, err := config.Parse("servers.json", []byte(`{"mcpServers": {"s": `+entry+`}}`))
		require.NoError(t, err)
		return f.Entries()[0].Digest()
	}
	base := digest(`{"command": "a", "env": {"TOKEN": "${TOKEN}"}}`)
	t.Setenv("TOKEN", "another")
	for name, same := range map[string]string{
		"white space": "{ \"command\":\n\"a\",  \"env\": {\"TOKEN\": \"${TOKEN}\" }}",
		"comments":    "{\"command\": \"a\", /* x */ \"env\": {\"TOKEN\": \"${TOKEN}\",},}",
	} {
		if got := digest(same); got != base {
			t.Errorf("%s: got another digest", name)
		}
	}
	seen := map[string]string{base: "the entry"}
	for _, entry := range []string{
		`{"command": "b", "env": {"TOKEN": "${TOKEN}"}}`,
		`{"command": "a", "env": {"TOKEN": "${OTHER}"}}`,
		`{"command": "a", "env": {"TOKEN": "${TOKEN}"}, "start": "eager"}`,
		`{"command": "a", "env": {"TOKEN": "${TOKEN}"}, "args": []}`,
	} {
		d := digest(entry)
		if of, taken := seen[d]; taken || len(d) != 64 {
			t.Errorf("%s: got %q, that of %s", entry, d, of)
		}
		seen[d] = entry
	}
}
