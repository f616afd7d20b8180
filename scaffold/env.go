package scaffold

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/mcpctl/mcpctl/registry"
)

// envInput returns an environment variable as an input.
func (b *inputs) envInput(kv registry.KeyValueInput) input {
	hole := kv.Name
	if !isVariableName(hole) {
		hole = PlaceholderName(b.alias, hole)
	}
	return input{Input: kv.Input, kind: KindEnv, name: kv.Name, label: "environment variable " + kv.Name, envVar: hole}
}

// environment renders environment variables in order; of two with one name
// the first counts.
func (b *builder) environment(list []registry.KeyValueInput) {
	seen := map[string]bool{}
	for _, kv := range list {
		if seen[kv.Name] {
			b.warn(RuleDuplicate, fmt.Sprintf("environment variable %s is in the record twice; the first one is used", kv.Name))
			continue
		}
		seen[kv.Name] = true
		b.environmentVariable(kv)
	}
}

// environmentVariable renders one variable and reports whether it is in the
// entry now.
func (b *builder) environmentVariable(kv registry.KeyValueInput) bool {
	if b.hasEnv(kv.Name) {
		return true
	}
	in := b.envInput(kv)
	v, ok := b.resolve(in, kv.Required)
	if !ok {
		b.option(in)
		return false
	}
	switch fault := family(kv.Name); {
	case !matches(`[A-Za-z0-9_][A-Za-z0-9_.-]*`, kv.Name):
		b.refuse(RuleEnvName, fmt.Sprintf("%q cannot be the name of an environment variable", kv.Name))
		return false
	case !isVariableName(kv.Name):
		b.danger(RuleEnvName, fmt.Sprintf("environment variable %q has a name that no shell takes, so few servers mean it", kv.Name))
	case fault != "" && v.shape != userPart && !b.ownCode:
		b.danger(RuleEnvFamily, "environment variable "+kv.Name+" "+fault)
	}
	b.env = append(b.env, pair{kv.Name, v.text})
	return true
}

// moreEnvironment adds variables of the user's that are not in the record.
func (b *builder) moreEnvironment() {
	for i, g := range b.o.Env {
		if b.taken[givenKey{KindEnv, i}] {
			continue
		}
		b.take(KindEnv, i)
		switch {
		case !isEnvironmentName(g.Name):
			b.usage = append(b.usage, fmt.Sprintf("--env %q: not the name of an environment variable", g.Name))
		case b.hasEnv(g.Name):
			b.usage = append(b.usage, fmt.Sprintf("--env %s: given twice", g.Name))
		case g.Placeholder:
			b.warn(RuleGiven, unknownEnv(g.Name))
			in := b.envInput(registry.KeyValueInput{Name: g.Name})
			v := b.placeholder(in)
			b.needs = append(b.needs, v.needs...)
			b.env = append(b.env, pair{g.Name, v.text})
		default:
			b.warn(RuleGiven, unknownEnv(g.Name))
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

// isEnvironmentName reports whether a text can be the name of a variable at all:
// one with a NUL, an equals sign or a line break never arrives as intended.
func isEnvironmentName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r == '=' || unicode.IsControl(r) || unicode.IsSpace(r) })
}

// findEnvVars names the placeholders of variables that are the whole value of an
// environment variable: they take its name.
func (b *inputs) findEnvVars(name string, value *string) {
	if value == nil || !isVariableName(name) {
		return
	}
	m := variablePattern().FindStringSubmatch(*value)
	if m == nil || m[0] != *value {
		return
	}
	b.envVars[m[1]] = cmp.Or(b.envVars[m[1]], name)
}
