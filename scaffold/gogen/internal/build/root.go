package build

import (
	"encoding/json"
	"maps"
	"slices"

	runtimeschema "github.com/mcpctl/mcpctl/runtime/schema"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/jsonschema"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/names"
)

// newBuilder returns the builder of one of a tool's schemas, or nil, with a
// warning, for what is not JSON.
func newBuilder(p *model.Package, tool string, side model.Side, raw json.RawMessage, decimals bool) *builder {
	b := &builder{
		report: report{pkg: p, tool: tool, member: "/inputSchema", reasons: map[string]bool{}},
		side:   side, decimals: decimals, made: map[*schema]*entry{}, keys: map[string]bool{},
	}
	if side == model.Output {
		b.member = "/outputSchema"
	}
	v, err := jsonschema.Decode(raw)
	if err != nil {
		b.warn(b.member, "not JSON: "+err.Error())
		return nil
	}
	b.doc = newDocument(v)
	if b.doc.Dialect != "" {
		b.warn(b.member, "unknown JSON Schema dialect "+b.doc.Dialect+", read as 2020-12")
	}
	return b
}

// buildParams makes the parameters of a tool, a struct for every schema, so that
// an added argument breaks nothing. The protocol has arguments as an object, so
// the schema need not repeat it.
func buildParams(p *model.Package, m *model.Tool, raw json.RawMessage, decimals bool) {
	if len(raw) == 0 || string(raw) == "null" {
		p.Warnings = append(p.Warnings, model.Warning{
			Tool: m.Name, Pointer: "/inputSchema", Reason: "the tool has no input schema: its arguments are a raw object",
		})
		return
	}
	b := newBuilder(p, m.Name, model.Input, raw, decimals)
	if b == nil {
		return
	}
	f := b.doc.flatten(b.doc.root)
	if why := b.notObjectReason(f); why != "" {
		b.warn(b.member, why+": the arguments are a raw object")
		return
	}
	d := &model.Decl{Top: true, Doc: f.doc()}
	b.fillRoot(d, b.superset(f, 0))
	if len(d.Fields) == 0 && d.Rules == nil && d.Schema == "" && (d.Rest == nil || d.Rest.Kind == model.Raw && d.Rest.Why == "") {
		// A type would have no named members. One that comes later breaks nothing: it
		// is an option.
		p.Decls = slices.DeleteFunc(p.Decls, func(other *model.Decl) bool { return other == d })
		m.Optional = true
		return
	}
	m.Params = d
	m.Optional = !slices.ContainsFunc(d.Fields, func(f *model.Field) bool { return f.Presence == model.Always || f.Presence == model.OrNull }) &&
		(d.Rules == nil || d.Rules.MinProperties == nil)
}

// notObjectReason returns why a root schema is not that of an object.
func (b *builder) notObjectReason(f *schema) string {
	switch {
	case f.fault != "" && f.types == nil:
		return f.fault
	case f.never:
		return "the schema allows no value"
	case b.doc.kinds(f)&kindObject == 0, f.hasEnum:
		return "not the schema of an object"
	}
	return ""
}

// buildResult makes the type of a tool's structured content.
func buildResult(p *model.Package, m *model.Tool, raw json.RawMessage, decimals bool) {
	if len(raw) == 0 || string(raw) == "null" {
		return
	}
	b := newBuilder(p, m.Name, model.Output, raw, decimals)
	if b == nil {
		return
	}
	f := b.doc.flatten(b.doc.root)
	d := &model.Decl{Top: true, Additional: model.Additional{Result: true}, Doc: f.doc()}
	m.Result = d
	if b.notObjectReason(f) == "" && len(f.unions) == 0 && b.doc.kinds(f) == kindObject && !b.doc.admitsNull(b.doc.root) {
		b.fillRoot(d, f)
		return
	}
	d.Form = model.Wrapper
	b.declare(d, place{b.member, ""}, nil)
	d.Under, d.UnderNull = b.build(b.doc.root, place{b.member + "/value", "ResultValue"})
	b.finish(d)
}

// fillRoot makes a struct of the root, which references to it find.
func (b *builder) fillRoot(d *model.Decl, f *schema) {
	at := place{b.member, ""}
	t := b.declare(d, at, nil)
	for _, s := range []*schema{b.doc.root, b.doc.follow(b.doc.root)} {
		b.made[s] = &entry{t: t, done: true}
	}
	if b.side == model.Output {
		at.want = "Result"
	}
	for keyword := range f.extra {
		if applies(keyword, kindObject) {
			b.force(keyword)
		}
	}
	b.fill(d, f, b.restOf(f), at)
	b.finish(d)
}

// finish sets the declaration's schema, where types and rules do not express all
// of it.
func (b *builder) finish(d *model.Decl) {
	if len(b.reasons) == 0 {
		return
	}
	slices.Sort(b.uncheckedPatterns)
	for _, why := range b.uncheckedPatterns {
		b.warn(b.member, why)
	}
	text := b.doc.text()
	if sound(text) != nil { // its text depends on the order of what it found
		b.warn(b.member, "the schema is not valid, so that some of its rules are left to the server")
		return
	}
	d.Schema = text
	d.SchemaFor = slices.Sorted(maps.Keys(b.reasons))
}

// sound returns why values cannot be validated against a schema.
func sound(text string) error {
	s, err := runtimeschema.Parse(json.RawMessage(text))
	if err != nil {
		return err
	}
	return s.Sound()
}

// superset returns an object schema without unions that allows all that a root
// with unions allows: the members of all arms, typed where every arm defines
// them.
func (b *builder) superset(f *schema, depth int) *schema {
	if len(f.unions) == 0 {
		return f
	}
	out := *f
	out.unions = nil
	out.properties = maps.Clone(f.properties)
	out.required = maps.Clone(f.required)
	if out.properties == nil {
		out.properties = map[string]*schema{}
	}
	if out.required == nil {
		out.required = map[string]bool{}
	}
	for _, u := range f.unions {
		b.force(u.keyword())
		var arms []*schema
		for _, arm := range u.arms {
			if b.doc.kinds(arm)&kindObject == 0 {
				continue
			}
			flat := b.doc.flatten(arm)
			if depth < maxDepth {
				flat = b.superset(flat, depth+1)
			}
			arms = append(arms, flat)
		}
		b.addArms(&out, arms, f)
	}
	out.setFlat()
	out.pointer = f.pointer + "|superset"
	return &out
}

// addArms adds the members that only arms have.
func (b *builder) addArms(out *schema, arms []*schema, parent *schema) {
	var listed []string
	for i, arm := range arms {
		for name := range arm.properties {
			listed = append(listed, name)
		}
		for name := range arm.required {
			if i == 0 && !slices.ContainsFunc(arms, func(a *schema) bool { return !a.required[name] }) {
				out.required[name] = true
			}
		}
	}
	slices.Sort(listed)
	for _, name := range slices.Compact(listed) {
		var of []*schema
		open := false
		for _, arm := range arms {
			s := b.memberOf(arm, name)
			if s == nil || s.allowsAll() {
				open = true
				break
			}
			of = append(of, s)
		}
		own := b.memberOf(parent, name)
		switch {
		case open && own == nil:
			out.properties[name] = &schema{pointer: runtimeschema.Pointer(parent.pointer+"/properties", name), fault: "what it is depends on other arguments"}
		case open:
			out.properties[name] = own
		default:
			either := &schema{pointer: parent.pointer + "|" + name, base: jsonschema.DefaultBase, unions: []union{{arms: of}}}
			out.properties[name] = b.doc.all(own, either)
		}
	}
}

// topKey returns the key of a declaration that belongs to no tool.
func topKey(kind, name, pointer string) string { return names.Key(kind, name, pointer) }
