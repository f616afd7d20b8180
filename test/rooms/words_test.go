package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

// openers returns the words that a doc comment does not go on with after the
// declared name, and what to write in their place.
func openers() map[string]string {
	return map[string]string{
		"gives": "returns",
		"give":  "return",
		"tells": "reports whether, returns",
		"tell":  "report whether, return",
		"sees":  "the verb itself: closes, checks",
		"see":   "the verb itself: close, check",
	}
}

// phrases returns what stands in no comment.
func phrases() []string {
	return []string{"sees to it", "see to it", "is come to", "such a one"}
}

// wordy returns, for each package whose comments are still to be reworded, how
// many places there are. No number grows, and no package comes in.
func wordy() map[string]int {
	return map[string]int{
		"cmd/internal/args":             11,
		"cmd/internal/cli":              35,
		"cmd/internal/control":          8,
		"cmd/internal/demo":             5,
		"cmd/internal/elicit":           4,
		"cmd/internal/settings":         7,
		"cmd/internal/ui":               12,
		"registry":                      17,
		"registry/registrytest":         4,
		"runtime":                       37,
		"runtime/bridge":                128,
		"runtime/codegen":               9,
		"runtime/codegen/double":        2,
		"runtime/config":                44,
		"runtime/dial":                  5,
		"runtime/fixture":               2,
		"runtime/gosdk":                 5,
		"runtime/internal/codec":        22,
		"runtime/internal/deadline":     1,
		"runtime/internal/jsonrpc":      16,
		"runtime/internal/nearest":      1,
		"runtime/internal/proc":         23,
		"runtime/internal/rawjson":      20,
		"runtime/internal/sse":          2,
		"runtime/proxy":                 239,
		"runtime/runtimetest":           17,
		"runtime/schema":                16,
		"runtime/secret":                5,
		"runtime/store":                 8,
		"runtime/transport":             44,
		"scaffold":                      23,
		"scaffold/gogen":                8,
		"scaffold/gogen/internal/build": 27,
		"scaffold/gogen/internal/drift": 4,
		"scaffold/gogen/internal/emit":  6,
		"scaffold/gogen/internal/model": 2,
		"scaffold/gogen/internal/names": 5,
	}
}

// TestWords holds comments of production code to plain words.
func TestWords(t *testing.T) {
	t.Parallel()
	found := map[string][]string{}
	for _, f := range tree(t) {
		if production(f) {
			found[f.pkg] = append(found[f.pkg], oddWords(f)...)
		}
	}
	allowed := wordy()
	for _, pkg := range slices.Sorted(maps.Keys(found)) {
		switch n := len(found[pkg]); {
		case n > allowed[pkg]:
			t.Errorf("%s: %d places to reword, %d allowed:\n\t%s", pkg, n, allowed[pkg], strings.Join(found[pkg], "\n\t"))
		case n < allowed[pkg]:
			t.Logf("%s: %d places to reword, %d allowed", pkg, n, allowed[pkg])
		}
	}
}

// oddWords returns where the comments of a file have a word or phrase of those.
func oddWords(f source) []string {
	var out []string
	note := func(name, what string) { out = append(out, f.file+": "+name+": "+what) }
	doc := func(name string, comments ...*ast.CommentGroup) {
		for _, c := range comments {
			words := strings.Fields(c.Text())
			if len(words) < 2 || words[0] != name {
				continue
			}
			verb := strings.TrimRight(words[1], ",:;")
			if better, ok := openers()[verb]; ok {
				note(name, `"`+verb+`"; better: `+better)
			}
			return
		}
	}
	for _, d := range f.syntax.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			doc(d.Name.Name, d.Doc)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					doc(s.Name.Name, s.Doc, d.Doc)
				case *ast.ValueSpec:
					doc(s.Names[0].Name, s.Doc, d.Doc)
				}
			}
		}
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if field, ok := n.(*ast.Field); ok && len(field.Names) > 0 {
			doc(field.Names[0].Name, field.Doc, field.Comment)
		}
		return true
	})
	for _, c := range f.syntax.Comments {
		text := strings.Join(strings.Fields(strings.ToLower(c.Text())), " ")
		for _, p := range phrases() {
			for range strings.Count(text, p) {
				note("a comment", `"`+p+`"`)
			}
		}
	}
	return out
}

// TestWordsCatch shows the check one comment of each kind.
func TestWordsCatch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		src  string
		want int
	}{
		{"package p\n\n// f gives x.\nfunc f() {}", 1},
		{"package p\n\n// f returns x.\nfunc f() {}", 0},
		{"package p\n\n// Whoever gives x calls f.\nfunc f() {}", 0},
		{"package p\n\n// t tells, cheaply, y.\ntype t int", 1},
		{"package p\n\ntype (\n\t// t tells y.\n\tt int\n)", 1},
		{"package p\n\ntype t struct {\n\t// a gives b.\n\ta int\n}", 1},
		{"package p\n\ntype t interface {\n\ta() // a tells b\n}", 1},
		{"package p\n\nfunc f() {\n\t// The caller sees\n\t// to it.\n}", 1},
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "p.go", tt.src, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if got := oddWords(describe("p/p.go", f)); len(got) != tt.want {
			t.Errorf("%s: got %q, want %d", tt.src, got, tt.want)
		}
	}
}
