package config

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/mcpctl/mcpctl/internal/jsonedit"
)

// ToolOverride changes one tool of a command-line tool, or describes one that is not
// found in its help.
type ToolOverride struct {
	// Command are the words of the subcommand, such as "get"; "" is the tool itself.
	Command string
	// Name, Title and Description replace what was found, unless they are "".
	Name, Title, Description string
	// InputSchema is the schema of the arguments, a raw object. A member that the
	// tool's help does not have is passed as a flag of that name. Nil is what was
	// found.
	InputSchema json.RawMessage
	// Annotations is the raw object in the place of the guessed ones, nil for those.
	Annotations json.RawMessage
}

// cliKeys are the members that a command-line tool alone has. The object of "tools" is of
// any server.
func cliKeys() []string {
	return []string{"cliOnly", "cliDeny", "cliDepth", "cliRoots", "cliArgs", "cliHelp", "tools"}
}

// today returns the name of a member that had another spelling once.
func today(name string) string {
	switch name {
	case "cli_only":
		return "cliOnly"
	case "cli_depth":
		return "cliDepth"
	case "cli_help":
		return "cliHelp"
	case "input_schema":
		return "inputSchema"
	}
	return name
}

// maxCLIDepth is more words than subcommands have.
const maxCLIDepth = 9

func (d *decoder) depth(e *Entry, at string, v hujson.Value) {
	n := 0
	if v.Value.Kind() == '0' {
		if text := v.Value.(hujson.Literal).String(); len(text) == 1 {
			n = int(text[0] - '0')
		}
	}
	if n < 1 {
		d.fault(v.StartOffset, fmt.Sprintf("%s is %s, want a number from 1 to %d", at, describe(v), maxCLIDepth), "leave it out for 3")
		return
	}
	e.CLIDepth = n
}

func (d *decoder) tools(e *Entry, at string, v hujson.Value) {
	if obj, ok := v.Value.(*hujson.Object); ok {
		d.toolFilter(e, at, obj)
		return
	}
	list, ok := v.Value.(*hujson.Array)
	if !ok {
		d.fault(v.StartOffset, at+" is "+describe(v)+", want an object with allow and deny, or of a command-line tool an array of objects", `as in {"allow": ["read_*"]}`)
		return
	}
	for i, el := range list.Elements {
		place := fmt.Sprintf("%s[%d]", at, i)
		obj, ok := el.Value.(*hujson.Object)
		if !ok {
			d.wrong(el, place, "an object")
			continue
		}
		e.Tools = append(e.Tools, d.tool(place, obj))
	}
}

func (d *decoder) tool(at string, obj *hujson.Object) ToolOverride {
	var o ToolOverride
	named := map[string]*string{"command": &o.Command, "name": &o.Name, "title": &o.Title, "description": &o.Description}
	objects := map[string]*json.RawMessage{"inputSchema": &o.InputSchema, "annotations": &o.Annotations}
	for _, m := range obj.Members {
		name := today(jsonedit.Name(&m))
		place := at + "." + name
		if field := named[name]; field != nil {
			*field, _ = d.text(place, m.Value)
			continue
		}
		if field := objects[name]; field != nil {
			if _, ok := m.Value.Value.(*hujson.Object); !ok {
				d.wrong(m.Value, place, "an object")
				continue
			}
			*field = jsonedit.Standard(m.Value)
			continue
		}
		if name == "args" { // the older form of command
			var words Entry
			list := func(e *Entry) *[]string { return &e.Args }
			texts(list)(d, &words, place, m.Value)
			o.Command = strings.Join(words.Args, " ")
			continue
		}
		d.warn(m.Name.StartOffset, fmt.Sprintf("unknown key %q, ignored", place), "remove it")
	}
	return o
}
