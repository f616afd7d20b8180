package config_test

import (
	"testing"

	"github.com/mcpctl/mcpctl/runtime/config"
)

func TestDisplayURL(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://h.example/mcp":                               "https://h.example/mcp",
		"https://h.example:8443":                              "https://h.example:8443",
		"https://user:pass@h.example/mcp?token=x":             "https://h.example/mcp",
		"https://us@er:p@ss@h.example#frag":                   "https://h.example",
		"https://h.example/a@b?c=d/e":                         "https://h.example/a@b",
		"https://h.example?u=https://x@y/":                    "https://h.example",
		"https://${USER}:${PASS}@${HOST}/mcp":                 "https://${HOST}/mcp",
		"${BASE}/mcp?key=${KEY}":                              "${BASE}/mcp",
		"user:pass@h.example/mcp?token=x":                     "h.example/mcp",
		"//user:pass@h.example":                               "//h.example",
		"https://h.example/s/Zm9vYmFyMTIzNDU2Nzg5MGFi0d9/mcp": "https://h.example/s/[redacted]/mcp",
		"": "",
	} {
		if got := config.DisplayURL(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}
