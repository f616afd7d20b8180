package main_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestLayers checks every package of the module, generated ones and all
// systems' files included, against the layer table.
func TestLayers(t *testing.T) {
	t.Parallel()
	files := sources(t, filepath.Join("..", ".."))
	if len(files) < 20 {
		t.Fatalf("found %d Go files: this is not the module's root", len(files))
	}
	for _, v := range violations(layerTable(), files) {
		t.Error(v)
	}
}

// sources reads the imports of every non-test Go file under root.
func sources(t *testing.T, root string) []source {
	t.Helper()
	var out []source
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if p != root && (name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		out = append(out, describe(rel, f))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func describe(rel string, f *ast.File) source {
	s := source{pkg: strings.TrimPrefix(path.Dir(rel), "."), name: f.Name.Name, file: rel}
	osName := ""
	for _, imp := range f.Imports {
		p, err := strconv.Unquote(imp.Path.Value)
		if err != nil {
			continue // the parser has checked it
		}
		s.imports = append(s.imports, p)
		if p == "os" {
			osName = "os"
			if imp.Name != nil {
				osName = imp.Name.Name
			}
		}
	}
	if osName == "" {
		return s
	}
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && x.Name == osName {
			switch sel.Sel.Name {
			case "Stdout", "Args", "Exit":
				s.uses = append(s.uses, "os."+sel.Sel.Name)
			}
		}
		return true
	})
	return s
}

// TestLayersCatch shows the check made-up files, each of which breaks one rule
// or none.
func TestLayersCatch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		file string
		src  string
		want string // in the violation; "" for none
	}{
		{"downwards", "runtime/dial/x.go", `package dial; import _ "M/runtime/transport"`, ""},
		{"upwards", "runtime/transport/x.go", `package transport; import _ "M/runtime/dial"`, "downwards only (layer 2 to 3)"},
		{"upwards to cmd", "scaffold/x.go", `package scaffold; import _ "M/cmd/internal/ui"`, "downwards only"},
		{"sideways in layer 2", "runtime/auth/x.go", `package auth; import _ "M/runtime/store"`, "do not import one another"},
		{"registry is layer 2", "runtime/config/x.go", `package config; import _ "M/registry"`, "do not import one another"},
		{"sideways in layer 3", "scaffold/gogen/x.go", `package gogen; import _ "M/scaffold"`, ""},
		{"proxy and dial", "runtime/proxy/x.go", `package proxy; import _ "M/runtime/dial"`, "does not give it"},
		{"proxy and transport", "runtime/proxy/x.go", `package proxy; import _ "M/runtime/transport"`, "does not give it"},
		{"proxy and bridge", "runtime/proxy/x.go", `package proxy; import _ "M/runtime/bridge"`, ""},
		{"bridge and revision", "runtime/bridge/x.go", `package bridge; import _ "M/runtime/revision"`, ""},
		{"revision and bridge", "runtime/revision/x.go", `package revision; import _ "M/runtime/bridge"`, "does not give it"},
		{"runtime and revision", "runtime/x.go", `package runtime; import _ "M/runtime/revision"`, "does not give it"},
		{"parking and proxy", "runtime/proxy/internal/parking/x.go", `package parking; import _ "M/runtime/proxy"`, "does not give it"},
		{"runtime and HTTP", "runtime/x.go", `package runtime; import _ "net/http"`, "not in this package"},
		{"runtime and a library", "runtime/x.go", `package runtime; import _ "golang.org/x/sync/errgroup"`, "does not give this library"},
		{"runtime and its internals", "runtime/x.go", `package runtime; import _ "M/runtime/internal/rawjson"`, ""},
		{"cobra outside cli", "runtime/config/x.go", `package config; import _ "github.com/spf13/cobra"`, "does not give this library"},
		{"cobra in cli", "cmd/internal/cli/x.go", `package cli; import _ "github.com/spf13/cobra"`, ""},
		{"survey in ui", "cmd/internal/ui/x.go", `package ui; import _ "github.com/AlecAivazis/survey/v2/terminal"`, ""},
		{"viper in cli", "cmd/internal/cli/x.go", `package cli; import _ "github.com/spf13/viper"`, "does not give this library"},
		{"jennifer in scaffold", "scaffold/x.go", `package scaffold; import _ "github.com/dave/jennifer/jen"`, "does not give this library"},
		{"jennifer in gogen", "scaffold/gogen/x.go", `package gogen; import _ "github.com/dave/jennifer/jen"`, "does not give this library"},
		{"jennifer where Go is written", "scaffold/gogen/internal/emit/x.go", `package emit; import _ "github.com/dave/jennifer/jen"`, ""},
		{"oauth2 in transport", "runtime/transport/x.go", `package transport; import _ "golang.org/x/oauth2"`, "does not give this library"},
		{"oauth2 in auth", "runtime/auth/x.go", `package auth; import _ "golang.org/x/oauth2"`, ""},
		{"retries in transport", "runtime/transport/x.go", `package transport; import _ "github.com/hashicorp/go-retryablehttp"`, "does not give this library"},
		{"SDK in the product", "runtime/dial/x.go", `package dial; import _ "github.com/modelcontextprotocol/go-sdk/mcp"`, "does not give this library"},
		{"SDK in its adapter", "runtime/gosdk/x.go", `package gosdk; import _ "github.com/modelcontextprotocol/go-sdk/mcp"`, ""},
		{"SDK's adapter in the product", "cmd/internal/cli/x.go", `package cli; import _ "M/runtime/gosdk"`, "a module of its own"},
		{"SDK in test programs", "test/coldstart/x.go", `package main; import _ "github.com/modelcontextprotocol/go-sdk/mcp"`, ""},
		{"generated client", "generated/fs/client_gen.go", `package fs; import _ "M/runtime/transport"`, "does not give it"},
		{"templates", "templates/x.go", `package templates; import _ "strings"`, "nothing of the standard library but embed"},
		{"exit in a library", "runtime/dial/x.go", `package dial; import "os"; func f() { os.Exit(1) }`, "uses os.Exit"},
		{"renamed os", "cmd/internal/cli/x.go", `package cli; import o "os"; var w = o.Stdout`, "uses os.Stdout"},
		{"exit in main", "cmd/mcpctl/main.go", `package main; import "os"; func main() { os.Exit(len(os.Args)) }`, ""},
		{"name", "cmd/internal/util/x.go", `package util`, "says nothing"},
		{"unknown room", "pkg/x/x.go", `package x`, "no row of the layer table"},
		{"root package", "x.go", `package mcpctl`, "no row of the layer table"},
		{"cgo", "runtime/store/x.go", `package store; import "C"`, "without cgo"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			src := strings.ReplaceAll(tt.src, `"M/`, `"`+module+"/")
			f, err := parser.ParseFile(token.NewFileSet(), tt.file, src, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			got := violations(layerTable(), []source{describe(tt.file, f)})
			switch {
			case tt.want == "" && len(got) > 0:
				t.Errorf("got %q, want nothing", got)
			case tt.want != "" && (len(got) != 1 || !strings.Contains(got[0], tt.want)):
				t.Errorf("got %q, want one with %q", got, tt.want)
			}
		})
	}
}
