package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/mcpctl/mcpctl/runtime/nearest"
	"github.com/mcpctl/mcpctl/runtime/plain"
)

// Issue is one thing that is wrong with a value.
type Issue struct {
	// Pointer is where, as a JSON pointer (RFC 6901); "" is the whole value.
	// For a missing member it points where the member should be.
	Pointer string
	// Message says what, without a name of the place.
	Message string
	// Near is the known name closest to one that is not known, or the allowed
	// value closest to one that is not allowed; "" when nothing is close.
	Near string
}

// String is the issue on one line.
func (i Issue) String() string {
	var b strings.Builder
	if i.Pointer != "" {
		b.WriteString("at " + i.Pointer + ": ")
	}
	b.WriteString(i.Message)
	if i.Near != "" {
		b.WriteString("; did you mean " + i.Near + "?")
	}
	return b.String()
}

// ValidationError is everything that is wrong with a value, in the order of
// the pointers.
type ValidationError struct {
	Issues []Issue
}

// Error returns one line an issue.
func (e *ValidationError) Error() string {
	lines := make([]string, len(e.Issues))
	for i, issue := range e.Issues {
		lines[i] = issue.String()
	}
	return strings.Join(lines, "\n")
}

// ExitKind is the kind of failure on a command line.
func (e *ValidationError) ExitKind() string { return "usage" }

// Pointer joins a pointer and the name of a member or an index.
func Pointer(base, token string) string {
	return base + "/" + strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}

func pointer(tokens []string) string {
	p := ""
	for _, t := range tokens {
		p = Pointer(p, t)
	}
	return p
}

// Validate checks a raw JSON value. What is wrong with the value is a
// *[ValidationError], what is wrong with the schema an *[Error].
func (s *Schema) Validate(raw json.RawMessage) error {
	v, err := decode(raw, maxDepth, int(^uint(0)>>1))
	if err != nil {
		return &ValidationError{Issues: []Issue{{Message: "not valid JSON: " + err.Error()}}}
	}
	compiled, err := s.compile()
	if err != nil {
		return err
	}
	verr, err := s.run(compiled, native(v))
	if err != nil || verr == nil {
		return err
	}
	c := collector{s: s, value: native(v)}
	issues := c.collect(verr)
	slices.SortStableFunc(issues, func(a, b Issue) int {
		return cmp.Or(comparePointers(a.Pointer, b.Pointer), cmp.Compare(a.Message, b.Message))
	})
	return &ValidationError{Issues: slices.Compact(issues)}
}

// run validates within the budget.
func (s *Schema) run(compiled *jsonschema.Schema, v any) (verr *jsonschema.ValidationError, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps.steps = 0
	defer func() {
		switch r := recover().(type) {
		case nil:
		case exhausted:
			verr, err = nil, &Error{fmt.Errorf("checking a value against it takes more than %d steps", maxSteps)}
		default:
			panic(r)
		}
	}()
	if err := compiled.Validate(v); err != nil {
		verr, ok := err.(*jsonschema.ValidationError) //nolint:errorlint // the type itself is promised
		if !ok {
			return nil, &Error{err}
		}
		if cycle := refCycle(verr); cycle != nil {
			return nil, &Error{fmt.Errorf("%s and %s refer to one another without end", cmp.Or(cycle.KeywordLocation1, "/"), cmp.Or(cycle.KeywordLocation2, "/"))}
		}
		return verr, nil
	}
	return nil, nil
}

// refCycle finds a $ref that leads back to itself without a step into the
// value: a fault of the schema, which the validator reports as the value's.
func refCycle(e *jsonschema.ValidationError) *kind.RefCycle {
	if cycle, ok := e.ErrorKind.(*kind.RefCycle); ok {
		return cycle
	}
	for _, cause := range e.Causes {
		if cycle := refCycle(cause); cycle != nil {
			return cycle
		}
	}
	return nil
}

// comparePointers orders places as they are in a document: indexes by value.
func comparePointers(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "/"), strings.Split(b, "/"), func(x, y string) int {
		i, err1 := strconv.Atoi(x)
		j, err2 := strconv.Atoi(y)
		if err1 == nil && err2 == nil {
			return cmp.Compare(i, j)
		}
		return strings.Compare(x, y)
	})
}

// collector turns the validator's tree of failures into a list that a person
// can act on.
type collector struct {
	s     *Schema
	value any
}

func (c collector) collect(e *jsonschema.ValidationError) []Issue {
	return c.under(e, nil)
}

// under collects, below a place that is known to be right.
func (c collector) under(e *jsonschema.ValidationError, known []string) []Issue {
	at := pointer(e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		if one, ok := k.(*kind.OneOf); ok && len(one.Subschemas) > 1 {
			return []Issue{{Pointer: at, Message: "fits more than one of the forms that exclude one another"}}
		}
		return c.branches(e, at)
	case *kind.Required:
		var out []Issue
		for _, name := range k.Missing {
			out = append(out, Issue{Pointer: Pointer(at, name), Message: "required, but missing"})
		}
		return out
	case *kind.AdditionalProperties:
		names := c.names(e.InstanceLocation)
		var out []Issue
		for _, name := range k.Properties {
			out = append(out, Issue{Pointer: Pointer(at, name), Message: "unknown name", Near: first(nearest.Names(name, names, 1))})
		}
		return out
	case *kind.PropertyNames:
		// What is wrong with a name is said of the name alone, without a place.
		at = pointer(c.holder(e.InstanceLocation, known, k.Property))
		var out []Issue
		for _, cause := range e.Causes {
			for _, issue := range c.collect(cause) {
				out = append(out, Issue{Pointer: Pointer(at, k.Property), Message: "the name: " + issue.Message, Near: issue.Near})
			}
		}
		return out
	}
	if len(e.Causes) > 0 {
		var out []Issue
		for _, cause := range e.Causes {
			out = append(out, c.under(cause, e.InstanceLocation)...)
		}
		return out
	}
	return []Issue{leaf(e, at)}
}

// holder finds the object that has a member of a bad name. The validator returns
// its place in memory that it goes on using, so that all of it behind what is
// known, but for its length, may be of another place. It is the first object
// there is, then, of those that have such a member.
func (c collector) holder(location, known []string, name string) []string {
	if has(c.value, location, name) {
		return location
	}
	var find func(v any, depth int) []string
	find = func(v any, depth int) []string {
		switch v := v.(type) {
		case map[string]any:
			if _, ok := v[name]; ok && depth == 0 {
				return []string{}
			}
			if depth <= 0 {
				return nil
			}
			for _, k := range slices.Sorted(maps.Keys(v)) {
				if rest := find(v[k], depth-1); rest != nil {
					return append([]string{k}, rest...)
				}
			}
		case []any:
			if depth <= 0 {
				return nil
			}
			for i, item := range v {
				if rest := find(item, depth-1); rest != nil {
					return append([]string{strconv.Itoa(i)}, rest...)
				}
			}
		}
		return nil
	}
	if rest := find(step(c.value, known), len(location)-len(known)); rest != nil {
		return slices.Concat(known, rest)
	}
	return location
}

// has reports whether there is an object with such a member at a place.
func has(v any, location []string, name string) bool {
	m, _ := step(v, location).(map[string]any)
	_, ok := m[name]
	return ok
}

// step goes to a place; nil is none.
func step(v any, location []string) any {
	for _, token := range location {
		switch at := v.(type) {
		case map[string]any:
			v = at[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(at) {
				return nil
			}
			v = at[i]
		default:
			return nil
		}
	}
	return v
}

// names are the properties that the schema knows at a place.
func (c collector) names(location []string) []string {
	n := c.s.Root()
	for _, token := range location {
		if i, err := strconv.Atoi(token); err == nil && n.Kinds()&Array != 0 && n.Kinds()&Object == 0 {
			n = n.Item(i)
			continue
		}
		n, _ = n.Property(token)
	}
	var names []string
	for _, p := range n.Properties() {
		names = append(names, p.Name)
	}
	return names
}

// branches explains why none of several alternatives fits: by the only one
// that was meant, where that can be told, and by their sum elsewhere.
func (c collector) branches(e *jsonschema.ValidationError, at string) []Issue {
	var lists, meant [][]Issue
	var want []string
	got := ""
	for _, cause := range e.Causes {
		issues := c.under(cause, e.InstanceLocation)
		lists = append(lists, issues)
		if t := rootType(cause, e.InstanceLocation); t != nil {
			got = t.Got
			want = append(want, t.Want...)
			continue
		}
		meant = append(meant, issues)
	}
	if len(meant) > 1 {
		// A discriminator that does not match rules a branch out.
		rest := slices.DeleteFunc(slices.Clone(meant), func(l []Issue) bool {
			return slices.ContainsFunc(l, func(i Issue) bool {
				return strings.HasPrefix(i.Message, "must be ") && strings.Count(i.Pointer, "/") == strings.Count(at, "/")+1
			})
		})
		if len(rest) == 1 {
			meant = rest
		}
	}
	switch {
	case len(meant) == 1:
		return meant[0]
	case len(meant) == 0 && len(want) > 0:
		return []Issue{{Pointer: at, Message: wantGot(want, got)}}
	case len(lists) == 0:
		return []Issue{{Pointer: at, Message: "fits none of the allowed forms"}}
	}
	var reasons []string
	for _, l := range meant {
		if len(l) == 0 {
			continue
		}
		reason := l[0].Message
		if l[0].Pointer != at {
			reason = strings.TrimPrefix(l[0].Pointer, at+"/") + " " + reason
		}
		if !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	const most = 3
	if len(reasons) > most {
		reasons = append(reasons[:most], "…")
	}
	return []Issue{{Pointer: at, Message: "fits none of the allowed forms: " + strings.Join(reasons, "; or ")}}
}

// rootType returns the type mismatch that a branch fails with at the place
// itself, nil where it fails for another reason.
func rootType(e *jsonschema.ValidationError, location []string) *kind.Type {
	if !slices.Equal(e.InstanceLocation, location) {
		return nil
	}
	if t, ok := e.ErrorKind.(*kind.Type); ok {
		return t
	}
	if len(e.Causes) == 1 {
		return rootType(e.Causes[0], location)
	}
	return nil
}

func wantGot(want []string, got string) string {
	var uniq []string
	for _, w := range want {
		if !slices.Contains(uniq, w) {
			uniq = append(uniq, w)
		}
	}
	return "want " + strings.Join(uniq, " or ") + ", got " + got
}

// unsound words why a schema is none, by the deepest failure of its first branch. A value
// that is no name of a type fails as one of an enumeration.
func unsound(e *jsonschema.ValidationError) Issue {
	for len(e.Causes) > 0 {
		next := e.Causes[0]
		for _, cause := range e.Causes {
			if _, enum := cause.ErrorKind.(*kind.Enum); enum {
				next = cause
			}
		}
		e = next
	}
	at := pointer(e.InstanceLocation)
	if enum, ok := e.ErrorKind.(*kind.Enum); ok && strings.HasSuffix(at, "/type") {
		if name, ok := enum.Got.(string); ok {
			return Issue{Pointer: at, Message: name + " is no JSON type"}
		}
	}
	return leaf(e, at)
}

// leaf words a single failure.
func leaf(e *jsonschema.ValidationError, at string) Issue {
	i := Issue{Pointer: at}
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		i.Message = wantGot(k.Want, k.Got)
	case *kind.Enum:
		return EnumIssue(at, k.Got, k.Want)
	case *kind.Const:
		i.Message = "must be " + text(k.Want)
	case *kind.FalseSchema:
		i.Message = "not allowed here"
	case *kind.Pattern:
		i.Message = fmt.Sprintf("does not match the pattern %s", k.Want)
	case *kind.MinLength:
		i.Message = fmt.Sprintf("%s, want at least %d", plain.Count(k.Got, "character"), k.Want)
	case *kind.MaxLength:
		i.Message = fmt.Sprintf("%s, want at most %d", plain.Count(k.Got, "character"), k.Want)
	case *kind.MinItems:
		i.Message = fmt.Sprintf("%s, want at least %d", plain.Count(k.Got, "item"), k.Want)
	case *kind.MaxItems:
		i.Message = fmt.Sprintf("%s, want at most %d", plain.Count(k.Got, "item"), k.Want)
	case *kind.Minimum:
		i.Message = fmt.Sprintf("%s is below the minimum %s", rat(k.Got), rat(k.Want))
	case *kind.Maximum:
		i.Message = fmt.Sprintf("%s is above the maximum %s", rat(k.Got), rat(k.Want))
	case *kind.ExclusiveMinimum:
		i.Message = fmt.Sprintf("%s is not above %s", rat(k.Got), rat(k.Want))
	case *kind.ExclusiveMaximum:
		i.Message = fmt.Sprintf("%s is not below %s", rat(k.Got), rat(k.Want))
	case *kind.MultipleOf:
		i.Message = fmt.Sprintf("%s is not a multiple of %s", rat(k.Got), rat(k.Want))
	default:
		one := &jsonschema.ValidationError{ErrorKind: e.ErrorKind}
		i.Message = strings.TrimPrefix(one.Error(), "at '': ")
	}
	return i
}

// EnumIssue says that a value, decoded, is not one of those allowed.
func EnumIssue(at string, got any, want []any) Issue {
	const most = 20
	values := make([]string, 0, len(want))
	var names []string
	for _, w := range want {
		values = append(values, text(w))
		if s, ok := w.(string); ok {
			names = append(names, s)
		}
	}
	if len(values) > most {
		values = append(values[:most], "…")
	}
	i := Issue{Pointer: at, Message: text(got) + " is not one of " + strings.Join(values, ", ")}
	if len(values) == 1 {
		i.Message = "must be " + values[0] + ", got " + text(got)
	}
	if s, ok := got.(string); ok {
		i.Near = first(nearest.Names(s, names, 1))
	}
	return i
}

// rat writes a number of the validator exactly where it is decimal.
func rat(r *big.Rat) string {
	if r == nil {
		return "the number"
	}
	if r.IsInt() {
		return r.Num().String()
	}
	if n, exact := r.FloatPrec(); exact && n < 40 {
		return r.FloatString(n)
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// maxSteps bounds the subschemas that one validation looks at. A schema of ten
// lines whose branches refer to one another twice each would otherwise keep
// the validator busy for years.
const maxSteps = 2_000_000

// exhausted ends a validation that has used up its budget. It is a panic value
// because the validator offers no other way out, and never leaves the package.
type exhausted struct{}

// budget counts the steps of one validation.
type budget struct {
	steps int
}

func (b *budget) vocabulary() *jsonschema.Vocabulary {
	return &jsonschema.Vocabulary{
		URL: "mcpctl:budget",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) {
			return b, nil
		},
	}
}

// Validate takes a step and checks nothing.
func (b *budget) Validate(*jsonschema.ValidatorContext, any) {
	if b.steps++; b.steps > maxSteps {
		panic(exhausted{})
	}
}
