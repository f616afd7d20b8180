package architecture_test

// area is one subject of the program: packages that belong together, and what they may
// import beside one another and the standard library.
type area struct {
	name string
	// packages are paths inside the module, divided by spaces. A trailing /... means the
	// package and everything below it. The first area that matches a package has it.
	packages string
	// uses names the other areas that it imports. TestAreas finds circles.
	uses string
	// modules are third-party modules.
	modules string
	// not are packages of the standard library that it must not import.
	not string
}

// areas is the table of areas, roughly from the lowest to main. docs/architecture.md, "Areas",
// says what each holds.
func areas() []area {
	// Policies and lists decide on what they are given: they do no I/O.
	const noIO = "net net/http os"
	return []area{
		{name: "assets", packages: "templates/... schemas/..."},
		{name: "text", packages: "internal/origin internal/lazy internal/plain internal/tokens internal/secret internal/clihelp"},
		{name: "client", packages: "runtime", uses: "base", not: "net/http"},
		{name: "client", packages: "internal/ability internal/revision", uses: "base"},
		{name: "base", packages: "internal/atomicfile internal/proc internal/codec internal/deadline internal/guardian internal/http1client internal/httpsyntax internal/jsonedit internal/jsonrpc internal/proctree internal/rawjson internal/rootca internal/seal internal/sse internal/tomledit internal/workers internal/yamledit", uses: "text", modules: "github.com/go-json-experiment/json github.com/tailscale/hujson github.com/pelletier/go-toml/v2 go.yaml.in/yaml/v3 github.com/gofrs/flock golang.org/x/sys"},
		{name: "results", packages: "internal/results internal/views", uses: "text base", not: noIO},
		{name: "lockfile", packages: "internal/lockfile", uses: "text base"},
		{name: "policy", packages: "internal/access internal/access/policy/... internal/access/gate internal/access/guards internal/access/rules", uses: "text base", modules: "github.com/cedar-policy/cedar-go github.com/go-json-experiment/json go.yaml.in/yaml/v3", not: noIO},
		{name: "sqlite", packages: "internal/sqlite", modules: "modernc.org/sqlite"},
		{name: "store", packages: "internal/store", uses: "base sqlite", modules: "modernc.org/sqlite"},
		{name: "audit", packages: "internal/audit/...", uses: "base policy sqlite", modules: "github.com/edsrzf/mmap-go github.com/gofrs/flock github.com/hashicorp/go-retryablehttp golang.org/x/mod modernc.org/sqlite"},
		{name: "transport", packages: "runtime/transport", uses: "text base client"},
		{name: "negotiate", packages: "internal/negotiate", uses: "base client"},
		{name: "auth", packages: "runtime/auth internal/authconfig internal/tokenstore", uses: "assets text base client", modules: "golang.org/x/oauth2 golang.org/x/sync"},
		// Apart from auth: a client with a generated package links no D-Bus.
		{name: "keyring", packages: "runtime/auth/keyring", uses: "auth", modules: "github.com/zalando/go-keyring"},
		{name: "authentication", packages: "internal/authn internal/access/...", uses: "text base policy auth", modules: "github.com/coreos/go-oidc/v3 github.com/go-jose/go-jose/v4 github.com/go-json-experiment/json golang.org/x/oauth2 golang.org/x/sync"},
		{name: "config", packages: "runtime/config", uses: "text base client policy auth", modules: "github.com/tailscale/hujson"},
		{name: "watch", packages: "runtime/config/watch", uses: "base config", modules: "github.com/fsnotify/fsnotify"},
		{name: "search", packages: "internal/search/...", uses: "text base"},
		{name: "schema", packages: "runtime/schema", uses: "assets text client", modules: "github.com/dlclark/regexp2"},
		{name: "packages", packages: "internal/packages", uses: "text base", modules: "golang.org/x/sync"},
		// Generated code links what these import: nothing of others.
		{name: "codegen", packages: "runtime/codegen/... runtime/fixture", uses: "base client"},
		{name: "fake", packages: "runtime/runtimetest/...", uses: "client"},
		{name: "declare", packages: "internal/declare", uses: "text client schema", not: noIO},
		{name: "files", packages: "internal/layers internal/configedit internal/hosts", uses: "assets text base config watch", modules: "github.com/tailscale/hujson"},
		{name: "clitool", packages: "internal/clitool", uses: "text base client transport config", modules: "golang.org/x/sync"},
		{name: "dial", packages: "runtime/dial", uses: "text base client policy transport negotiate auth config clitool"},
		// The proxy gets a backend as a function that connects: it knows no transport, no
		// file and no login.
		{name: "backend", packages: "runtime/proxy/internal/limits runtime/proxy/internal/upstream runtime/proxy/internal/inventory runtime/proxy/internal/client runtime/proxy/internal/interaction", uses: "text base client policy store negotiate"},
		{name: "catalog", packages: "runtime/proxy/internal/hooks runtime/proxy/internal/catalog", uses: "text base client results lockfile policy negotiate backend", modules: "golang.org/x/sync"},
		{name: "router", packages: "runtime/proxy/internal/interaction runtime/proxy/internal/subscriptions runtime/proxy/internal/authorize runtime/proxy/internal/finder runtime/proxy/internal/router", uses: "text base client results policy audit negotiate search schema declare backend catalog"},
		{name: "servers", packages: "runtime/proxy/internal/endpoint runtime/proxy/internal/http1 runtime/proxy/internal/httpserver runtime/proxy/internal/stdioserver", uses: "base client policy authentication audit backend router"},
		{name: "proxy", packages: "runtime/proxy", uses: "text base client results lockfile policy store audit search backend catalog router servers"},
		{name: "registry", packages: "registry internal/mirror internal/registrytest", uses: "text base client store search", modules: "github.com/hashicorp/go-retryablehttp"},
		{name: "scaffold", packages: "scaffold internal/upgrade internal/lint", uses: "text config registry"},
		{name: "bundle", packages: "internal/bundle", uses: "text base registry scaffold", modules: "github.com/hashicorp/go-retryablehttp"},
		{name: "generator", packages: "scaffold/gogen/...", uses: "text client schema codegen", modules: "github.com/dave/jennifer golang.org/x/sync"},
		{name: "generated", packages: "generated/...", uses: "client codegen"},
		{name: "console", packages: "cmd/internal/ui cmd/internal/elicit cmd/internal/local cmd/internal/args", uses: "text client schema declare clitool", modules: "github.com/AlecAivazis/survey/v2 github.com/Microsoft/go-winio github.com/itchyny/gojq github.com/jedib0t/go-pretty/v6 go.yaml.in/yaml/v3 golang.org/x/sys golang.org/x/term"},
		{name: "settings", packages: "cmd/internal/settings", uses: "text base client results policy authentication auth config search proxy registry console", modules: "github.com/go-viper/mapstructure/v2 github.com/spf13/pflag github.com/spf13/viper go.yaml.in/yaml/v3"},
		{name: "cli", packages: "cmd/internal/cli", uses: "assets text base client results lockfile policy authentication transport negotiate auth keyring config schema packages files clitool dial proxy registry scaffold bundle console settings commands", modules: "github.com/go-json-experiment/json github.com/spf13/cobra github.com/spf13/pflag"},
		{name: "commands", packages: "cmd/internal/...", uses: "assets text base client results lockfile policy authentication store audit transport auth config watch search schema packages codegen fake declare files clitool dial proxy registry scaffold bundle generator console settings", modules: "github.com/go-json-experiment/json github.com/jedib0t/go-pretty/v6 github.com/rs/cors github.com/tailscale/hujson go.yaml.in/yaml/v3 golang.org/x/mod golang.org/x/sync golang.org/x/sys"},
		{name: "main", packages: "cmd/mcpctl", uses: "cli"},
		// A separate module: only it needs the SDK.
		{name: "gosdk", packages: "runtime/gosdk", uses: "client", modules: "github.com/modelcontextprotocol/go-sdk"},
	}
}
