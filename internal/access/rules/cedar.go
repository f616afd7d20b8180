package rules

import (
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/internal/access/policy"
)

// ruleActions are those that a rule is about. Operate is for Cedar alone: who may use an
// item may not thereby manage the gateway.
func ruleActions() []policy.Action {
	return []policy.Action{policy.Call, policy.Get, policy.Read, policy.Question, policy.Link}
}

func callActions() []policy.Action { return ruleActions()[:1] }

func readActions() []policy.Action { return ruleActions()[1:3] }

// cedarText is one policy.
type cedarText struct {
	id string
	// notes are the other annotations, names and values.
	notes [][2]string
	// forbid says that it is no permit.
	forbid bool
	// principal and resource are scopes without the word itself, "" for all.
	principal, resource string
	actions             []policy.Action
	// when are conditions that must all hold.
	when []string
}

// String returns the text, on several lines. Nothing in it is a line break inside quotes.
func (c cedarText) String() string {
	var b strings.Builder
	for _, note := range append([][2]string{{"id", c.id}}, c.notes...) {
		b.WriteString("@" + note[0] + "(" + quote(note[1]) + ")\n")
	}
	b.WriteString(map[bool]string{true: "forbid (\n", false: "permit (\n"}[c.forbid])
	b.WriteString(strings.TrimRight("  principal "+c.principal, " ") + ",\n")
	names := make([]string, len(c.actions))
	for i, a := range c.actions {
		names[i] = "Action::" + quote(string(a))
	}
	if len(names) == 1 {
		b.WriteString("  action == " + names[0] + ",\n")
	} else {
		b.WriteString("  action in [" + strings.Join(names, ", ") + "],\n")
	}
	b.WriteString(strings.TrimRight("  resource "+c.resource, " ") + "\n)")
	if len(c.when) > 0 {
		b.WriteString("\nwhen {\n  " + strings.Join(c.when, " &&\n  ") + "\n}")
	}
	b.WriteString(";\n")
	return b.String()
}

// quote returns a text as Cedar has it.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			b.WriteString(`\u{` + strconv.FormatInt(int64(r), 16) + "}")
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// literal returns a text as a part of a pattern that stands for itself.
func literal(text string) string { return strings.ReplaceAll(inner(text), "*", `\*`) }

// inner returns a quoted text without its quotes.
func inner(text string) string {
	q := quote(text)
	return q[1 : len(q)-1]
}

// argument is the path to an argument, from context.args or a form of it.
type argument struct {
	from string
	path []string
}

// present returns the condition under which the argument is there.
func (a argument) present() string {
	var parts []string
	for i, name := range a.path {
		if !isIdentifier(name) {
			name = quote(name)
		}
		parts = append(parts, argument{a.from, a.path[:i]}.String()+" has "+name)
	}
	return strings.Join(parts, " && ")
}

// String returns the argument.
func (a argument) String() string {
	var b strings.Builder
	b.WriteString(a.from)
	for _, name := range a.path {
		if isIdentifier(name) {
			b.WriteString("." + name)
		} else {
			b.WriteString("[" + quote(name) + "]")
		}
	}
	return b.String()
}

// isIdentifier reports whether a name needs no quotes. Cedar's own words have them, to be
// safe.
func isIdentifier(name string) bool {
	switch name {
	case "", "true", "false", "if", "then", "else", "in", "is", "like", "has", "__cedar", "principal", "action", "resource", "context", "permit", "forbid", "when", "unless":
		return false
	}
	for i, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return true
}
