package schema

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/schemas"
)

// resource is a document, or a part of one that has an address of its own
// ("$id").
type resource struct {
	base      *url.URL
	root      any // *object or bool
	draft     draft
	anchors   map[string]*object
	dynamic   map[string]*object // those of "$dynamicAnchor"
	targets   map[string]*rule   // the rules of dynamic
	recursive bool               // "$recursiveAnchor" stands at the root
}

// place is where a schema stands.
type place struct {
	res *resource
	at  string // pointer from the root of the document
}

// library is the documents that a schema consists of: its own, and those of
// JSON Schema itself that it refers to.
type library struct {
	resources map[string]*resource // by address
	homes     map[*object]place    // of each schema that was read
	remotes   func(address string) (any, bool)
}

// location is the address of the schema itself; it is never opened.
const location = "mcpctl:///schema.json"

// open reads a document and returns its outermost resource.
func (l *library) open(address string, doc any) (*resource, error) {
	base, err := url.Parse(address)
	if err != nil {
		return nil, &Error{err}
	}
	res := newResource(base, doc, draft2020)
	l.resources[base.String()] = res
	return res, l.read(doc, place{res, ""}, true)
}

func newResource(base *url.URL, root any, d draft) *resource {
	return &resource{base: base, root: root, draft: d, anchors: map[string]*object{}, dynamic: map[string]*object{}}
}

// read notes where a schema and those in it stand, and checks that each keyword
// has a value of its kind. outer is whether it begins a document.
func (l *library) read(v any, p place, outer bool) error {
	o, ok := v.(*object)
	if !ok {
		if _, ok := v.(bool); ok && p.res.draft > draft4 {
			return nil
		}
		if p.res.draft == draft4 {
			return kind(v, p.at, Object)
		}
		return kind(v, p.at, Object|Boolean)
	}
	p, err := l.enter(o, p, outer)
	if err != nil {
		return err
	}
	l.homes[o] = p
	if err := l.anchor(o, p); err != nil {
		return err
	}
	for _, name := range o.keys {
		t, ok := p.res.draft.takes(name)
		if !ok {
			continue
		}
		at := Pointer(p.at, name)
		if err := t.sound(o.m[name], at); err != nil {
			return err
		}
		if err := l.inside(o.m[name], t, place{p.res, at}); err != nil {
			return err
		}
	}
	return nil
}

// inside reads the schemas in the value of a keyword.
func (l *library) inside(v any, t takes, p place) error {
	switch t {
	case takesSchema:
		return l.read(v, p, false)
	case takesSchemaOrBool:
		if _, ok := v.(bool); ok {
			return nil
		}
		return l.read(v, p, false)
	case takesSchemas, takesItems:
		items, ok := v.([]any)
		if !ok {
			return l.read(v, p, false)
		}
		if err := list(v, p.at, 1); err != nil {
			return err
		}
		for i, x := range items {
			if err := l.read(x, place{p.res, Pointer(p.at, strconv.Itoa(i))}, false); err != nil {
				return err
			}
		}
	case takesSchemaMap, takesDependencies:
		o, _ := v.(*object)
		for _, name := range o.keys {
			if _, names := o.m[name].([]any); names && t == takesDependencies {
				continue
			}
			if err := l.read(o.m[name], place{p.res, Pointer(p.at, name)}, false); err != nil {
				return err
			}
		}
	default: // no schemas
	}
	return nil
}

// enter returns the place of a schema: in a resource of its own if it has an
// address, and under the dialect that it declares there.
func (l *library) enter(o *object, p place, outer bool) (place, error) {
	d := p.res.draft
	declared, _ := o.get("$schema").(string)
	if declared != "" && (outer || o.get("$id") != nil || o.get("id") != nil) {
		var known bool
		if d, known = draftOf(declared); !known {
			return p, unsound(Pointer(p.at, "$schema"), declared+" is outside the schema, and nothing is fetched")
		}
	}
	if outer {
		p.res.draft, p.res.recursive = d, o.get("$recursiveAnchor") == true
	}
	id, _ := o.get(d.idName()).(string)
	if id, _, _ = strings.Cut(id, "#"); id == "" || d.refAlone(o) {
		return p, nil
	}
	base, err := p.res.base.Parse(id)
	if err != nil {
		return p, unsound(Pointer(p.at, d.idName()), strconv.Quote(id)+" is no URI reference")
	}
	if other, ok := l.resources[base.String()]; ok && other != p.res && !outer {
		return p, unsound(Pointer(p.at, d.idName()), "another schema has the address "+id)
	}
	if outer {
		p.res.base = base
	} else {
		p.res = newResource(base, o, d)
		p.res.recursive = o.get("$recursiveAnchor") == true
	}
	l.resources[base.String()] = p.res
	return p, nil
}

// idName is the keyword for a schema's address.
func (d draft) idName() string {
	if d == draft4 {
		return "id"
	}
	return "$id"
}

// refAlone reports whether a schema is a reference beside which nothing counts.
func (d draft) refAlone(o *object) bool {
	_, ok := o.get("$ref").(string)
	return ok && d < draft2019
}

// anchor notes the names that a schema goes by.
func (l *library) anchor(o *object, p place) error {
	add := func(key, name string) error {
		if other, ok := p.res.anchors[name]; ok && other != o {
			return unsound(Pointer(p.at, key), "another schema has the name "+name)
		}
		p.res.anchors[name] = o
		return nil
	}
	d := p.res.draft
	if d < draft2019 {
		id, _ := o.get(d.idName()).(string)
		if _, name, ok := strings.Cut(id, "#"); ok && name != "" && !strings.HasPrefix(name, "/") && !d.refAlone(o) {
			return add(d.idName(), name)
		}
		return nil
	}
	if name, ok := o.get("$anchor").(string); ok {
		if err := add("$anchor", name); err != nil {
			return err
		}
	}
	if name, ok := o.get("$dynamicAnchor").(string); ok && d >= draft2020 {
		p.res.dynamic[name] = o
		return add("$dynamicAnchor", name)
	}
	return nil
}

// follow finds what a reference leads to, from the place that it stands in. The
// place returned is that of the schema found.
func (l *library) follow(ref string, from place) (any, place, error) {
	lost := func(why string) (any, place, error) {
		return nil, place{}, unsound(from.at, strconv.Quote(ref)+" "+why)
	}
	target, err := from.res.base.Parse(ref)
	if err != nil {
		return lost("is no URI reference")
	}
	fragment := target.Fragment
	target.Fragment, target.RawFragment = "", ""
	res, ok := l.resources[target.String()]
	if !ok {
		doc, ok := l.fetch(target.String())
		if !ok {
			return lost("is outside the schema, and nothing is fetched")
		}
		if res, err = l.open(target.String(), doc); err != nil {
			return nil, place{}, err
		}
	}
	found, p, ok := res.root, place{res, ""}, true
	if o, isObject := found.(*object); isObject {
		p = l.homes[o]
	}
	switch {
	case fragment == "":
	case strings.HasPrefix(fragment, "/"):
		found, p, ok = l.walk(found, p, fragment[1:])
	default:
		found, ok = any(res.anchors[fragment]), res.anchors[fragment] != nil
		p = l.homes[res.anchors[fragment]]
	}
	if !ok {
		return lost("is not found")
	}
	if o, isObject := found.(*object); isObject {
		if home, known := l.homes[o]; known {
			return found, home, nil
		}
	}
	return found, p, l.read(found, p, false)
}

// walk follows a JSON pointer. A schema with an address that it comes through
// changes the resource.
func (l *library) walk(v any, p place, pointer string) (any, place, bool) {
	for token := range strings.SplitSeq(pointer, "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		p.at = Pointer(p.at, token)
		switch x := v.(type) {
		case *object:
			next, ok := x.m[token]
			if !ok {
				return nil, p, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(x) {
				return nil, p, false
			}
			v = x[i]
		default:
			return nil, p, false
		}
		if o, ok := v.(*object); ok {
			if home, ok := l.homes[o]; ok {
				p = home
			}
		}
	}
	return v, p, true
}

// fetch returns a document that is at hand: nothing is asked of the network.
func (l *library) fetch(address string) (any, bool) {
	if _, path, ok := strings.Cut(address, "://json-schema.org/"); ok {
		if raw, ok := schemas.Meta(path); ok {
			doc, err := decode(raw, maxSchemaDepth, maxSchemaValues)
			return doc, err == nil
		}
	}
	if l.remotes == nil {
		return nil, false
	}
	return l.remotes(address)
}

// unevaluated reports whether a keyword counts on what other ones have seen.
func (l *library) unevaluated() bool {
	for o := range l.homes {
		if o.get("unevaluatedItems") != nil || o.get("unevaluatedProperties") != nil {
			return true
		}
	}
	return false
}
