package emit

import (
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
)

// rules returns the checks of a value's rules.
func (e *checkWriter) rules(v value, r *model.Rules, t *model.Type) []jen.Code {
	if !r.Any() {
		return nil
	}
	t = under(t)
	var out []jen.Code
	if len(r.Values) > 0 {
		out = append(out, e.among(v, r.Values, t))
	}
	form := model.Form(255)
	if t.Kind == model.Named {
		form = t.Decl.Form
	}
	switch {
	case t.Kind == model.Int, t.Kind == model.Float, t.Kind == model.Decimal, form == model.IntEnum:
		out = append(out, e.bounds(v, r, t)...)
	case t.Kind == model.String, t.Kind == model.Format, form == model.StringEnum:
		out = append(out, e.span("Length", v(), r.MinLength, r.MaxLength)...)
		for _, p := range r.Patterns {
			if name := e.checks.patterns[p]; name != "" {
				out = append(out, e.codegen("Match").Call(v(), jen.Id(name)))
			}
		}
	case t.Kind == model.List:
		out = append(out, e.span("Items", jen.Len(v()), r.MinItems, r.MaxItems)...)
		if r.UniqueItems {
			out = append(out, e.codegen("Unique").Call(v()))
		}
	case t.Kind == model.Map:
		out = append(out, e.span("Properties", jen.Len(v()), r.MinProperties, r.MaxProperties)...)
	case form == model.Tuple:
		out = append(out, e.span("Items", e.size(v, t.Decl), r.MinItems, r.MaxItems)...)
		if r.UniqueItems {
			out = append(out, e.codegen("UniqueJSON").Call(v()))
		}
	case form == model.Struct:
		out = append(out, e.span("Properties", e.size(v, t.Decl), r.MinProperties, r.MaxProperties)...)
	}
	return out
}

// span returns the check of a size, if there is one; -1 is no limit.
func (e *checkWriter) span(name string, size jen.Code, lo, hi *int64) []jen.Code {
	if lo == nil && hi == nil || hi == nil && *lo <= 0 {
		return nil
	}
	limit := func(n *int64, none int64) jen.Code {
		if n != nil {
			none = *n
		}
		return jen.Op(strconv.FormatInt(none, 10))
	}
	return []jen.Code{e.codegen(name).Call(size, limit(lo, 0), limit(hi, -1))}
}

// among returns the check that a value is one of some.
func (e *checkWriter) among(v value, texts []string, t *model.Type) jen.Code {
	lits := []jen.Code{v()}
	for _, text := range texts {
		switch {
		case t.Kind == model.Bool && (text == "true" || text == "false"):
			lits = append(lits, jen.Id(text))
		case t.Kind == model.Float && model.IsFloat64(text):
			lits = append(lits, jen.Op(text))
		case t.Kind == model.Bool, t.Kind == model.Float:
			// No value of the type is equal to it.
		default:
			return e.amongJSON(v, texts)
		}
	}
	return e.codegen("Among").Call(lits...)
}

func (e *checkWriter) amongJSON(v value, texts []string) jen.Code {
	lits := []jen.Code{v()}
	for _, text := range texts {
		lits = append(lits, quoted(text))
	}
	return e.codegen("AmongJSON").Call(lits...)
}

// bounds returns the checks of numbers: with Go's numbers, or with the text of a
// limit that would be rounded.
func (e *checkWriter) bounds(v value, r *model.Rules, t *model.Type) []jen.Code {
	var out []jen.Code
	if lo, hi := e.bound(r.Minimum, t), e.bound(r.Maximum, t); lo != nil && hi != nil {
		out = append(out, e.codegen("Between").Call(v(), lo, hi))
	} else {
		out = append(out, e.limit(v, "AtLeast", r.Minimum, t)...)
		out = append(out, e.limit(v, "AtMost", r.Maximum, t)...)
	}
	out = append(out, e.limit(v, "MoreThan", r.ExclusiveMinimum, t)...)
	out = append(out, e.limit(v, "LessThan", r.ExclusiveMaximum, t)...)
	return append(out, e.limit(v, "MultipleOf", r.MultipleOf, t)...)
}

func (e *checkWriter) limit(v value, name, text string, t *model.Type) []jen.Code {
	if text == "" {
		return nil
	}
	if b := e.bound(text, t); b != nil {
		return []jen.Code{e.codegen(name).Call(v(), b)}
	}
	return []jen.Code{e.codegen(name+"Text").Call(v(), jen.Lit(text))}
}

// bound returns a limit as a Go number, nil if there is no equal one.
func (e *checkWriter) bound(text string, t *model.Type) jen.Code {
	if text == "" || t.Kind == model.Decimal {
		return nil
	}
	i, ok := model.Int64(text)
	switch {
	case t.Kind == model.Float && model.IsFloat64(text):
		if ok {
			text = strconv.FormatInt(i, 10)
		}
		return jen.Op(text)
	case t.Kind != model.Float && ok:
		return jen.Op(strconv.FormatInt(i, 10))
	}
	return nil
}

// size returns the number of members or items of a value.
func (e *checkWriter) size(v value, d *model.Decl) jen.Code {
	n := 0
	for _, f := range d.Fields {
		if f.Presence != model.OrAbsent && f.Presence != model.OrAbsentOrNull {
			n++
		}
	}
	s := jen.Lit(n)
	if e.rest(d) != nil {
		rest := "Extra"
		if d.Form == model.Tuple {
			rest = "Rest"
		}
		s.Op("+").Len(v().Dot(rest))
	}
	if p := e.present(v, d); len(p) > 0 {
		s.Op("+").Add(e.codegen("Count")).Call(p...)
	}
	return s
}

// present returns conditions, one for each optional member, that it is present.
func (e *checkWriter) present(v value, d *model.Decl) []jen.Code {
	var out []jen.Code
	for _, f := range d.Fields {
		if f.Presence != model.OrAbsent && f.Presence != model.OrAbsentOrNull {
			continue
		}
		if holds(f) == opt {
			out = append(out, jen.Op("!").Add(v()).Dot(f.Name).Dot("IsZero").Call())
		} else {
			out = append(out, v().Dot(f.Name).Op("!=").Nil())
		}
	}
	return out
}
