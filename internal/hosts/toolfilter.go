package hosts

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/lazy"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// plainName returns the name of a member without the marks in which hosts differ.
func plainName(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
}

// allows and denies are the names, by [plainName], of lists of the tools that a server may
// show, and of those that it may not.
func allows() []string {
	return strings.Fields("enabledtools allowedtools allowtools includetools includedtools tools")
}

func denies() []string {
	return strings.Fields("disabledtools deniedtools denytools blockedtools excludetools excludedtools")
}

// readTools reads a list of the names of tools, which is one of the entry's own "tools": a
// list that the host has, and of programs with the members of servers.json one with any
// usual name. It reports whether it is one. An empty list of what is allowed is none: to some
// it means no tool, and to others every one.
func (in *incoming) readTools(name string, value json.RawMessage) bool {
	plain := plainName(name)
	allow := name == in.d.keys.allowTools || in.d.guarded && slices.Contains(allows(), plain)
	deny := name == in.d.keys.denyTools || in.d.guarded && slices.Contains(denies(), plain)
	var names []string
	switch {
	case name == "tools" && in.d.verbatim, !allow && !deny, json.Unmarshal(value, &names) != nil, allow && len(names) == 0:
		return false
	case deny:
		in.tools.Deny = append(in.tools.Deny, names...)
	case slices.Contains(names, "*"): // every one
	case in.tools.Allow == nil:
		in.tools.Allow = names
	default: // what both lists have
		in.tools.Allow = slices.DeleteFunc(in.tools.Allow, func(n string) bool { return !slices.Contains(names, n) })
	}
	return true
}

// filterRule reads MCProxy's middleware tool_filter. It reports whether the entry can say
// the same: one regular expression that is a list of names, with .* at their ends.
func (in *incoming) filterRule(config json.RawMessage) bool {
	var of struct{ Allow, Disallow string }
	if json.Unmarshal(config, &of) != nil || (of.Allow == "") == (of.Disallow == "") {
		return false
	}
	globs := globsOf(of.Allow + of.Disallow)
	switch {
	case globs == nil || of.Allow != "" && in.tools.Allow != nil:
		return false
	case of.Allow != "":
		in.tools.Allow = globs
	default:
		in.tools.Deny = append(in.tools.Deny, globs...)
	}
	return true
}

var plainRegexp = lazy.Regexp(`^(\^?)\(?((?:\.\*)?[A-Za-z0-9_-]+(?:\.\*)?(?:\|(?:\.\*)?[A-Za-z0-9_-]+(?:\.\*)?)*)\)?(\$?)$`)

// globsOf returns the patterns that match what a regular expression finds, nil where there
// are none.
func globsOf(re string) []string {
	m := plainRegexp().FindStringSubmatch(re)
	grouped := strings.HasPrefix(strings.TrimPrefix(re, "^"), "(")
	if m == nil || strings.Contains(re, "(") != strings.Contains(re, ")") || strings.Contains(m[2], "|") && !grouped && m[1]+m[3] != "" {
		return nil // of "^a|b$", each mark belongs to one of the two
	}
	var out []string
	for part := range strings.SplitSeq(m[2], "|") {
		glob := strings.ReplaceAll(part, ".*", "*")
		if m[1] == "" && !strings.HasPrefix(glob, "*") {
			glob = "*" + glob
		}
		if m[3] == "" && !strings.HasSuffix(glob, "*") {
			glob += "*"
		}
		out = append(out, glob)
	}
	return out
}

// limits reports whether a host can itself have the tools of a filter: it compares names,
// not patterns.
func (d dialect) limits(f config.ToolFilter) bool {
	star := func(name string) bool { return strings.Contains(name, "*") }
	return (f.Allow == nil || d.keys.allowTools != "" && len(f.Allow) > 0) && (len(f.Deny) == 0 || d.keys.denyTools != "") &&
		!slices.ContainsFunc(f.Allow, star) && !slices.ContainsFunc(f.Deny, star)
}
