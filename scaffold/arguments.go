package scaffold

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mcpctl/mcpctl/registry"
)

// token is one element of a command line, in the entry's syntax.
type token struct {
	text  string
	plain string // "" where something expands in it
	shape string // as of a value
	user  bool   // the user's own text
}

// argInput returns an argument as an input.
func (b *inputs) argInput(a registry.Argument) input {
	in := input{Input: a.Input, kind: KindArg, scope: b.argScope}
	if a.Named {
		bare := strings.TrimRight(strings.TrimLeft(a.Name, "-"), "=")
		in.name, in.aliases = strings.TrimRight(a.Name, "="), []string{bare, a.ValueHint}
		in.label, in.envVar = "argument "+in.name, PlaceholderName(b.alias, bare)
		return in
	}
	in.name = cmp.Or(a.ValueHint, a.Name)
	in.envVar = PlaceholderName(b.alias, in.name)
	switch {
	case in.name != "":
		in.label = "argument " + in.name
	case a.Value != nil:
		in.label = "argument " + *a.Value
	default:
		in.label = "an argument without a name"
	}
	return in
}

// argScope returns the value of an environment variable of the package, which
// arguments may use.
func (b *inputs) argScope(name string, required bool) (value, bool) {
	for _, kv := range b.envIn {
		if kv.Name == name {
			in := b.envInput(kv)
			if given := b.given(KindEnv, name); len(given) > 0 {
				return b.fromUser(in, given[0]), true
			}
			v, _ := b.fromRegistry(in, kv.Required || required)
			return v, true
		}
	}
	return value{}, false
}

// arguments renders a list of arguments. Those of a runner (runtime) are more
// often flags than those of a package.
func (b *inputs) arguments(list []registry.Argument, runtime bool) []token {
	type state struct {
		tokens []token
		ok     bool
	}
	states := make([]state, len(list))
	lastPositional := -1
	for i, a := range list {
		states[i].tokens, states[i].ok = b.argument(a, runtime, a.Required)
		if states[i].ok && !a.Named {
			lastPositional = i
		}
	}
	var out []token
	for i, a := range list {
		s := states[i]
		if !s.ok && !a.Named && i < lastPositional {
			// Without it the next ones would move into its place.
			s.tokens, s.ok = b.argument(a, runtime, true)
		}
		if !s.ok {
			if in := b.argInput(a); in.name != "" {
				b.option(in)
			} else {
				b.warn(RuleArgument, "an argument has neither a value nor a name; left out")
			}
			continue
		}
		out = append(out, s.tokens...)
	}
	return out
}

// argument renders one argument; ok is false where it is left out.
func (b *inputs) argument(a registry.Argument, runtime, required bool) (tokens []token, ok bool) {
	in := b.argInput(a)
	if word := variablePattern().FindString(a.Name); word != "" && a.Named {
		b.warn(RuleTemplateName, fmt.Sprintf("%s: %s in a name is text", in.label, word))
	}
	if given := b.given(KindArg, append([]string{in.name}, in.aliases...)...); len(given) > 0 {
		if len(given) > 1 && !a.Repeated {
			b.usage = append(b.usage, fmt.Sprintf("--arg %s: given twice, but it is not a repeated argument", in.name))
		}
		for _, g := range given {
			v := b.fromUser(in, g)
			b.noteArgument(in, v)
			tokens = append(tokens, argTokens(a, v)...)
		}
		return tokens, true
	}
	v, ok := b.resolve(in, required)
	switch {
	case !ok && a.Named && a.Value == nil && isFlag(a, runtime):
		return []token{word(a.Name)}, true
	case !ok:
		return nil, false
	case a.Named && a.Format == "boolean" && v.simple && v.plain == "false" && v.from != fromValue:
		return nil, false
	}
	b.noteArgument(in, v)
	return argTokens(a, v), true
}

// isFlag reports whether a named argument is a flag, to be written as it is,
// rather than something to fill in.
func isFlag(a registry.Argument, runtime bool) bool {
	if a.Required || a.Default != nil && *a.Default != "" || a.Placeholder != "" || len(a.Choices) > 0 || a.ValueHint != "" || a.Secret {
		return false
	}
	return runtime || a.Description == "" && a.Format == ""
}

// argTokens returns an argument with its value.
func argTokens(a registry.Argument, v value) []token {
	val := token{text: v.text, shape: v.shape, user: v.from == fromUser}
	if v.simple {
		val.plain = v.plain
	}
	if !a.Named {
		return []token{val}
	}
	name := literal(a.Name, fromValue).text
	alone := []token{word(strings.TrimRight(a.Name, "="))}
	join := func(sep string) []token {
		t := token{text: name + sep + v.text, shape: a.Name + sep + v.shape, user: val.user}
		if v.simple {
			t.plain = a.Name + sep + v.plain
		}
		return []token{t}
	}
	switch {
	case v.simple && (v.plain == "" && v.from == fromValue || v.plain == a.Name):
		return alone
	case a.Format == "boolean" && v.simple && v.plain == "true":
		return alone
	case strings.HasSuffix(a.Name, "="):
		return join("")
	case a.Format == "boolean" && (!v.simple || v.plain == "false"):
		return join("=")
	}
	return []token{word(a.Name), val}
}

// word is a token of registry text.
func word(s string) token {
	v := literal(s, fromValue)
	return token{text: v.text, plain: v.plain, shape: v.shape}
}

// noteArgument stores a value for the URL of a package that serves HTTP, and
// warns of secrets.
func (b *inputs) noteArgument(in input, v value) {
	for _, n := range append([]string{in.name}, in.aliases...) {
		if _, ok := b.argVals[n]; n != "" && !ok {
			b.argVals[n] = v
		}
	}
	if v.secret {
		b.warn(RuleSecretArgument, fmt.Sprintf("%s is a secret on the command line, which other users of this machine can see", in.label))
	}
}

func texts(tokens []token) []string {
	out := make([]string, len(tokens))
	for i, t := range tokens {
		out[i] = t.text
	}
	return out
}
