package scaffold

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/origin"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// buildRemote writes the entry of a remote.
func (b *builder) buildRemote(r *registry.Remote) {
	b.declare(r.Variables)
	for _, v := range r.Variables {
		b.outer[v.Name] = true
	}
	for _, h := range r.Headers {
		b.declare(h.Variables)
	}
	in := input{Input: registry.Input{Variables: r.Variables}, kind: kindURL, name: "url", label: "the URL"}
	v, _ := b.template(in, r.URL, true, fromValue)
	if len(b.refusals) > 0 {
		return
	}
	b.needs = append(b.needs, v.needs...)
	b.endpoint(v, r)
	b.plan.Reference = r.URL
}

// endpoint writes url, type and headers.
func (b *builder) endpoint(v value, r *registry.Remote) {
	b.url = v.text
	if r.Type == "sse" {
		b.kind = config.TransportSSE
	}
	b.checkURL(v)
	b.headerInputs(r.Headers)
	for i, g := range b.o.Headers { // those that are not in the record
		if b.taken[givenKey{KindHeader, i}] {
			continue
		}
		b.take(KindHeader, i)
		switch {
		case !isToken(g.Name):
			b.usage = append(b.usage, fmt.Sprintf("--header %q: not the name of a header", g.Name))
		case b.hasHeader(g.Name):
			b.usage = append(b.usage, fmt.Sprintf("--header %s: given twice", g.Name))
		case origin.OwnHeader(g.Name) != "" && !strings.EqualFold(g.Name, "Host"):
			b.usage = append(b.usage, fmt.Sprintf("--header %s: it %s", g.Name, origin.OwnHeader(g.Name)))
		case g.Placeholder:
			hole := b.placeholder(b.headerInput(registry.KeyValueInput{Name: g.Name}))
			b.needs = append(b.needs, hole.needs...)
			b.headers = append(b.headers, pair{g.Name, hole.text})
		default:
			if config.LooksSecret(g.Name, g.Value) {
				b.warn(RuleGiven, fmt.Sprintf("the secret %s is now in the file; use ${NAME} instead to keep it out", g.Name))
			}
			b.header(g.Name, userText(g.Value))
		}
	}
}

func (b *inputs) headerInput(kv registry.KeyValueInput) input {
	return input{Input: kv.Input, kind: KindHeader, name: kv.Name, label: "header " + kv.Name, envVar: PlaceholderName(b.alias, kv.Name)}
}

// headerInputs renders headers in order; of two with one name, letter case
// ignored, the first counts.
func (b *builder) headerInputs(list []registry.KeyValueInput) {
	seen := map[string]bool{}
	for _, kv := range list {
		switch lower := strings.ToLower(kv.Name); {
		case !isToken(kv.Name):
			b.refuse(RuleHeaderName, fmt.Sprintf("%q cannot be the name of a header", kv.Name))
			continue
		case seen[lower]:
			b.warn(RuleDuplicate, fmt.Sprintf("header %s is in the record twice; the first one is used", kv.Name))
			continue
		case origin.IsFraming(kv.Name):
			b.refuse(RuleHeaderReserved, fmt.Sprintf("header %s %s", kv.Name, origin.OwnHeader(kv.Name)))
			continue
		case lower == "host":
			b.danger(RuleHeaderReserved, fmt.Sprintf("header %s %s", kv.Name, origin.OwnHeader(kv.Name)))
			seen[lower] = true
		case origin.OwnHeader(kv.Name) != "":
			b.warn(RuleHeaderReserved, fmt.Sprintf("header %s %s; left out", kv.Name, origin.OwnHeader(kv.Name)))
			continue
		default:
			seen[lower] = true
		}
		in := b.headerInput(kv)
		if v, ok := b.resolve(in, kv.Required); ok {
			b.header(kv.Name, v.text)
		} else {
			b.option(in)
		}
	}
}

func (b *builder) header(name, text string) {
	if strings.ContainsAny(text, "\r\n\x00") {
		b.refuse(RuleHeaderValue, fmt.Sprintf("the value of header %s holds a line break or NUL", name))
		return
	}
	b.headers = append(b.headers, pair{name, text})
}

func (b *builder) hasHeader(name string) bool {
	return slices.ContainsFunc(b.headers, func(h pair) bool { return strings.EqualFold(h.name, name) })
}

// isToken reports whether a text can be the name of a header (RFC 9110, 5.6.2).
func isToken(s string) bool {
	for _, r := range s {
		if !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("!#$%&'*+-.^_`|~", r)) {
			return false
		}
	}
	return s != ""
}

// checkURL refuses what is not a URL, http to another machine, and a suspicious
// address.
func (b *builder) checkURL(v value) {
	// Any word will do for the placeholders.
	probe := v.text
	names, _ := config.Variables(probe)
	for _, n := range names {
		probe = strings.ReplaceAll(probe, "${"+n+"}", "x")
	}
	probe = strings.ReplaceAll(probe, "$$", "$")
	open := strings.HasPrefix(v.text, "${") && !strings.HasPrefix(probe, "http")
	if open {
		b.warn(RuleURLPlaceholder, "the URL begins with a placeholder; give it one that begins with https://")
		probe = "https://" + probe
	}
	u, err := url.Parse(probe)
	switch {
	case err == nil && open && u.Host != "x":
		// The rest would turn the user's URL into one of another host.
		b.danger(RuleURLPlaceholder, fmt.Sprintf("%q leads elsewhere than its placeholder", v.text))
	case err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") || operandFault(probe) != "":
		b.refuse(RuleURL, fmt.Sprintf("%q is not the URL of a server", v.text))
		return
	case u.Scheme == "https":
	case origin.IsLoopback(u.Hostname()):
		b.warn(RuleHTTP, "the URL is http, not https, on this machine")
	default:
		b.danger(RuleHTTP, fmt.Sprintf("%q is http, not https", v.text))
	}
	b.checkAddress(u)
}

// checkAddress refuses an address that leads elsewhere than it seems to, or to
// no server.
func (b *builder) checkAddress(u *url.URL) {
	for _, fault := range origin.AddressFaults(u) {
		b.danger(RuleAddress, "the URL: "+fault)
	}
}

// servedOverHTTP moves the command line of a package to the report, and writes
// the entry of the URL that it will serve.
func (b *builder) servedOverHTTP(p *registry.Package) {
	b.plan.Start = append([]string{b.command}, b.args...)
	for _, e := range b.env {
		b.plan.StartEnv = append(b.plan.StartEnv, e.name+"="+e.text)
	}
	b.plan.Runner = ""
	b.command, b.args, b.env = "", nil, nil
	in := input{Input: registry.Input{Variables: p.Transport.Variables}, kind: KindVar, name: "url", label: "the URL", scope: b.urlScope}
	v, _ := b.template(in, p.Transport.URL, true, fromValue)
	b.needs = append(b.needs, v.needs...)
	b.endpoint(v, &p.Transport)
}

// urlScope returns the value of {x} in the URL of a package: of the argument
// named x, the one with that valueHint, or the environment variable of that
// name.
func (b *inputs) urlScope(name string, required bool) (value, bool) {
	if v, ok := b.argVals[name]; ok {
		return v, true
	}
	return b.argScope(name, required)
}

// requireURLInputs marks the inputs that a package's URL needs as required.
func requireURLInputs(p *registry.Package) {
	for _, m := range variablePattern().FindAllStringSubmatch(p.Transport.URL, -1) {
		for _, list := range []*[]registry.Argument{&p.PackageArguments, &p.RuntimeArguments} {
			*list = append([]registry.Argument(nil), *list...)
			for i := range *list {
				if a := &(*list)[i]; a.Name == m[1] || a.ValueHint == m[1] {
					a.Required = true
				}
			}
		}
		p.EnvironmentVariables = append([]registry.KeyValueInput(nil), p.EnvironmentVariables...)
		for i := range p.EnvironmentVariables {
			if p.EnvironmentVariables[i].Name == m[1] {
				p.EnvironmentVariables[i].Required = true
			}
		}
	}
}
