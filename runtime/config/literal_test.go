package config_test

import (
	"testing"

	"github.com/mcpctl/mcpctl/runtime/config"
)

func TestLooksSecret(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, value string
		want        bool
	}{
		{"API_KEY", "hunter2", true},
		{"Authorization", "Bearer abc", true},
		{"PLAIN", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", true},
		{"DATABASE", "postgres://user:word@host/db", true},
		{"API_KEY", "${API_KEY}", false},
		{"Authorization", "Bearer ${TOKEN}", false},
		{"API_KEY", "${API_KEY:-hunter2}", true},
		{"API_KEY", "$API_KEY", false},
		{"API_KEY", "", false},
		{"USE_AUTH", "true", false},
		{"SSH_KEY", "/home/me/.ssh/id", false},
		{"AUTH_URL", "auth.example.com", false},
		{"REGION", "eu-central-1", false},
	} {
		if got := config.LooksSecret(c.name, c.value); got != c.want {
			t.Errorf("LooksSecret(%q, %q) = %v", c.name, c.value, got)
		}
	}
}

func TestBareVariable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"$KEY": "KEY", "Bearer $KEY": "KEY", "$HOME/notes": "HOME", "https://x/$ID/mcp": "ID", "https://x/mcp?key=$KEY": "KEY",
		"": "", "${KEY}": "", "$$KEY": "", "a$KEY": "", "echo $KEY; true": "", "US$5": "", "$": "", "price=$5": "",
	} {
		if got, ok := config.BareVariable(text); got != want || ok != (want != "") {
			t.Errorf("BareVariable(%q) = %q, %v", text, got, ok)
		}
	}
}
