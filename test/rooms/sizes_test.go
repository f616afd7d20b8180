package main

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sizes are numbers by what they count and by package, or package and type:
// lines of production code of a package, fields of a struct, methods of a type.
type sizes map[string]map[string]int

// limits is what one mind can hold: 3,000 lines, and room for a last small thing.
func limits() map[string]int { return map[string]int{"lines": 3100, "fields": 15, "methods": 25} }

// oversize is an exception to a limit: how much is allowed, and why.
type oversize struct {
	max    int
	reason string
}

// oversizes returns the exceptions.
func oversizes() map[string]map[string]oversize {
	const ( // reasons that hold for several
		wire    = "has the members of one JSON object"
		options = "has one field an option that users set"
		pass    = "is the state of one pass over its input, with a method a case"
	)
	return map[string]map[string]oversize{
		"lines": {
			"cmd/internal/cli":               {6700, "has one file a command, and commands share nothing but the app"},
			"cmd/internal/settings":          {3310, "has one row a setting, and a reader for each section"},
			"runtime/proxy/internal/catalog": {3300, "has each list in all its forms, and where each name leads"},
			"runtime/bridge":                 {4000, "has both eras, a file a part of each"},
			"runtime/runtimetest":            {3900, "is one fake server that can do what any server can"},
		},
		"fields": {
			"cmd/internal/gateway.Options":             {16, options},
			"cmd/internal/settings.Settings":           {27, options},
			"runtime/auth/authconfig.form":             {21, wire},
			"runtime/config.Entry":                     {43, wire},
			"runtime/dial.Options":                     {19, options},
			"runtime/internal/rawjson.Message":         {22, "has one span a member that routing needs, so that a message is scanned once"},
			"runtime/proxy.Options":                    {23, options},
			"runtime/proxy.Server":                     {17, options},
			"runtime/proxy/internal/settings.Settings": {17, options},
			"runtime/proxy.BackendStatus":              {18, wire},
			"runtime/runtimetest.Faults":               {20, options},
			"runtime/runtimetest.Server":               {22, options},
			"scaffold.builder":                         {21, pass},
			"scaffold/gogen/internal/build.schema":     {35, wire},
			"scaffold/gogen/internal/model.Decl":       {22, "has what each kind of declared type needs; the kind says which"},
		},
		"methods": {
			"runtime/internal/codec.decoder": {39, pass},
		},
	}
}

// TestSizes holds packages, structs and types to the limits. An exception that
// is no longer needed is an error, too.
func TestSizes(t *testing.T) {
	t.Parallel()
	m := measure(tree(t))
	for what, limit := range limits() {
		for _, problem := range tooBig(what, m[what], limit, oversizes()[what]) {
			t.Error(problem)
		}
	}
}

// tooBig returns what exceeds a limit or its exception, and the exceptions
// that are of no use.
func tooBig(what string, sizes map[string]int, limit int, big map[string]oversize) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		if allowed := max(limit, big[name].max); sizes[name] > allowed {
			out = append(out, fmt.Sprintf("%s has %d %s, more than %d", name, sizes[name], what, allowed))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(big)) {
		switch {
		case big[name].reason == "":
			out = append(out, fmt.Sprintf("%s: the exception has no reason", name))
		case sizes[name] <= limit:
			out = append(out, fmt.Sprintf("%s has %d %s: the exception is not needed, take it out", name, sizes[name], what))
		}
	}
	return out
}

// measure measures all production code. A struct has the fields of those it
// embeds, where they are of the same package.
func measure(files []source) sizes {
	m := sizes{"lines": {}, "fields": {}, "methods": {}}
	structs := map[string]*ast.StructType{}
	methods := map[string]bool{} // a method that each system has its own of is one
	for _, f := range files {
		if !production(f) {
			continue
		}
		m["lines"][f.pkg] += f.lines
		for name, node := range declared(f) {
			recv, _, method := strings.Cut(name, ".")
			name = f.pkg + "." + name
			if method && !methods[name] {
				methods[name] = true
				m["methods"][f.pkg+"."+recv]++
			} else if s, ok := node.(*ast.TypeSpec); ok {
				structs[name], _ = s.Type.(*ast.StructType)
			}
		}
	}
	for name, s := range structs {
		if s == nil {
			continue
		}
		m["fields"][name] = countFields(s, name[:strings.LastIndex(name, ".")+1], structs)
	}
	return m
}

func countFields(s *ast.StructType, pkg string, structs map[string]*ast.StructType) int {
	n := 0
	for _, f := range s.Fields.List {
		if inner := structs[pkg+typeName(f.Type)]; len(f.Names) == 0 && inner != nil && inner != s {
			n += countFields(inner, pkg, structs)
		} else {
			n += max(1, len(f.Names))
		}
	}
	return n
}

// TestSizesCatch measures a made-up package.
func TestSizesCatch(t *testing.T) {
	t.Parallel()
	m := measure([]source{
		parse(t, "a/x.go", `package a
type big[T any] struct { b, c int; small; *other; d T }
type small struct { e, f int }
func (*big[T]) one() {}
`),
		parse(t, "a/x_windows.go", "package a\nfunc (*big[T]) one() {}\nfunc (b big[T]) two() {}\n"),
		parse(t, "a/y.go", "// Code generated by x; DO NOT EDIT.\n\npackage a\n"),
		parse(t, "test/z.go", "package z\n"),
	})
	want := sizes{"lines": {"a": 7}, "fields": {"a.big": 6, "a.small": 2}, "methods": {"a.big": 2}}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("sizes (-want +got):\n%s", diff)
	}
	m["fields"]["a.fit"], m["fields"]["a.mute"] = 4, 4
	got := tooBig("fields", m["fields"], 1, map[string]oversize{"a.big": {5, "r"}, "a.fit": {4, "r"}, "a.gone": {3, "r"}, "a.mute": {4, ""}})
	problems := []string{
		"a.big has 6 fields, more than 5",
		"a.small has 2 fields, more than 1",
		"a.gone has 0 fields: the exception is not needed, take it out",
		"a.mute: the exception has no reason",
	}
	if diff := cmp.Diff(problems, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}
