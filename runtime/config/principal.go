package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/authconfig"
)

// Placeholders for who asks mcpctl serve: ${principal.id}, ${principal.name} and
// ${principal.tag.NAME}. Unlike those of variables they have no default, and stand in
// env, headers and auth.subject only.
const (
	principalOpens = "${principal."
	principalTag   = "tag."
)

// principalForms is what a placeholder of a principal may be.
const principalForms = "${principal.id}, ${principal.name} or ${principal.tag.NAME}"

// principalPlaceholder returns the name in the placeholder of a principal that a text
// begins with, such as "tag.team", and its length; false where it begins with none.
func principalPlaceholder(text string) (name string, size int, ok bool) {
	rest, ok := strings.CutPrefix(text, principalOpens)
	if !ok {
		return "", 0, false
	}
	name, _, ok = strings.Cut(rest, "}")
	return name, len(principalOpens) + len(name) + 1, ok
}

// takesPrincipals reports whether a field may have the placeholder of a principal.
func takesPrincipals(field string) bool {
	return strings.HasPrefix(field, "env.") || strings.HasPrefix(field, "headers.") || field == "auth.subject"
}

// principalFault returns why the placeholder of a principal must not be in a field, "" if
// it may.
func principalFault(field, name string) string {
	tag, isTag := strings.CutPrefix(name, principalTag)
	switch {
	case !takesPrincipals(field):
		return "may stand in env and headers only"
	case name == "id", name == "name", isTag && tag != "":
		return ""
	}
	return "is not known"
}

// principals reports the placeholders of principals in a text that must not be there.
func (d *decoder) principals(at string, v hujson.Value, s string) {
	for _, name := range principalNames(s) {
		if reason := principalFault(at, name); reason != "" {
			d.fault(v.StartOffset, fmt.Sprintf("%s: %s%s} %s", at, principalOpens, name, reason), "want "+principalForms+" in env or headers, or $$ for a dollar")
			return
		}
	}
}

// principalNames returns the names in the placeholders of principals in a text, also
// within defaults of variables.
func principalNames(text string) (names []string) {
	if !strings.Contains(text, principalOpens) {
		return nil
	}
	x := &expander{lookup: func(string) (string, bool) { return "", false }, seen: func(name string) { names = append(names, name) }}
	x.field("", text)
	return names
}

// PerPrincipal reports whether each principal of mcpctl serve has credentials of their
// own for the server: no two of them may share a connection to it.
func (e Entry) PerPrincipal() bool {
	for _, texts := range []map[string]string{e.Env, e.Headers} {
		for _, text := range texts {
			if len(principalNames(text)) > 0 {
				return true
			}
		}
	}
	if e.Auth == nil {
		return false
	}
	c, err := authconfig.Parse(e.Auth) // placeholders unexpanded, which none of it is decided by
	return err == nil && c.Each.On
}

// principal writes the value of a placeholder of a principal.
func (x *expander) principal(b *strings.Builder, field, name string) {
	if x.seen != nil {
		x.seen(name)
		return
	}
	value, reason := "", principalFault(field, name)
	if reason == "" {
		value, reason = valueOf(x.caller, name)
	}
	if reason != "" && x.denied == nil {
		x.denied = &PrincipalError{Field: field, Name: name, Reason: reason, asks: x.caller != nil}
	}
	b.WriteString(value)
}

// valueOf returns what a placeholder stands for, or why it has no value.
func valueOf(p *access.Principal, name string) (value, reason string) {
	if p == nil {
		return "", "and nobody is asked who they are"
	}
	tag, isTag := strings.CutPrefix(name, principalTag)
	switch {
	case name == "id":
		value = p.ID
	case name == "name":
		value = p.Name
	case isTag:
		values := slices.Compact(slices.Clone(p.Tags[tag]))
		switch len(values) {
		case 0:
			return "", "and " + p.ID + " has no tag " + tag
		case 1:
			value = values[0]
		default:
			return "", fmt.Sprintf("and %s has %d values of the tag %s: one is needed", p.ID, len(values), tag)
		}
	}
	switch {
	case value == "":
		return "", "and " + p.ID + " has none"
	case strings.ContainsFunc(value, unicode.IsControl) || !utf8.ValidString(value):
		return "", "and that of " + p.ID + " has control characters"
	}
	return value, ""
}

// PrincipalError is a placeholder of who asks that has no value.
type PrincipalError struct {
	Server string
	// Field is its place, such as "env.USER_ID"; Name what it asks for, such as "tag.team".
	Field, Name string
	// Reason goes on from "needs ${principal.tag.team}, ".
	Reason string
	asks   bool
}

// Error names server, field and placeholder.
func (e *PrincipalError) Error() string {
	return fmt.Sprintf("server %q: %s needs %s%s}, %s", e.Server, e.Field, principalOpens, e.Name, e.Reason)
}

// Hint says who knows it.
func (e *PrincipalError) Hint() string {
	switch {
	case !e.asks:
		return "call it through mcpctl serve, with serve.auth in config.yaml"
	case strings.HasPrefix(e.Name, principalTag):
		return "the provider in serve.auth names the claims that are tags: tags: [" + strings.TrimPrefix(e.Name, principalTag) + "]"
	}
	return "the credential of who asks has to say it"
}

// ExitKind is "config".
func (*PrincipalError) ExitKind() string { return "config" }
