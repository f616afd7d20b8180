package scaffold

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// docker writes `run -i --rm RT -e NAME… IMAGE PA`. Values of environment
// variables are in the entry's env, never on the command line.
func (b *builder) docker(p *registry.Package, r *runner) {
	b.command = r.command[0]
	split := b.splitDocker(p)
	for _, e := range split.env {
		b.containerVariable(e)
	}
	if b.o.Env != nil {
		b.moreEnvironment()
	}
	rt := b.arguments(split.options, true)
	b.checkOptions(r, rt)
	rt = b.dropDoubleEnv(rt)
	args := append([]string{"run", "-i", "--rm"}, texts(rt)...)
	for _, e := range b.env {
		args = append(args, "-e", e.name)
	}
	image, tag := image(p)
	switch {
	case tag == "" || tag == "latest":
		b.warn(RuleUnpinned, image+" is not pinned to a version")
	case p.Version != "" && !strings.HasPrefix(tag, "sha256:") && strings.TrimPrefix(tag, "v") != strings.TrimPrefix(p.Version, "v"):
		b.warn(RuleImageVersion, fmt.Sprintf("the package has version %s, its image the tag %s", p.Version, tag))
	}
	args = append(args, config.Escape(image))
	args = append(args, texts(b.arguments(split.tail, false))...)
	b.args = append(args, texts(b.arguments(p.PackageArguments, false))...)
}

// dockerArguments are the runtimeArguments of an image, sorted by their purpose.
type dockerArguments struct {
	options []registry.Argument      // for docker run
	env     []registry.KeyValueInput // -e NAME=…{x}…
	tail    []registry.Argument      // behind the image
}

// splitDocker reads runtimeArguments as the command line they often are.
func (b *builder) splitDocker(p *registry.Package) dockerArguments {
	var out dockerArguments
	list := p.RuntimeArguments
	for i := 0; i < len(list); i++ {
		a := list[i]
		word := fixedWord(a)
		switch {
		case !a.Named && word == "run" && len(out.options) == 0,
			isImpliedOption(word) && (a.Named || a.Value != nil || a.Default != nil):
			continue
		case !a.Named && word != "" && sameImage(word, p):
			out.tail = list[i+1:]
			return out
		}
		spec, consumed, isEnv := envSpec(list[i:])
		if !isEnv {
			out.options = append(out.options, a)
			continue
		}
		i += consumed - 1
		name, text, hasText := strings.Cut(spec, "=")
		if hasText && b.isTemplate(a, text) {
			kv := registry.KeyValueInput{Name: name, Input: a.Input}
			kv.Value, kv.Default = &text, nil
			b.findEnvVars(name, &text)
			out.env = append(out.env, kv)
			continue
		}
		out.options = append(out.options,
			registry.Argument{Named: true, Name: "-e", Input: registry.Input{Value: &spec, Secret: a.Secret && hasText, Description: a.Description}})
	}
	return out
}

// isImpliedOption reports whether an option is written anyway, or breaks the
// exchange over stdin and stdout: a terminal and the background.
func isImpliedOption(word string) bool {
	switch word {
	case "-i", "--interactive", "--rm", "-t", "--tty", "-d", "--detach", "--interactive=true", "--rm=true", "--tty=true", "--detach=true":
		return true
	}
	return len(word) > 2 && word[0] == '-' && strings.Trim(word[1:], "itd") == ""
}

// envSpec reads -e NAME[=text] at the beginning of a list, in any of the
// forms in use. consumed is how many arguments it takes.
func envSpec(list []registry.Argument) (spec string, consumed int, ok bool) {
	a := list[0]
	word := fixedWord(a)
	if word != "-e" && word != "--env" {
		for _, prefix := range []string{"--env=", "-e=", "-e"} {
			if s, found := strings.CutPrefix(word, prefix); found && !a.Named && s != "" {
				return s, 1, true
			}
		}
		return "", 0, false
	}
	if a.Named {
		if a.Value != nil && *a.Value != "" && *a.Value != a.Name {
			return *a.Value, 1, true
		}
		if a.Default != nil && *a.Default != "" {
			return *a.Default, 1, true
		}
	}
	if len(list) > 1 && !list[1].Named && fixedWord(list[1]) != "" {
		return fixedWord(list[1]), 2, true
	}
	return "", 0, false
}

// isTemplate reports whether a text refers to a variable that is declared.
func (b *inputs) isTemplate(a registry.Argument, text string) bool {
	return slices.ContainsFunc(variablePattern().FindAllStringSubmatch(text, -1), func(m []string) bool {
		return declares(a.Variables, m[1]) || declares(b.envIn, m[1])
	})
}

// containerVariable moves -e NAME=…{x}… into the entry's env. Records often
// have the same variable among their environment variables too; that one
// counts, unless the user gave a value for this one's template.
func (b *builder) containerVariable(kv registry.KeyValueInput) {
	at := slices.IndexFunc(b.env, func(p pair) bool { return p.name == kv.Name })
	if at < 0 {
		// The package's own variable was optional and unset; this one defines it.
		b.plan.Optional = slices.DeleteFunc(b.plan.Optional, func(o Option) bool { return o.Kind == KindEnv && o.Name == kv.Name })
		b.environmentVariable(kv)
		return
	}
	v, ok := b.fromRegistry(b.envInput(kv), kv.Required)
	switch {
	case !ok || v.text == b.env[at].text:
	case v.user:
		b.needs = append(b.needs, v.needs...)
		b.env[at].text = v.text
	default:
		b.warn(RuleDuplicate, fmt.Sprintf("environment variable %s is in the record twice; the first one is used", kv.Name))
	}
}

// dropDoubleEnv removes -e NAME and -e NAME=text from the options where NAME is
// in the entry's env: each has one -e, written after the options.
func (b *builder) dropDoubleEnv(rt []token) []token {
	var out []token
	seen := map[string]bool{}
	for i := 0; i < len(rt); i++ {
		if rt[i].plain == "-e" && i+1 < len(rt) {
			name, _, hasText := strings.Cut(rt[i+1].plain, "=")
			switch {
			case rt[i+1].plain == "":
			case b.hasEnv(name):
				if hasText {
					b.warn(RuleDuplicate, fmt.Sprintf("environment variable %s is in the record twice; the first one is used", name))
				}
				i++
				continue
			case seen[name]:
				i++
				continue
			default:
				seen[name] = true
				b.plan.Optional = slices.DeleteFunc(b.plan.Optional, func(o Option) bool { return hasText && o.Kind == KindEnv && o.Name == name })
			}
		}
		out = append(out, rt[i])
	}
	return out
}

// image returns the whole reference of an image and its tag or digest.
func image(p *registry.Package) (ref, tag string) {
	ref = p.Identifier
	if base := hostOf(p.RegistryBaseURL); base != "" && !hasHost(ref) {
		ref = base + "/" + ref
	}
	if tag = tagOf(ref); tag == "" && p.Version != "" {
		tag = p.Version
		if tag != "latest" {
			sep := ":"
			if strings.HasPrefix(tag, "sha256:") {
				sep = "@"
			}
			ref += sep + tag
		}
	}
	return ref, tag
}

func hostOf(base string) string {
	if _, rest, ok := strings.Cut(base, "://"); ok {
		base = rest
	}
	return strings.Trim(base, "/")
}

// hasHost reports whether an image reference begins with a registry's host: a
// first part with a dot or a port, or localhost.
func hasHost(ref string) bool {
	first, _, ok := strings.Cut(ref, "/")
	return ok && (strings.ContainsAny(first, ".:") || first == "localhost")
}

// tagOf returns the digest, else the tag, after the last slash; a port before it
// is not a tag.
func tagOf(ref string) string {
	if _, digest, ok := strings.Cut(ref, "@"); ok {
		return digest
	}
	_, tag, _ := strings.Cut(ref[strings.LastIndexByte(ref, '/')+1:], ":")
	return tag
}

// sameImage reports whether a word names the package's image repository,
// whatever its tag; the default host may be left out.
func sameImage(word string, p *registry.Package) bool {
	whole, _ := image(p)
	return repository(word) == repository(whole) || repository(word) == repository(p.Identifier)
}

func repository(ref string) string {
	ref, _, _ = strings.Cut(ref, "@")
	slash := strings.LastIndexByte(ref, '/') + 1
	last, _, _ := strings.Cut(ref[slash:], ":")
	ref = ref[:slash] + last
	for _, prefix := range []string{"docker.io/", "index.docker.io/", "library/"} {
		ref = strings.TrimPrefix(ref, prefix)
	}
	return strings.ToLower(ref)
}
