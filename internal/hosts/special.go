package hosts

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/jsonedit"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// codexDialect has no placeholders: variables have members of their own.
func codexDialect() dialect {
	return dialect{
		form: formTOML, root: []string{"mcp_servers"},
		keys: keys{
			command: "command", args: "args", env: "env", cwd: "cwd", url: "url", headers: "http_headers",
			enabled: "enabled", requestTimeout: "tool_timeout_sec", allowTools: "enabled_tools", denyTools: "disabled_tools",
		},
		timeoutUnit: "s",
		special:     special{read: codexRead, write: codexWrite},
	}
}

func codexRead(in *incoming, name string, value json.RawMessage) bool {
	switch name {
	case "env_vars":
		var list []json.RawMessage
		_ = json.Unmarshal(value, &list)
		for _, v := range list {
			var of struct{ Name, Source string }
			if json.Unmarshal(v, &of.Name) != nil && json.Unmarshal(v, &of) != nil || !isName(of.Name) {
				in.warn("%s has %s, which is left out: want the name of a variable", name, v)
				continue
			}
			in.env = append(in.env, pair{of.Name, "${" + of.Name + "}"})
		}
	case "bearer_token_env_var":
		if v := in.text(name, value); isName(v) {
			in.bearer("${" + v + "}")
		}
	case "env_http_headers":
		doc, err := jsonedit.Parse(value)
		if err != nil {
			return false
		}
		for _, header := range doc.Names() {
			if v := in.text(name, doc.Value(header)); isName(v) {
				in.headers = append(in.headers, pair{header, "${" + v + "}"})
			}
		}
	case "startup_timeout_sec":
		in.duration("connectTimeout", name, value, "s")
	case "startup_timeout_ms":
		in.duration("connectTimeout", name, value, "ms")
	case "oauth_resource":
		in.auth.set("resource", in.text(name, value))
	case "scopes":
		in.auth.set("scopes", in.texts(name, value))
	case "enabled": // written only where it is off
		in.off = in.off || isOff(value)
	default:
		return false
	}
	return true
}

// codexWrite moves texts that are a placeholder to the members for them.
func codexWrite(out *members, e config.Entry) {
	if !e.Disabled {
		out.remove("enabled")
	}
	names, env := passedOn(e.Env)
	var headers, fromEnv pairs
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		text := e.Headers[name]
		parts := config.Parts(strings.TrimPrefix(text, "Bearer "))
		lone := len(parts) == 1 && parts[0].Name != "" && !parts[0].HasDefault
		switch {
		case lone && name == "Authorization" && strings.HasPrefix(text, "Bearer "):
			out.set("bearer_token_env_var", parts[0].Name)
		case lone && !strings.HasPrefix(text, "Bearer "):
			fromEnv = append(fromEnv, pair{name, parts[0].Name})
		default:
			headers = append(headers, pair{name, plainText(text)})
		}
	}
	for _, name := range []string{"env", "http_headers"} {
		out.remove(name)
	}
	out.set("env", env)
	out.set("env_vars", names)
	out.set("http_headers", headers)
	out.set("env_http_headers", fromEnv)
}

// passedOn returns the variables that a server gets as they are, and the others.
func passedOn(env map[string]string) (names []string, others pairs) {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if env[name] == "${"+name+"}" {
			names = append(names, name)
		} else {
			others = append(others, pair{name, plainText(env[name])})
		}
	}
	return names, others
}

// plainText returns a text without placeholders as it is meant, otherwise the text, which
// then means something else to the host.
func plainText(text string) string {
	if out, ok := (syntax{}).format(text); ok {
		return out
	}
	return text
}

func gooseRead(in *incoming, name string, value json.RawMessage) bool {
	switch name {
	case "name", "display_name", "description", "bundled":
		return true
	case "available_tools":
		return string(value) == "[]" // every one
	case "type":
		if t := string(value); t == `"builtin"` || t == `"platform"` || t == `"frontend"` || t == `"inline_python"` {
			in.skip = "it is a part of Goose"
			return true
		}
	case "env_keys":
		var names []string
		if json.Unmarshal(value, &names) != nil {
			return false
		}
		for _, name := range names {
			if isName(name) {
				in.env = append(in.env, pair{name, "${" + name + "}"})
			}
		}
		return true
	}
	return false
}

// gooseWrite names the keys that Goose asks for and keeps by itself.
func gooseWrite(out *members, e config.Entry) {
	names, env := passedOn(e.Env)
	out.set("name", e.Name)
	out.remove("envs")
	out.set("envs", env)
	out.set("env_keys", names)
}

// continueRead reads the headers of a remote server, which stand with other options of
// requests.
func continueRead(in *incoming, name string, value json.RawMessage) bool {
	switch name {
	case "name", "serverName", "faviconUrl", "sourceFile":
	case "connectionTimeout":
		in.duration("connectTimeout", name, value, "ms")
	case "requestOptions":
		doc, err := jsonedit.Parse(value)
		if err != nil {
			return false
		}
		for _, option := range doc.Names() {
			if option == "headers" {
				in.headers = append(in.headers, in.pairs(name+"."+option, doc.Value(option))...)
				continue
			}
			in.warn("%s.%s is left out: mcpctl has no such setting", name, option)
		}
	default:
		return false
	}
	return true
}

func continueWrite(out *members, _ config.Entry) {
	headers := out.values["headers"]
	if headers == nil {
		return
	}
	out.remove("headers")
	var options members
	options.set("headers", headers)
	out.set("requestOptions", options.raw())
}

func mcporterRead(in *incoming, name string, value json.RawMessage) bool {
	switch name {
	case "description", "$schema":
	case "baseUrl", "serverUrl", "httpUrl":
		in.url = in.text(name, value)
	case "bearerToken":
		in.bearer(in.text(name, value))
	case "bearerTokenEnv":
		if v := in.text(name, value); isName(v) {
			in.bearer("${" + v + "}")
		}
	case "auth": // "oauth": mcpctl logs in when a server asks for it
		return string(value) == `"oauth"`
	default:
		return false
	}
	return true
}

func mcpProxyRead(in *incoming, name string, value json.RawMessage) bool {
	switch name {
	case "transportType":
		in.readType(name, value)
	case "timeout": // of Streamable HTTP, in nanoseconds or as a duration
		return saysNothing(value)
	case "options":
		in.proxyOptions(name, value)
	default:
		return false
	}
	return true
}

// proxyOptions reads the options of mcp-proxy, of one server or in mcpProxy of all.
func (in *incoming) proxyOptions(name string, value json.RawMessage) {
	var of struct {
		AuthTokens []string `json:"authTokens"`
		ToolFilter *struct {
			Mode string   `json:"mode"`
			List []string `json:"list"`
		} `json:"toolFilter"`
	}
	if json.Unmarshal(value, &of) != nil {
		in.loseUnlessEmpty(name, value, asView)
		return
	}
	if len(of.AuthTokens) > 0 {
		in.lose(name+".authTokens", asLogin)
	}
	switch f := of.ToolFilter; {
	case f == nil || len(f.List) == 0: // it filters nothing
	case f.Mode == "allow":
		in.tools.Allow = f.List
	case f.Mode == "block":
		in.tools.Deny = append(in.tools.Deny, f.List...)
	default:
		in.lose(name+".toolFilter", asView)
	}
}
