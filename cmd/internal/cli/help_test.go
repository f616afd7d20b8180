package cli

import (
	"strings"
	"testing"
)

// Help of what does not exist is a usage error, and --help may stand anywhere.
func TestHelp(t *testing.T) {
	for _, tt := range []struct {
		words string
		code  int
		out   string // where the output begins
		err   string
	}{
		{"help", 0, "mcpctl finds MCP servers", ""},
		{"help add", 0, "Add a server to servers.json", ""},
		{"help config path", 0, "Print the path of servers.json", ""},
		{"help ad", 2, "", "mcpctl: unknown command ad\nhint: did you mean add? see mcpctl --help\n"},
		{"help config paht", 2, "", "mcpctl: unknown command paht\nhint: did you mean path? see mcpctl config --help\n"},
		{"help add more", 2, "", "mcpctl: unknown command more\nhint: see mcpctl add --help\n"},
		{"completion zhs", 2, "", "mcpctl: unknown command zhs\nhint: did you mean zsh? see mcpctl completion --help\n"},
		{"completion", 0, "Generate the autocompletion script", ""},
		{"completion fish", 0, "# fish completion for mcpctl", ""},
		{"--help", 0, "mcpctl finds MCP servers", ""},
		{"--help tools fs", 0, "List a server's tools", ""},
		{"tools --help fs", 0, "List a server's tools", ""},
		{"-h fs echo message=hi", 0, "Call a tool", ""},
		{"call --help fs echo", 0, "Call a tool", ""},
		{"call fs --help", 0, "Call a tool", ""},
		{"fs --help", 0, "List a server's tools", ""},
		{"--version", 0, "mcpctl ", ""},
	} {
		t.Run(tt.words, func(t *testing.T) {
			got := new(bench).run(t, strings.Fields(tt.words)...)
			if got.code != tt.code || got.errOut != tt.err {
				t.Errorf("got %d, %q, want %d, %q", got.code, got.errOut, tt.code, tt.err)
			}
			if !strings.HasPrefix(got.out, tt.out) || tt.out == "" && got.out != "" {
				t.Errorf("got the output %.200q, want it to begin %q", got.out, tt.out)
			}
		})
	}
}
