package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/internal/plain"
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
	if err := s.Sound(); err != nil {
		return err
	}
	r := &run{tracks: s.tracks}
	root := &visit{run: r, rule: s.rule, value: v}
	root.apply()
	if r.exhausted() {
		return &Error{fmt.Errorf("checking a value against it takes more than %d steps", maxSteps)}
	}
	if !root.failed {
		return nil
	}
	if e, ok := cyclic(root.fails); ok {
		return &Error{fmt.Errorf("the references of %s refer to one another without end", strings.Join(e.places, ", "))}
	}
	issues := s.collect(root.fails)
	slices.SortStableFunc(issues, func(a, b Issue) int {
		return cmp.Or(comparePointers(a.Pointer, b.Pointer), cmp.Compare(a.Message, b.Message))
	})
	return &ValidationError{Issues: slices.Compact(issues)}
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

// names are the properties that the schema knows at a place.
func (s *Schema) names(location []string) []string {
	n := s.Root()
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

func wantGot(want []string, got string) string {
	var uniq []string
	for _, w := range want {
		if !slices.Contains(uniq, w) {
			uniq = append(uniq, w)
		}
	}
	return "want " + strings.Join(uniq, " or ") + ", got " + got
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
		i.Near = first(plain.Nearest(s, names, 1))
	}
	return i
}

// rat writes a number exactly where it is decimal.
func rat(r *big.Rat) string {
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
