package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go/types"

	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// entitiesText are the entities of every schema, and actions without arguments.
const entitiesText = `
entity Group in [Group];
entity User in [Group] { id: String, name: String, issuer: String, client: String } tags Set<String>;
entity Label;
entity Server in [Label] { transport: String };
entity Tool in [Server, Label] { name: String, readOnly: Bool, destructive: Bool, idempotent: Bool, openWorld: Bool, pinned: Bool };
entity Prompt in [Server, Label] { name: String, pinned: Bool };
entity Resource in [Server, Label] { uri: String, scheme: String, mime?: String, pinned: Bool };
type Common = { seen: Set<String>, found: Set<String>, now: datetime, ip?: ipaddr, front: String, task: Bool };
action get appliesTo { principal: User, resource: Prompt, context: Common };
action read appliesTo { principal: User, resource: Resource, context: Common };
action question, link, operate appliesTo { principal: User, resource: Server, context: Common };
action deliver appliesTo { principal: User, resource: [Tool, Prompt, Resource], context: Common };
`

// Fault is what is wrong with a policy. Remedy is what to write, "" for unknown.
type Fault struct{ Text, Remedy string }

// Check checks a policy for the tools that it is about. Tools whose arguments it reads need
// their definitions.
func (p *Policy) Check(tools []policy.Item) []Fault {
	var described []tool
	for _, t := range tools {
		if raw, ok := inputSchema(t.Definition); ok {
			described = append(described, tool{t.Server + "/" + t.Name, raw})
		}
	}
	if !p.Reads() {
		return p.validate("")
	}
	if len(described) == 0 {
		return nil // nothing is known of the arguments
	}
	types, faults := p.members(described)
	if len(faults) > 0 {
		return faults
	}
	return p.validateWith(types)
}

type tool struct {
	name   string
	schema []byte
}

func inputSchema(definition []byte) ([]byte, bool) {
	at, err := rawjson.Field(definition, "inputSchema")
	return at.Of(definition), err == nil && at.Present()
}

// member is what is known of an argument: its type, "" for several, and whether all tools
// have it always.
type member struct {
	kind     string
	required bool
}

// members returns what is known of the arguments that the policy reads, by what it reads.
func (p *Policy) members(tools []tool) (map[string]member, []Fault) {
	out, faults := map[string]member{}, []Fault(nil)
	for _, r := range p.reads {
		kind, first, always := "", "", true
		var others []string
		for _, t := range tools {
			of, required, known := policy.Type(t.schema, r.path)
			if !known {
				always = false
				others = append(others, policy.Members(t.schema, r.path[:len(r.path)-1])...)
				continue
			}
			always = always && required
			switch {
			case first == "":
				kind, first = of, t.name
			case of == "" || kind == "":
				kind = ""
			case of != kind:
				faults = append(faults, Fault{
					fmt.Sprintf("the argument %s is %s in %s and %s in %s", r.dotted(), inWords(kind), first, inWords(of), t.name), "write one policy for each of the two",
				})
				return nil, faults
			}
		}
		switch {
		case first == "":
			faults = append(faults, Fault{fmt.Sprintf("no tool that it is about has the argument %s", r.dotted()), nearestOf(r, others)})
		case r.form != "args" && kind != "String" && kind != "":
			faults = append(faults, Fault{fmt.Sprintf("the argument %s of %s is %s, which has no %s", r.dotted(), first, inWords(kind), map[string]string{"clean": "path", "host": "host"}[r.form]), "test it with eq, in, lt or gt"})
		default:
			out[r.String()] = member{kind, always}
		}
	}
	for _, r := range p.reads { // what they are in
		for i := 1; i < len(r.path); i++ {
			above := read{r.form, r.path[:i]}
			if _, ok := out[above.String()]; !ok {
				out[above.String()] = member{required: r.form == "args" && !slices.ContainsFunc(tools, func(t tool) bool {
					_, required, _ := policy.Type(t.schema, above.path)
					return !required
				})}
			}
		}
	}
	return out, faults
}

func (r read) dotted() string { return strings.Join(r.path, ".") }

func nearestOf(r read, names []string) string {
	slices.Sort(names)
	names = slices.Compact(names)
	if near := plain.Nearest(r.path[len(r.path)-1], names, 1); len(near) > 0 {
		return "did you mean " + near[0] + "?"
	}
	if len(names) == 0 {
		return "the tools have no arguments"
	}
	const most = 8
	if len(names) > most {
		names = append(names[:most:most], "…")
	}
	return "arguments are " + strings.Join(names, ", ")
}

// inWords is a type of Cedar in the words of JSON.
func inWords(kind string) string {
	switch {
	case kind == "String":
		return "a string"
	case kind == "Long":
		return "an integer"
	case kind == "decimal":
		return "a number"
	case kind == "Bool":
		return "a boolean"
	case strings.HasPrefix(kind, "Set<"):
		return "an array"
	}
	return "an object"
}

// guesses are the types that a member may have of which the schema says nothing.
func guesses() []string { return []string{"String", "Long", "decimal", "Bool", "Set<String>"} }

// validateWith checks against the types of arguments. A type that is not known is any that
// fits.
func (p *Policy) validateWith(of map[string]member) []Fault {
	open := ""
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if of[name].kind == "" && !p.above(name) {
			open = name
			break
		}
	}
	if open == "" {
		return p.validate(p.context(of))
	}
	var faults []Fault
	for _, kind := range guesses() {
		with := maps.Clone(of)
		with[open] = member{kind, of[open].required}
		got := p.validateWith(with)
		if got == nil {
			return nil
		}
		if faults == nil || len(got) < len(faults) {
			faults = got
		}
	}
	return faults
}

// above reports whether the policy reads members below one that it reads.
func (p *Policy) above(name string) bool {
	return slices.ContainsFunc(p.reads, func(r read) bool { return strings.HasPrefix(r.String(), name+".") })
}

// node is a member of the arguments and those below it.
type node struct {
	below map[string]*node
	member
}

// context writes the types of the arguments.
func (p *Policy) context(of map[string]member) string {
	root := &node{below: map[string]*node{}}
	for _, r := range p.reads {
		at := root
		for i, name := range append([]string{r.form}, r.path...) {
			if at.below == nil {
				at.below = map[string]*node{}
			}
			if at.below[name] == nil {
				above := read{r.form, r.path[:i]}
				at.below[name] = &node{member: member{required: i == 0 || of[above.String()].required}}
			}
			at = at.below[name]
		}
		m := of[r.String()]
		at.kind, at.required = m.kind, m.required
		if r.form != "args" {
			at.kind, at.required = "String", false
		}
	}
	for _, form := range []string{"args", "clean", "host"} {
		if root.below[form] == nil {
			root.below[form] = &node{below: map[string]*node{}, member: member{required: true}}
		}
	}
	text := root.text()
	return strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}")
}

// text is a type in Cedar's schemas.
func (n *node) text() string {
	if n.below == nil {
		return n.kind
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(n.below)) {
		mark := "?: "
		if n.below[name].required {
			mark = ": "
		}
		all = append(all, string(types.String(name).MarshalCedar())+mark+n.below[name].text())
	}
	return "{" + strings.Join(all, ", ") + "}"
}

// text returns the schema in which a call has some arguments.
func text(arguments string) string {
	if arguments == "" {
		arguments = "args: {}, clean: {}, host: {}"
	}
	return entitiesText + "action call appliesTo { principal: User, resource: Tool, context: { " + arguments +
		", seen: Set<String>, found: Set<String>, now: datetime, ip?: ipaddr, front: String, task: Bool } };\n"
}

// validate has Cedar check the policy.
func (p *Policy) validate(arguments string) []Fault {
	check, err := policy.Checker([]byte(text(arguments)))
	if err != nil {
		return []Fault{{Text: "the schema of its arguments cannot be written: " + err.Error()}}
	}
	var faults []Fault
	if err := check(p.text); err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			line = strings.TrimPrefix(line, "for policy ``, ")
			if f := (Fault{Text: line, Remedy: remedyOf(line)}); line != "" && !slices.Contains(faults, f) {
				faults = append(faults, f)
			}
		}
	}
	return faults
}

// remedyOf returns what mends a fault that Cedar has found.
func remedyOf(text string) string {
	switch {
	case strings.Contains(text, "unable to guarantee safety of access to optional attribute"):
		return "ask before with has whether it is there"
	case strings.Contains(text, "expected Long but saw decimal"), strings.Contains(text, "decimal") && strings.Contains(text, "Long"):
		return "an argument of type number is compared with a number that has a point, such as 500.0"
	}
	return ""
}
