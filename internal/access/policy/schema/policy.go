package schema

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go"

	"github.com/mcpctl/mcpctl/internal/access/policy"
)

// Policy is what a policy says, as far as that is known without a request. It is immutable.
type Policy struct {
	// ID is that of its @id, "" for none.
	ID string
	// Permit says that it is a permit, and no forbid.
	Permit bool
	// Names are the entities that it names.
	Names []Name
	// Labels are those that it looks for in the labels of conversations and messages.
	Labels []string
	// Principal is its scope of principals as it is written, "" for all.
	Principal string
	// Actions are those it is about, nil for all.
	Actions []string
	// Always says that it has no conditions.
	Always bool

	text  []byte
	reads []read
}

// Name is an entity that a policy names.
type Name struct{ Type, ID string }

// read is a member of the arguments that a policy reads. Form is args, clean or host.
type read struct {
	form string
	path []string
}

// Parse returns the policies of a source that can be compiled.
func Parse(src policy.Source) ([]*Policy, error) {
	list, err := cedar.NewPolicyListFromBytes(src.Name, src.Text)
	if err != nil {
		return nil, &policy.Problem{File: src.Name, Line: src.Line + 1, Text: err.Error()}
	}
	out := make([]*Policy, len(list))
	for i, c := range list {
		raw, err := c.MarshalJSON()
		if err != nil {
			return nil, &policy.Problem{File: src.Name, Line: src.Line + c.Position().Line, Text: err.Error()}
		}
		p := &Policy{ID: string(c.Annotations()["id"]), Permit: c.Effect() == cedar.Permit, text: c.MarshalCedar()}
		if err := p.read(raw); err != nil {
			return nil, err
		}
		out[i] = p
	}
	return out, nil
}

// scope is a scope in Cedar's JSON.
type scope struct {
	Op       string   `json:"op"`
	Entity   *entity  `json:"entity"`
	Entities []entity `json:"entities"`
	Type     string   `json:"entity_type"`
	In       *struct {
		Entity entity `json:"entity"`
	} `json:"in"`
}

type entity struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// read reads Cedar's JSON.
func (p *Policy) read(raw []byte) error {
	var f struct {
		Principal  json.RawMessage `json:"principal"`
		Action     scope           `json:"action"`
		Resource   scope           `json:"resource"`
		Conditions []struct {
			Body any `json:"body"`
		} `json:"conditions"`
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		return err
	}
	var principal scope
	if err := json.Unmarshal(f.Principal, &principal); err != nil {
		return err
	}
	if principal.Op != "All" {
		p.Principal = string(f.Principal)
	}
	for _, s := range []scope{principal, f.Action, f.Resource} {
		for _, e := range s.entities() {
			p.name(e.Type, e.ID)
		}
	}
	for _, e := range f.Action.entities() {
		p.Actions = append(p.Actions, e.ID)
	}
	for _, c := range f.Conditions {
		p.walk(c.Body)
	}
	p.Always = len(f.Conditions) == 0
	return nil
}

func (s *scope) entities() []entity {
	all := s.Entities
	if s.Entity != nil {
		all = append(all, *s.Entity)
	}
	if s.In != nil {
		all = append(all, s.In.Entity)
	}
	return all
}

func (p *Policy) name(kind, id string) {
	if n := (Name{kind, id}); kind != "Action" && !slices.Contains(p.Names, n) {
		p.Names = append(p.Names, n)
	}
}

// walk notes what an expression names and reads.
func (p *Policy) walk(node any) {
	switch node := node.(type) {
	case []any:
		for _, n := range node {
			p.walk(n)
		}
	case map[string]any:
		if e, ok := node["__entity"].(map[string]any); ok {
			kind, _ := e["type"].(string)
			id, _ := e["id"].(string)
			p.name(kind, id)
			return
		}
		for op, of := range node {
			p.operation(op, of)
		}
	}
}

func (p *Policy) operation(op string, of any) {
	args, _ := of.(map[string]any)
	switch op {
	case ".", "has":
		if path := chain(map[string]any{op: of}); len(path) > 0 {
			p.member(path)
			return
		}
	case "contains", "containsAll", "containsAny":
		if path := chain(args["left"]); len(path) == 2 && path[0] == "context" && (path[1] == "seen" || path[1] == "found") {
			p.labels(args["right"])
		}
	}
	p.walk(of)
}

// chain returns the names of a chain of attributes of a variable, nil for another
// expression.
func chain(node any) []string {
	of, ok := node.(map[string]any)
	if !ok {
		return nil
	}
	if name, ok := of["Var"].(string); ok {
		return []string{name}
	}
	for _, op := range []string{".", "has"} {
		access, ok := of[op].(map[string]any)
		if !ok {
			continue
		}
		name, _ := access["attr"].(string)
		if above := chain(access["left"]); above != nil {
			return append(above, name)
		}
	}
	return nil
}

// member notes a member of the context.
func (p *Policy) member(path []string) {
	const least = 3 // context, form, name
	if path[0] != "context" || len(path) < least || !slices.Contains([]string{"args", "clean", "host"}, path[1]) {
		return
	}
	r := read{form: path[1], path: path[2:]}
	if !slices.ContainsFunc(p.reads, func(o read) bool { return o.form == r.form && slices.Equal(o.path, r.path) }) {
		p.reads = append(p.reads, r)
	}
}

// labels notes the texts of an expression.
func (p *Policy) labels(node any) {
	switch node := node.(type) {
	case []any:
		for _, n := range node {
			p.labels(n)
		}
	case map[string]any:
		for op, of := range node {
			if text, ok := of.(string); ok && op == "Value" {
				p.Labels = append(p.Labels, text)
			}
			p.labels(of)
		}
	}
}

// Reads reports whether the policy reads arguments.
func (p *Policy) Reads() bool { return len(p.reads) > 0 }

// About reports whether the policy is about an action.
func (p *Policy) About(a policy.Action) bool {
	return p.Actions == nil || slices.Contains(p.Actions, string(a))
}

func (r read) String() string { return r.form + "." + strings.Join(r.path, ".") }
