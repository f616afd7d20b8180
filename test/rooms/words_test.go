package main

import (
	"go/ast"
	"regexp"
	"strings"
	"testing"
)

var (
	// openerRE is a doc comment that goes on with such a verb after the name:
	// "f gives x".
	openerRE = regexp.MustCompile(`^(\w+) (gives?|tells?|sees?)[,:;]* `)
	phraseRE = regexp.MustCompile(`(?i)sees? to it|is come to|such a one`)
)

// TestWords holds comments of production code to plain words.
func TestWords(t *testing.T) {
	t.Parallel()
	for _, f := range tree(t) {
		if production(f) {
			for _, w := range oddWords(f) {
				t.Errorf("%s: %q; a comment says \"returns\", \"reports\", \"closes\", \"makes sure\"", f.file, w)
			}
		}
	}
}

// oddWords returns where the comments of a file have a word or phrase of those.
func oddWords(f source) []string {
	names, out := map[string]bool{}, []string(nil)
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			names[id.Name] = true
		}
		return true
	})
	for _, c := range f.syntax.Comments {
		text := strings.Join(strings.Fields(c.Text()), " ")
		if m := openerRE.FindStringSubmatch(text); m != nil && names[m[1]] {
			out = append(out, m[0])
		}
		out = append(out, phraseRE.FindAllString(text, -1)...)
	}
	return out
}

// TestWordsCatch shows the check one comment of each kind.
func TestWordsCatch(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]int{
		"// f gives x.\nfunc f() {}":                             1,
		"// f returns x.\nfunc f() {}":                           0,
		"// Whoever gives x calls f.\nfunc f() {}":               0,
		"// t tells, cheaply, y.\ntype t int":                    1,
		"type (\n\t// t tells y.\n\tt int\n)":                    1,
		"type t struct {\n\t// a gives b.\n\ta int\n}":           1,
		"type t interface {\n\ta() // a tells b\n}":              1,
		"func f() {\n\t// The caller sees\n\t// to it.\n}":       1,
		"// It is come to.\nvar v = 1 // v is such a one\n":      2,
		"const (\n\t// c see: below.\n\tc = 1\n\td = 2 // so\n)": 1,
	} {
		if got := oddWords(parse(t, "p/p.go", "package p\n\n"+src)); len(got) != want {
			t.Errorf("%s: got %q, want %d", src, got, want)
		}
	}
}
