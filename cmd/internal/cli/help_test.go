package cli

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
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

// TestHelpFits: mcpctl --help is one screen, and has each command.
func TestHelpFits(t *testing.T) {
	t.Parallel()
	text := new(bench).run(t, "--help").out
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) > 40 {
		t.Errorf("it has %d lines", len(lines))
	}
	for _, line := range lines {
		if len([]rune(line)) > 80 {
			t.Errorf("it is wider than 80 columns: %s", line)
		}
	}
	listed := new(bench).run(t, "help", "commands").out
	for _, g := range commandGroups() {
		for _, c := range g.commands {
			if c.name == "demo-server" { // which the demo is for
				continue
			}
			if !strings.Contains(text, " "+c.name) || !strings.Contains(listed, "\n  "+c.name+" ") {
				t.Errorf("%s is missing", c.name)
			}
		}
	}
	if flags := new(bench).run(t, "help", "flags").out; !strings.Contains(flags, "--no-input") || !strings.Contains(flags, "MCPCTL_") {
		t.Errorf("help flags is\n%s", flags)
	}
	codes := new(bench).run(t, "help", "exit-codes").out
	for code := range kinds {
		if !strings.Contains("\n"+codes, fmt.Sprintf("\n%3d  ", code)) {
			t.Errorf("help exit-codes has no %d:\n%s", code, codes)
		}
	}
	if own := new(bench).run(t, "help", "version").out; strings.Contains(own, "--client-secret-env") || !strings.Contains(own, "mcpctl help flags") {
		t.Errorf("help version is\n%s", own)
	}
}

// TestHelpAgent: the page for agents is short, and what it names there is.
func TestHelpAgent(t *testing.T) {
	t.Parallel()
	text := new(bench).run(t, "help", "--agent").out
	if same := new(bench).run(t, "help", "agent").out; same != text || strings.Count(text, "\n") > 60 {
		t.Errorf("it has %d lines, the topic is the same: %v", strings.Count(text, "\n"), same == text)
	}
	whole := newRoot(&app{environment: environment{ui: ui.New(nil, io.Discard, io.Discard), getenv: func(string) string { return "" }}})
	commands := regexp.MustCompile(`(?m)(?:^  |\()mcpctl ([a-z]+)|; mcpctl ([a-z]+)`).FindAllStringSubmatch(text, -1)
	if len(commands) < 20 {
		t.Errorf("it has %d commands", len(commands))
	}
	for _, c := range commands {
		if name := c[1] + c[2]; name != "help" && subcommand(whole, name) == nil {
			t.Errorf("%s is no command", name)
		}
	}
	for _, flag := range regexp.MustCompile(`--([a-z-]+)`).FindAllStringSubmatch(text, -1) {
		known := whole.PersistentFlags().Lookup(flag[1]) != nil || flag[1] == "agent"
		for _, name := range []string{"call", "tools"} {
			known = known || subcommand(whole, name).Flags().Lookup(flag[1]) != nil
		}
		if !known {
			t.Errorf("--%s is no flag", flag[1])
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) > 120 {
			t.Errorf("it is wider than 120 columns: %s", line)
		}
	}
}

// TestCommandNames: each command of the top level is found by its name, and says the same
// alone as in the whole tree.
func TestCommandNames(t *testing.T) {
	t.Parallel()
	newApp := func() *app {
		return &app{environment: environment{ui: ui.New(nil, io.Discard, io.Discard), getenv: func(string) string { return "" }}}
	}
	for _, g := range commandGroups() {
		for _, c := range g.commands {
			whole, alone := newRoot(newApp()), newRootFor(newApp(), []string{c.name})
			if got := c.build(newApp()).Name(); got != c.name {
				t.Errorf("%s is built under the name %s", got, c.name)
				continue
			}
			if len(alone.Commands()) > 2 {
				t.Errorf("%s: %d commands are built", c.name, len(alone.Commands()))
			}
			if got, want := subcommand(alone, c.name).UsageString(), subcommand(whole, c.name).UsageString(); got != want {
				t.Errorf("%s alone:\n%s\nin the tree:\n%s", c.name, got, want)
			}
		}
	}
}
