package settings

import (
	"fmt"
	"slices"
	"strings"
)

// Setting is one row of docs/settings.md.
type Setting struct {
	// Name is that in config.yaml, Flag without its dashes, and Variable the environment
	// variable; "" for none.
	Name, Flag, Variable string
	// Values says which values there are, with their unit. Default is the value without
	// any, About what the setting does.
	Values, Default, About string
	// Serve says that it is of mcpctl serve and bridge, not of every command.
	Serve bool
}

// Table returns all settings: those of config.yaml, and flags that are in no file.
func Table() []Setting {
	var table []Setting
	for _, k := range keys() {
		flag := k.flag + k.not // one of them is ""
		s := Setting{
			Name: k.name, Flag: flag, Values: k.values, Default: fmt.Sprint(k.def), About: k.about,
			Serve: strings.HasPrefix(k.name, "serve."),
		}
		if k.preset != "" {
			s.Default = k.preset
		}
		if flag != "" {
			s.Variable = Variable(flag)
		}
		table = append(table, s)
	}
	return slices.Concat(table, sectionTable(), flagsOnly())
}

// sectionTable are the settings of config.yaml that are no plain values.
func sectionTable() []Setting {
	return slices.Concat(accessTable(), auditTable(), []Setting{
		{Name: "serve.auth", Values: "list of providers: `token`, `jwt`, `introspect`, `mtls`, `proxy`", Default: "none", About: "which [credentials](share.md) clients over HTTP need", Serve: true},
		{Name: HookName, Values: "list of hooks: `name`, `tools`; `match`, `action` or `server`, `methods`, `mode`, `timeout`, `failOpen`", Default: "none", About: "[hooks](hooks.md) that look into calls of tools", Serve: true},
		{Name: "serve.hosts", Values: "list of HOST or HOST:PORT", Default: "none", About: "names in the URLs of clients; addresses need no entry", Serve: true},
		{Name: "serve.login", Values: "`issuer`, `clientId`, `clientSecret`, `scopes`", Default: "none", About: "where people log in on [the pages of serve](share.md#log-in-with-a-browser)", Serve: true},
		{Name: searchName, Values: "`vocabulary`, path of a file; `embeddings`: `url`, `model`, `headers`, `dimensions`, `timeout`, `batch`; `native`, list of names", Default: "none", About: "[words of your own](search.md#words-of-your-own) for searches of tools, [an endpoint](search.md#embeddings) for what they mean, and [programs](search.md#which-form-of-the-list) that search by themselves", Serve: true},
		{Name: "serve.tls", Values: "`cert` and `key`, files in PEM; `clientCA`, `crl`, `minVersion`", Default: "none", About: "serves HTTP over TLS; the files are followed", Serve: true},
		{Name: viewsName, Values: "names, each with `tools`, `prompts`, `resources`, `only`, `clients`, `groups`, `list`, `budget`, `pin`, `expose`, `instructions`, `describe`, `override`, `results`", Default: "none", About: "[views](views.md): what clients see of all servers", Serve: true},
		{Name: "serve.url", Values: "URL", Default: "the address", About: "the URL that clients use; [tokens of an issuer](share.md#let-people-in-with-an-identity-provider) are for it", Serve: true},
	})
}

// flagsOnly are the settings that config.yaml does not have.
func flagsOnly() []Setting {
	table := []Setting{
		{Flag: "config", Values: "FILE", Default: "the layers", About: "the only servers.json that is read; its folder has config.yaml"},
		{Flag: "json", Values: aBoolean, Default: "false", About: "the same as `--output json`"},
		{Flag: "jq", Values: "jq expression", Default: "none", About: "prints what the expression makes of the JSON"},
		{Flag: "header", Values: "NAME=VALUE, one a line in the variable", Default: "none", About: "headers of HTTP requests to servers"},
		{Flag: "roots", Values: "directories, as in `PATH` in the variable", Default: "none", About: "directories that servers are told to work in"},
		{Flag: "auth", Values: "JSON object or @FILE", Default: "the entry's `auth`", About: "how to log in to the server"},
		{Flag: "client-id", Values: "text", Default: "the entry's `auth`", About: "id of a registered client"},
		{Flag: "client-secret-env", Values: "name of a variable", Default: "none", About: "variable with the secret of that client"},
		{Flag: "scope", Values: "texts, separated by spaces in the variable", Default: "what the server says", About: "scopes to ask for"},
		{Flag: "client-metadata-url", Values: "URL", Default: "none", About: "document that describes the client"},
		{Flag: "callback-port", Values: "port, 0 for any", Default: "8085 to 8099", About: "port that the end of a login comes to"},
		{Flag: "no-browser", Values: aBoolean, Default: "false", About: "opens no browser: prints the page to log in on"},
		{Flag: "url", Values: "URL", Default: "none", About: "a server that no file has"},
		{Flag: "http", Values: "ADDR", Default: "standard input and output", About: "serves HTTP on this address", Serve: true},
		{Flag: "socket", Values: "PATH", Default: "standard input and output", About: "serves HTTP on this Unix socket", Serve: true},
		{Flag: "server", Values: "names, separated by commas", Default: "all", About: "serves only these servers", Serve: true},
		{Flag: "view", Values: "name of a view", Default: "what the client's name or `serve.view` says", About: "the [view](views.md) of the client on standard input and output", Serve: true},
		{Flag: "insecure", Values: aBoolean, Default: "false", About: "allows an address that other machines reach", Serve: true},
	}
	for i := range table {
		if f := table[i].Flag; f != "url" && f != "jq" { // which belong to one command line
			table[i].Variable = Variable(table[i].Flag)
		}
	}
	return table
}
