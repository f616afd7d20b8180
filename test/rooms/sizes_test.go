package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What one mind can hold. A package has at most maxLines lines of production
// code, a struct maxFields fields and a type maxMethods methods.
const (
	maxLines   = 3100 // 3,000, and room for a last small thing
	maxFields  = 15
	maxMethods = 25
)

// oversize is an exception to a limit: how much is allowed, and why.
type oversize struct {
	max    int
	reason string
}

// Reasons that hold for several exceptions.
const (
	uncut   = "stays as it is until runtime/proxy is cut into rooms"
	wire    = "has the members of one JSON object"
	options = "has one field an option that users set"
	pass    = "is the state of one pass over its input, with a method a case"
)

// bigPackages are the packages that may have more lines.
func bigPackages() map[string]oversize {
	const ideas = "has one idea a file; a change that adds to it cuts it first"
	return map[string]oversize{
		"cmd/internal/cli":              {7700, "has one file a command, and commands share nothing but the app"},
		"runtime/bridge":                {6500, "has both eras until revision, seal and parking are cut off; 4,000 then"},
		"runtime/config":                {3400, ideas},
		"runtime/proxy":                 {15300, uncut},
		"runtime/runtimetest":           {3900, "is one fake server that can do what any server can"},
		"runtime/transport":             {3400, ideas},
		"scaffold/gogen/internal/build": {3500, "reads schemas until that is a package of its own"},
	}
}

// bigStructs are the structs that may have more fields.
func bigStructs() map[string]oversize {
	return map[string]oversize{
		"cmd/internal/settings.Settings":       {21, options},
		"runtime/config.Entry":                 {26, wire},
		"runtime/dial.Options":                 {16, options},
		"runtime/internal/rawjson.Message":     {22, "has one span a member that routing needs, so that a message is scanned once"},
		"runtime/internal/sse.Reader":          {17, "is one parser, with the parts of the event it is in"},
		"runtime/proxy.BackendStatus":          {18, wire},
		"runtime/proxy.Proxy":                  {32, uncut},
		"runtime/proxy.backend":                {37, uncut},
		"runtime/proxy.connection":             {22, uncut},
		"runtime/proxy.exchange":               {21, uncut},
		"runtime/proxy.lineCall":               {17, uncut},
		"runtime/proxy.link":                   {20, uncut},
		"runtime/proxy.postCall":               {16, uncut},
		"runtime/proxy.sseSession":             {25, uncut},
		"runtime/proxy.stream":                 {17, uncut},
		"runtime/runtimetest.Faults":           {20, options},
		"runtime/runtimetest.Server":           {17, options},
		"runtime/runtimetest.session":          {17, "is all that a fake server remembers of one connection"},
		"runtime/transport.Stdio":              {20, "is one child process with its three streams and their ends"},
		"scaffold.builder":                     {21, pass},
		"scaffold/gogen/internal/build.schema": {35, wire},
		"scaffold/gogen/internal/model.Decl":   {22, "has what each kind of declared type needs; the kind says which"},
	}
}

// bigTypes are the types that may have more methods.
func bigTypes() map[string]oversize {
	return map[string]oversize{
		"cmd/internal/cli.app":                  {68, "is what every command is made with"},
		"cmd/internal/cli.session":              {37, "is the connection that every command about one server uses"},
		"runtime/config.File":                   {34, "is servers.json; a method a question or change"},
		"runtime/internal/codec.decoder":        {39, pass},
		"runtime/internal/jsonrpc.Conn":         {32, "is a connection: its callers, its reader, its timeouts and how it ends"},
		"runtime/proxy.Proxy":                   {118, uncut},
		"runtime/proxy.backend":                 {54, uncut},
		"runtime/proxy.connection":              {27, uncut},
		"runtime/proxy.stdioFront":              {31, uncut},
		"runtime/runtimetest.Server":            {29, "answers with a method a request"},
		"runtime/transport.HTTP":                {30, "is a client of one server: session, stream, challenges and calls"},
		"scaffold.builder":                      {61, pass},
		"scaffold/gogen/internal/build.builder": {49, pass},
		"scaffold/gogen/internal/emit.emitter":  {55, pass},
	}
}

// TestSizes holds packages, structs and types to the limits. An exception that
// is no longer needed is an error, too.
func TestSizes(t *testing.T) {
	t.Parallel()
	m := measure(tree(t))
	for _, c := range []struct {
		what  string
		sizes map[string]int
		max   int
		big   map[string]oversize
	}{
		{"lines", m.lines, maxLines, bigPackages()},
		{"fields", m.fields, maxFields, bigStructs()},
		{"methods", m.methods, maxMethods, bigTypes()},
	} {
		for _, problem := range tooBig(c.what, c.sizes, c.max, c.big) {
			t.Error(problem)
		}
	}
}

// tooBig returns what exceeds a limit or its exception, and the exceptions
// that are of no use.
func tooBig(what string, sizes map[string]int, limit int, big map[string]oversize) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		size, allowed := sizes[name], limit
		if e, ok := big[name]; ok {
			allowed = e.max
		}
		if size > allowed {
			out = append(out, fmt.Sprintf("%s has %d %s, more than %d", name, size, what, allowed))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(big)) {
		switch e := big[name]; {
		case e.reason == "":
			out = append(out, fmt.Sprintf("%s: the exception has no reason", name))
		case sizes[name] <= limit:
			out = append(out, fmt.Sprintf("%s has %d %s: the exception is not needed, take it out", name, sizes[name], what))
		}
	}
	return out
}

// measures are the sizes of packages by path and of types by path and name.
type measures struct {
	lines, fields, methods map[string]int
}

// measure measures all production code: what is neither generated nor for
// tests alone. A struct has the fields of those it embeds, where they are of
// the same package.
func measure(files []source) measures {
	m := measures{lines: map[string]int{}, fields: map[string]int{}, methods: map[string]int{}}
	structs := map[string]*ast.StructType{}
	methods := map[string]bool{} // a method that each system has its own of is one
	for _, f := range files {
		if !production(f) {
			continue
		}
		m.lines[f.pkg] += f.lines
		for _, d := range f.syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					continue
				}
				recv := f.pkg + "." + typeName(d.Recv.List[0].Type)
				if method := recv + "." + d.Name.Name; !methods[method] {
					methods[method] = true
					m.methods[recv]++
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok {
						if st, ok := s.Type.(*ast.StructType); ok {
							structs[f.pkg+"."+s.Name.Name] = st
						}
					}
				}
			}
		}
	}
	for name, s := range structs {
		pkg := name[:strings.LastIndex(name, ".")+1]
		m.fields[name] = countFields(s, pkg, structs)
	}
	return m
}

// production reports whether a file is part of the product or its libraries.
func production(f source) bool {
	top, _, _ := strings.Cut(f.pkg, "/")
	return top != "test" && top != "docs" && !f.generated()
}

func countFields(s *ast.StructType, pkg string, structs map[string]*ast.StructType) int {
	n := 0
	for _, f := range s.Fields.List {
		switch inner := structs[pkg+typeName(f.Type)]; {
		case len(f.Names) == 0 && inner != nil && inner != s:
			n += countFields(inner, pkg, structs)
		default:
			n += max(1, len(f.Names))
		}
	}
	return n
}

// typeName returns the name of a type of the same package, without pointer and
// type arguments; "" if it is another.
func typeName(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.StarExpr:
		return typeName(x.X)
	case *ast.IndexExpr:
		return typeName(x.X)
	case *ast.IndexListExpr:
		return typeName(x.X)
	}
	return ""
}

// TestSizesCatch measures a made-up package.
func TestSizesCatch(t *testing.T) {
	t.Parallel()
	file := func(name, src string) source {
		f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		s := describe(name, f)
		s.lines = strings.Count(src, "\n")
		return s
	}
	m := measure([]source{
		file("a/x.go", `package a
type big[T any] struct { b, c int; small; *other; d T }
type small struct { e, f int }
func (*big[T]) one() {}
`),
		file("a/x_windows.go", "package a\nfunc (*big[T]) one() {}\nfunc (b big[T]) two() {}\n"),
		file("a/y.go", "// Code generated by x; DO NOT EDIT.\n\npackage a\n"),
		file("test/z.go", "package z\n"),
	})
	want := measures{
		lines:   map[string]int{"a": 7},
		fields:  map[string]int{"a.big": 6, "a.small": 2},
		methods: map[string]int{"a.big": 2},
	}
	if diff := cmp.Diff(want, m, cmp.AllowUnexported(measures{})); diff != "" {
		t.Errorf("measures (-want +got):\n%s", diff)
	}
	got := tooBig("fields", m.fields, 1, map[string]oversize{"a.big": {6, "r"}, "a.gone": {3, "r"}})
	problems := []string{
		"a.small has 2 fields, more than 1",
		"a.gone has 0 fields: the exception is not needed, take it out",
	}
	if diff := cmp.Diff(problems, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}
