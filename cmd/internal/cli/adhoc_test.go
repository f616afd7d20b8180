package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/config"
)

func TestCommandName(t *testing.T) {
	for command, want := range map[string]string{
		"fake-mcp":       "fake-mcp",
		"/usr/bin/srv":   "srv",
		"server.exe -x":  "server",
		"search":         "search-server", // a command of mcpctl
		"npx":            "npx",
		"npx -y thing":   "thing",
		"npx -y x@1.2.3": "x",
		"npx --yes --registry http://r @a/thing@latest /tmp": "thing",
		"uvx --from git+https://x mcp-time":                  "mcp-time",
		"uvx mcp-server-time==1.0":                           "mcp-server-time",
		"pnpm dlx @a/b":                                      "b",
		"uv tool run thing[cli]":                             "thing",
		"node ./dist/index.js --port 1":                      "index",
		"python3 -m my_server":                               "my_server",
		"docker run -i --rm -e KEY ghcr.io/a/thing:1.0 arg":  "thing",
		"env A=1 B=2 thing":                                  "thing",
		"npx -y .":                                           "server",
	} {
		if got := CommandName(strings.Fields(command)); got != want {
			t.Errorf("%s: got %q, want %q", command, got, want)
		} else if err := config.CheckAlias(got); err != nil {
			t.Errorf("%s: %v", command, err)
		}
	}
}

func TestURLName(t *testing.T) {
	for address, want := range map[string]string{
		"https://mcp.notion.com/mcp":      "notion",
		"https://api.example.com/mcp?a=b": "example",
		"https://deep.wiki.example.org":   "deep-wiki-example",
		"http://localhost:8080/mcp":       "localhost",
		"http://127.0.0.1:8080/mcp":       "server-127.0.0.1",
		"http://[::1]:1/":                 "server-1",
		"https://search.com":              "search-server",
		"::":                              "server",
	} {
		if got := URLName(address); got != want {
			t.Errorf("%s: got %q, want %q", address, got, want)
		} else if err := config.CheckAlias(got); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestIsCommand(t *testing.T) {
	for words, want := range map[string]bool{
		"npx -y x": true, "./srv a=1": true, "": false, "-x=1": false, "a=1": false, `{"a":1}`: false, "-": false,
	} {
		if got := IsCommand(strings.Fields(words)); got != want {
			t.Errorf("%s: got %v", words, got)
		}
	}
}

// A shell has expanded what it should: dollars stay dollars.
func TestCommandIsLiteral(t *testing.T) {
	e := adhocCommand([]string{"srv", "$HOME", "${X}"})
	if e.Name != "srv" || e.Command != "srv" || !slices.Equal(e.Args, []string{"$$HOME", "$${X}"}) {
		t.Errorf("got %s: %s %q", e.Name, e.Command, e.Args)
	}
}
