package gogen

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/runtime"
)

// maxDepth bounds schemas written one inside the other.
const maxDepth = 100

// build makes the representation of all tools, which must be sorted.
func build(in Input, tools []runtime.Tool) *pkg {
	p := &pkg{name: in.Package, server: in.Server}
	if in.Implementation.Name != "" || in.Implementation.Version != "" {
		p.version = strings.TrimSpace(in.Implementation.Name + " " + in.Implementation.Version)
	}
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	methods := assign(names, nil, "")
	for i, t := range tools {
		m := &method{tool: t.Name, goName: methods[t.Name], doc: toolDoc(&tools[i])}
		if other := goName(t.Name); other != m.goName {
			p.warn(t.Name, "", "its method is called "+m.goName+": another tool has the name "+other+" as well")
		}
		p.buildParams(m, t.InputSchema)
		p.buildResult(m, t.OutputSchema)
		p.methods = append(p.methods, m)
	}
	breakCycles(p.types)
	return p
}

func (p *pkg) warn(tool, pointer, reason string) {
	p.warnings = append(p.warnings, Warning{Tool: tool, Pointer: pointer, Reason: reason})
}

// builder makes the types of one schema.
type builder struct {
	pkg    *pkg
	doc    *document
	tool   string
	side   string // "/inputSchema" or "/outputSchema"
	prefix string // of the names of nested types
	refs   map[string]*typ
	used   map[*typ]bool // references met while their target was in the making
	depth  int
}

// place is where a schema stands: its pointer, and the name a type made there
// should have.
type place struct{ pointer, want string }

func (at place) member(name string) place {
	return place{at.pointer + "/properties/" + escapePointer(name), at.want + goName(name)}
}

func (at place) items() place { return place{at.pointer + "/items", at.want + "Item"} }

func (at place) values() place {
	return place{at.pointer + "/additionalProperties", at.want + "Value"}
}

func escapePointer(s string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(s) }

func (p *pkg) newBuilder(m *method, raw json.RawMessage, side, prefix string) (*builder, error) {
	root, err := parseJSON(raw)
	if err != nil {
		return nil, err
	}
	b := &builder{
		pkg: p, doc: &document{root: root}, tool: m.tool, side: side, prefix: prefix,
		refs: map[string]*typ{}, used: map[*typ]bool{},
	}
	if s, _ := root.(object); s != nil {
		if dialect, ok := s["$schema"].(string); ok && !knownDialect(dialect) {
			p.warn(m.tool, side, "unknown JSON Schema dialect "+dialect+", read as 2020-12")
		}
	}
	return b, nil
}

func knownDialect(uri string) bool {
	uri = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(uri, "http://"), "https://"), "#")
	switch uri {
	case "json-schema.org/draft-04/schema", "json-schema.org/draft-06/schema", "json-schema.org/draft-07/schema", "json-schema.org/schema",
		"json-schema.org/draft/2019-09/schema", "json-schema.org/draft/2020-12/schema":
		return true
	}
	return false
}

// buildParams makes the parameter struct of a tool.
func (p *pkg) buildParams(m *method, raw json.RawMessage) {
	if len(raw) == 0 || string(raw) == "null" {
		p.warn(m.tool, "/inputSchema", "the tool has no input schema; arguments are a raw object")
		m.rawParams = true
		return
	}
	b, err := p.newBuilder(m, raw, "/inputSchema", m.goName)
	if err != nil {
		p.warn(m.tool, "/inputSchema", "not JSON: "+err.Error())
		m.rawParams = true
		return
	}
	n := b.doc.normalise(b.doc.root)
	at := place{b.side, m.goName}
	isObject := n.schema["type"] == "object" || n.schema["type"] == nil
	switch {
	case n.why != "" || !isObject || n.schema["enum"] != nil || n.schema["const"] != nil:
		why := n.why
		if why == "" {
			why = "not the schema of an object"
		}
		p.warn(m.tool, b.side, why+": arguments are a raw object")
		m.rawParams = true
		m.doc = append(m.doc, "The arguments are a JSON object: "+why+".")
		return
	case len(propertiesOf(n)) == 0 && !open(n.schema):
		return
	}
	m.params = &named{want: m.goName + "Params", top: true, pos: m.tool + " " + b.side, tool: m.tool}
	m.params.doc = []string{"are the arguments of [Client." + m.goName + "]."}
	b.fillRoot(m.params, n, at)
}

// open reports whether a schema without properties says that there can be
// members all the same.
func open(s object) bool {
	if ap, ok := s["additionalProperties"]; ok && ap != false {
		return true
	}
	return s["patternProperties"] != nil || s["required"] != nil && len(asList(s["required"])) > 0
}

// buildResult makes the type of a tool's structured content.
func (p *pkg) buildResult(m *method, raw json.RawMessage) {
	if len(raw) == 0 || string(raw) == "null" {
		return
	}
	b, err := p.newBuilder(m, raw, "/outputSchema", m.goName+"Result")
	if err != nil {
		p.warn(m.tool, "/outputSchema", "not JSON: "+err.Error())
		return
	}
	n := b.doc.normalise(b.doc.root)
	at := place{b.side, m.goName + "Result"}
	r := &named{want: m.goName + "Result", top: true, result: true, pos: m.tool + " " + b.side, tool: m.tool}
	r.doc = []string{"is what [Client." + m.goName + "] returns."}
	m.result = r
	if n.why == "" && !n.nullable && n.ref == "" && n.schema["type"] == "object" && len(propertiesOf(n)) > 0 {
		b.fillRoot(r, n, at)
		return
	}
	r.form = formWrapper
	p.types = append(p.types, r)
	r.under, r.underNull = b.build(b.doc.root, place{b.side, m.goName + "ResultValue"})
	r.doc = append(r.doc, docParagraphs(n)...)
}

// fillRoot makes a struct of the root and lets references to "#" find it.
func (b *builder) fillRoot(t *named, n *node, at place) {
	b.refs["#"] = &typ{kind: kindNamed, named: t}
	t.doc = append(t.doc, docParagraphs(n)...)
	b.pkg.types = append(b.pkg.types, t)
	b.fill(t, n, at)
}

// build gives the type of a schema, and whether null is allowed besides.
func (b *builder) build(schema any, at place) (t *typ, null bool) {
	n := b.doc.normalise(schema)
	return b.buildNode(n, at), n.nullable
}

func (b *builder) buildNode(n *node, at place) *typ {
	if b.depth++; b.depth > maxDepth {
		b.depth--
		return b.raw("nested too deeply", at)
	}
	defer func() { b.depth-- }()
	key := n.ref
	if key == "" {
		return b.make(n, at)
	}
	if t, ok := b.refs[key]; ok {
		b.used[t] = true
		return t
	}
	if n.refName != "" {
		at = place{key, b.prefix + goName(n.refName)}
	}
	t := &typ{}
	b.refs[key] = t
	made := b.make(n, at)
	if b.used[t] && (made.kind == kindList || made.kind == kindMap) {
		name := &named{form: formDefined, want: at.want, pos: b.pos(at), tool: b.tool, under: made}
		name.doc = append([]string{"is the definition " + key + " of the tool " + b.tool + "."}, docParagraphs(n)...)
		b.pkg.types = append(b.pkg.types, name)
		made = &typ{kind: kindNamed, named: name}
	}
	*t = *made
	return t
}

func (b *builder) pos(at place) string { return b.tool + " " + b.side + " " + at.pointer }

func (b *builder) raw(why string, at place) *typ {
	pointer := at.pointer
	if strings.HasPrefix(pointer, "#") {
		pointer = b.side + pointer[1:]
	}
	b.pkg.warn(b.tool, pointer, why+": left as json.RawMessage")
	return &typ{kind: kindRaw, why: why}
}

// make builds the type of a node that is not known yet.
func (b *builder) make(n *node, at place) *typ {
	s := n.schema
	if n.why != "" {
		return b.raw(n.why, at)
	}
	if n.any {
		return &typ{}
	}
	kind, _ := s["type"].(string)
	if v, ok := s["const"]; ok {
		s = with(s, "enum", []any{v})
	}
	if values, ok := s["enum"].([]any); ok {
		return b.makeEnum(n, kind, values, at)
	}
	switch kind {
	case "string":
		return &typ{kind: kindString}
	case "boolean":
		return &typ{kind: kindBool}
	case "integer":
		if !fitsInt64(s) {
			return &typ{kind: kindNumber}
		}
		return &typ{kind: kindInt}
	case "number":
		return &typ{kind: kindFloat}
	case "array":
		return b.makeList(s, at)
	case "object":
		return b.makeObject(n, at)
	case "":
		// Without a type, the rules for objects hold for objects only and any
		// other value passes. Arguments are given the narrower type, which is
		// what the author means; a result has to be read whatever it is.
		switch {
		case b.side == "/outputSchema":
			return b.raw("the schema has no type", at)
		case s["properties"] != nil || s["additionalProperties"] != nil || s["patternProperties"] != nil || s["required"] != nil:
			return b.makeObject(n, at)
		case s["items"] != nil || s["prefixItems"] != nil:
			return b.makeList(s, at)
		}
		return b.raw("rules without a type ("+strings.Join(rules(s), ", ")+")", at)
	}
	return b.raw("unknown type "+kind, at)
}

func rules(s object) []string {
	return slices.DeleteFunc(keys(s), func(k string) bool { return annotations[k] })
}

// fitsInt64 reports whether the bounds of an integer, where it has some, can
// be held by an int64.
func fitsInt64(s object) bool {
	for _, k := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"} {
		n, ok := number(s[k])
		if !ok {
			continue
		}
		f, _, err := big.ParseFloat(string(n), 10, 200, big.ToNearestEven)
		if err != nil || f.IsInf() {
			return false
		}
		if f.MantExp(nil) > 64 {
			return false
		}
		if i, _ := f.Int(nil); !i.IsInt64() {
			return false
		}
	}
	return true
}

func (b *builder) makeEnum(n *node, kind string, values []any, at place) *typ {
	kinds := map[string]bool{}
	var texts []string
	for _, v := range values {
		switch v := v.(type) {
		case string:
			kinds["string"] = true
			texts = append(texts, v)
		case bool:
			kinds["boolean"] = true
		case json.Number:
			text, ok := integerText(v)
			if ok {
				kinds["integer"] = true
			} else {
				kinds["number"] = true
			}
			texts = append(texts, text)
		default:
			kinds["other"] = true
		}
	}
	allowed := "one of the values " + shorten(listing(values), 300)
	switch {
	case len(values) == 0:
		return b.raw("the schema allows no value", at)
	case len(kinds) > 1 && !(len(kinds) == 2 && kinds["integer"] && kinds["number"]) || kinds["other"]:
		return b.raw(allowed, at)
	case kind != "" && !kinds[kind] && !(kind == "number" && kinds["integer"]):
		return b.raw("enum values that are not of the type "+kind, at)
	case kinds["boolean"]:
		n.notes = append(n.notes, "Allowed: "+shorten(listing(values), 300)+".")
		return &typ{kind: kindBool}
	case kinds["number"] || kinds["integer"] && kind == "number":
		n.notes = append(n.notes, "Allowed: "+shorten(listing(values), 300)+".")
		return &typ{kind: kindFloat}
	}
	t := &named{form: formStringEnum, want: at.want, pos: b.pos(at), tool: b.tool}
	if kinds["integer"] {
		t.form = formIntEnum
	}
	for _, text := range texts {
		if !slices.ContainsFunc(t.values, func(v *enumValue) bool { return v.text == text }) {
			t.values = append(t.values, &enumValue{text: text, doc: n.values[text]})
		}
	}
	t.doc = append([]string{"is one of the values that the tool " + b.tool + " knows."}, docParagraphs(&node{doc: n.doc})...)
	b.pkg.types = append(b.pkg.types, t)
	return &typ{kind: kindNamed, named: t}
}

// integerText gives the plain digits of an integer of 64 bits.
func integerText(n json.Number) (string, bool) {
	f, _, err := big.ParseFloat(string(n), 10, 200, big.ToNearestEven)
	if err != nil || !f.IsInt() || f.MantExp(nil) > 64 {
		return string(n), false
	}
	i, _ := f.Int(nil)
	return i.String(), i.IsInt64()
}

func listing(values []any) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = jsonText(v)
	}
	return strings.Join(parts, ", ")
}

// makeList builds an array. Tuples, in the form of either dialect, are typed
// only if all their items have one basic type.
func (b *builder) makeList(s object, at place) *typ {
	items, has := s["items"]
	tuple, isTuple := s["prefixItems"].([]any)
	if list, ok := items.([]any); ok {
		// Draft-07 and before; authors write it under any dialect.
		tuple, isTuple = list, true
		items, has = s["additionalItems"], s["additionalItems"] != nil
	}
	if !isTuple {
		if !has {
			return &typ{kind: kindList, elem: &typ{}}
		}
		elem, null := b.build(items, at.items())
		return &typ{kind: kindList, elem: elem, elemNull: null}
	}
	all := tuple
	if items != false {
		if !has {
			items = true
		}
		all = append(slices.Clone(tuple), items)
	}
	shapes := map[string]bool{}
	for _, item := range all {
		shapes[b.doc.shape(item)] = true
	}
	if len(shapes) == 1 {
		switch {
		case shapes["string"]:
			return &typ{kind: kindList, elem: &typ{kind: kindString}}
		case shapes["integer"]:
			return &typ{kind: kindList, elem: &typ{kind: kindInt}}
		case shapes["number"]:
			return &typ{kind: kindList, elem: &typ{kind: kindFloat}}
		case shapes["boolean"]:
			return &typ{kind: kindList, elem: &typ{kind: kindBool}}
		}
	}
	return &typ{kind: kindList, elem: b.raw(fmt.Sprintf("a tuple of %d items", len(tuple)), at)}
}

// makeObject builds a struct, or a map where no member has a name.
func (b *builder) makeObject(n *node, at place) *typ {
	if len(propertiesOf(n)) == 0 && n.schema["required"] == nil {
		elem, null := b.rest(n.schema, at)
		if elem == nil {
			elem = &typ{}
		}
		return &typ{kind: kindMap, elem: elem, elemNull: null}
	}
	t := &named{want: at.want, pos: b.pos(at), tool: b.tool}
	t.doc = append([]string{"is an object that the tool " + b.tool + " " + b.verb() + "."}, docParagraphs(&node{doc: n.doc, notes: n.notes})...)
	b.pkg.types = append(b.pkg.types, t)
	result := &typ{kind: kindNamed, named: t}
	b.fill(t, n, at)
	return result
}

func (b *builder) verb() string {
	if b.side == "/inputSchema" {
		return "takes"
	}
	return "returns"
}

// rest gives the type of members without a name of their own; nil where there
// are none.
func (b *builder) rest(s object, at place) (t *typ, null bool) {
	ap, has := s["additionalProperties"]
	patterns, _ := s["patternProperties"].(object)
	if has && ap == false && s["unevaluatedProperties"] == nil {
		switch len(patterns) {
		case 0:
			return nil, false
		case 1:
			for _, schema := range patterns {
				return b.build(schema, at.values())
			}
		}
		return &typ{}, false
	}
	if !has || len(patterns) > 0 {
		return &typ{}, false
	}
	return b.build(ap, at.values())
}

func propertiesOf(n *node) object {
	m, _ := n.schema["properties"].(object)
	return m
}

// fill makes the fields of a struct: required members first, each group by
// name, so that the order of the schema does not matter.
func (b *builder) fill(t *named, n *node, at place) {
	properties := propertiesOf(n)
	required := map[string]bool{}
	for _, v := range asList(n.schema["required"]) {
		if s, ok := v.(string); ok {
			required[s] = true
		}
	}
	names := keys(properties)
	for name := range required {
		if _, ok := properties[name]; !ok {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(x, y string) int {
		if required[x] != required[y] {
			if required[x] {
				return -1
			}
			return 1
		}
		return strings.Compare(x, y)
	})
	for _, name := range names {
		schema, ok := properties[name]
		if !ok {
			schema = true
			if ap, has := n.schema["additionalProperties"]; has && ap != false {
				schema = ap
			}
		}
		t.fields = append(t.fields, b.field(name, schema, required[name], at.member(name)))
	}
	t.rest, t.restNull = b.rest(n.schema, at)
}

func (b *builder) field(name string, schema any, required bool, at place) *field {
	n := b.doc.normalise(schema)
	f := &field{json: name}
	if v, ok := n.schema["const"]; ok && required && !n.nullable && n.why == "" {
		f.presence, f.literal, f.typ = constant, jsonText(v), &typ{}
		return f
	}
	f.typ = b.buildNode(n, at)
	switch {
	case required && n.nullable:
		f.presence = orNull
	case required:
		f.presence = always
	case n.nullable:
		f.presence = orAbsentOrNull
	default:
		f.presence = orAbsent
	}
	f.doc = fieldDoc(n, f)
	return f
}

// breakCycles makes a field a pointer where a struct would otherwise contain
// itself. Only required fields hold structs by value.
func breakCycles(types []*named) {
	const (
		unseen = iota
		open
		done
	)
	state := map[*named]int{}
	var visit func(t *named)
	visit = func(t *named) {
		state[t] = open
		for _, f := range t.fields {
			if f.presence != always || f.typ.kind != kindNamed || f.typ.named.form != formStruct {
				continue
			}
			switch state[f.typ.named] {
			case open:
				f.indirect = true
			case unseen:
				visit(f.typ.named)
			}
		}
		state[t] = done
	}
	for _, t := range types {
		if state[t] == unseen {
			visit(t)
		}
	}
}
