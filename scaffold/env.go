package scaffold

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/registry"
)

// envInput is an environment variable as an input.
func (b *builder) envInput(kv registry.KeyValueInput) input {
	hole := kv.Name
	if !isVariableName(hole) {
		hole = placeholder(b.alias, hole)
	}
	return input{Input: kv.Input, kind: KindEnv, name: kv.Name, label: "environment variable " + kv.Name, hole: hole}
}

// environment renders environment variables in order; of two with one name
// the first counts.
func (b *builder) environment(list []registry.KeyValueInput) {
	seen := map[string]bool{}
	for _, kv := range list {
		if seen[kv.Name] {
			b.warn(fmt.Sprintf("environment variable %s stands twice in the record; the first counts", kv.Name))
			continue
		}
		seen[kv.Name] = true
		b.environmentVariable(kv)
	}
}

// environmentVariable renders one, and tells whether it is in the entry now.
func (b *builder) environmentVariable(kv registry.KeyValueInput) bool {
	if kv.Name == "" || strings.ContainsAny(kv.Name, "=\x00") {
		b.warn(fmt.Sprintf("%q cannot be the name of an environment variable; left out", kv.Name))
		return false
	}
	if b.hasEnv(kv.Name) {
		return true
	}
	in := b.envInput(kv)
	v, ok := b.resolve(in, kv.Required)
	if !ok {
		b.option(in)
		return false
	}
	if takesOver(kv.Name) && v.from != fromUser && v.from != fromPlaceholder {
		b.warn(fmt.Sprintf("environment variable %s can change what runs; the registry's value is left out", kv.Name))
		return false
	}
	if strings.ContainsRune(v.text, 0) {
		b.warn(fmt.Sprintf("environment variable %s: the value holds a NUL byte; left out", kv.Name))
		return false
	}
	b.env = append(b.env, pair{kv.Name, v.text})
	return true
}

// moreEnvironment adds what the user gave beyond the record.
func (b *builder) moreEnvironment() {
	for i, g := range b.o.Env {
		if b.taken[givenKey{KindEnv, i}] {
			continue
		}
		b.take(KindEnv, i)
		switch {
		case g.Name == "" || strings.ContainsAny(g.Name, "=\x00"):
			b.usage = append(b.usage, fmt.Sprintf("--env %q: not the name of an environment variable", g.Name))
		case b.hasEnv(g.Name):
			b.usage = append(b.usage, fmt.Sprintf("--env %s: given twice", g.Name))
		case g.Placeholder:
			b.warn(unknownEnv(g.Name))
			in := b.envInput(registry.KeyValueInput{Name: g.Name})
			v := b.hole(in)
			b.needs = append(b.needs, v.needs...)
			b.env = append(b.env, pair{g.Name, v.text})
		default:
			b.warn(unknownEnv(g.Name))
			b.env = append(b.env, pair{g.Name, userText(g.Value)})
		}
	}
}

func unknownEnv(name string) string {
	return "the record knows no environment variable " + name + "; it is set all the same"
}

func (b *builder) hasEnv(name string) bool {
	return slices.ContainsFunc(b.env, func(p pair) bool { return p.name == name })
}

// takesOver tells whether an environment variable makes a program load or run
// something else, so that a stranger must not set it.
func takesOver(name string) bool {
	name = strings.ToUpper(name)
	for _, prefix := range []string{"LD_", "DYLD_", "GIT_SSH"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	switch name {
	case "PATH", "NODE_OPTIONS", "PYTHONPATH", "PYTHONSTARTUP", "BASH_ENV", "ENV", "RUBYOPT", "PERL5OPT", "JAVA_TOOL_OPTIONS", "DOTNET_STARTUP_HOOKS":
		return true
	}
	return false
}

// findHoles names the placeholders of variables that are the whole value of an
// environment variable: they take its name.
func (b *builder) findHoles(name string, value *string) {
	if value == nil || !isVariableName(name) {
		return
	}
	m := variablePattern.FindStringSubmatch(*value)
	if m == nil || m[0] != *value {
		return
	}
	if b.holes == nil {
		b.holes = map[string]string{}
	}
	if b.holes[m[1]] == "" {
		b.holes[m[1]] = name
	}
}
