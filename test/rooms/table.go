package main

import (
	"fmt"
	"go/ast"
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

// The path of every room of the proxy begins with proxyRooms.
const (
	facade     = "runtime/proxy"
	proxyRooms = facade + "/internal/"
)

// layerTable is the layer table. CONTRIBUTING.md, "Layers", says it in words.
func layerTable() []rule {
	none := []string{}
	return slices.Concat([]rule{
		{pkg: "templates/...", layer: 0, own: none, std: []string{"embed"}},
		{pkg: "schemas/...", layer: 0, own: none, std: []string{"embed"}},
		// Rules that runtime shares with registry and cmd.
		{pkg: "runtime/origin", layer: 0, own: none},
		{pkg: "runtime/lazy", layer: 0, own: none},
		{pkg: "runtime/plain", layer: 0, own: none},
		{pkg: "runtime/nearest", layer: 0, own: none},
		{pkg: "runtime/glob", layer: 0, own: none, notStd: []string{"net", "net/http", "os"}},
		{pkg: "runtime/tokens", layer: 0, own: none, notStd: []string{"net", "net/http", "os"}},
		{pkg: "runtime/clihelp", layer: 0, own: []string{"runtime/lazy"}},
		// Keeps secrets out of print: everything may use it, it uses next to nothing.
		{pkg: "runtime/secret", layer: 0, own: []string{"runtime/lazy"}},
		{pkg: "runtime", layer: 1, own: []string{"runtime/internal/..."}, notStd: []string{"net/http"}},
		{pkg: "runtime/internal/ability", layer: 1, own: []string{"runtime", "runtime/internal/jsonrpc"}},
		{pkg: "runtime/internal/pattern", layer: 0, own: none, third: []string{"github.com/dlclark/regexp2"}},
		{pkg: "runtime/internal/...", layer: 0, third: []string{"github.com/go-json-experiment/json", "github.com/tailscale/hujson", "github.com/pelletier/go-toml/v2", "go.yaml.in/yaml/v3", "github.com/gofrs/flock", "golang.org/x/sys", "golang.org/x/sync"}},
		{pkg: "runtime/seal", layer: 0, own: []string{"runtime/internal/..."}, third: []string{"github.com/gofrs/flock"}},

		// Which revisions there are. Layer 2 needs it, so it stands below.
		{pkg: "runtime/revision", layer: 1, own: []string{"runtime", "runtime/internal/..."}},

		{pkg: "runtime/pins", layer: 1, own: []string{"runtime/plain", "runtime/internal/..."}},

		{pkg: "runtime/transport", layer: 2, third: []string{"golang.org/x/sync"}},
		{pkg: "runtime/auth/authconfig", layer: 1, own: []string{"runtime/secret"}},
		{pkg: "runtime/auth/challenges", layer: 1, own: none},
		{pkg: "runtime/auth/services", layer: 1, own: none},
		{pkg: "runtime/auth/signing", layer: 1, own: []string{"runtime/internal/..."}},
		{pkg: "runtime/auth/tokenstore", layer: 1, third: []string{"github.com/zalando/go-keyring"}},
		{pkg: "runtime/auth/external", layer: 1, own: []string{"runtime/auth/tokenstore", "runtime/internal/..."}},
		{pkg: "runtime/auth", layer: 2, third: []string{"golang.org/x/oauth2", "golang.org/x/sync", "github.com/hashicorp/go-retryablehttp"}},
		{pkg: "runtime/config", layer: 2, third: []string{"github.com/tailscale/hujson", "github.com/fsnotify/fsnotify"}},
		{pkg: "runtime/store", layer: 2, third: []string{"golang.org/x/oauth2", "github.com/gofrs/flock", "modernc.org/sqlite", "github.com/zalando/go-keyring"}},
		{pkg: "runtime/search", layer: 2, own: none, third: []string{"modernc.org/sqlite"}},
		{pkg: "runtime/search/embed", layer: 3, own: []string{"runtime/search", "runtime/secret"}},
		// Does no I/O: who asks is decided by what it is given.
		{pkg: "runtime/access", layer: 1, own: none, notStd: []string{"net", "net/http", "os"}},
		{pkg: "runtime/results", layer: 1, own: []string{"runtime/tokens", "runtime/internal/rawjson"}, notStd: []string{"net", "net/http", "os"}},
		// What clients see; it permits nothing.
		{pkg: "runtime/views", layer: 1, own: []string{"runtime/glob", "runtime/results", "runtime/internal/rawjson"}, notStd: []string{"net", "net/http", "os"}},
		{pkg: "runtime/access/policy/args", layer: 1, own: []string{"runtime/internal/..."}, third: []string{"github.com/cedar-policy/cedar-go", "github.com/go-json-experiment/json"}, notStd: []string{"net", "net/http", "os"}},
		{pkg: "runtime/access/policy", layer: 1, own: []string{"runtime/access", "runtime/access/policy/args", "runtime/lazy", "runtime/nearest", "runtime/internal/..."}, third: []string{"github.com/cedar-policy/cedar-go"}, notStd: []string{"net", "net/http", "os"}},
		{pkg: "runtime/access/policy/schema", layer: 1, own: []string{"runtime/access/policy", "runtime/access/policy/args", "runtime/nearest", "runtime/internal/..."}, third: []string{"github.com/cedar-policy/cedar-go"}, notStd: []string{"net", "net/http", "os"}},
		{pkg: "runtime/access/limit", layer: 0, own: none, notStd: []string{"net", "net/http", "os"}},
		{pkg: "runtime/access/flow", layer: 0, own: none, notStd: []string{"net", "net/http", "os"}},
		{pkg: "runtime/access/consent", layer: 0, own: none, notStd: []string{"net", "net/http", "os"}},
		{pkg: "runtime/access/guards", layer: 1, own: []string{"runtime/access", "runtime/plain", "runtime/internal/rawjson"}, notStd: []string{"net", "net/http", "os"}},
		{pkg: "runtime/access/rules", layer: 1, own: []string{"runtime/access/policy", "runtime/access/guards", "runtime/lazy", "runtime/nearest"}, third: []string{"go.yaml.in/yaml/v3"}, notStd: []string{"net", "net/http", "os"}},
		{pkg: "runtime/access/gate", layer: 1, own: []string{"runtime/access", "runtime/access/policy", "runtime/access/limit", "runtime/access/flow", "runtime/access/guards", "runtime/access/consent", "runtime/plain"}, notStd: []string{"net", "net/http", "os"}},
		{pkg: "runtime/access/remember", layer: 0, own: none},
		// What is recorded of requests.
		{pkg: "runtime/audit", layer: 1, own: []string{"runtime/internal/rawjson"}, notStd: []string{"net", "net/http", "os"}},
		{pkg: "runtime/audit/merkle", layer: 1, own: []string{"runtime/audit"}, third: []string{"golang.org/x/mod"}, notStd: []string{"net", "net/http"}},
		{pkg: "runtime/audit/ring", layer: 1, own: none, third: []string{"github.com/edsrzf/mmap-go", "github.com/gofrs/flock"}},
		{pkg: "runtime/audit/journal", layer: 1, own: []string{"runtime/audit", "runtime/audit/ring", "runtime/access/guards"}, notStd: []string{"net", "net/http"}},
		{pkg: "runtime/audit/logfile", layer: 3, own: []string{"runtime/audit", "runtime/audit/merkle", "runtime/store", "runtime/internal/..."}, third: []string{"golang.org/x/mod", "modernc.org/sqlite"}, notStd: []string{"net", "net/http"}},
		{pkg: "runtime/audit/verify", layer: 3, own: []string{"runtime/audit", "runtime/audit/merkle", "runtime/audit/logfile"}, third: []string{"golang.org/x/mod"}, notStd: []string{"net", "net/http"}},
		{pkg: "runtime/audit/export", layer: 3, own: []string{"runtime/audit", "runtime/audit/merkle", "runtime/audit/logfile", "runtime/origin", "runtime/internal/..."}, third: []string{"golang.org/x/mod", "github.com/hashicorp/go-retryablehttp"}},
		{pkg: "runtime/access/jwt", layer: 1, own: []string{"runtime/access", "runtime/access/remember", "runtime/secret"}, third: []string{"github.com/go-jose/go-jose/v4", "github.com/go-json-experiment/json"}, notStd: []string{"net", "net/http", "os"}},
		{pkg: "runtime/access/introspect", layer: 2, own: []string{"runtime/access", "runtime/access/remember", "runtime/access/jwt", "runtime/secret"}, third: []string{"github.com/go-json-experiment/json", "golang.org/x/sync"}, notStd: []string{"net", "net/http", "os"}},
		{pkg: "runtime/access/keyset", layer: 3, own: []string{"runtime/access/jwt", "runtime/auth"}},
		{pkg: "runtime/access/certs", layer: 1, own: []string{"runtime/access"}, notStd: []string{"net", "net/http", "os"}},
		{pkg: "runtime/access/mtls", layer: 2, own: []string{"runtime/access", "runtime/access/certs"}, notStd: []string{"net/http", "os"}},
		{pkg: "runtime/access/link", layer: 1, own: []string{"runtime/seal"}, notStd: []string{"net", "net/http", "os"}},
		{pkg: "runtime/access/forwarded", layer: 2, own: []string{"runtime/access", "runtime/access/certs"}, notStd: []string{"net", "net/http", "os"}},
		{pkg: "runtime/access/door", layer: 2, own: []string{"runtime/access", "runtime/secret"}},
		{pkg: "runtime/access/openid", layer: 2, own: []string{"runtime/origin", "runtime/plain", "runtime/secret"}, third: []string{"github.com/coreos/go-oidc/v3", "golang.org/x/oauth2"}},
		{pkg: "runtime/access/tokenfile", layer: 2, own: []string{"runtime/access", "runtime/internal/..."}},
		{pkg: "runtime/bridge", layer: 2, third: []string{"golang.org/x/sync"}},
		{pkg: "runtime/schema", layer: 2},
		{pkg: "runtime/packages", layer: 2, own: []string{"runtime/lazy", "runtime/secret", "runtime/internal/..."}, third: []string{"golang.org/x/sync"}},
		// What generated code links: nothing but the standard library besides.
		{pkg: "runtime/codegen", layer: 2, own: []string{"runtime", "runtime/internal/..."}},
		{pkg: "registry", layer: 2, third: []string{"github.com/hashicorp/go-retryablehttp", "golang.org/x/sync", "golang.org/x/time"}},

		{pkg: "registry/registrytest", layer: 3},
		{pkg: "registry/mirror", layer: 3},
		{pkg: "runtime/runtimetest/...", layer: 3, own: []string{"runtime", "runtime/revision", "runtime/runtimetest/internal/..."}},
		{pkg: "runtime/fixture", layer: 3, own: []string{"runtime"}},
		{pkg: "runtime/codegen/double", layer: 3, own: []string{"runtime", "runtime/fixture"}},
		{pkg: "runtime/signature", layer: 3, own: []string{"runtime/plain", "runtime/schema"}},
		// Tools as code: reads schemas as signatures do, and does no I/O.
		{pkg: "runtime/declare", layer: 3, own: []string{"runtime/plain", "runtime/revision", "runtime/schema"}, notStd: []string{"net", "net/http", "os"}},
		{pkg: "runtime/layers", layer: 3},
		{pkg: "runtime/configedit", layer: 3, third: []string{"github.com/tailscale/hujson"}},
		{pkg: "runtime/hosts", layer: 3},
		{pkg: "runtime/clitool", layer: 3, third: []string{"golang.org/x/sync"}},
		{pkg: "runtime/dial", layer: 3, third: []string{"golang.org/x/sync"}},
		// A module of its own: it alone needs the SDK.
		{pkg: "runtime/gosdk", layer: 3, own: []string{"runtime"}, third: []string{"github.com/modelcontextprotocol/go-sdk"}},
	}, proxyTable(), []rule{
		{pkg: "scaffold/merge", layer: 3, own: []string{"runtime/plain"}},
		{pkg: "scaffold", layer: 3},
		{pkg: "scaffold/upgrade", layer: 3},
		{pkg: "scaffold/lint", layer: 3},
		{pkg: "scaffold/gogen/internal/model", layer: 3},
		{pkg: "scaffold/gogen/internal/emit", layer: 3, third: []string{"github.com/dave/jennifer", "golang.org/x/sync"}},
		{pkg: "scaffold/gogen/...", layer: 3, third: []string{"golang.org/x/sync"}},
		{pkg: "generated", layer: 3, own: none, std: none},
		{pkg: "generated/...", layer: 3, own: []string{"runtime", "runtime/codegen", "runtime/codegen/double", "runtime/schema", "generated/..."}},

		{pkg: "cmd/internal/failure", layer: 4, own: none},
		{pkg: "cmd/internal/screen", layer: 4, third: []string{"github.com/jedib0t/go-pretty/v6"}},
		{pkg: "cmd/internal/ui", layer: 4, third: []string{"github.com/AlecAivazis/survey/v2", "github.com/jedib0t/go-pretty/v6", "golang.org/x/term", "golang.org/x/sys"}},
		{pkg: "cmd/internal/elicit", layer: 4},
		{pkg: "cmd/internal/doctor", layer: 4, third: []string{"github.com/jedib0t/go-pretty/v6"}},
		{pkg: "cmd/internal/yamlcut", layer: 4, own: none, third: []string{"go.yaml.in/yaml/v3"}},
		{pkg: "cmd/internal/hooksection", layer: 4, third: []string{"go.yaml.in/yaml/v3"}},
		// viper hands errors of its YAML reader through, and takes decode hooks in
		// mapstructure terms.
		{pkg: "cmd/internal/settings", layer: 4, third: []string{"github.com/spf13/viper", "github.com/spf13/pflag", "github.com/go-viper/mapstructure/v2", "go.yaml.in/yaml/v3"}},
		{pkg: "cmd/internal/local", layer: 4, own: none, third: []string{"github.com/Microsoft/go-winio", "golang.org/x/sys"}},
		{pkg: "cmd/internal/control", layer: 4},
		{pkg: "cmd/internal/sessions", layer: 4, third: []string{"golang.org/x/sys"}},
		{pkg: "cmd/internal/cli", layer: 5, third: []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/mod", "golang.org/x/sync", "golang.org/x/sys", "golang.org/x/term"}},
		// Read long lists at a key press.
		{pkg: "cmd/internal/known", layer: 4, third: []string{"github.com/go-json-experiment/json"}},
		{pkg: "cmd/internal/recording", layer: 4},
		{pkg: "cmd/internal/find", layer: 4},
		{pkg: "cmd/internal/viewing", layer: 4},
		{pkg: "cmd/internal/auditing", layer: 4},
		{pkg: "cmd/internal/localpolicy", layer: 4},
		{pkg: "cmd/internal/policies", layer: 4, third: []string{"github.com/tailscale/hujson", "go.yaml.in/yaml/v3"}},
		{pkg: "cmd/internal/complete", layer: 4, third: []string{"github.com/go-json-experiment/json"}},
		{pkg: "cmd/internal/cmdline", layer: 4, third: []string{"github.com/spf13/pflag"}},
		{pkg: "cmd/internal/outdir", layer: 4, third: []string{"golang.org/x/mod", "golang.org/x/sync"}},
		{pkg: "cmd/internal/...", layer: 4, third: []string{"golang.org/x/sync"}},
		{pkg: "cmd/mcpctl", layer: 5, own: []string{"cmd/internal/cli"}, std: []string{"os"}},

		{pkg: "docs/...", layer: 6},
		// A module of its own: its tokenizer has the vocabulary of a model in it.
		{pkg: "test/tokens", layer: 6, own: []string{"runtime/tokens"}, third: []string{"github.com/tiktoken-go/tokenizer"}},
		// A module of its own: it alone needs a collector.
		{pkg: "test/collector", layer: 6, third: []string{"go.opentelemetry.io/collector"}},
		{pkg: "test/...", layer: 6, third: []string{"github.com/modelcontextprotocol/go-sdk", "github.com/spf13/cobra", "github.com/google/go-cmp", "golang.org/x/sys"}},
	})
}

// proxyTable is the part of the table about runtime/proxy: its rooms, from the
// lowest to the facade, and what each imports of the others and of the module.
func proxyTable() []rule {
	var table []rule
	for _, r := range [][2]string{
		{"limits", "runtime/internal/..."},
		{"breaker", ""},
		{"starts", "runtime/internal/..."},
		{"keep", ""},
		{"late", ""},
		{"errkind", "runtime runtime/internal/..."},
		{"meter", "runtime/revision runtime/store"},
		{"inventory", "runtime runtime/bridge runtime/revision runtime/internal/..."},
		{"settings", "limits runtime/store"},
		{"sharing", "settings runtime/revision"},
		{"persist", "runtime/store"},
		{"relist", "inventory"},
		{"client", "runtime runtime/access runtime/revision runtime/internal/..."},
		{"parking", "runtime runtime/access runtime/revision runtime/seal runtime/internal/..."},
		// Knows no front and no name that clients see.
		{"upstream", "limits breaker errkind starts keep late meter inventory settings sharing persist relist client runtime runtime/access runtime/bridge runtime/revision runtime/seal runtime/store runtime/internal/..."},
		{"past", "inventory"},
		{"capability", "runtime/revision"},
		{"hooks", "runtime runtime/access/guards runtime/glob runtime/plain runtime/internal/..."},
		{"naming", ""},
		{"ownership", "inventory runtime/lazy"},
		{"links", "ownership runtime/revision runtime/internal/..."},
		{"cursor", "inventory runtime/seal runtime/internal/..."},
		{"arguments", "upstream runtime/views runtime/internal/..."},
		{"choice", "client runtime/access runtime/access/gate runtime/access/policy runtime/views runtime/internal/..."},
		{"progress", "runtime/internal/..."},
		{"kept", "upstream runtime/access/gate runtime/results runtime/views"},
		{"tasks", "naming upstream runtime/internal/..."},
		{"catalog", "errkind inventory past capability links cursor naming ownership upstream runtime runtime/access runtime/access/gate runtime/access/policy runtime/pins runtime/bridge runtime/revision runtime/seal runtime/tokens runtime/views runtime/internal/... hooks golang.org/x/sync"},
		{"questions", "limits upstream runtime runtime/revision runtime/internal/..."},
		{"subscriptions", "limits inventory ownership upstream catalog runtime runtime/access runtime/bridge runtime/revision runtime/internal/..."},
		{"asking", "upstream runtime/access/gate runtime/plain runtime/revision runtime/internal/..."},
		{"verdict", "asking inventory client upstream catalog runtime runtime/audit runtime/audit/journal runtime/access runtime/access/flow runtime/access/gate runtime/access/policy runtime/revision runtime/internal/... hooks"},
		{"declarations", "upstream catalog runtime/declare runtime/internal/..."},
		{"finder", "declarations inventory upstream catalog runtime runtime/access runtime/access/gate runtime/internal/... runtime/revision runtime/schema runtime/search runtime/signature runtime/tokens runtime/views kept runtime/plain runtime/results"},
		{"router", "verdict arguments choice capability errkind limits settings inventory client parking upstream tasks catalog questions subscriptions runtime runtime/audit runtime/audit/journal runtime/access runtime/access/gate runtime/access/policy runtime/bridge runtime/revision runtime/seal runtime/internal/... finder progress"},
		{"front", "limits client upstream router runtime runtime/revision runtime/internal/..."},
		{"front/stdio", "limits client upstream subscriptions router front runtime/access runtime/audit/journal runtime/revision runtime/internal/..."},
		{"front/http1", "runtime/internal/..."},
		{"front/wall", "runtime/access runtime/access/door"},
		{"front/visits", "runtime/access"},
		{"front/web", "limits client upstream subscriptions verdict router front front/wall front/visits runtime runtime/audit runtime/audit/journal runtime/access runtime/revision runtime/internal/..."},
		{"", "meter inventory settings sharing client upstream catalog router front front/stdio front/http1 front/wall front/web hooks naming finder runtime runtime/access runtime/access/gate runtime/audit runtime/audit/journal runtime/pins runtime/seal runtime/store runtime/views runtime/internal/... runtime/revision runtime/search"},
	} {
		row := rule{pkg: strings.TrimSuffix(proxyRooms+r[0], "/internal/"), layer: 3, own: []string{}}
		for name := range strings.FieldsSeq(r[1]) {
			switch {
			case strings.HasPrefix(name, "golang.org"):
				row.third = append(row.third, name)
			case strings.HasPrefix(name, "runtime"):
				row.own = append(row.own, name)
			default:
				row.own = append(row.own, proxyRooms+name)
			}
		}
		table = append(table, row)
	}
	return table
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
			say("package %s has no row in the layer table", f.pkg)
			continue
		}
		if name := f.syntax.Name.Name; slices.Contains(strings.Fields("util utils common helper helpers types misc"), name) {
			say("package name %s says nothing about what it holds", name)
		}
		for _, imp := range f.imports {
			if why := forbidden(table, r, imp); why != "" {
				say("imports %s: %s", imp, why)
			}
		}
		if r.layer == 6 || f.pkg == "cmd/mcpctl" {
			continue
		}
		osName := "os"
		for _, imp := range f.syntax.Imports {
			if imp.Path.Value == `"os"` && imp.Name != nil {
				osName = imp.Name.Name
			}
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && slices.Contains([]string{"Stdout", "Args", "Exit"}, sel.Sel.Name) {
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == osName {
					say("uses os.%s: cmd/mcpctl/main.go only", sel.Sel.Name)
				}
			}
			return true
		})
	}
	return out
}

// forbidden returns why a file must not import a package, "" when it may.
func forbidden(table []rule, r rule, imp string) string {
	if own, ok := strings.CutPrefix(imp, module+"/"); ok {
		return forbiddenOwn(table, r, own)
	}
	first, _, _ := strings.Cut(imp, "/")
	switch {
	case imp == "C":
		return "the product is built without cgo"
	case strings.Contains(first, "."):
		if !slices.ContainsFunc(r.third, func(m string) bool { return matches(m+"/...", imp) }) {
			return "the table does not give this library to this package"
		}
	case r.std != nil && !slices.Contains(r.std, imp):
		return "this package imports nothing of the standard library but " + strings.Join(r.std, ", ")
	case slices.Contains(r.notStd, imp):
		return "not in this package"
	}
	return ""
}

func forbiddenOwn(table []rule, r rule, own string) string {
	to, ok := find(table, own)
	at := func(r rule) int { return slices.IndexFunc(table, func(o rule) bool { return o.pkg == r.pkg }) }
	switch {
	case own == "runtime/gosdk":
		return "it is a module of its own, which needs this one"
	case !ok:
		return "it has no row in the layer table"
	case r.own != nil && !slices.ContainsFunc(r.own, func(p string) bool { return matches(p, own) }):
		return "the table does not give it this package"
	case to.layer > r.layer:
		return fmt.Sprintf("an import points downwards only (layer %d to %d)", r.layer, to.layer)
	case to.layer == 2 && r.layer == 2:
		return "layer 2 packages do not import one another"
	case to.layer == r.layer && at(to) > at(r):
		return fmt.Sprintf("within layer %d an import leads to a row further up in the table", r.layer)
	}
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
