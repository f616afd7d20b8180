package main_test

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
	pkg   string
	layer int
	// own are the packages of the module it may import (same pattern);
	// nil: everything of a lower layer.
	own []string
	// third are the modules it may import packages of.
	third []string
	// std, when not nil, are the only standard packages it may import;
	// notStd those it may not.
	std, notStd []string
}

// The layer table. README, "Room map", says it in words.
func layerTable() []rule {
	none := []string{}
	return []rule{
		{pkg: "templates/...", layer: 0, own: none, std: []string{"embed"}},
		{pkg: "schemas/...", layer: 0, own: none, std: []string{"embed"}},
		// Rules that runtime shares with registry and cmd.
		{pkg: "runtime/nearest", layer: 0, own: none},
		{pkg: "runtime/origin", layer: 0, own: none},
		{pkg: "runtime/plain", layer: 0, own: none},
		{pkg: "runtime/internal/ability", layer: 1, own: []string{"runtime", "runtime/internal/jsonrpc"}},
		{pkg: "runtime/internal/...", layer: 0, own: []string{"runtime/internal/..."}, third: []string{
			"github.com/go-json-experiment/json", "golang.org/x/sys", "golang.org/x/sync",
		}},
		// What keeps secrets out of print: everything may use it, it uses nothing.
		{pkg: "runtime/secret", layer: 0, own: none},
		{pkg: "runtime", layer: 1, own: []string{"runtime/internal/..."}, notStd: []string{"net/http"}},
		// What the protocol says, and sealed text: bridge and proxy share them.
		{pkg: "runtime/revision", layer: 1, own: []string{"runtime", "runtime/internal/..."}},
		{pkg: "runtime/seal", layer: 1, own: []string{"runtime/internal/..."}},

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
		{pkg: "runtime/runtimetest/...", layer: 3, own: []string{"runtime", "runtime/internal/..."}},
		{pkg: "runtime/codegen/double", layer: 3, own: []string{"runtime", "runtime/fixture"}},
		{pkg: "runtime/fixture", layer: 3, own: []string{"runtime"}},
		{pkg: "runtime/dial", layer: 3, third: []string{"golang.org/x/sync"}},
		// A module of its own: it alone needs the SDK.
		{pkg: "runtime/gosdk", layer: 3, own: []string{"runtime"}, third: []string{"github.com/modelcontextprotocol/go-sdk"}},
		{pkg: "runtime/proxy/internal/parking", layer: 3, own: []string{"runtime", "runtime/revision", "runtime/seal", "runtime/internal/..."}},
		{pkg: "runtime/proxy/...", layer: 3, own: []string{
			"runtime", "runtime/access", "runtime/bridge", "runtime/revision", "runtime/seal", "runtime/store", "runtime/internal/...", "runtime/proxy/...",
		}, third: []string{"golang.org/x/sync", "golang.org/x/time"}},
		{pkg: "scaffold", layer: 3},
		{pkg: "scaffold/gogen/internal/emit", layer: 3, third: []string{"github.com/dave/jennifer", "golang.org/x/sync"}},
		{pkg: "scaffold/gogen/...", layer: 3, third: []string{"github.com/santhosh-tekuri/jsonschema/v6", "golang.org/x/sync"}},
		{pkg: "generated", layer: 3, own: none, std: none},
		{pkg: "generated/...", layer: 3, own: []string{"runtime", "runtime/codegen", "runtime/codegen/double", "runtime/schema", "generated/..."}},

		{pkg: "cmd/internal/cli", layer: 5, third: []string{
			"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/mod", "golang.org/x/sync", "golang.org/x/sys", "golang.org/x/term",
		}},
		{pkg: "cmd/internal/ui", layer: 4, third: []string{
			"github.com/AlecAivazis/survey/v2", "github.com/jedib0t/go-pretty/v6", "golang.org/x/term", "golang.org/x/sys", "golang.org/x/text",
		}},
		// viper hands errors of its YAML reader through, and takes decode hooks in
		// mapstructure terms.
		{pkg: "cmd/internal/settings", layer: 4, third: []string{
			"github.com/spf13/viper", "github.com/spf13/pflag", "github.com/go-viper/mapstructure/v2", "go.yaml.in/yaml/v3",
		}},
		{pkg: "cmd/internal/...", layer: 4},
		{pkg: "cmd/mcpctl", layer: 5, own: []string{"cmd/internal/cli"}, std: []string{"os"}},

		{pkg: "docs/...", layer: 6},
		{pkg: "test/...", layer: 6, third: []string{"github.com/modelcontextprotocol/go-sdk"}},
	}
}

// source is what the check needs to know of one non-test Go file.
type source struct {
	pkg     string // package path inside the module, "" for the root
	name    string // package name
	file    string
	imports []string
	uses    []string // selectors on package os, such as "os.Exit"
}

// violations are the sentences that say how files break the table.
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
		return forbiddenOwn(table, r, f.pkg, own)
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

func forbiddenOwn(table []rule, r rule, from, own string) string {
	if r.own != nil {
		for _, p := range r.own {
			if matches(p, own) {
				return ""
			}
		}
		return "the table does not give it this package"
	}
	to, ok := find(table, own)
	switch {
	case own == "runtime/gosdk":
		return "it is a module of its own, which needs this one"
	case !ok:
		return "it stands in no row of the layer table"
	case to.layer < r.layer:
		return ""
	case to.layer > r.layer:
		return fmt.Sprintf("an import points downwards only (layer %d to %d)", r.layer, to.layer)
	case r.layer == 2:
		return "layer 2 packages do not import one another"
	}
	// Within a layer, the compiler sees to it that there are no circles.
	return ""
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
