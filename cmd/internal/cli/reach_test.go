package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
)

// dialling are the functions below cmd that connect to a server, each with why what they
// reach is decided by policies, or need not be.
func dialling() map[string]string {
	const (
		policies   = "through localpolicy.Policies.Connect, which asks the policies"
		gate       = "through a proxy with a Gate"
		session    = "to a session, which is a proxy with a Gate"
		definition = "reads what a server offers, for the owner of the configuration, and calls nothing"
		refused    = "refused where a policy is about the server"
		login      = "asks a server whether it wants a login, and nothing else"
	)
	return map[string]string{
		"cli/connect.go dialOrLogin":      policies,
		"cli/complete_ask.go values":      policies,
		"cli/keep.go inSession":           session,
		"cli/auth.go challengeOf":         login,
		"cli/run.go become":               refused,
		"gateway/gateway.go dial":         gate,
		"policies/localpolicy.go Connect": gate,
		"doctor/server.go connection":     definition,
		"locking/locking.go offer":        definition,
		"adding/act.go listTools":         definition,
	}
}

// TestPoliciesAreAsked: a command that connects to a server asks the policies, or is in the
// list with the reason why not.
func TestPoliciesAreAsked(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	root := filepath.Join("..")
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if call, ok := n.(*ast.SelectorExpr); ok && connects(call) {
					found[filepath.ToSlash(name)+" "+f.Name.Name] = true
				}
				return true
			})
		}
		return nil
	}))
	want := dialling()
	for _, place := range slices.Sorted(maps.Keys(found)) {
		if want[place] == "" {
			t.Errorf("%s connects to a server and does not ask the policies: use app.reach, or say in this test why not", place)
		}
	}
	for place := range want {
		if !found[place] {
			t.Errorf("%s connects to no server any more: take it out of this test", place)
		}
	}
}

// connects reports whether a name is one of those that connect to the server of an entry.
func connects(s *ast.SelectorExpr) bool {
	pkg, ok := s.X.(*ast.Ident)
	switch {
	case !ok:
		return false
	case pkg.Name == "dial":
		return s.Sel.Name == "Dial" || s.Sel.Name == "Replace"
	case pkg.Name == "transport":
		return s.Sel.Name == "StartStdio" || s.Sel.Name == "NewHTTP" || s.Sel.Name == "OpenSSE"
	}
	return pkg.Name == "negotiate" && s.Sel.Name == "Connect"
}
