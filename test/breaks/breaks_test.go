package breaks_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/breaks"
	"github.com/mcpctl/mcpctl/test/require"
)

// tree writes files of a module and loads it.
func tree(t *testing.T, files map[string]string) *breaks.Tree {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	out, err := breaks.Load(root)
	require.NoError(t, err)
	return out
}

const source = `package p

// F has x > 1 in its comment.
func F(x int) bool { return x > 1 }

type T[K any] struct{ a, b int }

func (t *T[K]) Less() bool { return t.a < t.b }
func (t T[K]) Size() int   { return t.a + t.b }

const (
	small = 1
	large = 1 << 20
)

var names = []string{"a", "b"}
`

func TestBroken(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		below string
		edit  breaks.Edit
		want  string // in the broken file, or in the error
		fails bool
	}{
		"function":                              {"p", breaks.Edit{Decl: "F", From: "x > 1", To: "true"}, "return true }", false},
		"method of a pointer":                   {"p", breaks.Edit{Decl: "(*T).Less", From: "<", To: ">"}, "t.a > t.b", false},
		"method of a value":                     {"p", breaks.Edit{Decl: "T.Size", From: "+", To: "-"}, "t.a - t.b", false},
		"type":                                  {"p", breaks.Edit{Decl: "T", From: "b int", To: "b int64"}, "a, b int64", false},
		"constant":                              {"p", breaks.Edit{Decl: "large", From: "20", To: "2"}, "1 << 2\n", false},
		"variable":                              {"p", breaks.Edit{Decl: "names", From: `, "b"`, To: ""}, `{"a"}`, false},
		"below":                                 {"", breaks.Edit{Decl: "F", From: "x > 1", To: "true"}, "return true }", false},
		"package of a name that only begins so": {"p/q/deepe", breaks.Edit{Decl: "G", From: "1", To: "2"}, "no declaration G", true},
		"deeper":                                {"p", breaks.Edit{Decl: "G", From: "1", To: "2"}, "return 2", false},
		"no declaration":                        {"p", breaks.Edit{Decl: "Less", From: "<", To: ">"}, "no declaration Less", true},
		"no text":                               {"p", breaks.Edit{Decl: "F", From: "t.a", To: ""}, `"t.a" 0 times`, true},
		"text twice":                            {"p", breaks.Edit{Decl: "T.Size", From: "t.", To: ""}, `"t." 2 times`, true},
		"text in another":                       {"p", breaks.Edit{Decl: "small", From: "20", To: ""}, "0 times", true},
		"a test's declaration":                  {"p", breaks.Edit{Decl: "OfTest", From: "1", To: "2"}, "no declaration", true},
		"another system's":                      {"p", breaks.Edit{Decl: "Plan9", From: "1", To: "2"}, "no declaration", true},
		"another module's":                      {"", breaks.Edit{Decl: "Other", From: "1", To: "2"}, "no declaration", true},
		"one of two with one name":              {"p", breaks.Edit{Decl: "H", From: "1", To: "3"}, "return 3", false},
		"text of both with one name":            {"p", breaks.Edit{Decl: "H", From: "return", To: ""}, "2 times", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := tree(t, map[string]string{
				"p/p.go":              source,
				"p/p_test.go":         "package p\n\nfunc OfTest() int { return 1 }\n",
				"p/p_plan9.go":        "package p\n\nfunc Plan9() int { return 1 }\n",
				"p/q/deeper/q.go":     "package deeper\n\nfunc G() int { return 1 }\n\nfunc H() int { return 1 }\n",
				"p/h.go":              "package p\n\nfunc H() int { return 2 }\n",
				"other/go.mod":        "module other\n",
				"other/o.go":          "package other\n\nfunc Other() int { return 1 }\n",
				"p/testdata/bad/b.go": "not Go",
			})
			got, err := tr.Broken(c.below, c.edit)
			if c.fails {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("got %v, want %q", err, c.want)
				}
				return
			}
			require.NoError(t, err)
			if text := string(got[slices.Collect(maps.Keys(got))[0]]); len(got) != 1 || !strings.Contains(text, c.want) {
				t.Errorf("got %d files, want one with %q:\n%s", len(got), c.want, text)
			}
		})
	}
}

// TestBrokenMoved: an edit finds its declaration in another file and package.
func TestBrokenMoved(t *testing.T) {
	t.Parallel()
	e := breaks.Edit{Decl: "F", From: "x > 1", To: "true"}
	for _, file := range []string{"p/p.go", "p/other.go", "p/inner/p.go"} {
		got, err := tree(t, map[string]string{file: source}).Broken("p", e)
		if err != nil || !strings.Contains(string(got[file]), "return true }") {
			t.Errorf("%s: %v, got %q", file, err, got)
		}
	}
}

// TestBrokenTwice: edits of one file and of several are made together.
func TestBrokenTwice(t *testing.T) {
	t.Parallel()
	tr := tree(t, map[string]string{"p/p.go": source, "p/q.go": "package p\n\nfunc G() int { return 1 }\n"})
	less := breaks.Edit{Decl: "(*T).Less", From: "t.a < t.b", To: "false"}
	got, err := tr.Broken("p", breaks.Edit{Decl: "F", From: "x > 1", To: "x > 100"}, breaks.Edit{Decl: "G", From: "1", To: "2"}, less)
	require.NoError(t, err)
	if one, two := string(got["p/p.go"]), string(got["p/q.go"]); !strings.Contains(one, "x > 100") || !strings.Contains(one, "return false") || !strings.Contains(two, "return 2") {
		t.Errorf("got %s\n%s", one, two)
	}
	if _, err := tr.Broken("p", less, breaks.Edit{Decl: "(*T).Less", From: "a < t", To: ""}); err == nil || !strings.Contains(err.Error(), "overlap") {
		t.Errorf("got %v, want an error for edits that overlap", err)
	}
	if _, err := tr.Broken("p"); err == nil {
		t.Error("no error for no edits")
	}
}
