package reading

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

var (
	// callRE are functions that are given a text for a person: an error, a hint, a
	// warning, the usage of a flag.
	callRE = regexp.MustCompile(`(?i)^(New|\w*Errorf|[FS]printf|Fprintln|usagef?|with\w*Hint|hinted|\w*refused?|warnf?|note|hintf?|(string|bool|int|int64|duration|count|stringslice|stringarray)(var)?p?|varp?)$`)
	// returnRE are functions that return one.
	returnRE = regexp.MustCompile(`(?i)(hint|remedy|reason|why)$`)
	// verbRE is a verb of fmt, which becomes one word.
	verbRE = regexp.MustCompile(`%[-+# 0]*[\d*]*(\.[\d*]+)?[vTtbcdoqxXUeEfFgGsw]`)
)

// sourceTexts returns what one Go file says to a person: help texts, usages of flags,
// errors, hints and warnings.
func sourceTexts(name string, src any) ([]text, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil || ast.IsGenerated(file) {
		return nil, err
	}
	var out []text
	seen := map[ast.Node]bool{}
	add := func(n ast.Expr) {
		s, ok := literal(n)
		if !ok || seen[n] {
			return
		}
		seen[n] = true
		line := fset.Position(n.Pos()).Line
		// A blank line begins another paragraph; a line that is indented is an example.
		for para := range strings.SplitSeq(verbRE.ReplaceAllString(s, "‹code›"), "\n\n") {
			if !strings.HasPrefix(para, " ") && strings.Contains(para, " ") {
				out = append(out, text{line: line, body: para})
			}
			line += strings.Count(para, "\n") + 2
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && (key.Name == "Short" || key.Name == "Long" || returnRE.MatchString(key.Name)) {
				add(n.Value)
			}
		case *ast.CallExpr:
			if callRE.MatchString(callee(n)) {
				for _, arg := range n.Args {
					add(arg)
				}
			}
		case *ast.FuncDecl:
			if n.Body != nil && returnRE.MatchString(n.Name.Name) {
				returned(n.Body, add)
			}
		}
		return true
	})
	return out, nil
}

func returned(body *ast.BlockStmt, add func(ast.Expr)) {
	ast.Inspect(body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok {
			for _, x := range r.Results {
				add(x)
			}
		}
		return true
	})
}

func callee(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// literal returns a string that is written in the source. Parts that are not
// become one word each.
func literal(x ast.Expr) (string, bool) {
	switch x := x.(type) {
	case *ast.BasicLit:
		if x.Kind == token.STRING {
			s, err := strconv.Unquote(x.Value)
			return s, err == nil
		}
	case *ast.ParenExpr:
		return literal(x.X)
	case *ast.BinaryExpr:
		left, okLeft := literal(x.X)
		right, okRight := literal(x.Y)
		if x.Op != token.ADD || !okLeft && !okRight {
			return "", false
		}
		if !okLeft {
			left = "‹code›"
		}
		if !okRight {
			right = "‹code›"
		}
		return left + right, true
	}
	return "", false
}

// goFiles returns the hand-written files of the product, relative to root.
func goFiles(root string) ([]string, error) {
	var out []string
	for _, top := range []string{"cmd", "registry", "runtime", "scaffold"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules"):
				return filepath.SkipDir
			case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			rel, err := filepath.Rel(root, path)
			out = append(out, filepath.ToSlash(rel))
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// pages returns README.md and the pages of docs, relative to root.
func pages(root string) ([]string, error) {
	found, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	out := []string{"README.md"}
	for _, p := range found {
		out = append(out, "docs/"+filepath.Base(p))
	}
	return out, err
}

func readText(root, name string) (string, error) {
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	return strings.ReplaceAll(string(b), "\r\n", "\n"), err
}
