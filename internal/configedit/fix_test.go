package configedit_test

import (
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/configedit"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

// entry is a file with one server.
func entry(text string) string { return `{"mcpServers": {"a": {` + text + `}}}` }

func TestFix(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"a misspelt key", entry(`"comand": "x" /* c */, "args": []`), entry(`"command": "x" /* c */, "args": []`)},
		{"several", entry(`"command": "x", "evn": {}, "disbled": true`), entry(`"command": "x", "env": {}, "disabled": true`)},
		{"a key of another host", entry(`"serverUrl": "https://x.example.com"`), entry(`"url": "https://x.example.com"`)},
		{"the root key of another host", `{"servers": {"a": {"command": "x"}}}`, `{"mcpServers": {"a": {"command": "x"}}}`},
		{"the root key, misspelt", `{"mcpServer": {"a": {"command": "x"}}}`, `{"mcpServers": {"a": {"command": "x"}}}`},
		{"a type that contradicts", entry(`"type": "sse", "command": "x"`), entry(`"command": "x"`)},
		{"a type that contradicts the URL", entry(`"url": "https://x.example.com", "type": "stdio"`), entry(`"url": "https://x.example.com"`)},
		{"type cli", entry(`"command": "x", "type": "cli"`), entry(`"command": "x", "cli": true`)},
		{"a boolean in quotes", entry(`"command": "x", "disabled": "true"`), entry(`"command": "x", "disabled": true`)},
		{"numbers as texts", entry(`"command": "x", "env": {"PORT": 8080, "ON": true}, "args": [1.50]`), entry(`"command": "x", "env": {"PORT": "8080", "ON": "true"}, "args": ["1.50"]`)},
		{"a string for an array", entry(`"command": "x", "args": "-y"`), entry(`"command": "x", "args": ["-y"]`)},
		{"a member twice", entry(`"command": "x", "cwd": "/", "cwd": "/"`), entry(`"command": "x", "cwd": "/"`)},
		{"a server twice", `{"mcpServers": {"a": {"command": "x"}, "a": {"command": "x"}}}`, `{"mcpServers": {"a": {"command": "x"}}}`},
		{"an alias", `{"mcpServers": {"my server": {"command": "x"}}}`, `{"mcpServers": {"my-server": {"command": "x"}}}`},
		{"brackets behind the end", entry(`"command": "x"`) + "}]\n", entry(`"command": "x"`) + "\n"},
		{"brackets, and more", `{"servers": {"a": {"command": "x"}}}},`, `{"mcpServers": {"a": {"command": "x"}}}`},
	} {
		got, fixed, err := configedit.Fix("f", []byte(tt.in))
		if err != nil || string(got) != tt.want || len(fixed) == 0 {
			t.Errorf("%s: %v, %v\ngot  %s\nwant %s", tt.name, err, fixed, got, tt.want)
		}
		f, err := config.Parse("f", got)
		require.NoError(t, err)
		if len(f.Faults())+len(f.Warnings()) > 0 {
			t.Errorf("%s: left are %v %v", tt.name, f.Faults(), f.Warnings())
		}
		for _, m := range fixed {
			if m.Line == 0 || m.Column == 0 || m.Message == "" {
				t.Errorf("%s: %+v has no place", tt.name, m)
			}
		}
	}
	// What has more than one meaning stays.
	for _, in := range []string{
		entry(`"command": "x", "url": "https://x.example.com"`), entry(`"args": ["x"]`), entry(`"command": "x", "requestTimeout": 30`),
		entry(`"command": "x", "args": "-y fs"`), entry(`"command": "x", "timeout": 30`), entry(`"command": "x", "frobnicate": 1`), entry(`"command": "x", "cwd": "/", "cwd": "/tmp"`),
		entry(`"command": "x", "mixIdleTimeout": "1m"`), // like two keys
		entry(`"command": "x", "env": {"A": null}`), entry(`"command": "x", "env": {"A": {}}`), entry(`"command": "x", "comand": "y"`), entry(`"command": "x", "type": "websocket"`),
		`{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}`, `{"mcpServers": {"a b": {"command": "x"}, "a-b": {"command": "y"}}}`,
		`{"servers": 3, "x": 1}`, entry(`"url": "https://x.example.com", "headers": {"A": "x", "a": "y"}`), entry(`"command": "${env:X}"`),
	} {
		got, fixed, err := configedit.Fix("f", []byte(in))
		if err != nil || string(got) != in || len(fixed) > 0 {
			t.Errorf("%s: %v, %v\ngot %s", in, err, fixed, got)
		}
	}
	for _, in := range []string{`{"mcpServers": {`, `{"a": 1} x`, `{"a" 1}}`, `[1, 2]}`, "", strings.Repeat("}", 5000)} {
		if got, fixed, err := configedit.Fix("f", []byte(in)); err == nil && in != "" || string(got) != in || len(fixed) > 0 {
			t.Errorf("%.40q: %v, %v, got %.40q", in, err, fixed, got)
		}
	}
}

// FuzzMend: a mend ends, and the result has no more faults than the text.
func FuzzFix(f *testing.F) {
	f.Add([]byte(entry(`"comand": "x", "args": "y", "type": "sse"`)))
	f.Add([]byte(`{"servers": {"a b": {"command": 1}, "a b": {"command": 1}}}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, _, err := configedit.Fix("f", text)
		if err != nil {
			return
		}
		after, err := config.Parse("f", got)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, got, err)
		}
		if before, err := config.Parse("f", text); err == nil && len(after.Faults()) > len(before.Faults()) {
			t.Fatalf("%q became %q, with the faults %v", text, got, after.Faults())
		}
	})
}
