package emit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
)

// declDoc returns a declaration's documentation after its name. What it is comes
// first, where the model has only the server's text.
func (e *declWriter) declDoc(d *model.Decl) []string {
	first := e.checks.first[d]
	if first == "" {
		tool := " the tool " + d.Tool + " " + d.Side.Verb()
		switch d.Form {
		case model.Union:
			first = "is a value that" + tool + ": " + oneOf("a ", d.Arms) + ". [New" + d.Name + "] makes one."
		case model.Defined:
			first = "is " + kindOf(d.Under) + " that" + tool + "."
		default:
			return d.Doc
		}
	}
	doc := append([]string{first}, d.Doc...)
	if d.Rules != nil && d.Form != model.Wrapper {
		doc = append(doc, strings.Join(limits(d.Rules), ". "))
	}
	return doc
}

// joined returns two short paragraphs as one, which makes short files.
func joined(doc []string) []string {
	if len(doc) == 2 && !strings.ContainsAny(strings.TrimSpace(clean(doc[0])), "\n") && !strings.ContainsAny(strings.TrimSpace(clean(doc[1])), "\n") &&
		len(doc[0])+len(doc[1]) < 2*docWidth {
		return []string{fullStop(strings.TrimSpace(clean(doc[0]))) + " " + doc[1]}
	}
	return doc
}

// kindOf returns what a defined type is made of.
func kindOf(t *model.Type) string {
	switch t = under(t); t.Kind {
	case model.String, model.Format:
		return "a string"
	case model.Bool:
		return "true or false,"
	case model.Int, model.Float, model.Decimal:
		return "a number"
	case model.List:
		return "a list"
	case model.Map:
		return "a map"
	case model.Named:
		return "a [" + t.Decl.Name + "]"
	default:
		return "JSON"
	}
}

// fieldDoc returns the server's text about a member, and what its Go type does
// not show.
func fieldDoc(f *model.Field, what string) []string {
	if len(commentLines(f.Doc, fieldWidth)) == 0 {
		what = f.Name + " is the " + what + "."
		return joined(append([]string{what}, facts(f.Type, f.Default)...))
	}
	return joined(append(slices.Clip(f.Doc), facts(f.Type, f.Default)...))
}

// facts returns a paragraph of what typed code checks at a place, what a raw
// value stands for and the server's default; nil for nothing.
func facts(t *model.Type, dflt string) []string {
	var out []string
	each := ""
	for leaf := t; ; leaf = leaf.Elem {
		if leaf.Rules != nil {
			for _, s := range limits(leaf.Rules) {
				out = append(out, each+s+".")
			}
		}
		if leaf.Kind == model.Raw && leaf.Why != "" {
			out = append(out, each+"JSON: "+leaf.Why+".")
		}
		if leaf.Kind != model.List && leaf.Kind != model.Map {
			break
		}
		each = "Each: "
	}
	if dflt != "" {
		out = append(out, "The server's default: "+shorten(dflt, 200)+".")
	}
	if len(out) == 0 {
		return nil
	}
	return []string{strings.Join(out, " ")}
}

// limits returns rules in words.
func limits(r *model.Rules) []string {
	var out []string
	say := func(words, value string) {
		if value != "" {
			out = append(out, words+" "+shorten(value, 200))
		}
	}
	if r.Minimum != "" && r.Maximum != "" {
		out = append(out, r.Minimum+" to "+r.Maximum)
	} else {
		say("At least", r.Minimum)
		say("At most", r.Maximum)
	}
	say("More than", r.ExclusiveMinimum)
	say("Less than", r.ExclusiveMaximum)
	say("A multiple of", r.MultipleOf)
	span := func(lo, hi *int64, one, many string) {
		switch {
		case lo != nil && hi != nil && *lo == *hi:
			out = append(out, count(*lo, one, many))
		case lo != nil && hi != nil:
			out = append(out, strconv.FormatInt(*lo, 10)+" to "+count(*hi, one, many))
		case lo != nil && *lo > 0:
			out = append(out, "At least "+count(*lo, one, many))
		case hi != nil:
			out = append(out, "At most "+count(*hi, one, many))
		}
	}
	span(r.MinLength, r.MaxLength, "character", "characters")
	for _, p := range r.Patterns {
		say("Pattern", p)
	}
	span(r.MinItems, r.MaxItems, "item", "items")
	if r.UniqueItems {
		out = append(out, "No two items are equal")
	}
	span(r.MinProperties, r.MaxProperties, "member", "members")
	if len(r.Values) > 0 {
		out = append(out, "One of "+shorten(strings.Join(r.Values, ", "), 200))
	}
	return out
}

func count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatInt(n, 10) + " " + many
}
