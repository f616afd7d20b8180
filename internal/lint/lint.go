// Package lint finds what goes wrong with a server.json: what the registry refuses, and
// what mcpctl add refuses, warns of or reads otherwise than its author may think.
//
// It is pure, as package scaffold is, whose rules are a part of these.
package lint

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/scaffold"
)

// Finding is something that goes wrong.
type Finding struct {
	// Rule and Name are its number and name, see [Rules].
	Rule     string   `json:"rule"`
	Name     string   `json:"name"`
	Severity Severity `json:"severity"`
	Line     int      `json:"line"`
	Column   int      `json:"column"`
	// Pointer is the place as a JSON pointer.
	Pointer string `json:"pointer"`
	Message string `json:"message"`
	// Fix is what to write instead.
	Fix string `json:"fix"`
}

// linter looks at one document.
type linter struct {
	raw      []byte
	findings []Finding
}

// Document returns what goes wrong with a document, in its order. A record of a registry,
// with the document in its member server, is read as the document.
func Document(raw []byte) []Finding {
	l := &linter{raw: raw}
	p := &parser{raw: raw, report: func(at int, pointer, format string, a ...any) {
		l.addAt("duplicate-member", at, pointer, fmt.Sprintf(format, a...))
	}}
	root, err := p.parse()
	if syntax, ok := errors.AsType[*syntaxError](err); ok {
		l.addAt("syntax", syntax.offset, "", syntax.message)
		return l.findings
	}
	doc := root
	if inner := root.get("server"); inner != nil && inner.kind == '{' {
		doc = inner
	}
	if doc.kind != '{' {
		l.add("kind", doc, "the document is not an object")
		return l.findings
	}
	l.document(doc)
	l.plans(doc)
	slices.SortStableFunc(l.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), strings.Compare(a.Rule, b.Rule))
	})
	return slices.Compact(l.findings)
}

// add adds a finding.
func (l *linter) add(name string, at *node, format string, a ...any) {
	l.addAt(name, at.offset, at.pointer, fmt.Sprintf(format, a...))
}

// addError adds a finding that is an error here, whatever its rule says.
func (l *linter) addError(name string, at *node, format string, a ...any) {
	l.put(rule(name), Error, at.offset, at.pointer, fmt.Sprintf(format, a...))
}

func (l *linter) addAt(name string, offset int, pointer, message string) {
	r := rule(name)
	l.put(r, r.Severity, offset, pointer, message)
}

// maxFindings is how many findings are kept, and errors that come after them. Nobody reads
// more.
const maxFindings = 1000

func (l *linter) put(r Rule, severity Severity, offset int, pointer, message string) {
	if n := len(l.findings); n >= maxFindings && severity == Warning || n >= 2*maxFindings {
		return
	}
	line, column := position(l.raw, offset)
	l.findings = append(l.findings, Finding{r.Number, r.Name, severity, line, column, pointer, message, r.Fix})
}

// plans dry-runs add with each package and remote, and reports what it says.
func (l *linter) plans(doc *node) {
	s, err := registry.ParseServer(l.raw)
	if err != nil {
		if doc.get("name") == nil { // which is a finding already
			return
		}
		l.add("kind", doc, "%v", err)
		return
	}
	for _, fault := range s.Faults {
		path, message, _ := strings.Cut(fault, ": ")
		l.add("kind", doc.at(path), "%s", message)
	}
	o := scaffold.Options{Registry: registry.Official}
	if _, err := scaffold.New(*s, o); err != nil {
		for _, f := range findingsOf(err) {
			if f.Rule == scaffold.RuleNothingToRun || f.Rule == scaffold.RuleTooMany {
				l.add(string(f.Rule), doc, "%s", f.Text)
			}
			if f.Rule == scaffold.RuleTooMany {
				return
			}
		}
	}
	for i, p := range doc.list("packages") {
		o.Package, o.Remote = strconv.Itoa(i+1), 0
		l.plan(s, o, p)
	}
	for i, r := range doc.list("remotes") {
		o.Package, o.Remote = "", i+1
		l.plan(s, o, r)
	}
}

// plan dry-runs add with one package or remote.
func (l *linter) plan(s *registry.Server, o scaffold.Options, at *node) {
	p, err := scaffold.New(*s, o)
	findings := findingsOf(err)
	if err == nil {
		findings = p.Findings
	}
	for _, f := range findings {
		if foundElsewhere(f, at) || len(l.findings) >= maxFindings && !f.Refused {
			continue
		}
		place := source(at.get(memberOf(f.Rule)).either(at), f.Text)
		if place == at && isAddress(f.Rule) {
			place = at.get("url").either(at.get("transport").get("url").either(at))
		}
		if f.Refused {
			l.addError(string(f.Rule), place, "%s", f.Text)
		} else {
			l.add(string(f.Rule), place, "%s", f.Text)
		}
	}
}

// foundElsewhere reports whether the linter has a finding of its own, in a better place, or
// whether it is none for an author: a package that serves HTTP does so on this machine.
func foundElsewhere(f scaffold.Finding, at *node) bool {
	if f.Rule == scaffold.RuleHTTP {
		return !f.Refused || at.get("transport") == nil
	}
	return slices.Contains([]scaffold.Rule{scaffold.RuleNothingToRun, scaffold.RuleBundle, scaffold.RuleGiven, scaffold.RuleArgument, scaffold.RuleImageVersion}, f.Rule)
}

// memberOf returns the member of a package that a rule is about, "" for any.
func memberOf(r scaffold.Rule) string {
	return map[scaffold.Rule]string{
		scaffold.RuleRunnerOption: "runtimeArguments", scaffold.RuleRunnerEffect: "runtimeArguments", scaffold.RuleDropped: "runtimeArguments",
		scaffold.RuleEnvName: "environmentVariables", scaffold.RuleEnvFamily: "environmentVariables", scaffold.RuleBaseURL: "registryBaseUrl",
	}[r]
}

// isAddress reports whether a rule is about the URL of a remote or a package.
func isAddress(r scaffold.Rule) bool {
	return slices.Contains([]scaffold.Rule{scaffold.RuleURL, scaffold.RuleAddress, scaffold.RuleURLPlaceholder, scaffold.RuleUndeclared}, r)
}

func findingsOf(err error) []scaffold.Finding {
	if refused, ok := errors.AsType[*scaffold.RefusedError](err); ok {
		return refused.Findings
	}
	return nil
}

// source returns the text of a document that a message is about: the longest that the
// message has, or the whole.
func source(n *node, message string) *node {
	best, longest := n, 0
	var visit func(v *node, name string)
	visit = func(v *node, name string) {
		switch name {
		case "description", "registryType", "type", "format", "isRequired", "isSecret", "isRepeated":
			return
		}
		if v.kind == '"' && len(v.text) > longest && strings.Contains(message, v.text) {
			best, longest = v, len(v.text)
		}
		for _, m := range v.members {
			if name == "variables" && len(m.name) > longest && strings.Contains(message, m.name) {
				best, longest = m.value, len(m.name)
			}
			visit(m.value, m.name)
		}
		for _, item := range v.items {
			visit(item, name)
		}
	}
	visit(n, "")
	return best
}
