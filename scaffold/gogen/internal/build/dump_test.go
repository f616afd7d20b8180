package build_test

import (
	"fmt"
	"strings"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
)

// dump returns declarations in a short form. A type is string, int, []int, map
// int, @/key of a declaration, raw, raw(why); ? after a name marks a member that
// may be absent, ?null or null after the type that null is allowed.
func dump(p *model.Package) string {
	var b strings.Builder
	for _, d := range p.Decls {
		fmt.Fprintf(&b, "%s %s", short(d.Key), form(d.Form))
		if d.Loose {
			b.WriteString(" loose")
		}
		if d.Under != nil {
			b.WriteString(" " + typ(d.Under) + null(d.UnderNull))
		}
		if d.Form == model.Union {
			b.WriteString([]string{" by kind", " by member " + d.Member, " by keys", " first"}[d.Select])
		}
		if d.Form == model.Struct || d.Form == model.Tuple {
			switch {
			case d.Rest == nil:
				b.WriteString(" closed")
			case d.Rest.Kind != model.Raw:
				b.WriteString(" rest " + typ(d.Rest) + null(d.RestNull))
			case d.Rest.Why != "":
				b.WriteString(" rest " + typ(d.Rest))
			}
		}
		b.WriteString(rules(d.Rules))
		if d.Schema != "" {
			b.WriteString(" checked for " + strings.Join(d.SchemaFor, ", "))
		}
		b.WriteByte('\n')
		for _, f := range d.Fields {
			b.WriteString("  " + field(f) + "\n")
		}
		for _, v := range d.Values {
			b.WriteString("  = " + v.Text)
			if v.Doc != "" {
				b.WriteString(" // " + v.Doc)
			}
			b.WriteByte('\n')
		}
		for _, a := range d.Arms {
			b.WriteString("  | @" + short(a.Decl.Key) + " " + strings.Join(a.Kinds, ","))
			if len(a.Values) > 0 {
				b.WriteString(" " + strings.Join(a.Values, ","))
			}
			if len(a.Keys) > 0 {
				b.WriteString(" " + strings.Join(a.Keys, ","))
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func field(f *model.Field) string {
	s := f.JSON
	if f.Presence == model.OrAbsent || f.Presence == model.OrAbsentOrNull {
		s += "?"
	}
	if f.Presence == model.Constant {
		return s + " = " + f.Literal
	}
	s += " " + typ(f.Type) + null(f.Presence == model.OrNull || f.Presence == model.OrAbsentOrNull)
	if f.Indirect {
		s += " indirect"
	}
	if f.Default != "" {
		s += " default " + f.Default
	}
	return s
}

func null(yes bool) string {
	if yes {
		return " null"
	}
	return ""
}

// short returns a key without the kind and name of what it belongs to, "." for
// the input schema itself.
func short(key string) string {
	_, key, _ = strings.Cut(key, "#")
	key = strings.TrimPrefix(key, "/inputSchema")
	if key == "" {
		return "."
	}
	return strings.ReplaceAll(key, "/properties/", "/")
}

func form(f model.Form) string {
	return []string{"struct", "enum", "int enum", "mixed enum", "is", "wrapper", "union", "tuple"}[f]
}

func typ(t *model.Type) string {
	s := ""
	switch t.Kind {
	case model.Raw:
		s = "raw"
		if t.Why != "" {
			s += "(" + t.Why + ")"
		}
	case model.List:
		s = "[]" + typ(t.Elem) + null(t.ElemNull)
	case model.Map:
		s = "map " + typ(t.Elem) + null(t.ElemNull)
	case model.Named:
		s = "@" + short(t.Decl.Key)
	case model.Format:
		s = t.Format
	default:
		s = map[model.Kind]string{model.String: "string", model.Bool: "bool", model.Int: "int", model.Float: "float", model.Decimal: "decimal"}[t.Kind]
	}
	return s + rules(t.Rules)
}

func rules(r *model.Rules) string {
	if r == nil {
		return ""
	}
	var parts []string
	say := func(name, text string) {
		if text != "" {
			parts = append(parts, name+text)
		}
	}
	count := func(name string, n *int64) {
		if n != nil {
			say(name, fmt.Sprint(*n))
		}
	}
	say(">=", r.Minimum)
	say(">", r.ExclusiveMinimum)
	say("<=", r.Maximum)
	say("<", r.ExclusiveMaximum)
	say("multiple of ", r.MultipleOf)
	count("length>=", r.MinLength)
	count("length<=", r.MaxLength)
	say("pattern ", strings.Join(r.Patterns, " and "))
	count("items>=", r.MinItems)
	count("items<=", r.MaxItems)
	if r.UniqueItems {
		parts = append(parts, "unique")
	}
	count("members>=", r.MinProperties)
	count("members<=", r.MaxProperties)
	say("one of ", strings.Join(r.Values, ","))
	return "{" + strings.Join(parts, ", ") + "}"
}
