package codec

import (
	"reflect"
	"slices"
	"strings"
)

// structPlan is how a struct is written as an object or, a tuple, as an array.
type structPlan struct {
	fields []fieldPlan
	byName map[string]int
	// rest is the field of all other members or items, other that of values of
	// another kind; -1 where there is none.
	rest, other int
	restPlan    *typePlan
	// lenient structs take null for absent.
	lenient bool
}

// fieldPlan is one member of an object or place of a tuple.
type fieldPlan struct {
	index int // in the struct; -1 for a constant
	name  string
	key   []byte // the name as JSON, and a colon
	plan  *typePlan
	// optional fields may be absent, null ones null: a zero value.
	optional, null bool
	// literal is the JSON text of a constant, canonical the one to compare.
	literal   []byte
	canonical string
}

// takesNull reports whether null is a value of the field's type, or of the one
// that it points to. A literal could hold it, but a field of one that may be
// null says so.
func (f *fieldPlan) takesNull() bool {
	p := f.plan
	if p.kind == planPointer {
		p = p.elem
	}
	return p.null && p.kind != planLiteral
}

// tagOptions are the words of a field's tag mcp.
type tagOptions []string

func (o tagOptions) has(word string) bool { return slices.Contains(o, word) }

func (b *planner) structOf(p *typePlan) {
	t := p.typ
	sp := &structPlan{rest: -1, other: -1, byName: map[string]int{}}
	p.object = sp
	for i := range t.NumField() {
		f := t.Field(i)
		var words tagOptions
		if tag := f.Tag.Get("mcp"); tag != "" {
			words = strings.Split(tag, ",")
		}
		switch {
		case words.has("tuple"):
			p.kind = planTuple
		case words.has("closed"):
		case words.has("rest"):
			sp.rest, sp.restPlan, sp.lenient = i, b.plan(f.Type), words.has("lenient")
			if k := f.Type.Kind(); k != reflect.Map && k != reflect.Slice {
				p.wrong = "field " + f.Name + " is neither a map nor a slice"
			}
		case words.has("other"):
			sp.other, p.null = i, true
			if b.plan(f.Type).kind != planRaw {
				p.wrong = "field " + f.Name + " is no json.RawMessage"
			}
		case words.has("item"):
			fp := fieldPlan{index: i, optional: words.has("optional"), null: words.has("null")}
			if !p.constant(&fp, f) {
				fp.plan = b.plan(f.Type)
			}
			sp.fields = append(sp.fields, fp)
		default:
			b.member(p, i, f, words)
		}
	}
}

// member adds a field that is a member of an object, if it is one.
func (b *planner) member(p *typePlan, i int, f reflect.StructField, words tagOptions) {
	sp := p.object
	tag, hasTag := f.Tag.Lookup("json")
	name, options, _ := strings.Cut(tag, ",")
	named, isNamed := f.Tag.Lookup("name")
	switch {
	case isNamed:
		name = named
	case hasTag && tag == "-":
		return
	case name == "":
		name = f.Name
	}
	fp := fieldPlan{index: i, name: name, key: append(appendString(nil, name), ':')}
	if !p.constant(&fp, f) {
		if !f.IsExported() {
			return
		}
		fp.plan = b.plan(f.Type)
		for option := range strings.SplitSeq(options, ",") {
			fp.optional = fp.optional || option == "omitzero" || option == "omitempty"
		}
		fp.null = words.has("null")
	}
	if _, twice := sp.byName[name]; twice {
		p.wrong = "two fields are the member " + name
	}
	sp.byName[name] = len(sp.fields)
	sp.fields = append(sp.fields, fp)
}

// constant makes a field one that has a single value, if its tag says so.
func (p *typePlan) constant(fp *fieldPlan, f reflect.StructField) bool {
	literal, ok := f.Tag.Lookup("const")
	if !ok {
		return false
	}
	canonical, err := CanonicalJSON([]byte(literal))
	if err != nil {
		p.wrong = "the constant " + literal + " is not JSON"
	}
	fp.index, fp.literal, fp.canonical = -1, []byte(literal), string(canonical)
	return true
}
