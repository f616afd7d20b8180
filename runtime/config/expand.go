package config

import (
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/authconfig"
	"github.com/mcpctl/mcpctl/internal/secret"
)

// Expand replaces the placeholders of command, args, env values, cwd, url and
// header values; lookup is os.LookupEnv or like it. The entry itself and the
// file never change.
//
//	${VAR}            the variable; also $<VAR>
//	${VAR:-text}      text when the variable is not set or empty
//	${VAR-text}       text when the variable is not set
//	${principal.id}   who asks mcpctl serve, in env and headers: see [Entry.ExpandFor]
//	$$                a dollar
//
// Text may hold placeholders itself. VAR is a letter or '_', then letters,
// digits and '_'. A dollar before anything else stays a dollar, so $HOME,
// ${env:X} and an unclosed ${X are ordinary text. Values are taken as they
// are: a placeholder inside one is not expanded.
//
// A variable without a value is an error, a [*VariableError] that lists all of
// them, unless [Entry.MissingEnv] says otherwise. The fault of an entry is
// returned, and so is one of a URL or header that, once expanded, cannot be sent.
// [InlineVariable] is a [*Problem].
func (e Entry) Expand(lookup func(string) (string, bool)) (Expanded, error) {
	return e.ExpandFor(nil, lookup)
}

// ExpandFor is Expand for a principal of mcpctl serve, nil where nobody is asked who
// they are. A placeholder of a principal without a value is a [*PrincipalError].
func (e Entry) ExpandFor(principal *access.Principal, lookup func(string) (string, bool)) (Expanded, error) {
	if e.Fault != nil {
		return Expanded{}, e.Fault
	}
	lookup, asked := withoutInline(lookup)
	x := &expander{lookup: lookup, missing: e.MissingEnv, caller: principal}
	out := Expanded{
		Entry:   e,
		Command: x.field("command", e.Command),
		Args:    make([]secret.Text, len(e.Args)),
		lookup:  lookup,
	}
	for i, arg := range e.Args {
		out.Args[i] = secret.New(x.field(fmt.Sprintf("args[%d]", i), arg))
	}
	out.Env = x.fields("env", e.Env)
	out.Cwd = x.field("cwd", e.Cwd)
	if e.Base != "" && !filepath.IsAbs(out.Cwd) {
		out.Cwd = filepath.Join(e.Base, out.Cwd)
	}
	for i, dir := range e.CLIRoots {
		out.CLIRoots = append(out.CLIRoots, x.field(fmt.Sprintf("cliRoots[%d]", i), dir))
	}
	address := x.field("url", e.URL)
	out.URL = secret.New(address)
	out.Headers = x.fields("headers", e.Headers)
	auth := x.object("auth", e.Auth)
	out.values = x.values
	if *asked {
		return Expanded{}, &Problem{Server: e.Name, Message: "a server does not get " + InlineVariable + ", which has the entries of all", Remedy: "remove ${" + InlineVariable + "}"}
	}
	if len(x.errs) > 0 {
		return Expanded{}, &VariableError{Server: e.Name, Missing: x.errs}
	}
	if x.denied != nil {
		x.denied.Server = e.Name
		return Expanded{}, x.denied
	}
	if auth != nil {
		var err error
		if out.Auth, err = authconfig.Parse(auth); err != nil {
			return Expanded{}, &Problem{Server: e.Name, Message: "auth, once expanded: " + err.Error()}
		}
	}
	if address != "" {
		if reason := urlFault(address); reason != "" {
			return Expanded{}, &Problem{Server: e.Name, Message: "url, once expanded: " + reason}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		if strings.ContainsAny(out.Headers[name].Reveal(), "\r\n\x00") {
			return Expanded{}, &Problem{
				Server: e.Name, Message: "headers." + name + ", once expanded: it contains a line break",
				Remedy: "a variable in it probably ends with a newline",
			}
		}
	}
	return out, nil
}

// withoutInline returns a lookup that has no [InlineVariable], and notes that it was asked
// for: a server does not get the entries of all others.
func withoutInline(lookup func(string) (string, bool)) (without func(string) (string, bool), asked *bool) {
	asked = new(bool)
	return func(name string) (string, bool) {
		if name == InlineVariable {
			*asked = true
			return "", false
		}
		return lookup(name)
	}, asked
}

// Escape doubles every dollar, so that plain text from a registry or a person
// expands to itself.
func Escape(text string) string { return strings.ReplaceAll(text, "$", "$$") }

// Variables returns the names of the variables that text refers to, in order,
// each once. Required reports that one of them has no default.
func Variables(text string) (names []string, required bool) {
	x := &expander{seen: func(string) {}, lookup: func(name string) (string, bool) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		return "", false
	}}
	x.field("", text)
	return names, len(x.errs) > 0
}

// Part is a piece of a text: plain text, or a placeholder if Name is set.
type Part struct {
	// Text is plain text with its dollars undoubled, or the default of a placeholder as it
	// is written.
	Text string
	Name string
	// HasDefault reports a default, OrEmpty that it replaces an empty value as well.
	HasDefault, OrEmpty bool
}

// Parts takes a text apart at its placeholders; see [Entry.Expand] for their forms.
func Parts(text string) []Part {
	var parts []Part
	plain := func(s string) {
		if n := len(parts); n > 0 && parts[n-1].Name == "" {
			parts[n-1].Text += s
		} else if s != "" {
			parts = append(parts, Part{Text: s})
		}
	}
	for text != "" {
		i := strings.IndexByte(text, '$')
		if i < 0 {
			i = len(text)
		}
		plain(text[:i])
		text = text[i:]
		switch p, ok := parsePlaceholder(text); {
		case text == "":
		case strings.HasPrefix(text, "$$"):
			plain("$")
			text = text[2:]
		case ok:
			parts = append(parts, Part{p.text, p.name, p.hasDefault, p.orEmpty})
			text = text[p.size:]
		default:
			plain("$")
			text = text[1:]
		}
	}
	return parts
}

type expander struct {
	lookup  func(string) (string, bool)
	missing string
	caller  *access.Principal
	denied  *PrincipalError   // the first placeholder of a principal without a value
	seen    func(name string) // gets those placeholders in place of their values, nil for none
	errs    []MissingVariable
	values  []variableValue
}

// variableValue is what one placeholder was replaced by.
type variableValue struct {
	field, name string
	value       secret.Text
	set         bool // else the value is the default, which the file has
}

func (x *expander) fields(field string, m map[string]string) map[string]secret.Text {
	if m == nil {
		return nil
	}
	out := make(map[string]secret.Text, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out[name] = secret.New(x.field(field+"."+name, m[name]))
	}
	return out
}

// maxNesting bounds defaults within defaults.
const maxNesting = 50

func (x *expander) field(field, text string) string {
	if !strings.Contains(text, "$") {
		return text
	}
	var b strings.Builder
	x.expand(&b, field, text, 0)
	return b.String()
}

func (x *expander) expand(b *strings.Builder, field, text string, depth int) {
	for {
		i := strings.IndexByte(text, '$')
		if i < 0 {
			b.WriteString(text)
			return
		}
		b.WriteString(text[:i])
		text = text[i:]
		if strings.HasPrefix(text, "$$") {
			b.WriteByte('$')
			text = text[2:]
			continue
		}
		if name, size, ok := principalPlaceholder(text); ok {
			x.principal(b, field, name)
			text = text[size:]
			continue
		}
		p, ok := parsePlaceholder(text)
		if !ok || depth > maxNesting {
			b.WriteByte('$')
			text = text[1:]
			continue
		}
		value, set := x.lookup(p.name)
		switch {
		case set && (value != "" || !p.orEmpty):
			b.WriteString(value)
			x.values = append(x.values, variableValue{field: field, name: p.name, value: secret.New(value), set: true})
		case p.hasDefault:
			begin := b.Len()
			x.expand(b, field, p.text, depth+1)
			x.values = append(x.values, variableValue{field: field, name: p.name, value: secret.New(b.String()[begin:])})
		case x.missing == MissingEmpty:
		case x.missing == MissingLiteral:
			b.WriteString(text[:p.size])
		default:
			x.errs = append(x.errs, MissingVariable{Field: field, Variable: p.name})
		}
		text = text[p.size:]
	}
}

// placeholder is one ${…} or $<…>.
type placeholder struct {
	name       string
	hasDefault bool
	orEmpty    bool   // the default also replaces an empty value
	text       string // the default, unexpanded
	size       int    // bytes from the dollar to the closing bracket
}

// parsePlaceholder reads the placeholder that text begins with.
func parsePlaceholder(text string) (p placeholder, ok bool) {
	if len(text) < 4 {
		return p, false
	}
	end := 2
	for end < len(text) && nameByte(text[end], end == 2) {
		end++
	}
	if end == 2 || end == len(text) {
		return p, false
	}
	p.name = text[2:end]
	switch {
	case text[1] == '<':
		p.size = end + 1
		return p, text[end] == '>'
	case text[1] != '{':
		return p, false
	case text[end] == '}':
		p.size = end + 1
		return p, true
	case strings.HasPrefix(text[end:], ":-"):
		p.orEmpty = true
		end += 2
	case text[end] == '-':
		end++
	default:
		return p, false
	}
	p.hasDefault = true
	// The default ends at the brace that closes this one.
	for i, open := end, 1; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], "$$"):
			i++
		case strings.HasPrefix(text[i:], "${"):
			open++
			i++
		case text[i] == '}':
			if open--; open == 0 {
				p.text, p.size = text[end:i], i+1
				return p, true
			}
		}
	}
	return p, false
}

func nameByte(c byte, first bool) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || !first && c >= '0' && c <= '9'
}

// urlFault returns why a text cannot be the URL of a server, "" when it can.
func urlFault(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		// The text of url.Error would repeat the URL, which may hold a secret.
		return "not a URL"
	case u.Scheme != "http" && u.Scheme != "https":
		return "it does not begin with http:// or https://"
	case u.Host == "":
		return "it names no host"
	}
	return ""
}
