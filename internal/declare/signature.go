package declare

import (
	"cmp"
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/schema"
)

// Signature is the name of a tool, or of a prompt, and its arguments.
type Signature struct {
	Name string
	Args []Arg
	// Unknown says that the arguments cannot be read.
	Unknown bool
}

// Arg is an argument; Type may be empty. Plain is its type without values, where Type has
// some.
type Arg struct {
	Name, Type, Plain string
	Required          bool
}

// Of returns the signature of a tool with an input schema.
func Of(name string, inputSchema json.RawMessage) Signature {
	s := Signature{Name: plain.Line(name)}
	in, err := schema.Parse(inputSchema)
	if err != nil {
		s.Unknown = true
		return s
	}
	for _, p := range in.Root().Properties() {
		a := Arg{Name: plain.Line(p.Name), Type: plain.Line(Type(p.Node)), Required: p.Required}
		if t := Plain(p.Node); t != a.Type {
			a.Plain = t
		}
		s.Args = append(s.Args, a)
	}
	return s
}

// Type returns the type of an argument, with as many of its values as are short.
func Type(n schema.Node) string {
	const most = 32
	t := n.Type()
	if len(t) <= most {
		return t
	}
	if values := n.Enum(); len(values) > 0 {
		words := ""
		for i := 0; i < len(values) && len(words+schema.Text(values[i]))+len("|…") <= most; i++ {
			words += schema.Text(values[i]) + "|"
		}
		if words != "" {
			return words + "…"
		}
	} else if n.Kinds() == schema.Array {
		item := Type(n.Item(0))
		if strings.Contains(item, "|") {
			item = "(" + item + ")"
		}
		return item + "[]"
	}
	return n.Plain()
}

// Plain returns the type of an argument, or of its elements, without values.
func Plain(n schema.Node) string {
	if n.Kinds() == schema.Array {
		return n.Item(0).Plain() + "[]"
	}
	return n.Plain()
}

// String returns the name with all arguments.
func (s Signature) String() string {
	if s.Unknown {
		return s.Name + "(?)"
	}
	return s.Join(s.Parts(len(s.Args), true))
}

// Within returns the signature in at most some bytes where required arguments leave room
// for that. Values that have none are left out, and then optional arguments, which are
// counted: …+12.
func (s Signature) Within(most int) string {
	if s.Unknown {
		return s.String()
	}
	short := ""
	for short = range s.Shorter() {
		if len(short) <= most {
			break
		}
	}
	return short
}

// Shorter goes through ever shorter forms of the signature, from that of String to the one
// with the required arguments alone.
func (s Signature) Shorter() iter.Seq[string] {
	without := s
	without.Args = slices.Clone(s.Args)
	for i, a := range without.Args {
		without.Args[i].Type = cmp.Or(a.Plain, a.Type)
	}
	return func(yield func(string) bool) {
		for optional := s.Optional(); optional >= 0; optional-- {
			if !yield(s.Join(s.Parts(optional, true))) || !yield(s.Join(without.Parts(optional, true))) {
				return
			}
		}
	}
}

// Optional returns how many arguments are not required.
func (s Signature) Optional() int {
	n := 0
	for _, a := range s.Args {
		if !a.Required {
			n++
		}
	}
	return n
}

// Parts returns the required arguments and at most some optional ones, with how many there
// are beside them.
func (s Signature) Parts(optional int, types bool) []string {
	var out []string
	left := 0
	for _, a := range s.Args {
		word := a.Name
		if !a.Required {
			if optional == 0 {
				left++
				continue
			}
			optional--
			word += "?"
		}
		if types && a.Type != "" {
			word += ":" + a.Type
		}
		out = append(out, word)
	}
	if left > 0 {
		out = append(out, "…+"+strconv.Itoa(left))
	}
	return out
}

// Join returns the name with parts in brackets.
func (s Signature) Join(parts []string) string { return s.Name + "(" + strings.Join(parts, ", ") + ")" }

// FirstLine returns the first line of a text that is not blank, clean.
func FirstLine(text string) string {
	for line := range strings.Lines(plain.Text(text)) {
		if line = plain.Line(strings.TrimSpace(line)); line != "" {
			return line
		}
	}
	return ""
}
