package main

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
)

var parseOnce = sync.OnceValues(func() ([]source, error) { return readSources(filepath.Join("..", "..")) })

// tree returns the sources of the module, parsed once for all tests.
func tree(t *testing.T) []source {
	t.Helper()
	files, err := parseOnce()
	require.NoError(t, err)
	return files
}

// parse returns a made-up file.
func parse(t *testing.T, file, src string) source {
	t.Helper()
	s, err := parseSource(file, file, src)
	require.NoError(t, err)
	return s
}

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
			if why := forbiddenOwn(table, r, pkg); !ok || why != "" && to.pkg != r.pkg {
				t.Errorf("%s may import %s: %s", r.pkg, pattern, why)
			}
		}
	}
}

// TestLayersCatch shows the check made-up files, each of which breaks one rule
// or none.
func TestLayersCatch(t *testing.T) {
	t.Parallel()
	tests := [][3]string{
		{"runtime/proxy/internal/hall/x.go", `package hall`, "no row in the layer table"},
		{"test/coldstart/x.go", `package main; import _ "github.com/modelcontextprotocol/go-sdk/mcp"`, ""},
		{"generated/fs/client_gen.go", `package fs; import _ "M/runtime/transport"`, "does not give it"},
		{"runtime/dial/x.go", `package dial; import "os"; func f() { os.Exit(1) }`, "uses os.Exit"},
		{"cmd/internal/cli/x.go", `package cli; import o "os"; var w = o.Stdout`, "uses os.Stdout"},
		{"cmd/mcpctl/main.go", `package main; import "os"; func main() { os.Exit(len(os.Args)) }`, ""},
		{"cmd/internal/util/x.go", `package util`, "says nothing"},
		{"pkg/x/x.go", `package x`, "no row in the layer table"},
		{"x.go", `package mcpctl`, "no row in the layer table"},
		{"runtime/store/x.go", `package store; import "C"`, "without cgo"},
	}
	for want, cases := range map[string]string{ // packages and what they import, by what the violation says
		"": `runtime/dial M/runtime/transport, scaffold/gogen M/scaffold,
			runtime/proxy/internal/catalog M/runtime/proxy/internal/upstream, runtime/proxy M/runtime/proxy/internal/front/web,
			runtime/proxy/internal/router M/runtime/bridge, runtime/bridge M/runtime/revision, runtime M/runtime/internal/rawjson,
			cmd/internal/cli github.com/spf13/cobra, cmd/internal/ui github.com/AlecAivazis/survey/v2/terminal,
			scaffold/gogen/internal/emit github.com/dave/jennifer/jen, runtime/auth golang.org/x/oauth2,
			runtime/gosdk github.com/modelcontextprotocol/go-sdk/mcp`,
		"downwards only (layer 2 to 3)": `runtime/transport M/runtime/dial`,
		"downwards only":                `scaffold M/cmd/internal/ui`,
		"do not import one another":     `runtime/auth M/runtime/store, runtime/config M/registry`,
		"further up in the table":       `scaffold M/scaffold/gogen`,
		"does not give it": `runtime/proxy/internal/upstream M/runtime/proxy/internal/front, runtime/proxy/internal/router M/runtime/proxy,
			runtime/proxy M/runtime/dial, runtime/proxy M/runtime/transport, runtime/revision M/runtime/bridge,
			runtime M/runtime/revision, runtime/proxy/internal/parking M/runtime/proxy`,
		"not in this package": `runtime net/http`,
		"does not give this library": `runtime golang.org/x/sync/errgroup, runtime/config github.com/spf13/cobra, cmd/internal/cli github.com/spf13/viper,
			scaffold github.com/dave/jennifer/jen, scaffold/gogen github.com/dave/jennifer/jen,
			runtime/transport golang.org/x/oauth2, runtime/transport github.com/hashicorp/go-retryablehttp,
			runtime/dial github.com/modelcontextprotocol/go-sdk/mcp`,
		"a module of its own":                       `cmd/internal/cli M/runtime/gosdk`,
		"nothing of the standard library but embed": `templates strings`,
	} {
		for c := range strings.SplitSeq(cases, ",") {
			pkg, imp, _ := strings.Cut(strings.TrimSpace(c), " ")
			tests = append(tests, [3]string{pkg + "/x.go", fmt.Sprintf("package %s; import _ %q", path.Base(pkg), imp), want})
		}
	}
	for _, tt := range tests {
		file, src, want := tt[0], strings.ReplaceAll(tt[1], `"M/`, `"`+module+"/"), tt[2]
		got := violations(layerTable(), []source{parse(t, file, src)})
		if (want != "") != (len(got) == 1) || len(got) > 1 || want != "" && !strings.Contains(got[0], want) {
			t.Errorf("%s: %s: got %q, want %q", file, src, got, want)
		}
	}
}
