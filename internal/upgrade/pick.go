package upgrade

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/scaffold"
)

// pick is a package or a remote of a record: one of the two numbers, counted from 1.
type pick struct{ pkg, remote int }

func (p pick) choose(o *scaffold.Options) {
	if p.pkg > 0 {
		o.Package = strconv.Itoa(p.pkg)
	}
	o.Remote = p.remote
}

// packageOf returns the package of a record that is picked, nil for a remote.
func (p pick) packageOf(s *registry.Server) *registry.Package {
	if p.pkg == 0 {
		return nil
	}
	return &s.Packages[p.pkg-1]
}

// picks returns all of a record.
func picks(s *registry.Server) []pick {
	var out []pick
	for i := range s.Packages {
		out = append(out, pick{pkg: i + 1})
	}
	for i := range s.Remotes {
		out = append(out, pick{remote: i + 1})
	}
	return out
}

// running finds what of a record the entry runs, and returns what add writes for it. If the
// entry resembles none of it, that is what add takes by itself.
func (u *upgrading) running(s *registry.Server) (pick, *scaffold.Plan, error) {
	usual, err := scaffold.New(*s, u.options(pick{}, true))
	var best pick
	var plan *scaffold.Plan
	most := -1.0
	for _, p := range picks(s) {
		one, fault := scaffold.New(*s, u.options(p, true))
		if fault != nil {
			continue
		}
		likeness := u.likeness(one)
		if usual != nil && string(one.Entry) == string(usual.Entry) {
			likeness += 0.01 // in doubt
		}
		if likeness > most {
			best, plan, most = p, one, likeness
		}
	}
	if plan == nil {
		return best, nil, err
	}
	return best, plan, nil
}

// likeness is how much of a plan the entry has, from 0 to 1.
func (u *upgrading) likeness(p *scaffold.Plan) float64 {
	var e struct {
		Command, URL string
		Args         []string
	}
	if json.Unmarshal(p.Entry, &e) != nil || (e.URL == "") != (u.entry.URL == "") {
		return 0
	}
	if e.URL != "" {
		switch _, _, filled := fill(e.URL, u.entry.URL); {
		case filled:
			return 1
		case hostOf(e.URL) == hostOf(u.entry.URL):
			return 0.5
		}
		return 0.1
	}
	theirs, mine := words(e.Command, e.Args), words(u.entry.Command, u.entry.Args)
	same := len(theirs)
	for _, h := range Hunks(theirs, mine) {
		same -= h.End - h.Start
	}
	return float64(2*same) / float64(len(theirs)+len(mine))
}

// words returns a command line without versions.
func words(command string, args []string) []string {
	out := []string{command}
	for _, a := range args {
		out = append(out, registry.WithoutVersion(a))
	}
	return out
}

func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	return u.Host
}

// in returns what of a newer record is the same package or remote.
func (p pick) in(old, now *registry.Server) (pick, error) {
	if p.pkg > 0 {
		return packageIn(&old.Packages[p.pkg-1], now)
	}
	was := old.Remotes[p.remote-1]
	at := slices.IndexFunc(now.Remotes, func(r registry.Remote) bool { return r.URL == was.URL && r.Type == was.Type })
	if at < 0 {
		at = slices.IndexFunc(now.Remotes, func(r registry.Remote) bool { return r.Type == was.Type })
	}
	if at < 0 {
		at = slices.IndexFunc(now.Remotes, func(r registry.Remote) bool { return isHTTP(r.Type) })
	}
	if at < 0 {
		return pick{}, &GoneError{"remote"}
	}
	return pick{remote: at + 1}, nil
}

// packageIn returns the package of a record that has the type and transport of an older
// one, that of the same name first.
func packageIn(was *registry.Package, now *registry.Server) (pick, error) {
	like := func(same func(a, b string) bool) int {
		return slices.IndexFunc(now.Packages, func(p registry.Package) bool {
			return p.RegistryType == was.RegistryType && isHTTP(p.Transport.Type) == isHTTP(was.Transport.Type) && same(p.Identifier, was.Identifier)
		})
	}
	at := like(func(a, b string) bool {
		return strings.EqualFold(registry.WithoutVersion(a), registry.WithoutVersion(b))
	})
	if at < 0 {
		at = like(func(string, string) bool { return true })
	}
	if at < 0 {
		what := was.RegistryType + " package"
		if isHTTP(was.Transport.Type) {
			what += " over " + was.Transport.Type
		}
		return pick{}, &GoneError{what}
	}
	return pick{pkg: at + 1}, nil
}

func isHTTP(transport string) bool { return transport == "streamable-http" || transport == "sse" }

// fill matches a text with a template of one placeholder, and returns its name and value. A
// template without any matches itself alone.
func fill(template, text string) (name, value string, ok bool) {
	names, _ := config.Variables(template)
	if len(names) != 1 {
		return "", "", template == text
	}
	before, after, found := strings.Cut(template, "${"+names[0]+"}")
	if !found || strings.Contains(after, "${"+names[0]+"}") {
		return "", "", template == text
	}
	rest, ok := strings.CutPrefix(text, before)
	if !ok {
		return "", "", false
	}
	value, ok = strings.CutSuffix(rest, after)
	return names[0], value, ok
}

// Running returns the package of a record that an entry runs, nil if it is a remote.
func Running(s *registry.Server, entry config.Entry) *registry.Package {
	u := &upgrading{entry: entry}
	p, _, err := u.running(s)
	if err != nil {
		return nil
	}
	return p.packageOf(s)
}

// Coordinates returns the name and the version of a package, for its own registry. The
// version is "" where the record has none.
func Coordinates(p *registry.Package) (name, version string) {
	name = registry.WithoutVersion(p.Identifier)
	version = strings.TrimLeft(strings.TrimPrefix(p.Identifier, name), "@:=")
	if version == "" {
		version = p.Version
	}
	if p.RegistryType == "oci" && p.RegistryBaseURL != "" && !strings.ContainsAny(strings.SplitN(name, "/", 2)[0], ".:") {
		_, host, _ := strings.Cut(p.RegistryBaseURL, "://")
		name = strings.Trim(host, "/") + "/" + name
	}
	return name, version
}
