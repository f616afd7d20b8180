package finder

import (
	"slices"
	"strconv"
	"strings"
)

// Program is a client as it names itself.
type Program struct{ Name, Version string }

// native are the programs that search tools by themselves, since a version. Where that is
// wrong it costs tokens: every form of the list can call every tool.
var native = []Program{ //nolint:gochecknoglobals // constant
	// Tool search is on for all MCP tools since 2.1.7: code.claude.com/docs/en/mcp, "Scale
	// with MCP Tool Search".
	{"claude-code", "2.1.7"},
	// Its feature tool_search defers MCP tools (github.com/openai/codex/pull/10657 and
	// issue 21503, May 2026).
	{"codex-mcp-client", ""},
}

// Searches reports whether a program searches tools by itself. Names, where there are any,
// replace the table.
func (p Program) Searches(names []string) bool {
	if names != nil {
		return slices.Contains(names, p.Name)
	}
	for _, n := range native {
		if n.Name == p.Name && !older(p.Version, n.Version) {
			return true
		}
	}
	return false
}

// older reports whether a version is older than another; a missing number is 0. One that is
// no list of numbers is not.
func older(version, than string) bool {
	a, b := strings.Split(version, "."), strings.Split(than, ".")
	part := func(of []string, i int) (int, error) {
		if i >= len(of) {
			return 0, nil
		}
		return strconv.Atoi(of[i])
	}
	for i := range max(len(a), len(b)) {
		x, err1 := part(a, i)
		y, err2 := part(b, i)
		switch {
		case err1 != nil || err2 != nil:
			return false
		case x != y:
			return x < y
		}
	}
	return false
}
