package build

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	jsonschema "github.com/mcpctl/mcpctl/runtime/schema"
)

// resolve finds what a reference leads to. Documents other than this one are
// never fetched (2025-11-25, JSON Schema usage).
func (d *document) resolve(s *schema) (*schema, error) {
	base, err := url.Parse(s.base)
	if err != nil {
		return nil, fmt.Errorf("the reference %s leads nowhere", s.ref)
	}
	u, err := base.Parse(s.ref)
	if err != nil {
		return nil, fmt.Errorf("the reference %s is no URI", s.ref)
	}
	fragment := u.Fragment
	u.Fragment, u.RawFragment = "", ""
	resource, ok := d.resources[u.String()]
	if !ok {
		return nil, fmt.Errorf("the reference %s leads to another document", s.ref)
	}
	switch {
	case fragment == "":
		return d.at(resource, s)
	case strings.HasPrefix(fragment, "/"):
		return d.at(resource+fragment, s)
	}
	pointer, ok := d.anchors[u.String()+"#"+fragment]
	if !ok {
		return nil, fmt.Errorf("the reference %s leads nowhere", s.ref)
	}
	return d.at(pointer, s)
}

// at gives the schema at a pointer. One behind keywords that are no part of
// JSON Schema is read only now.
func (d *document) at(pointer string, from *schema) (*schema, error) {
	if s := d.schemas[pointer]; s != nil {
		return s, nil
	}
	at := d.raw
	base, here := d.bases[""], ""
	if pointer != "" {
		for step := range strings.SplitSeq(pointer[1:], "/") {
			step = unescapeStep(step)
			ok := false
			switch v := at.(type) {
			case object:
				at, ok = v[step]
			case []any:
				i, err := strconv.Atoi(step)
				if ok = err == nil && i >= 0 && i < len(v) && strconv.Itoa(i) == step; ok {
					at = v[i]
				}
			}
			if !ok {
				return nil, fmt.Errorf("the reference %s leads nowhere", from.ref)
			}
			here = jsonschema.Pointer(here, step)
			if uri, ok := d.bases[here]; ok {
				base = uri
			}
		}
	}
	switch at.(type) {
	case object, bool:
		return d.parse(at, here, base, 0), nil
	}
	return nil, fmt.Errorf("the reference %s leads to no schema", from.ref)
}

// follow gives what a schema stands for that is a reference, or an allOf of
// one, and says nothing itself.
func (d *document) follow(s *schema) *schema {
	for range maxDepth {
		bare := *s
		bare.ref, bare.allOf = "", nil
		switch {
		case !bare.free():
			return s
		case s.ref != "" && len(s.allOf) == 0:
			target, err := d.resolve(s)
			if err != nil {
				return s
			}
			s = target
		case s.ref == "" && len(s.allOf) == 1:
			s = s.allOf[0]
		default:
			return s
		}
	}
	return s
}
