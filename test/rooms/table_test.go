package main

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// tree returns the sources of the module, parsed once for all tests.
func tree(t *testing.T) []source {
	t.Helper()
	files, err := parseOnce()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var parseOnce = sync.OnceValues(func() ([]source, error) {
	return readSources(filepath.Join("..", ".."))
})

// TestLayers checks every package of the module, generated ones and all
// systems' files included, against the layer table.
func TestLayers(t *testing.T) {
	t.Parallel()
	for _, v := range violations(layerTable(), tree(t)) {
		t.Error(v)
	}
}

// TestLayersFit checks the table itself: no row allows an import that leads
// upwards. As each import goes down or up the table, none lie in a circle.
func TestLayersFit(t *testing.T) {
	t.Parallel()
	table := layerTable()
	for _, r := range table {
		for _, pattern := range r.own {
			pkg := strings.TrimSuffix(pattern, "/...")
			to, ok := find(table, pkg)
			if !ok {
				t.Errorf("%s may import %s, which has no row", r.pkg, pattern)
			} else if why := forbiddenOwn(table, r, pkg); why != "" && to.pkg != r.pkg {
				t.Errorf("%s may import %s: %s", r.pkg, pattern, why)
			}
		}
	}
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
		{"up the table in layer 3", "scaffold/x.go", `package scaffold; import _ "M/scaffold/gogen"`, "further up in the table"},
		{"room to a lower one", "runtime/proxy/internal/catalog/x.go", `package catalog; import _ "M/runtime/proxy/internal/upstream"`, ""},
		{"room to a higher one", "runtime/proxy/internal/upstream/x.go", `package upstream; import _ "M/runtime/proxy/internal/front"`, "does not give it"},
		{"room to the facade", "runtime/proxy/internal/router/x.go", `package router; import _ "M/runtime/proxy"`, "does not give it"},
		{"room without a row", "runtime/proxy/internal/hall/x.go", `package hall`, "no row of the layer table"},
		{"facade to a room", "runtime/proxy/x.go", `package proxy; import _ "M/runtime/proxy/internal/front/web"`, ""},
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
		{"jennifer in emit", "scaffold/gogen/internal/emit/x.go", `package emit; import _ "github.com/dave/jennifer/jen"`, ""},
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
