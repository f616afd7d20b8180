package gateway

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/plain"
)

// welcome says on a terminal what runs, and the line for each host that a person may want to
// connect. Scripts and logs have "listening on" alone.
func (g *gateway) welcome(address string, asksTokens bool) {
	u := g.h.UI
	if !u.ErrTTY || u.Quiet || g.o.Command != "serve" {
		return
	}
	names := slices.Sorted(maps.Keys(*g.entries.Load()))
	header, option := "", ""
	if asksTokens {
		header = "; tokens: mcpctl access token add NAME"
		option = ` --header "Authorization: Bearer TOKEN"`
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s behind it%s%s\n", plain.Count(len(names), "server"), list(names), header)
	for _, line := range [][2]string{
		{"Claude Code", "claude mcp add --transport http mcpctl " + address + option},
		{"VS Code", fmt.Sprintf(`code --add-mcp '{"name":"mcpctl","type":"http","url":"%s"}'`, address)},
		{"Cursor", fmt.Sprintf(`"mcpctl": {"url": "%s"} in ~/.cursor/mcp.json`, address)},
		{"this terminal", "mcpctl --url " + address},
	} {
		fmt.Fprintf(&b, "  %-13s  %s\n", line[0], line[1])
	}
	b.WriteString("mcpctl status shows what it does; Ctrl-C ends it.\n")
	_, _ = fmt.Fprint(u.Err, b.String()) // a terminal that is gone is noticed elsewhere
}

// welcomeStdio says on a terminal that a host is expected to start this, not a person.
func (g *gateway) welcomeStdio() {
	u := g.h.UI
	if !u.ErrTTY || !u.InTTY || u.Quiet || g.o.Command != "serve" {
		return
	}
	u.Info("mcpctl serve waits for messages of an MCP client on standard input: a host starts it, as mcpctl export HOST --gateway has it")
	u.Info("for people and for several clients: mcpctl serve --http")
}

// list returns names behind a colon, nothing for none.
func list(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ": " + ui.CleanLine(ui.Few(names))
}
