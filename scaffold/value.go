package scaffold

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/internal/lazy"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// source is the origin of a value.
type source int

const (
	fromPlaceholder source = iota
	fromUser
	fromValue   // the publisher's fixed value
	fromDefault // the publisher's default
	fromChoice  // the only one there is
)

// value is one rendered input.
type value struct {
	// text is in the entry's syntax: dollars of the registry are doubled.
	text string
	// plain is the text itself where nothing in it expands.
	plain  string
	simple bool // plain holds
	// shape is the registry's part of the text, with [userPart] for the user's,
	// present now or through a placeholder.
	shape  string
	from   source
	secret bool // a secret is in it, or will be
	user   bool // a part of it is the user's
	needs  []Requirement
}

// userPart stands for the user's text in shapes. No text of a record holds one:
// see [builder.refuseNUL].
const userPart = "\x00"

// literal returns a value of registry text.
func literal(s string, from source) value {
	return value{text: config.Escape(s), plain: s, shape: s, simple: true, from: from}
}

// input is one input with its place in the record.
type input struct {
	registry.Input
	kind Kind
	// name is the input's name; aliases are other names that a user may use.
	name    string
	aliases []string
	// label names it in messages: "environment variable X".
	label string
	// envVar is the placeholder to use where a value is missing.
	envVar string
	// scope returns the values of variables that are not the input's own.
	scope func(name string, required bool) (value, bool)
}

type givenKey struct {
	kind  Kind
	index int
}

// given returns the user's values for an input, and marks them as taken.
func (b *inputs) given(kind Kind, names ...string) []InputValue {
	var list []InputValue
	switch kind {
	case KindEnv:
		list = b.o.Env
	case KindArg:
		list = b.o.Args
	case KindVar:
		list = b.o.Vars
	case KindHeader:
		list = b.o.Headers
	case kindURL: // the user cannot set one
	}
	var out []InputValue
	for i, g := range list {
		match := slices.ContainsFunc(names, func(n string) bool {
			return n != "" && (n == g.Name || kind == KindHeader && strings.EqualFold(n, g.Name))
		})
		if match {
			b.take(kind, i)
			out = append(out, g)
		}
	}
	return out
}

func (b *inputs) take(kind Kind, index int) {
	b.taken[givenKey{kind, index}] = true
}

// checkGiven reports the user's values that fit no input.
func (b *inputs) checkGiven() {
	for _, l := range []struct {
		kind Kind
		list []InputValue
	}{{KindEnv, b.o.Env}, {KindArg, b.o.Args}, {KindVar, b.o.Vars}, {KindHeader, b.o.Headers}} {
		for i, g := range l.list {
			if !b.taken[givenKey{l.kind, i}] {
				b.usage = append(b.usage, fmt.Sprintf("--%s %s: the %s chosen has no such input", l.kind, g.Name, b.what()))
			}
		}
	}
}

func (b *draft) what() string {
	if b.plan.Type == typeRemote {
		return "remote"
	}
	return b.plan.Type + " package"
}

// resolve returns the value of an input: the user's, the fixed value, the
// default (never of a secret), the only choice, or a placeholder if it is
// required. ok is false where there is none: the input is left out.
func (b *inputs) resolve(in input, required bool) (value, bool) {
	if given := b.given(in.kind, append([]string{in.name}, in.aliases...)...); len(given) > 0 {
		if len(given) > 1 {
			b.usage = append(b.usage, fmt.Sprintf("--%s %s: given twice", in.kind, in.name))
		}
		return b.fromUser(in, given[0]), true
	}
	v, ok := b.fromRegistry(in, required)
	if !ok {
		return v, false
	}
	b.needs = append(b.needs, v.needs...)
	return v, true
}

// fromUser renders a user's value and checks it against the record.
func (b *inputs) fromUser(in input, g InputValue) value {
	if g.Placeholder {
		v := b.placeholder(in)
		b.needs = append(b.needs, v.needs...)
		return v
	}
	v := value{text: userText(g.Value), shape: userPart, from: fromUser}
	if names, _ := config.Variables(v.text); len(names) == 0 {
		v.plain, v.simple = g.Value, true
	}
	if v.simple {
		if fault := checkValue(in.Input, g.Value); fault != "" {
			b.usage = append(b.usage, fmt.Sprintf("--%s %s: %s", in.kind, in.name, fault))
		}
		if in.Secret && g.Value != "" || config.LooksSecret(in.name, g.Value) {
			b.warn(RuleGiven, fmt.Sprintf("the secret %s is now in the file; use ${NAME} instead to keep it out", in.name))
		}
	}
	v.secret = in.Secret
	return v
}

// userText returns a user's text in the entry's syntax: as typed, except that a
// dollar at its end cannot join what follows.
func userText(s string) string {
	if n := len(s) - len(strings.TrimRight(s, "$")); n%2 == 1 {
		return s + "$"
	}
	return s
}

func (b *inputs) fromRegistry(in input, required bool) (value, bool) {
	switch {
	case in.Value != nil && (*in.Value != "" || in.kind == KindArg):
		v, ok := b.template(in, *in.Value, required, fromValue)
		return v, ok
	case in.Default != nil && *in.Default != "" && !in.Secret:
		if fault := checkValue(in.Input, *in.Default); fault != "" && !strings.Contains(*in.Default, "{") {
			b.warn(RuleDefault, fmt.Sprintf("%s: the default: %s", in.label, fault))
		}
		return b.template(in, *in.Default, required, fromDefault)
	case len(in.Choices) == 1 && !in.Secret:
		return b.template(in, in.Choices[0], required, fromChoice)
	case required:
		if isEveryday(in.envVar) {
			// It is always set, so that nobody would be asked for it.
			in.envVar = upper(b.alias) + "_" + in.envVar
		}
		return b.placeholder(in), true
	}
	return value{}, false
}

// placeholder returns the placeholder of an input.
func (b *inputs) placeholder(in input) value {
	name := b.hole(in)
	return value{text: "${" + name + "}", shape: userPart, secret: in.Secret, needs: []Requirement{requirement(in, name)}}
}

// inputID tells inputs apart.
type inputID struct {
	kind Kind
	name string
}

// hole returns the name of an input's placeholder: its usual one, unless that is another
// input's. Environment variables go first.
func (b *inputs) hole(in input) string {
	id := inputID{in.kind, in.name}
	if in.kind == KindVar && b.envVars[in.name] == in.envVar {
		id = inputID{KindEnv, in.envVar} // which has its value
	}
	isOthers := func(name string) bool {
		owner, ok := b.holes[name]
		if !ok && slices.ContainsFunc(b.envIn, func(kv registry.KeyValueInput) bool { return kv.Name == name }) {
			owner, ok = inputID{KindEnv, name}, true
		}
		return ok && owner != id
	}
	name := in.envVar
	if isOthers(name) {
		name = PlaceholderName(b.alias, string(in.kind)+"_"+in.name)
	}
	for n, first := 2, name; isOthers(name); n++ {
		name = fmt.Sprintf("%s_%d", first, n)
	}
	b.holes[name] = id
	return name
}

func requirement(in input, name string) Requirement {
	return Requirement{
		Name: name, Description: in.Description, Secret: in.Secret, Format: in.Format,
		Choices: in.Choices, Example: in.Placeholder, Kind: in.kind, Input: in.name,
	}
}

// option adds an input that was left out.
func (b *inputs) option(in input) {
	o := Option{
		Name: in.name, Description: in.Description, Secret: in.Secret, Choices: in.Choices,
		Example: in.Placeholder, Kind: in.kind, Input: in.name,
	}
	if in.Value != nil {
		// It depends on a variable that is not set: that is what to set.
		for _, m := range variablePattern().FindAllStringSubmatch(*in.Value, -1) {
			if v, ok := b.vars[m[1]]; ok && (declares(in.Variables, m[1]) || b.outer[m[1]]) {
				o.Kind, o.Input = KindVar, m[1]
				o.Secret = o.Secret || v.Secret
				o.Description = cmp.Or(o.Description, v.Description)
				break
			}
		}
	}
	b.plan.Optional = append(b.plan.Optional, o)
}

// checkValue returns why a text cannot be the value of an input, "" if it can.
func checkValue(in registry.Input, s string) string {
	if len(in.Choices) > 0 && !slices.Contains(in.Choices, s) {
		return fmt.Sprintf("%q is none of %s", s, strings.Join(in.Choices, ", "))
	}
	switch in.Format {
	case "number":
		if _, err := strconv.ParseFloat(s, 64); err != nil {
			return fmt.Sprintf("%q is not a number", s)
		}
	case "boolean":
		if s != "true" && s != "false" {
			return fmt.Sprintf("%q is neither true nor false", s)
		}
	}
	return ""
}

// variablePattern matches {name} and ${name}. A name has none of the characters
// that JSON or a shell would have in braces.
var variablePattern = lazy.Regexp(`\$?\{([^{}\s"':,;$]+)\}`)

// variable is the merged definition of a template variable.
type variable struct {
	registry.Input
	name string
}

// declare merges the variables of one input into those of the package or remote:
// the same name is the same variable, required or secret where any definition
// has it so, with the first default and choices found.
func (b *inputs) declare(list []registry.KeyValueInput) {
	for _, kv := range list {
		v, ok := b.vars[kv.Name]
		if !ok {
			b.vars[kv.Name] = variable{kv.Input, kv.Name}
			continue
		}
		v.Required = v.Required || kv.Required
		v.Secret = v.Secret || kv.Secret
		v.Value, v.Default = cmp.Or(v.Value, kv.Value), cmp.Or(v.Default, kv.Default)
		if v.Choices == nil {
			v.Choices = kv.Choices
		}
		v.Format, v.Description, v.Placeholder = cmp.Or(v.Format, kv.Format), cmp.Or(v.Description, kv.Description), cmp.Or(v.Placeholder, kv.Placeholder)
		b.vars[kv.Name] = v
	}
}

func declares(list []registry.KeyValueInput, name string) bool {
	return slices.ContainsFunc(list, func(kv registry.KeyValueInput) bool { return kv.Name == name })
}

// template renders a publisher's text: {name} and ${name} are replaced where
// name is declared, everything else is text. ok is false where the input is not
// required and depends on an optional variable that is not set.
func (b *inputs) template(in input, s string, required bool, from source) (out value, ok bool) {
	out = value{from: from, simple: true, secret: false}
	var text, plain, shape strings.Builder
	write := func(s string) {
		text.WriteString(config.Escape(s))
		plain.WriteString(s)
		shape.WriteString(s)
	}
	last := 0
	for _, m := range variablePattern().FindAllStringSubmatchIndex(s, -1) {
		before, whole, name := s[last:m[0]], s[m[0]:m[1]], s[m[2]:m[3]]
		last = m[1]
		b.noteDollar(in, before)
		write(before)
		v, known, set := b.variable(in, name, required)
		switch {
		case !known:
			b.unresolved(in, whole)
			write(whole)
		case !set:
			return value{}, false
		default:
			text.WriteString(v.text)
			plain.WriteString(v.plain)
			shape.WriteString(v.shape)
			out.simple = out.simple && v.simple
			out.secret = out.secret || v.secret
			out.user = out.user || v.user
			out.needs = append(out.needs, v.needs...)
		}
	}
	b.noteDollar(in, s[last:])
	write(s[last:])
	out.text, out.plain, out.shape = text.String(), plain.String(), shape.String()
	out.secret = out.secret || in.Secret
	if !out.simple {
		out.plain = ""
		for i := range out.needs {
			out.needs[i].Secret = out.needs[i].Secret || in.Secret
		}
	}
	return out, true
}

// noteDollar warns of what looks like a placeholder to people and other programs
// but is not one here.
func (b *inputs) noteDollar(in input, s string) {
	if strings.Contains(s, "${") {
		b.warn(RuleDollar, fmt.Sprintf("%s: ${…} in the registry's text stays text", in.label))
	}
}

// unresolved reports a {name} that is not declared anywhere.
func (b *inputs) unresolved(in input, whole string) {
	if in.kind == kindURL {
		b.refuse(RuleUndeclared, fmt.Sprintf("%s: %s is declared nowhere", in.label, whole))
		return
	}
	b.warn(RuleUndeclared, fmt.Sprintf("%s: %s is declared nowhere and stays text", in.label, whole))
}

// kindURL is the URL of a remote, which the user cannot set as a whole.
const kindURL Kind = "url"

// variable returns the value of a variable as one input sees it. known reports
// whether there is such a variable, set whether it has a value.
func (b *inputs) variable(in input, name string, hostRequired bool) (v value, known, set bool) {
	if !declares(in.Variables, name) && !b.outer[name] {
		if in.scope == nil {
			return v, false, false
		}
		v, known = in.scope(name, hostRequired)
		return v, known, known && (v.text != "" || v.simple)
	}
	def := b.vars[name]
	hole := cmp.Or(b.envVars[name], PlaceholderName(b.alias, name))
	vin := input{Input: def.Input, kind: KindVar, name: name, label: "variable " + name, envVar: hole}
	vin.Variables = nil // no templates within templates
	if given := b.given(KindVar, name); len(given) > 0 {
		if given[0].Placeholder {
			v = b.placeholder(vin)
		} else {
			v = b.fromUser(vin, given[0])
		}
		v.user = true
		return v, true, true
	}
	v, set = b.fromRegistry(vin, def.Required || hostRequired)
	return v, true, set
}
