package cli

import (
	"regexp"
	"strings"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/nearest"
)

// manyTools is how many tools are named for a pattern that resembles none.
const manyTools = 8

// selectTools returns the tools that match one of the patterns, in which * is any
// text and ? any character. A pattern without a match is an error.
func selectTools(tools []runtime.Tool, patterns []string) ([]runtime.Tool, error) {
	if len(patterns) == 0 {
		return tools, nil
	}
	keep := make([]bool, len(tools))
	for _, pattern := range patterns {
		quoted := regexp.QuoteMeta(pattern)
		re, err := regexp.Compile(`(?s)^` + strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(quoted) + `$`)
		if err != nil {
			return nil, usagef("--tools %s: %w", pattern, err)
		}
		found := false
		for i, t := range tools {
			if re.MatchString(t.Name) {
				keep[i], found = true, true
			}
		}
		if !found {
			names := make([]string, len(tools))
			for i, t := range tools {
				names[i] = t.Name
			}
			e := usagef("--tools %q matches no tool", pattern)
			switch near := nearest.Names(pattern, names, nearestNames); {
			case len(near) > 0:
				return nil, e.withHint("there is %s", strings.Join(near, ", "))
			case len(names) > manyTools:
				return nil, e.withHint("there are %s and %d more", strings.Join(names[:manyTools], ", "), len(names)-manyTools)
			case len(names) > 0:
				return nil, e.withHint("there is %s", strings.Join(names, ", "))
			}
			return nil, e.withHint("there is no tool at all")
		}
	}
	var out []runtime.Tool
	for i, t := range tools {
		if keep[i] {
			out = append(out, t)
		}
	}
	return out, nil
}
