package clihelp

import (
	"slices"
	"strings"
)

// ParseMan returns what a formatted man page says of the command at path: its name,
// synopsis, options and commands.
func ParseMan(text []byte, path []string) Command {
	lines := split(clean(text))
	summary := ""
	var left []line
	section := ""
	for i, l := range lines {
		if l.indent == 0 && !l.blank() {
			section = ""
			if capitals().MatchString(l.text) {
				section = l.text
			}
			if i == 0 || strings.Contains(l.text, "   ") || section == "NAME" {
				continue // the lines above and below each page
			}
		}
		switch {
		case section == "NAME":
			if _, s, ok := strings.Cut(l.text, " - "); ok && summary == "" {
				summary = s
			}
		case section == "DESCRIPTION" || strings.HasSuffix(section, "OPTIONS") || strings.HasSuffix(section, "COMMANDS") ||
			section == "SYNOPSIS" || section == "ARGUMENTS":
			left = append(left, l)
		}
	}
	p := parser{lines: left, cmd: Command{Path: slices.Clone(path)}}
	c := p.run()
	if summary != "" {
		c.Summary = cut(summary, maxSummary)
	}
	return c
}
