package drift

import (
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// API describes each exported name: "EchoParams" is a struct, "EchoParams.Count"
// a field, "Client.Echo" a method. Names that are used in the same way have the
// same text.
type API map[string]string

// APIOf returns the API of the source files of one package.
func APIOf(files [][]byte) (API, error) {
	r := reader{api: API{}, types: map[string]ast.Expr{}}
	var parsed []*ast.File
	for _, data := range files {
		f, err := parser.ParseFile(token.NewFileSet(), "", data, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, f)
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				for _, s := range g.Specs {
					if t, ok := s.(*ast.TypeSpec); ok {
						r.types[t.Name.Name] = t.Type
					}
				}
			}
		}
	}
	for _, f := range parsed {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				r.function(d)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						r.typ(s)
					case *ast.ValueSpec:
						r.value(d.Tok, s)
					}
				}
			}
		}
	}
	return r.api, nil
}

type reader struct {
	api   API
	types map[string]ast.Expr
}

func (r *reader) function(d *ast.FuncDecl) {
	name := d.Name.Name
	if !d.Name.IsExported() {
		return
	}
	if d.Recv == nil {
		r.api[name] = signature(d.Type)
		return
	}
	recv, text := d.Recv.List[0].Type, signature(d.Type)
	if star, ok := recv.(*ast.StarExpr); ok {
		recv, text = star.X, text+ofPointer
	}
	if of := exprText(recv); ast.IsExported(of) {
		r.api[of+"."+name] = text
	}
}

// ofPointer marks methods that only a pointer has.
const ofPointer = " of the pointer"

// signature returns a function's type without the names of its parameters, which
// may change.
func signature(f *ast.FuncType) string {
	list := func(fields *ast.FieldList) []string {
		var out []string
		if fields == nil {
			return nil
		}
		for _, p := range fields.List {
			for range max(1, len(p.Names)) {
				out = append(out, exprText(p.Type))
			}
		}
		return out
	}
	text := "func"
	if in := list(f.TypeParams); len(in) > 0 {
		text += "[" + strings.Join(in, ", ") + "]"
	}
	text += "(" + strings.Join(list(f.Params), ", ") + ")"
	switch out := list(f.Results); len(out) {
	case 0:
		return text
	case 1:
		return text + " " + out[0]
	default:
		return text + " (" + strings.Join(out, ", ") + ")"
	}
}

// exprText is a type, or a value's type, on one line.
func exprText(e ast.Expr) string {
	var b strings.Builder
	if err := printer.Fprint(&b, token.NewFileSet(), e); err != nil {
		return err.Error() // of an expression that is none
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func (r *reader) typ(s *ast.TypeSpec) {
	name := s.Name.Name
	if !s.Name.IsExported() {
		return
	}
	t, ok := s.Type.(*ast.StructType)
	if !ok {
		r.api[name] = "type " + exprText(s.Type)
		return
	}
	r.api[name] = "struct"
	if r.comparable(t, nil) {
		r.api[name] = comparableStruct
	}
	for _, f := range t.Fields.List {
		if len(f.Names) == 0 {
			text := exprText(f.Type)
			base, _, _ := strings.Cut(text[strings.LastIndexByte(strings.SplitN(text, "[", 2)[0], '.')+1:], "[")
			r.api[name+"."+base] = "embedded " + text
		}
		for _, n := range f.Names {
			if n.IsExported() {
				r.api[name+"."+n.Name] = exprText(f.Type)
			}
		}
	}
}

// comparableStruct is a struct that == compares; a struct may become one, but
// not the reverse.
const comparableStruct = "comparable struct"

func (r *reader) comparable(t ast.Expr, within []string) bool {
	switch t := t.(type) {
	case *ast.StructType:
		return !slices.ContainsFunc(t.Fields.List, func(f *ast.Field) bool { return !r.comparable(f.Type, within) })
	case *ast.ArrayType:
		return t.Len != nil && r.comparable(t.Elt, within)
	case *ast.MapType, *ast.FuncType:
		return false
	case *ast.Ident:
		under, local := r.types[t.Name]
		return !local || slices.Contains(within, t.Name) || r.comparable(under, append(within, t.Name))
	case *ast.SelectorExpr:
		return t.Sel.Name != "RawMessage"
	case *ast.IndexExpr:
		return r.comparable(t.X, within) && r.comparable(t.Index, within)
	}
	return true
}

func (r *reader) value(tok token.Token, s *ast.ValueSpec) {
	for i, n := range s.Names {
		if !n.IsExported() {
			continue
		}
		text := tok.String()
		if s.Type != nil {
			text += " " + exprText(s.Type)
		}
		if i < len(s.Values) {
			switch v := s.Values[i].(type) {
			case *ast.CompositeLit:
				text += " " + exprText(v.Type)
			case *ast.BasicLit:
				if s.Type == nil {
					text += " " + strings.ToLower(v.Kind.String())
				}
			case *ast.Ident:
				if v.Name == "true" || v.Name == "false" {
					text += " bool"
				}
			}
		}
		r.api[n.Name] = text
	}
}

// Break is one thing that code may use and that has changed.
type Break struct {
	Name     string
	Old, New string // New is "" where the name is gone
}

// Breaks returns the differences that break code, sorted by name. New names
// break nothing, nor does another value of a constant. Members of a removed type
// are not named.
func Breaks(old, now API) []Break {
	var out []Break
	for _, name := range slices.Sorted(maps.Keys(old)) {
		was := old[name]
		current, ok := now[name]
		switch of, _, member := strings.Cut(name, "."); {
		case ok && (was == current || was == "struct" && current == comparableStruct || wider(was, current)):
		case ok && was == comparableStruct && current == "struct":
			out = append(out, Break{name, was, "no longer comparable"})
		case ok:
			out = append(out, Break{name, was, current})
		case member && now[of] == "" && of != "Client":
		default:
			out = append(out, Break{Name: name, Old: was})
		}
	}
	return out
}

// wider reports whether two constructors of a union differ in that the second
// takes more alternatives.
func wider(was, current string) bool {
	terms := func(text string) (set []string, rest string) {
		in, ok := strings.CutPrefix(text, "func[")
		if !ok {
			return nil, text
		}
		in, rest, _ = strings.Cut(in, "]")
		return strings.Split(in, " | "), rest
	}
	a, restA := terms(was)
	b, restB := terms(current)
	return len(a) > 0 && restA == restB && !slices.ContainsFunc(a, func(term string) bool { return !slices.Contains(b, term) })
}

// String returns a line about it.
func (b Break) String() string {
	switch b.New {
	case "":
		return b.Name + " is gone"
	case "no longer comparable":
		return b.Name + " can no longer be compared with =="
	}
	was, old := strings.CutSuffix(b.Old, ofPointer)
	pointer, now := strings.CutSuffix(b.New, ofPointer)
	if old != now {
		was, pointer = b.Old, b.New
	}
	return b.Name + ": was " + was + ", is " + pointer
}
