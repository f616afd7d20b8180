package lint

import (
	"net/url"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/lazy"
	"github.com/mcpctl/mcpctl/internal/origin"
	"github.com/mcpctl/mcpctl/internal/secret"
)

var (
	hashPattern = lazy.Regexp(`^[a-f0-9]{64}$`)
	// variablePattern is {x}, as package scaffold has it.
	variablePattern = lazy.Regexp(`\{([^{}\s"':,;$]+)\}`)
	// placePattern finds names of places and of names, which are no secrets.
	placePattern = lazy.Regexp(`(?i)[_-](file|path|dir|url|uri|id|ids|name|names|type|ttl|expiry|count|limit|max|enabled)$`)
	// examplePattern finds defaults that nobody means as a value.
	examplePattern = lazy.Regexp(`(?i)^(<.*>|your[-_ ].*|.*[-_ ]here|x{3,}|\.\.\.|changeme|replace[-_ ]?me.*|todo)$`)
)

// pkg looks at one package.
func (l *linter) pkg(p *node) {
	l.members(p, packageMembers)
	kind := p.textOf("registryType")
	switch {
	case !slices.Contains([]string{"npm", "pypi", "oci", "nuget", "cargo", "mcpb"}, kind):
		l.add("package-type", p.get("registryType").either(p), "packages of the type %q cannot be run", kind)
	case p.textOf("identifier") == "":
		l.add("identifier", p, "the identifier is missing")
	}
	if hash := p.get("fileSha256"); kind == "mcpb" && hash == nil || hash != nil && !hashPattern().MatchString(hash.text) {
		l.add("file-hash", hash.either(p), "fileSha256 is not a SHA-256")
	}
	if v := p.get("version"); v != nil && isRange(v.text) {
		l.add("package-version", v, "%s is not an exact version", v)
	} else if v != nil && kind == "oci" {
		l.add("image-version", v, "the version of an image stands in its identifier, since 2025-10-11")
	}
	l.transport(p)
	if hint := p.get("runtimeHint"); hint == nil && len(p.list("runtimeArguments")) > 0 {
		l.add("runtime-hint", p.get("runtimeArguments"), "there are runtimeArguments and no runtimeHint that says whose they are")
	}
	for _, a := range p.list("runtimeArguments") {
		if word := a.textOf("value") + a.textOf("name"); isWritten(kind, word, p.textOf("identifier")) {
			l.add("repeated-operand", a, "%q is written by every client", word)
		}
		l.argument(a, p)
	}
	for _, a := range p.list("packageArguments") {
		l.argument(a, p)
	}
	for _, e := range p.list("environmentVariables") {
		l.members(e, namedMembers)
		l.input(e, e.textOf("name"), true)
		l.variables(e, e.textOf("value"))
	}
}

// isWritten reports whether a runtime argument is one that every client writes.
func isWritten(kind, word, identifier string) bool {
	switch kind {
	case "oci":
		return slices.Contains([]string{"run", "-i", "--interactive", "--rm", "-it", "-t", "--tty"}, word) || word != "" && word == identifier
	case "npm", "nuget":
		return word == "-y" || word == "--yes" || word != "" && word == identifier
	}
	return word != "" && word == identifier
}

// transport looks at how a package is reached.
func (l *linter) transport(p *node) {
	t := p.get("transport")
	if t == nil {
		l.add("transport", p, "the transport is missing")
		return
	}
	l.members(t, remoteMembers)
	switch kind := t.textOf("type"); {
	case kind == "stdio":
		if at := t.get("url"); at != nil && at.text != "" {
			l.add("transport", at, "stdio has no url")
		}
	case kind != "streamable-http" && kind != "sse":
		l.add("transport", t.get("type").either(t), "%q is not a transport", kind)
	case t.textOf("url") == "":
		l.add("transport", t, "%s has no url", kind)
	}
	for _, h := range t.list("headers") {
		l.header(h)
	}
}

// remote looks at one remote.
func (l *linter) remote(r *node) {
	l.members(r, remoteMembers)
	if kind := r.textOf("type"); kind != "streamable-http" && kind != "sse" {
		l.add("remote-type", r.get("type").either(r), "%q is not a type of remotes", kind)
	}
	address := r.textOf("url")
	switch u, err := url.Parse(variablePattern().ReplaceAllString(address, "x")); {
	case address == "":
		l.add("url", r, "the url is missing")
	case strings.Contains(address, "{{"):
		l.add("url", r.get("url"), "{{ and }} are not braces of a variable")
	case err == nil && u.Scheme == "http", err == nil && origin.IsLoopback(u.Hostname()):
		l.addError("http", r.get("url"), "the registry takes no remote at %s", r.get("url"))
	}
	used := []string{address}
	for _, h := range r.list("headers") {
		l.header(h)
		used = append(used, h.textOf("value")) // which may use the remote's variables
	}
	l.variables(r, strings.Join(used, " "))
}

func (l *linter) header(h *node) {
	l.members(h, namedMembers)
	l.input(h, h.textOf("name"), true)
}

// argument looks at one argument.
func (l *linter) argument(a, p *node) {
	if a.kind != '{' {
		return // which package registry reports
	}
	l.members(a, argumentMembers)
	name, value := a.get("name"), a.textOf("value")
	switch named := a.textOf("type") == "named"; {
	case !named && a.get("value") == nil && a.textOf("valueHint") == "" && a.get("default") == nil:
		l.add("empty-argument", a, "a positional argument has neither a value nor a valueHint")
	case named && name != nil && strings.ContainsAny(name.text, " \t\n"):
		l.add("joined-argument", name, "%s is one word of the command line", name)
	case named && name != nil && name.text != "":
		for _, member := range []string{"value", "default"} {
			if v := a.get(member); v != nil && strings.HasPrefix(v.text, name.text) {
				l.add("repeated-name", v, "%s begins with the argument's name", v)
			}
		}
	}
	l.input(a, a.textOf("name"), false)
	// The URL of the package may use them, too.
	l.variables(a, value+p.get("transport").textOf("url"))
}

// input looks at what all inputs have in common.
func (l *linter) input(in *node, name string, named bool) {
	def := in.get("default")
	switch {
	case def == nil || def.text == "":
	case in.isTrue("isSecret"):
		l.add("secret-default", def, "the default of a secret is never used")
	case examplePattern().MatchString(def.text):
		l.add("example-default", def, "%s looks like an example", def)
	}
	plain := in.get("value") != nil || in.get("choices") != nil || in.textOf("format") == "number" || in.textOf("format") == "boolean" || placePattern().MatchString(name)
	if named && !in.isTrue("isSecret") && secret.LooksName(name) && !plain {
		l.add("secret-mark", in.get("name").either(in), "%s looks like the name of a secret", name)
	}
}

// variables looks at the variables of an input or a remote, of which a text may use some.
func (l *linter) variables(n *node, text string) {
	declared := n.get("variables")
	if declared == nil {
		return
	}
	used := map[string]bool{}
	for _, m := range variablePattern().FindAllStringSubmatch(text, -1) {
		used[m[1]] = true
	}
	for _, m := range declared.members {
		l.members(m.value, inputMembers)
		l.input(m.value, m.name, true)
		if !used[m.name] {
			l.addAt("unused-variable", m.offset, m.value.pointer, "the variable "+m.name+" is used nowhere")
		}
	}
}
