package finder

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/declare"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/results"
	"github.com/mcpctl/mcpctl/runtime/schema"
)

// Inner is the call inside a call of call_tool: a name as it is written, and arguments,
// which may be nil, and members of the result that are wanted.
type Inner struct {
	Quoted, Arguments []byte
	Name              string
	Fields            *results.Fields // of the result, nil for all
}

// ParseInner reads the arguments of call_tool. A member that is there twice is an error: a
// host that asks a person about the call may show the other one.
func ParseInner(arguments []byte) (in Inner, err error) {
	wrong := errors.New(`arguments do not fit: want {"name":"…","arguments":{…},"fields"?:["…"]}`)
	if !rawjson.IsObject(arguments) {
		return in, wrong
	}
	members := [...]string{"name", "arguments", "fields"}
	var at [len(members)]rawjson.Span
	twice := ""
	err = rawjson.Walk(arguments, func(name []byte, value rawjson.Span) {
		if i := slices.Index(members[:], string(name)); i >= 0 {
			if at[i].Present() {
				twice = members[i]
			}
			at[i] = value
		}
	})
	if err != nil {
		return in, wrong
	}
	if twice != "" {
		return in, fmt.Errorf("arguments do not fit: %q is there twice", twice)
	}
	name, ok := rawjson.String(arguments, at[0])
	if !ok {
		return in, wrong
	}
	in = Inner{Quoted: at[0].Of(arguments), Arguments: at[1].Of(arguments), Name: name}
	var fields []string
	if raw := at[2].Of(arguments); raw != nil && json.Unmarshal(raw, &fields) != nil {
		return in, errors.New("at /fields: want a list of texts")
	}
	if in.Fields, err = results.ParseFields(fields); err != nil {
		return in, fmt.Errorf("at /fields: %w", err)
	}
	if string(in.Arguments) == "null" {
		in.Arguments = nil
	}
	if in.Arguments != nil && !rawjson.IsObject(in.Arguments) {
		return in, errors.New("at /arguments: want an object")
	}
	return in, nil
}

// Check returns what is wrong with the arguments of a tool by its definition, with its
// signature, "" where nothing is, or where the definition does not say.
func Check(name string, definition, arguments []byte) string {
	at, err := rawjson.Field(definition, "inputSchema")
	if err != nil || !at.Present() {
		return ""
	}
	s, err := schema.Parse(at.Of(definition))
	if err != nil {
		return ""
	}
	if arguments == nil {
		arguments = []byte(`{}`)
	}
	wrong, ok := errors.AsType[*schema.ValidationError](s.Validate(json.RawMessage(arguments)))
	if !ok {
		return ""
	}
	var out strings.Builder
	out.WriteString("The arguments of " + name + " do not fit.\n")
	for i, issue := range wrong.Issues {
		const most = 10
		if i == most {
			fmt.Fprintf(&out, "and %d more\n", len(wrong.Issues)-most)
			break
		}
		issue.Pointer = "/arguments" + issue.Pointer
		out.WriteString(issue.String() + "\n")
	}
	out.WriteString(declare.Of(name, at.Of(definition)).String())
	return out.String()
}
