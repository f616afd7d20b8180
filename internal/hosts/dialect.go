package hosts

import (
	"bytes"
	"encoding/json"

	"github.com/mcpctl/mcpctl/runtime/config"
)

// form is the language of a file.
type form int

const (
	formJSON form = iota // with comments and trailing commas
	formTOML
	formYAML
)

// dialect is how a host writes an entry.
type dialect struct {
	keys keys
	form form
	root []string

	// types are written for the transports of package config; nil writes none.
	types map[string]string
	// always are members that each entry has.
	always map[string]json.RawMessage
	// timeoutUnit is that of the member requestTimeout.
	timeoutUnit string
	syntax      syntax
	// expands are the members whose texts may have placeholders; nil is all of them.
	expands []string

	// guarded says that members of servers.json are read, and that what else limits a server
	// is not left out unsaid, in its entry or around it.
	guarded bool
	// verbatim says that texts are as servers.json has them.
	verbatim bool

	// special reads and writes what no other host has.
	special special
}

// keys are the names of an entry's members. One that is "" does not exist there.
type keys struct {
	command string
	// args is "" where command is an array with the arguments.
	args, env, cwd string
	// url is of a Streamable HTTP server, sse of an HTTP+SSE server, headers of both.
	url, sse, headers string
	oauth             string
	// enabled and disabled switch an entry off.
	enabled, disabled string
	// requestTimeout is how long a call may take.
	requestTimeout string
	// allowTools and denyTools are lists of the names of tools.
	allowTools, denyTools string
}

// special are members of one host alone.
type special struct {
	// read takes a member; false leaves it to the others.
	read func(in *incoming, name string, value json.RawMessage) bool
	// write changes what is written of an entry: texts with placeholders in members of
	// their own.
	write func(out *members, e config.Entry)
}

// reads reports whether the form of a dialect may be that of a file, by its name or else by
// how it begins: JSON can be read as YAML, too.
func (d dialect) reads(path string, text []byte) bool {
	if !hasExt(path, ".toml", ".yaml", ".yml", ".json", ".jsonc", ".json5") {
		return bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) == (d.form == formJSON)
	}
	switch d.form {
	case formTOML:
		return hasExt(path, ".toml")
	case formYAML:
		return hasExt(path, ".yaml", ".yml")
	case formJSON:
	}
	return hasExt(path, ".json", ".jsonc", ".json5")
}

// plainDialect is that of most hosts: command, args and env, or url and headers.
func plainDialect() dialect {
	return dialect{
		root: []string{"mcpServers"},
		keys: keys{command: "command", args: "args", env: "env", url: "url", headers: "headers", disabled: "disabled"},
	}
}

// typed is plainDialect with a type on remote entries, whose name of Streamable HTTP varies.
func typed(stdio, http string) dialect {
	d := plainDialect()
	d.types = map[string]string{config.TransportStdio: stdio, config.TransportHTTP: http, config.TransportSSE: "sse"}
	return d
}

func kiro() dialect {
	d := plainDialect()
	d.keys.denyTools = "disabledTools"
	return d
}

func amp() dialect {
	d := plainDialect()
	d.keys.allowTools = "includeTools"
	return d
}

func cline() dialect {
	d := typed("", "streamableHttp")
	d.keys.requestTimeout, d.timeoutUnit = "timeout", "s"
	return d
}

// ours is the dialect of programs with the members and placeholders of servers.json.
func ours() dialect {
	d := plainDialect()
	d.keys.cwd, d.syntax, d.guarded = "cwd", braces(), true
	return d
}

// whole is the dialect of a servers.json of mcpctl, of which nothing is translated.
func whole() dialect {
	d := ours()
	d.verbatim = true
	return d
}

// ohMyPi: packages/coding-agent/src/mcp/types.ts of oh-my-pi.
func ohMyPi() dialect {
	d := ours()
	d.keys.enabled, d.keys.oauth = "enabled", "oauth"
	d.keys.requestTimeout, d.timeoutUnit = "timeout", "ms"
	d.keys.allowTools, d.keys.denyTools = "enabledTools", "disabledTools"
	return d
}

func claudeDesktop() dialect {
	d := plainDialect()
	d.keys.url, d.keys.headers, d.keys.disabled = "", "", ""
	return d
}

func claudeCodeDialect() dialect {
	d := typed("stdio", "http")
	d.keys.disabled, d.syntax, d.keys.oauth = "", braces(), "oauth"
	return d
}

func cursor() dialect {
	d := plainDialect()
	d.keys.disabled, d.keys.oauth, d.syntax = "", "auth", envColon()
	return d
}

// rooDialect: src/services/mcp/McpHub.ts of Roo Code.
func rooDialect() dialect {
	d := typed("", "streamable-http")
	d.keys.cwd, d.syntax = "cwd", envColon()
	d.keys.requestTimeout, d.timeoutUnit = "timeout", "s"
	d.keys.allowTools, d.keys.denyTools = "", "disabledTools"
	return d
}

func vscode() dialect {
	d := typed("stdio", "http")
	d.root, d.keys.disabled, d.keys.cwd, d.syntax = []string{"servers"}, "", "cwd", envColon()
	return d
}

// serverURL has a name of its own for the address.
func serverURL() dialect {
	d := plainDialect()
	d.keys.url = "serverUrl"
	return d
}

func windsurf() dialect {
	d := serverURL()
	d.syntax = envColon()
	d.keys.allowTools, d.keys.denyTools = "", "disabledTools"
	return d
}

func copilot() dialect {
	d := typed("local", "http")
	d.keys.disabled = ""
	d.always = map[string]json.RawMessage{"tools": json.RawMessage(`["*"]`)}
	d.keys.allowTools, d.keys.denyTools = "tools", ""
	return d
}

func gemini() dialect {
	d := plainDialect()
	d.keys.disabled, d.keys.cwd, d.keys.url, d.keys.sse, d.keys.oauth = "", "cwd", "httpUrl", "url", "oauth"
	d.keys.requestTimeout, d.timeoutUnit = "timeout", "ms"
	d.syntax, d.expands = dollars(), []string{"env"}
	d.keys.allowTools, d.keys.denyTools = "includeTools", "excludeTools"
	return d
}

func zedDialect() dialect {
	d := plainDialect()
	d.root, d.keys.disabled, d.keys.enabled = []string{"context_servers"}, "", "enabled"
	d.always = map[string]json.RawMessage{"source": json.RawMessage(`"custom"`)}
	return d
}

func openCodeDialect() dialect {
	return dialect{
		root:   []string{"mcp"},
		keys:   keys{command: "command", env: "environment", url: "url", headers: "headers", enabled: "enabled", oauth: "oauth", requestTimeout: "timeout"},
		types:  map[string]string{config.TransportStdio: "local", config.TransportHTTP: "remote"},
		syntax: curly(), timeoutUnit: "ms",
	}
}

func gooseDialect() dialect {
	return dialect{
		form: formYAML, root: []string{"extensions"},
		keys:        keys{command: "cmd", args: "args", env: "envs", url: "uri", headers: "headers", enabled: "enabled", requestTimeout: "timeout", allowTools: "available_tools"},
		types:       map[string]string{config.TransportStdio: "stdio", config.TransportHTTP: "streamable_http", config.TransportSSE: "sse"},
		timeoutUnit: "s",
		special:     special{read: gooseRead, write: gooseWrite},
	}
}

func continueDialect() dialect {
	d := typed("stdio", "streamable-http")
	d.form, d.keys.disabled, d.keys.cwd, d.syntax = formYAML, "", "cwd", secrets()
	d.special = special{read: continueRead, write: continueWrite}
	return d
}

func mcporter() dialect {
	d := plainDialect()
	d.keys.disabled, d.keys.cwd, d.keys.url, d.syntax = "", "cwd", "baseUrl", mcporterVariables()
	d.special.read = mcporterRead
	d.keys.allowTools, d.keys.denyTools = "allowedTools", "blockedTools"
	return d
}

func mcproxy() dialect {
	d := plainDialect()
	d.guarded = true
	return d
}

// mcpProxy: config.go of TBXark/mcp-proxy. It expands no placeholders.
func mcpProxy() dialect {
	d := plainDialect()
	d.keys.disabled, d.guarded = "", true
	d.types = map[string]string{config.TransportStdio: "stdio", config.TransportHTTP: "streamable-http", config.TransportSSE: "sse"}
	d.special.read = mcpProxyRead
	return d
}
