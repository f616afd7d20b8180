package main

import (
	"fmt"
	"slices"
	"strings"
)

const module = "github.com/mcpctl/mcpctl"

// rule is one row of the layer table: which packages it is about, where they
// stand and what they may import beside the standard library.
type rule struct {
	// pkg is a package path inside the module; a trailing /... means the
	// package and everything below it. The first row that matches holds.
	pkg string
	// layer is the number of the layer. Within a layer an import leads to a row
	// further up in the table.
	layer int
	// own are the packages of the module it may import (same pattern), on top
	// of the rule of layers; nil: whatever that rule allows.
	own []string
	// third are the modules it may import packages of.
	third []string
	// std, when not nil, are the only standard packages it may import;
	// notStd those it may not.
	std, notStd []string
}

// proxyRooms begins the path of every room of the proxy.
const proxyRooms = "runtime/proxy/internal/"

// layerTable is the layer table. CONTRIBUTING.md, "Layers", says it in words.
func layerTable() []rule {
	none := []string{}
	table := []rule{
		{pkg: "templates/...", layer: 0, own: none, std: []string{"embed"}},
		{pkg: "schemas/...", layer: 0, own: none, std: []string{"embed"}},
		// Rules that runtime shares with registry and cmd.
		{pkg: "runtime/origin", layer: 0, own: none},
		{pkg: "runtime/plain", layer: 0, own: none},
		{pkg: "runtime/internal/ability", layer: 1, own: []string{"runtime", "runtime/internal/jsonrpc"}},
		{pkg: "runtime/nearest", layer: 0, own: none},
		// Keeps secrets out of print: everything may use it, it uses nothing.
		{pkg: "runtime/secret", layer: 0, own: none},
		{pkg: "runtime/internal/...", layer: 0, third: []string{
			"github.com/go-json-experiment/json", "golang.org/x/sys", "golang.org/x/sync",
		}},
		{pkg: "runtime/seal", layer: 0, own: []string{"runtime/internal/..."}, third: []string{"github.com/gofrs/flock"}},

		{pkg: "runtime", layer: 1, own: []string{"runtime/internal/..."}, notStd: []string{"net/http"}},
		// Which revisions there are. Layer 2 needs it, so it stands below.
		{pkg: "runtime/revision", layer: 1, own: []string{"runtime", "runtime/internal/..."}},

		{pkg: "runtime/transport", layer: 2, third: []string{"golang.org/x/sync"}},
		{pkg: "runtime/auth", layer: 2, third: []string{"golang.org/x/oauth2", "golang.org/x/sync", "github.com/hashicorp/go-retryablehttp", "github.com/zalando/go-keyring"}},
		{pkg: "runtime/config", layer: 2, third: []string{
			"github.com/tailscale/hujson", "github.com/gofrs/flock", "github.com/fsnotify/fsnotify",
			"github.com/pelletier/go-toml/v2", "github.com/goccy/go-yaml",
		}},
		{pkg: "runtime/store", layer: 2, third: []string{"golang.org/x/oauth2", "github.com/gofrs/flock", "modernc.org/sqlite", "github.com/zalando/go-keyring"}},
		{pkg: "runtime/access", layer: 2},
		{pkg: "runtime/bridge", layer: 2, third: []string{"golang.org/x/sync"}},
		{pkg: "runtime/schema", layer: 2, third: []string{"github.com/santhosh-tekuri/jsonschema/v6", "github.com/dlclark/regexp2", "golang.org/x/text"}},
		// What generated code links: nothing but the standard library besides.
		{pkg: "runtime/codegen", layer: 2, own: []string{"runtime", "runtime/internal/..."}},
		{pkg: "registry", layer: 2, third: []string{"github.com/hashicorp/go-retryablehttp", "golang.org/x/sync", "golang.org/x/time"}},

		{pkg: "registry/registrytest", layer: 3},
		{pkg: "runtime/runtimetest/...", layer: 3, own: []string{"runtime", "runtime/revision", "runtime/runtimetest/internal/..."}},
		{pkg: "runtime/fixture", layer: 3, own: []string{"runtime"}},
		{pkg: "runtime/codegen/double", layer: 3, own: []string{"runtime", "runtime/fixture"}},
		{pkg: "runtime/dial", layer: 3, third: []string{"golang.org/x/sync"}},
		// A module of its own: it alone needs the SDK.
		{pkg: "runtime/gosdk", layer: 3, own: []string{"runtime"}, third: []string{"github.com/modelcontextprotocol/go-sdk"}},
	}
	table = append(table, proxyTable()...)
	return append(table, []rule{
		{pkg: "scaffold", layer: 3},
		{pkg: "scaffold/gogen/internal/model", layer: 3},
		{pkg: "scaffold/gogen/internal/emit", layer: 3, third: []string{"github.com/dave/jennifer", "golang.org/x/sync"}},
		{pkg: "scaffold/gogen/...", layer: 3, third: []string{"github.com/santhosh-tekuri/jsonschema/v6", "golang.org/x/sync"}},
		{pkg: "generated", layer: 3, own: none, std: none},
		{pkg: "generated/...", layer: 3, own: []string{"runtime", "runtime/codegen", "runtime/codegen/double", "runtime/schema", "generated/..."}},

		{pkg: "cmd/internal/ui", layer: 4, third: []string{
			"github.com/AlecAivazis/survey/v2", "github.com/jedib0t/go-pretty/v6", "golang.org/x/term", "golang.org/x/sys", "golang.org/x/text",
		}},
		{pkg: "cmd/internal/elicit", layer: 4},
		// viper hands errors of its YAML reader through, and takes decode hooks in
		// mapstructure terms.
		{pkg: "cmd/internal/settings", layer: 4, third: []string{
			"github.com/spf13/viper", "github.com/spf13/pflag", "github.com/go-viper/mapstructure/v2", "go.yaml.in/yaml/v3",
		}},
		{pkg: "cmd/internal/cli", layer: 5, third: []string{
			"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/mod", "golang.org/x/sync", "golang.org/x/sys", "golang.org/x/term",
		}},
		{pkg: "cmd/internal/...", layer: 4},
		{pkg: "cmd/mcpctl", layer: 5, own: []string{"cmd/internal/cli"}, std: []string{"os"}},

		{pkg: "docs/...", layer: 6},
		{pkg: "test/...", layer: 6, third: []string{"github.com/modelcontextprotocol/go-sdk", "github.com/google/go-cmp"}},
	}...)
}

// proxyTable is the part of the table about runtime/proxy: its rooms, from the
// lowest to the facade. Each may import the rooms it names, and of the rest of
// the module what all of them may and what it names.
func proxyTable() []rule {
	rooms := []struct{ name, rooms, rest string }{
		{"limits", "", "runtime/store"},
		{"breaker", "", "runtime/store"},
		{"meter", "", "runtime/store"},
		{"inventory", "", "runtime/store"},
		{"parking", "", "runtime/seal"},
		{"client", "", ""},
		{"settings", "limits", "runtime/store"},
		{"persist", "", "runtime/store"},
		{"relist", "inventory", ""},
		// Knows no front and no name that clients see.
		{"upstream", "limits breaker meter inventory client settings persist relist", "runtime/bridge runtime/seal runtime/store"},
		{"catalog", "inventory upstream", "runtime/seal"},
		{"questions", "upstream", ""},
		{"subscriptions", "upstream catalog", ""},
		{"router", "limits breaker meter inventory parking client upstream catalog questions subscriptions", "runtime/bridge runtime/seal"},
		{"front", "limits client upstream router", ""},
		{"front/stdio", "limits client upstream subscriptions router front", ""},
		{"front/web", "limits client upstream subscriptions router front", "runtime/seal"},
	}
	third := []string{"golang.org/x/sync", "golang.org/x/time"}
	facade := rule{pkg: "runtime/proxy", layer: 3, third: third, own: []string{
		"runtime", "runtime/access", "runtime/bridge", "runtime/revision", "runtime/seal", "runtime/store", "runtime/internal/...",
	}}
	var table []rule
	for _, r := range rooms {
		own := []string{"runtime", "runtime/revision", "runtime/internal/..."}
		for room := range strings.FieldsSeq(r.rooms) {
			own = append(own, proxyRooms+room)
		}
		own = append(own, strings.Fields(r.rest)...)
		table = append(table, rule{pkg: proxyRooms + r.name, layer: 3, own: own, third: third})
		facade.own = append(facade.own, proxyRooms+r.name)
	}
	return append(table, facade)
}

// violations returns the sentences that say how files break the table.
func violations(table []rule, files []source) []string {
	var out []string
	for _, f := range files {
		say := func(format string, a ...any) {
			out = append(out, f.file+": "+fmt.Sprintf(format, a...))
		}
		r, ok := find(table, f.pkg)
		if !ok {
			say("package %s stands in no row of the layer table", f.pkg)
			continue
		}
		switch f.name {
		case "util", "utils", "common", "helper", "helpers", "types", "misc":
			say("package name %s says nothing about what it holds", f.name)
		}
		for _, imp := range f.imports {
			if why := forbidden(table, r, f, imp); why != "" {
				say("imports %s: %s", imp, why)
			}
		}
		if r.layer < 6 && f.pkg != "cmd/mcpctl" {
			for _, use := range f.uses {
				say("uses %s: cmd/mcpctl/main.go only", use)
			}
		}
	}
	return out
}

// forbidden returns why a file must not import a package, "" when it may.
func forbidden(table []rule, r rule, f source, imp string) string {
	if own, ok := strings.CutPrefix(imp, module+"/"); ok {
		return forbiddenOwn(table, r, own)
	}
	if first, _, _ := strings.Cut(imp, "/"); !strings.Contains(first, ".") {
		if imp == "C" {
			return "the product is built without cgo"
		}
		if r.std != nil && !slices.Contains(r.std, imp) {
			return "this package imports nothing of the standard library but " + strings.Join(r.std, ", ")
		}
		if slices.Contains(r.notStd, imp) {
			return "not in this package"
		}
		return ""
	}
	for _, m := range r.third {
		if imp == m || strings.HasPrefix(imp, m+"/") {
			return ""
		}
	}
	return "the table does not give this library to this package"
}

func forbiddenOwn(table []rule, r rule, own string) string {
	to, ok := find(table, own)
	switch {
	case own == "runtime/gosdk":
		return "it is a module of its own, which needs this one"
	case !ok:
		return "it stands in no row of the layer table"
	case r.own != nil && !slices.ContainsFunc(r.own, func(p string) bool { return matches(p, own) }):
		return "the table does not give it this package"
	case to.layer > r.layer:
		return fmt.Sprintf("an import points downwards only (layer %d to %d)", r.layer, to.layer)
	case to.layer == 2 && r.layer == 2:
		return "layer 2 packages do not import one another"
	case to.layer == r.layer && place(table, to) > place(table, r):
		return fmt.Sprintf("within layer %d an import leads to a row further up in the table", r.layer)
	}
	return ""
}

// place returns where a row stands in the table.
func place(table []rule, r rule) int {
	return slices.IndexFunc(table, func(o rule) bool { return o.pkg == r.pkg })
}

func find(table []rule, pkg string) (rule, bool) {
	for _, r := range table {
		if matches(r.pkg, pkg) {
			return r, true
		}
	}
	return rule{}, false
}

func matches(pattern, pkg string) bool {
	if base, ok := strings.CutSuffix(pattern, "/..."); ok {
		return pkg == base || strings.HasPrefix(pkg, base+"/")
	}
	return pkg == pattern
}
