// Package signature writes a tool on one line: its name and its arguments, as in
// get-sum(a:number, b?:number).
package signature

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/plain"
	"github.com/mcpctl/mcpctl/runtime/schema"
)

// Signature is the name of a tool, or of a prompt, and its arguments.
type Signature struct {
	Name string
	Args []Arg
	// Unknown says that the arguments cannot be read.
	Unknown bool
}

// Arg is an argument; Type may be empty.
type Arg struct {
	Name, Type string
	Required   bool
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
		s.Args = append(s.Args, Arg{plain.Line(p.Name), plain.Line(Type(p.Node)), p.Required})
	}
	return s
}

// Type returns the type of an argument, without its values where they would be long.
func Type(n schema.Node) string {
	const most = 32
	t := n.Type()
	switch {
	case len(t) <= most && !strings.Contains(t, "…"):
		return t
	case n.Kinds() == schema.Array:
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
// for that. Optional arguments that have none are counted: …+12.
func (s Signature) Within(most int) string {
	full := s.String()
	if s.Unknown || len(full) <= most {
		return full
	}
	short := full
	for optional := s.Optional(); optional >= 0 && len(short) > most; optional-- {
		short = s.Join(s.Parts(optional, true))
	}
	return short
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
