package scaffold

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// buildPackage writes the command line of a package or, for one that serves
// HTTP, the URL, with the command line for the report.
func (b *builder) buildPackage(original *registry.Package) {
	p := *original
	b.pkg = &p
	if fault := operandFault(p.Identifier); fault != "" {
		b.refuse(RuleIdentifier, "the package identifier "+fault)
		return
	}
	if fault := operandFault(p.Version); p.Version != "" && fault != "" {
		b.refuse(RulePackageVersion, "the package version "+fault)
		return
	}
	if len(b.o.Headers) > 0 && !isHTTP(p.Transport.Type) {
		return // checkGiven reports them
	}
	if p.RegistryType == typeBundle {
		b.bundle(&p)
		return
	}
	if fault := identifierFault(&p); fault != "" {
		b.danger(RuleIdentifier, fault)
	}
	runner, known := runners(p.RegistryType)[p.RuntimeHint]
	if !known {
		runner = runners(p.RegistryType)[""]
		b.warn(RuleRuntimeHint, fmt.Sprintf("runtimeHint %q is not a runner of %s packages; ignored", p.RuntimeHint, p.RegistryType))
		if len(p.RuntimeArguments) > 0 {
			b.warn(RuleDropped, "the runtimeArguments, which belong to that runner, are dropped")
			p.RuntimeArguments = nil
		}
	}
	b.gather(&p)
	if isHTTP(p.Transport.Type) {
		requireURLInputs(&p)
	}
	b.environment(p.EnvironmentVariables)
	switch p.RegistryType {
	case "oci":
		b.docker(&p, runner)
	case "cargo":
		b.cargo(&p)
	default:
		b.fetchedPackage(&p, runner)
	}
	if b.o.Env != nil && p.RegistryType != "oci" {
		b.moreEnvironment()
	}
	b.plan.Reference = reference(&p)
	b.plan.Runner = b.command
	if isHTTP(p.Transport.Type) {
		b.servedOverHTTP(&p)
	}
}

// gather collects what templates may refer to.
func (b *inputs) gather(p *registry.Package) {
	b.envIn = p.EnvironmentVariables
	for _, kv := range p.EnvironmentVariables {
		b.declare(kv.Variables)
		b.findEnvVars(kv.Name, kv.Value)
	}
	for _, a := range slices.Concat(p.RuntimeArguments, p.PackageArguments) {
		b.declare(a.Variables)
	}
	for _, h := range p.Transport.Headers {
		b.declare(h.Variables)
	}
	b.declare(p.Transport.Variables)
}

// fetchedPackage writes the command line of npm, PyPI and NuGet: a runner that
// fetches the package.
func (b *builder) fetchedPackage(p *registry.Package, r *runner) {
	b.command = r.command[0]
	args := slices.Clone(r.command[1:])
	rt := b.runtimeArguments(p, r)
	b.checkOptions(r, rt)
	operand, pinned := operand(p)
	if !pinned {
		b.warn(RuleUnpinned, fmt.Sprintf("%s is not pinned to a version", p.Identifier))
	}
	pa := texts(b.arguments(p.PackageArguments, false))
	if b.command == "npx" {
		args = append(args, "-y")
	}
	args = append(args, texts(rt)...)
	args = append(args, b.baseURL(p, rt)...)
	switch p.RegistryType {
	case "pypi":
		name, extras := cutExtras(p.Identifier)
		switch {
		case hasFlag(rt, "--from"):
			operand = name
		case extras != "":
			args = append(args, "--from", operand)
			operand = name
		}
	case "npm":
		if hasFlag(rt, "-p") || hasFlag(rt, "--package") {
			operand = p.Identifier
		}
	}
	args = append(args, config.Escape(operand))
	if p.RegistryType == "nuget" {
		args = append(args, "--yes")
		if len(pa) > 0 {
			args = append(args, "--")
		}
	}
	b.args = append(args, pa...)
}

// cargo writes the command line of a binary that has to be installed before.
func (b *builder) cargo(p *registry.Package) {
	switch {
	case !matches(`[A-Za-z0-9_-]+`, p.Identifier):
		// It is the command, so it must not be a path or a word of a shell.
		b.refuse(RuleIdentifier, fmt.Sprintf("%q is not the name of a crate", p.Identifier))
		return
	case !matches(`(?i:(.*[-_])?mcp([-_].*)?)`, p.Identifier):
		b.danger(RuleCargoName, fmt.Sprintf("%q would be started by its name, which may be another program on this machine", p.Identifier))
	}
	b.command = p.Identifier
	if len(p.RuntimeArguments) > 0 {
		b.warn(RuleDropped, "cargo has no runner, so the runtimeArguments are dropped")
	}
	b.args = texts(b.arguments(p.PackageArguments, false))
	operand, pinned := operand(p)
	if !pinned {
		b.warn(RuleUnpinned, p.Identifier+" is not pinned to a version")
	}
	b.plan.Install = []string{"cargo", "install", "--locked", operand}
}

// runtimeArguments renders a runner's arguments without those that are written
// anyway: publishers write the whole command line there.
func (b *builder) runtimeArguments(p *registry.Package, r *runner) []token {
	var list []registry.Argument
	for i, a := range p.RuntimeArguments {
		word := fixedWord(a)
		switch {
		case (b.command == "npx" || b.command == "dnx") && (word == "-y" || word == "--yes"):
		case i == 0 && len(r.command) > 1 && !a.Named && word == r.command[1]: // pnpm dlx, yarn dlx
		case !a.Named && samePackage(p, word) && !r.takes(p.RuntimeArguments, i):
		default:
			list = append(list, a)
		}
	}
	return b.arguments(list, true)
}

// takes reports whether the argument at i is the value of the option before it.
func (r *runner) takes(list []registry.Argument, i int) bool {
	if i == 0 {
		return false
	}
	before := list[i-1]
	hasValue := before.Named && (before.Value != nil && *before.Value != "" || before.Default != nil)
	o := r.option(fixedWord(before))
	return !hasValue && o != nil && o.check != nil
}

// fixedWord returns the word that an argument is certain to begin with.
func fixedWord(a registry.Argument) string {
	switch {
	case a.Named:
		return a.Name
	case a.Value != nil:
		return *a.Value
	case a.Default != nil:
		return *a.Default
	}
	return ""
}

func hasFlag(tokens []token, name string) bool {
	return slices.ContainsFunc(tokens, func(t token) bool { return t.plain == name || strings.HasPrefix(t.plain, name+"=") })
}

// samePackage reports whether a word is the package itself, with or without a
// version.
func samePackage(p *registry.Package, word string) bool {
	if word == "" {
		return false
	}
	fold := func(s string) string {
		if p.RegistryType == "pypi" {
			s = strings.NewReplacer("_", "-", ".", "-").Replace(s)
		}
		return strings.ToLower(s)
	}
	id, _ := cutVersion(p.RegistryType, p.Identifier)
	name, _ := cutVersion(p.RegistryType, word)
	bare, _ := cutExtras(id)
	name, _ = cutExtras(name)
	return fold(name) == fold(bare)
}

// cutVersion cuts the version off an identifier: after an @ that is not the
// first character, or for PyPI after ==.
func cutVersion(kind, id string) (name, version string) {
	if kind == "pypi" {
		if name, version, ok := strings.Cut(id, "=="); ok {
			return name, version
		}
	}
	if i := strings.LastIndexByte(id, '@'); i > 0 {
		return id[:i], id[i+1:]
	}
	return id, ""
}

// cutExtras cuts [extras] off a PyPI identifier.
func cutExtras(id string) (name, extras string) {
	if i := strings.IndexByte(id, '['); i > 0 {
		return id[:i], id[i:]
	}
	return id, ""
}

// operand returns a package with its version, in its runner's form. The version
// "latest" does not pin it: runners keep what they once fetched under that name.
func operand(p *registry.Package) (s string, pinned bool) {
	version := p.Version
	if version == "latest" {
		version = ""
	}
	if _, own := cutVersion(p.RegistryType, p.Identifier); own != "" {
		return p.Identifier, own != "latest"
	}
	if version == "" {
		return p.Identifier, false
	}
	if _, extras := cutExtras(p.Identifier); p.RegistryType == "pypi" && extras != "" {
		return p.Identifier + "==" + version, true
	}
	return p.Identifier + "@" + version, true
}

// reference returns a package in one word.
func reference(p *registry.Package) string {
	if p.RegistryType == "oci" {
		image, _ := image(p)
		return image
	}
	s, _ := operand(p)
	return s
}

// baseURL returns the option that names another package registry. A record of
// the public MCP registry cannot name one, so its URL is ignored.
func (b *builder) baseURL(p *registry.Package, rt []token) []string {
	if p.RegistryBaseURL == "" || b.o.OfficialRegistry {
		return nil
	}
	u, err := url.Parse(p.RegistryBaseURL)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || operandFault(p.RegistryBaseURL) != "" {
		b.warn(RuleBaseURL, fmt.Sprintf("registryBaseUrl %q is not a URL; ignored", p.RegistryBaseURL))
		return nil
	}
	b.checkAddress(u)
	flag, path := "", ""
	switch b.command {
	case "npx", "pnpm":
		flag = "--registry"
	case "uvx":
		flag, path = "--index-url", "/simple/"
	case "dnx":
		flag, path = "--source", "/v3/index.json"
	default:
		b.warn(RuleBaseURL, fmt.Sprintf("%s cannot be told to use %s", b.command, p.RegistryBaseURL))
		return nil
	}
	if hasFlag(rt, flag) {
		return nil
	}
	text := p.RegistryBaseURL
	if strings.Trim(u.Path, "/") == "" && path != "" {
		text = strings.TrimRight(text, "/") + path
	}
	b.warn(RuleBaseURL, "packages come from "+text)
	return []string{flag, config.Escape(text)}
}

// operandFault returns why a text of a record cannot be a word of its own on a
// command line, "" if it can.
func operandFault(s string) string {
	switch {
	case s == "":
		return "is empty"
	case strings.HasPrefix(s, "-"):
		return fmt.Sprintf("%q begins with a dash", s)
	case strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) >= 0:
		return fmt.Sprintf("%q holds white space or control characters", s)
	}
	return ""
}
