package schema

// member is a schema by a name.
type member struct {
	name string
	rule *rule
}

// required is "required", or the names that another member asks for:
// "dependentRequired".
type required struct {
	keyword string // "" asks always
	names   []string
}

func (r required) check(v *visit) {
	o, ok := v.value.(*object)
	if !ok {
		return
	}
	if _, asks := o.m[r.keyword]; r.keyword != "" && !asks {
		return
	}
	for _, name := range r.names {
		if _, ok := o.m[name]; ok {
			continue
		}
		if r.keyword != "" {
			v.wrong("%s is required beside %s", text(name), text(r.keyword))
			continue
		}
		v.fail(func() failure { return Issue{Pointer: Pointer(v.at(), name), Message: "required, but missing"} })
	}
}

// dependent is a schema for objects that have a member: "dependentSchemas".
type dependent member

func (d dependent) check(v *visit) {
	if o, ok := v.value.(*object); ok {
		if _, asks := o.m[d.name]; asks {
			v.must(v.same(d.rule, false))
		}
	}
}

// patterned is a schema for the members whose names match.
type patterned struct {
	re   patternMatcher
	rule *rule
}

// memberwise is "properties", "patternProperties" and "additionalProperties".
type memberwise struct {
	named    map[string]*rule
	patterns []patterned
	other    *rule // nil allows everything
}

func (m memberwise) check(v *visit) {
	o, ok := v.value.(*object)
	if !ok {
		return
	}
	for _, name := range o.keys {
		if v.failed && v.quiet {
			return
		}
		m.member(v, name, o.m[name])
	}
}

func (m memberwise) member(v *visit, name string, value any) {
	r, spoken := m.named[name]
	if spoken {
		v.must(v.below(r, name, value))
	}
	for _, p := range m.patterns {
		if p.re.MatchString(name) {
			spoken = true
			v.must(v.below(p.rule, name, value))
		}
	}
	if !spoken && m.other != nil {
		spoken = true
		if m.other.never {
			v.fail(func() failure { return unknown{v.tokens(), name} })
		} else {
			v.must(v.below(m.other, name, value))
		}
	}
	if spoken && v.run.tracks {
		v.seen.name(name)
	}
}

// memberNames is "propertyNames".
type memberNames struct{ rule *rule }

func (m memberNames) check(v *visit) {
	o, ok := v.value.(*object)
	if !ok {
		return
	}
	for _, name := range o.keys {
		// A name has no place of its own: the visit starts again.
		child := &visit{run: v.run, rule: m.rule, value: name, quiet: v.quiet}
		if child.apply(); child.failed {
			v.fail(func() failure { return misnamed{v.at(), name, child.fails} })
		}
	}
}

// otherMembers is "unevaluatedProperties".
type otherMembers struct{ rule *rule }

func (m otherMembers) check(v *visit) {
	o, ok := v.value.(*object)
	if !ok {
		return
	}
	for _, name := range o.keys {
		if !v.seen.all && !v.seen.names[name] {
			v.must(v.below(m.rule, name, o.m[name]))
		}
	}
	v.seen.all = true
}
