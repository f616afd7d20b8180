package args

import (
	"strings"

	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/schema"
)

// options returns the words with each --name, as other programs have arguments, in the
// form name=value: --name value, --name=value, and --name alone for a boolean.
func (b *builder) options(words []string) (out []string, err error) {
	object := len(words) == 1 && strings.HasPrefix(strings.TrimSpace(words[0]), "{") // beside which a flag is one of mcpctl
	for _, flag := range b.src.Taken {
		if object {
			break
		}
		name, long := strings.CutPrefix(flag, "--")
		if !long {
			continue
		}
		if p, ok := b.property(name); ok {
			e := errorf("--%s is a flag of mcpctl and an argument of the tool", name)
			e.Remedy = "the argument is written " + form(p) + "; the flag goes before the tool's name"
			return nil, e
		}
	}
	literal := words[len(words)-min(b.src.Literal, len(words)):]
	words = words[:len(words)-len(literal)]
	for i := 0; i < len(words); i++ {
		w := words[i]
		name, long := strings.CutPrefix(w, "--")
		if !long || name == "" || b.ownName(w) {
			out = append(out, w)
			continue
		}
		name, value, joined := strings.Cut(name, "=")
		p, ok := b.property(strings.TrimSuffix(name, ":"))
		if !ok {
			return nil, b.unknownOption(name)
		}
		next, more := "", i+1 < len(words)
		if more {
			next = words[i+1]
		}
		truth := p.Node.Kinds()&^schema.Null == schema.Boolean
		switch {
		case joined:
		case truth && next != "true" && next != "false":
			value = "true"
		case !more || strings.HasPrefix(next, "--"):
			e := errorf("--%s has no value", short(name))
			e.Remedy = "write " + form(p)
			return nil, e
		default:
			value = next
			i++
		}
		sign := "="
		if strings.HasSuffix(name, ":") {
			sign = ":="
		}
		out = append(out, p.Name+sign+value)
	}
	return append(out, literal...), nil
}

// ownName reports whether a word is a pair of a property whose own name has the dashes.
func (b *builder) ownName(w string) bool {
	for _, p := range b.s.Root().Properties() {
		if strings.HasPrefix(p.Name, "--") && (strings.HasPrefix(w, p.Name+"=") || strings.HasPrefix(w, p.Name+":=")) {
			return true
		}
	}
	return false
}

// property returns the property that an option names: by its own name, or by the one
// that differs in letter case, dashes and underscores only.
func (b *builder) property(name string) (found schema.Property, ok bool) {
	alike := 0
	for _, p := range b.s.Root().Properties() {
		if p.Name == name {
			return p, true
		}
		if fold(p.Name) == fold(name) {
			found = p
			alike++
		}
	}
	return found, alike == 1
}

func fold(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
}

// form returns how an argument is written.
func form(p schema.Property) string {
	if p.Node.Kinds()&(schema.String|schema.Boolean|schema.Integer|schema.Number|schema.Array) == 0 {
		return p.Name + ":=JSON"
	}
	return p.Name + "=VALUE"
}

// unknownOption returns the error of an option that is neither an argument nor a flag.
func (b *builder) unknownOption(name string) error {
	e := errorf("--%s is neither an argument of the tool nor a flag of mcpctl", short(name))
	var forms []string
	known := map[string]string{}
	for _, p := range b.s.Root().Properties() {
		forms, known[p.Name] = append(forms, form(p)), form(p)
	}
	names := append([]string(nil), b.src.Flags...)
	for n := range known {
		names = append(names, n)
	}
	const most = 6
	switch near := plain.Nearest(name, names, 1); {
	case len(near) > 0 && known[near[0]] != "":
		e.Remedy = "write " + known[near[0]]
	case len(near) > 0:
		e.Remedy = "did you mean --" + near[0] + "?"
	case len(forms) == 0:
		e.Remedy = "the tool has no arguments"
	case len(forms) > most:
		e.Remedy = "arguments are written " + strings.Join(forms[:most], " ") + " …"
	default:
		e.Remedy = "arguments are written " + strings.Join(forms, " ")
	}
	return e
}
