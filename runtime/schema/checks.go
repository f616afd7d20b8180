package schema

import (
	"strconv"

	"github.com/mcpctl/mcpctl/internal/plain"
)

// applies is a schema for the same value: "$ref" and each of "allOf".
type applies struct{ rule *rule }

func (a applies) check(v *visit) { v.must(v.same(a.rule, false)) }

// outer is a reference whose target the schemas around it may replace:
// "$dynamicRef" and "$recursiveRef", whose name is "".
type outer struct {
	first   *rule
	name    string
	dynamic bool
}

func (o outer) check(v *visit) {
	target := o.first
	if o.dynamic {
		if r := v.outermost(func(res *resource) *rule { return res.targets[o.name] }); r != nil {
			target = r
		}
	}
	v.must(v.same(target, false))
}

// typed is "type".
type typed struct{ kinds Kinds }

func (t typed) check(v *visit) {
	if kindOf(v.value)&t.kinds == 0 {
		v.fail(func() failure { return mismatch{v.at(), t.kinds.names(), kindWord(v.value)} })
	}
}

// constant is "const".
type constant struct {
	value     any
	canonical string
}

func (c constant) check(v *visit) {
	if canonical(v.value) != c.canonical {
		v.wrong("must be %s", text(c.value))
	}
}

// listed is "enum".
type listed struct {
	values []any
	known  map[string]bool
}

func (l listed) check(v *visit) {
	if !l.known[canonical(v.value)] {
		v.fail(func() failure { return unlisted{v.at(), v.value, l.values} })
	}
}

// sized bounds the size of a value of a kind.
type sized struct {
	kind        Kinds
	least, most int
}

func (s sized) check(v *visit) {
	size, word := 0, ""
	switch x := v.value.(type) {
	case *object:
		size, word = len(x.keys), "member"
	case []any:
		size, word = len(x), "item"
	case string:
		word = "character"
		for range x {
			size++
		}
	}
	if kindOf(v.value) != s.kind {
		return
	}
	if size < s.least {
		v.wrong("%s, want at least %d", plain.Count(size, word), s.least)
	}
	if size > s.most {
		v.wrong("%s, want at most %d", plain.Count(size, word), s.most)
	}
}

// negated is "not".
type negated struct{ rule *rule }

func (n negated) check(v *visit) {
	child := &visit{run: v.run, rule: n.rule, value: v.value, parent: v, quiet: true}
	if child.apply(); !child.failed {
		v.wrong("fits a form that is excluded")
	}
}

// anyOf is "anyOf".
type anyOf struct{ rules []*rule }

func (a anyOf) check(v *visit) {
	fits := false
	var arms [][]failure
	for _, r := range a.rules {
		child := v.same(r, false)
		fits = fits || !child.failed
		if fits && !v.run.tracks {
			return
		}
		arms = append(arms, child.fails)
	}
	if !fits {
		v.fail(func() failure { return unfit{v.at(), arms} })
	}
}

// oneOf is "oneOf".
type oneOf struct{ rules []*rule }

func (o oneOf) check(v *visit) {
	fits := false
	var arms [][]failure
	for _, r := range o.rules {
		child := v.same(r, fits)
		if !child.failed && fits {
			v.wrong("fits more than one of the forms that exclude one another")
			return
		}
		fits = fits || !child.failed
		arms = append(arms, child.fails)
	}
	if !fits {
		v.fail(func() failure { return unfit{v.at(), arms} })
	}
}

// branch is "if", "then" and "else". Nil is a keyword that is not there.
type branch struct{ when, then, otherwise *rule }

func (b branch) check(v *visit) {
	next := b.then
	if v.same(b.when, true).failed {
		next = b.otherwise
	}
	if next != nil {
		v.must(v.same(next, false))
	}
}

// matching is "pattern".
type matching struct{ re patternMatcher }

func (m matching) check(v *visit) {
	if s, ok := v.value.(string); ok && !m.re.MatchString(s) {
		v.wrong("does not match the pattern %s", m.re)
	}
}

// itemwise is "prefixItems" and "items", or "items" and "additionalItems".
type itemwise struct {
	first []*rule
	other *rule // nil allows everything
}

func (w itemwise) check(v *visit) {
	items, ok := v.value.([]any)
	if !ok {
		return
	}
	if w.other != nil && w.other.never && len(w.first) > 0 && w.other.res.draft < draft2020 && len(items) > len(w.first) {
		v.wrong("last %d additionalItem(s) not allowed", len(items)-len(w.first))
		items = items[:len(w.first)]
	}
	for i, x := range items {
		r := w.other
		if i < len(w.first) {
			r = w.first[i]
		}
		if r == nil {
			break
		}
		v.must(v.below(r, strconv.Itoa(i), x))
	}
	if v.run.tracks {
		v.seen.all = v.seen.all || w.other != nil
		v.seen.first = max(v.seen.first, len(w.first))
	}
}

// contains is "contains" with its counts.
type contains struct {
	rule        *rule
	least, most int
	sees        bool // since 2020-12 an item that fits counts as seen
}

func (c contains) check(v *visit) {
	items, ok := v.value.([]any)
	if !ok {
		return
	}
	found := 0
	var causes []failure
	for i, x := range items {
		child := v.below(c.rule, strconv.Itoa(i), x)
		if child.failed {
			causes = append(causes, child.fails...)
			continue
		}
		if found++; c.sees && v.run.tracks {
			v.seen.item(i)
		}
	}
	switch {
	case found > c.most:
		v.wrong("%s of the kind that is counted, want at most %d", plain.Count(found, "item"), c.most)
	case found >= c.least:
	case len(causes) > 0:
		v.failed = true
		v.fails = append(v.fails, causes...)
	default:
		v.wrong("%s of the kind that is counted, want at least %d", plain.Count(found, "item"), c.least)
	}
}

// unique is "uniqueItems".
type unique struct{}

func (unique) check(v *visit) {
	items, _ := v.value.([]any)
	if len(items) < 2 {
		return
	}
	known := make(map[string]int, len(items))
	for i, x := range items {
		key := canonical(x)
		if j, twice := known[key]; twice {
			v.wrong("items at %d and %d are equal", j, i)
			return
		}
		known[key] = i
	}
}

// otherItems is "unevaluatedItems".
type otherItems struct{ rule *rule }

func (o otherItems) check(v *visit) {
	items, ok := v.value.([]any)
	if !ok {
		return
	}
	for i, x := range items {
		if !v.seen.all && i >= v.seen.first && !v.seen.items[i] {
			v.must(v.below(o.rule, strconv.Itoa(i), x))
		}
	}
	v.seen.all = true
}
