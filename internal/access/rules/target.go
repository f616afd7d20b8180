package rules

import (
	"fmt"
	"strings"

	"github.com/mcpctl/mcpctl/internal/access/policy"
)

// targetKind is what a target names.
type targetKind uint8

const (
	anyTarget targetKind = iota
	serverTarget
	labelTarget
	toolTarget
	promptTarget
	resourceTarget
)

// targetForms and principalForms say what a rule can name.
const (
	targetForms    = `write a server (gh), a tool (gh/merge, "gh/get_*"), prompt:gh/name, "resource:fs/file:///data/**", a label, or "*"`
	principalForms = `write a group, an ID ("token|ci"), a mail address, a group of an issuer ("idp:engineers"), local, or "*"`
)

// target is what a rule is about, or what has a label.
type target struct {
	kind targetKind
	// server is the name of the server, or of the label; name the item's own, "" for a
	// server or label.
	server, name string
	// glob says that name has a "*"; toolsOnly that it is of tools alone, as is written.
	glob, toolsOnly bool
}

// prefixes are the kinds that a target can begin with.
func prefixes() map[string]targetKind {
	return map[string]targetKind{
		"server": serverTarget, "label": labelTarget, "tool": toolTarget, "prompt": promptTarget, "resource": resourceTarget,
	}
}

// parseTarget reads a target, or says why it is none. A name alone is a server; the caller
// knows labels.
func parseTarget(text string) (t target, why string) {
	if text == "*" {
		return target{}, ""
	}
	rest, given := text, false
	if before, after, ok := strings.Cut(text, ":"); ok && !strings.Contains(before, "/") {
		kind, known := prefixes()[before]
		if !known {
			return t, fmt.Sprintf("%q begins with an unknown kind of target", text)
		}
		t.kind, t.toolsOnly, rest, given = kind, kind == toolTarget, after, true
	}
	server, name, isItem := strings.Cut(rest, "/")
	if !given {
		t.kind = serverTarget
		if isItem {
			t.kind = toolTarget
		}
	}
	t.server, t.name, t.glob = server, name, strings.Contains(name, "*")
	switch named := t.kind > labelTarget; {
	case !IsName(server):
		// A pattern of servers would let in servers that are added later.
		return t, fmt.Sprintf("%q has no name of one server", text)
	case named && name == "":
		return t, fmt.Sprintf("%q names no item of %s", text, server)
	case !named && isItem:
		return t, fmt.Sprintf("%q is no %s", text, map[targetKind]string{serverTarget: "server", labelTarget: "label"}[t.kind])
	}
	return t, ""
}

// member is the target as labels have it.
func (t target) member() string {
	if t.kind <= labelTarget {
		return t.server
	}
	prefix := map[targetKind]string{promptTarget: "prompt:", resourceTarget: "resource:"}[t.kind]
	if t.toolsOnly {
		prefix = "tool:"
	}
	return prefix + t.server + "/" + t.name
}

// entity is what names the target in Cedar, "" for anything.
func (t target) entity() string {
	switch id := t.member(); {
	case t.kind == anyTarget:
		return ""
	case t.glob, t.kind == labelTarget:
		return "Label::" + quote(id)
	case t.kind == serverTarget:
		return "Server::" + quote(id)
	case t.kind == toolTarget:
		return "Tool::" + quote(t.server+"/"+t.name)
	case t.kind == promptTarget:
		return "Prompt::" + quote(t.server+"/"+t.name)
	default:
		name := t.name
		if u, ok := policy.ParseURI(name); ok {
			name = u.Normal
		}
		return "Resource::" + quote(t.server+"/"+name)
	}
}

// notPrincipal returns why a text names no principal or group, "" if it can.
func notPrincipal(text string) string {
	switch {
	case strings.TrimSpace(text) != text || text == "":
		return fmt.Sprintf("%q names nobody", text)
	case strings.Contains(text, "*") && text != "*" && !strings.Contains(text, "|"):
		// The names of an issuer may have one.
		return fmt.Sprintf("%q: a pattern of people is not possible", text)
	}
	return ""
}

// isGroupName reports whether a rule's principal is the name of a group. Others are groups
// of one, of their own name.
func isGroupName(text string) bool { return IsName(text) && text != "local" }
