package scaffold

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/registry"
)

const (
	typeRemote = "remote"
	typeBundle = "mcpb"
)

// candidate is a package or a remote that an entry could be made of.
type candidate struct {
	tier   int // 1 is best
	kind   string
	number int // in the document, from 1
	pkg    *registry.Package
	remote *registry.Remote
}

// candidates returns what can be run, best first: packages with a runner that
// fetches them, over stdio; remotes; cargo packages, which must be installed
// first; packages that serve HTTP once they have been started; bundles (mcpb), of which
// add has to read the manifest. Unknown types cannot be run. Equal candidates stay in the order of the
// document.
func (b *draft) candidates() []candidate {
	var out []candidate
	for i := range b.srv.Packages {
		p := &b.srv.Packages[i]
		c := candidate{kind: p.RegistryType, number: i + 1, pkg: p}
		fetched := slices.Contains([]string{"npm", "pypi", "oci", "nuget"}, p.RegistryType)
		switch {
		case p.RegistryType == typeBundle && isSHA256(p.FileSHA256) && (p.Transport.Type == "" || p.Transport.Type == "stdio"):
			c.tier = 6
		case !fetched && p.RegistryType != "cargo":
		case isHTTP(p.Transport.Type):
			c.tier = 5
		case p.Transport.Type != "" && p.Transport.Type != "stdio":
		case fetched:
			c.tier = 1
		default:
			c.tier = 4
		}
		if c.tier > 0 {
			out = append(out, c)
		}
	}
	for i := range b.srv.Remotes {
		r := &b.srv.Remotes[i]
		c := candidate{kind: typeRemote, number: i + 1, remote: r, tier: 2}
		if r.Type == "sse" {
			c.tier = 3
		}
		if isHTTP(r.Type) {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b candidate) int { return a.tier - b.tier })
	return out
}

// isHTTP reports whether mcpctl speaks a transport type over HTTP.
func isHTTP(transport string) bool { return transport == "streamable-http" || transport == "sse" }

// flag returns the flag that chooses a candidate among all.
func (c candidate) flag(all []candidate) string {
	same := 0
	for _, o := range all {
		if o.kind == c.kind {
			same++
		}
	}
	switch {
	case c.remote != nil && same == 1:
		return "--remote"
	case c.remote != nil:
		return "--remote=" + strconv.Itoa(c.number)
	case same == 1:
		return "--package " + c.kind
	}
	return "--package " + strconv.Itoa(c.number)
}

// reference returns what a candidate runs or reaches, in one word.
func (c candidate) reference() string {
	if c.remote != nil {
		return c.remote.URL
	}
	return reference(c.pkg)
}

func (b *draft) choose() (*candidate, error) {
	all := b.candidates()
	if len(all) == 0 {
		return nil, b.nothingToRun()
	}
	at := 0
	switch {
	case b.o.Package != "" && b.o.Remote != 0:
		return nil, &UsageError{Reason: "--package and --remote cannot be used together"}
	case b.o.Package != "":
		n, err := strconv.Atoi(b.o.Package)
		at = slices.IndexFunc(all, func(c candidate) bool {
			return c.pkg != nil && (err == nil && c.number == n || strings.EqualFold(c.kind, b.o.Package))
		})
		if at < 0 {
			return nil, b.badChoice("--package "+b.o.Package, all)
		}
	case b.o.Remote != 0:
		at = slices.IndexFunc(all, func(c candidate) bool {
			return c.remote != nil && (c.number == b.o.Remote || b.o.Remote == AnyRemote)
		})
		if at < 0 {
			return nil, b.badChoice(strings.TrimSuffix("--remote="+strconv.Itoa(b.o.Remote), "=-1"), all)
		}
	}
	for i, c := range all {
		if i != at {
			b.plan.Alternatives = append(b.plan.Alternatives, Alternative{Type: c.kind, Reference: c.reference(), Flag: c.flag(all)})
		}
	}
	return &all[at], nil
}

func (b *draft) badChoice(flag string, all []candidate) error {
	flags := make([]string, len(all))
	for i, c := range all {
		flags[i] = c.flag(all) + " (" + c.reference() + ")"
	}
	return &UsageError{
		Reason: fmt.Sprintf("%s: %s %s has no such thing to run", flag, b.srv.Name, b.srv.Version),
		Remedy: "there is " + strings.Join(flags, ", "),
	}
}

func (b *draft) nothingToRun() error {
	var found []string
	add := func(s string) {
		if !slices.Contains(found, s) {
			found = append(found, s)
		}
	}
	for _, p := range b.srv.Packages {
		switch kind := p.RegistryType; kind {
		case typeBundle:
			what := "without a SHA-256"
			if isSHA256(p.FileSHA256) {
				what = "that serve HTTP"
			}
			add("bundles (mcpb) " + what)
		case "":
			add("a package without a type")
		default:
			add(strings.TrimSpace(kind + " packages " + p.Transport.Type))
		}
	}
	for _, r := range b.srv.Remotes {
		add(fmt.Sprintf("a remote of type %q", r.Type))
	}
	reason := "it names nothing to run"
	if len(found) > 0 {
		reason = "it has only " + strings.Join(found, ", ") + ", which mcpctl cannot run"
	}
	return &RefusedError{Name: b.srv.Name, Version: b.srv.Version, Reasons: []string{reason}, Findings: []Finding{{Rule: RuleNothingToRun, Text: reason, Refused: true}}, Website: cmp.Or(b.srv.WebsiteURL, b.srv.Repository.URL)}
}
