package hosts

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/lazy"
)

// Gateways whose entries are like those of hosts.

// mcpproxyGo: internal/config/config.go of smart-mcp-proxy/mcpproxy-go.
func mcpproxyGo() dialect {
	d := plainDialect()
	d.keys.cwd, d.keys.disabled, d.keys.enabled, d.keys.oauth = "working_dir", "", "enabled", "oauth"
	d.keys.allowTools, d.keys.denyTools = "enabled_tools", "disabled_tools"
	d.syntax, d.guarded = keyring(), true
	d.special.read = mcpproxyGoRead
	return d
}

var findKeyring = lazy.Regexp(`\$\{(env|keyring):([^}]*)\}`)

// keyring are ${env:NAME} and ${keyring:NAME}.
func keyring() syntax {
	return syntax{
		find: findKeyring,
		read: func(g []string, _ string) (string, string) {
			ref := secretRef(g[2])
			if g[1] == "keyring" {
				return ref, g[0] + " is in the gateway's keyring; here it is the environment variable " + strings.Trim(ref, "${}")
			}
			return ref, ""
		},
	}
}

func isMCPProxyGo(docs []members) bool {
	return strings.HasPrefix(string(docs[0].values["mcpServers"]), "[")
}

func gatherMCPProxyGo(g *gathered, docs []members) {
	top := docs[0]
	for _, entry := range top.objects("mcpServers") {
		name := entry.text("name")
		f := g.add(name, entry)
		for _, of := range []members{entry.object("isolation"), top.object("docker_isolation")} {
			if of.text("enabled") == "false" || of.text("mode") == "none" {
				break
			}
			if entry.has("command") && (of.text("enabled") == "true" || of.has("mode")) {
				f.lose("isolation", "it ran in a container there: write docker run into command and args, or run the gateway in a container")
				break
			}
		}
	}
	for _, profile := range top.objects("profiles") {
		g.views = append(g.views, viewOf(profile.text("name"), profile.texts("servers")))
	}
	g.loseAll("require_mcp_auth", top.values["require_mcp_auth"], asLogin)
	if action := top.object("output_sanitisation").text("response_action"); action == "redact" || action == "block" {
		g.loseAll("output_sanitisation", top.values["output_sanitisation"], asHook)
	}
	g.leave("", top, "mcpServers", "profiles", "require_mcp_auth", "docker_isolation", "data_dir", "enable_socket")
}

func mcpproxyGoRead(in *incoming, name string, value json.RawMessage) bool {
	switch name {
	case "name", "created", "updated", "isolation", "source_registry_id", "source_registry_provenance", "reconnect_on_use", "shared":
	case "protocol":
		if string(value) != `"auto"` && !saysNothing(value) {
			in.readType("type", value)
		}
	case "working_dir":
		in.cwd = in.text(name, value)
	case "quarantined":
		if string(value) == "true" {
			in.off = true
			in.warn("quarantined: it is disabled until its entry says otherwise; mcpctl tools shows what it has")
		}
	case "init_timeout":
		if text := in.text(name, value); text != "" {
			in.setTimeout("connectTimeout", text)
		}
	case "trust_mode", "auto_approve_tool_changes", "skip_quarantine":
		if !saysNothing(value) && string(value) != `"auto"` && name == "trust_mode" {
			in.warn("%s is left out: mcpctl lock pins the tools", name)
		}
	case "enabled_tools", "disabled_tools":
		return string(value) == "null" || string(value) == "[]"
	default:
		return name != "enabled" && saysNothing(value)
	}
	return true
}

// viewOf is a view of whole servers.
func viewOf(name string, servers []string) View {
	v := View{Name: name, Tools: []Selection{}}
	for _, server := range servers {
		v.Tools = append(v.Tools, Selection{Server: server})
	}
	return v
}

// oneMCP: docs/en/reference/mcp-servers.md of 1mcp-app/agent.
func oneMCP() dialect {
	d := typed("stdio", "streamableHttp")
	d.keys.cwd, d.syntax = "cwd", dollars()
	d.keys.requestTimeout, d.timeoutUnit = "requestTimeout", "ms"
	d.keys.denyTools, d.guarded = "disabledTools", true
	d.special.read = oneMCPRead
	return d
}

func isOneMCP(docs []members) bool {
	return docs[0].has("serverDefaults", "mcpTemplates") ||
		anyEntry(docs, func(e members) bool {
			return e.has("tags", "inheritParentEnv", "envFilter", "restartOnExit", "toolDescriptionOverrides")
		})
}

func gatherOneMCP(g *gathered, docs []members) {
	top := docs[0]
	tags := map[string][]string{}
	texts := View{Name: "1mcp"}
	servers, defaults := top.object("mcpServers"), top.object("serverDefaults")
	for _, name := range servers.names {
		entry := servers.object(name)
		if len(entry.names) == 0 {
			g.skip(name, "the entry is no object with members")
			continue
		}
		tags[name] = entry.texts("tags")
		over := entry.object("toolDescriptionOverrides")
		for _, tool := range over.names {
			texts.Changes = append(texts.Changes, ToolChange{Server: name, Tool: tool, Description: over.text(tool)})
		}
		g.add(name, withDefaults(entry, defaults))
	}
	for _, name := range top.object("mcpTemplates").names {
		g.skip(name, asTemplate)
	}
	if texts.Changes != nil {
		g.views = append(g.views, texts)
	}
	for _, doc := range docs[1:] {
		presets := doc.object("presets")
		for _, name := range presets.names {
			query := presets.object(name, "tagQuery")
			g.views = append(g.views, viewOf(name, slices.DeleteFunc(slices.Clone(servers.names), func(server string) bool { return !tagged(query, tags[server]) })))
		}
	}
	g.leave("", top, "mcpServers", "mcpTemplates", "serverDefaults", "$schema", "version")
}

// withDefaults returns an entry of 1MCP with what all entries have.
func withDefaults(entry, defaults members) members {
	for _, name := range defaults.names {
		value := defaults.values[name]
		remote := entry.has("url")
		switch {
		case name == "headers" && !remote, slices.Contains([]string{"env", "inheritParentEnv", "envFilter", "restartOnExit", "maxRestarts", "restartDelay"}, name) && remote:
		case name == "env" && value[0] == '{' && strings.HasPrefix(string(entry.values[name]), "{"):
			env := objectOf(value)
			own := entry.object(name)
			for _, key := range own.names {
				env.put(key, own.values[key])
			}
			entry.put(name, env.raw())
		case entry.values[name] == nil:
			entry.put(name, value)
		}
	}
	return entry
}

func oneMCPRead(in *incoming, name string, value json.RawMessage) bool {
	switch name {
	case "tags", "toolDescriptionOverrides", "stderr", "restartOnExit", "maxRestarts", "restartDelay":
	case "connectionTimeout":
		in.duration("connectTimeout", name, value, "ms")
	case "timeout":
		if in.timeout["requestTimeout"] == "" {
			in.duration("requestTimeout", name, value, "ms")
		}
	case "env":
		if value[0] != '[' {
			return false
		}
		for _, text := range in.texts(name, value) {
			key, v, set := strings.Cut(text, "=")
			if !set {
				v = "${" + key + "}"
			}
			in.env = append(in.env, pair{key, v})
		}
	case "inheritParentEnv", "envFilter":
		in.warn("%s is left out: a server has the variables of env, and the usual ones such as PATH", name)
	default:
		return false
	}
	return true
}

// tagged reports whether a query of a preset finds a server with some tags.
func tagged(query members, tags []string) bool {
	in := func(names []string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(tags, name) })
	}
	for _, name := range query.names {
		found := false
		switch name {
		case "tag":
			found = slices.Contains(tags, query.text(name)) || in(query.object(name).texts("$in"))
		case "$in":
			found = in(query.texts(name))
		case "$or":
			found = slices.ContainsFunc(query.objects(name), func(q members) bool { return tagged(q, tags) })
		case "$and":
			found = !slices.ContainsFunc(query.objects(name), func(q members) bool { return !tagged(q, tags) })
		case "$not":
			found = !tagged(query.object(name), tags)
		}
		if !found {
			return false
		}
	}
	return len(query.names) > 0
}

// metaMCP: the export of its page of servers. It has no namespaces.
func metaMCP() dialect {
	d := typed("STDIO", "STREAMABLE_HTTP")
	d.syntax, d.guarded = braces(), true
	d.special.read = metaMCPRead
	return d
}

func isMetaMCP(docs []members) bool {
	return anyEntry(docs, func(e members) bool {
		return slices.Contains([]string{"STDIO", "SSE", "STREAMABLE_HTTP"}, e.text("type"))
	})
}

func gatherMetaMCP(g *gathered, docs []members) {
	g.addAll(docs[0].object("mcpServers"))
	g.leave("", docs[0], "mcpServers")
}

func metaMCPRead(in *incoming, name string, value json.RawMessage) bool {
	switch name {
	case "description":
	case "bearerToken", "bearer_token":
		if token := in.text(name, value); token != "" {
			in.bearer(token)
		}
	default:
		return false
	}
	return true
}

// mcpHub: README.md of ravitemer/mcp-hub.
func mcpHub() dialect {
	d := plainDialect()
	d.keys.cwd, d.syntax, d.guarded = "cwd", hubVariables(), true
	d.keys.denyTools = "disabled_tools"
	d.special.read = mcpHubRead
	return d
}

var findHub = lazy.Regexp(`\$\{(?:(cmd|[A-Za-z]+):([^}]*)|(` + namePattern + `)|/)\}`)

// hubVariables are those of VS Code, and ${NAME}.
func hubVariables() syntax {
	code := envColon()
	return syntax{
		find: findHub,
		read: func(g []string, dir string) (string, string) {
			switch {
			case g[0] == "${/}":
				return "/", ""
			case slices.Contains([]string{"userHome", "workspaceFolder", "workspaceFolderBasename", "pathSeparator", "cwd"}, g[3]):
				return code.read([]string{g[0], strings.Replace(g[3], "cwd", "workspaceFolder", 1), ""}, dir)
			case g[3] != "":
				return "${" + g[3] + "}", ""
			}
			return code.read([]string{g[0], g[1], g[2]}, dir)
		},
	}
}

func isMCPHub(docs []members) bool {
	return docs[0].has("nativeMCPServers") || anyEntry(docs, func(e members) bool {
		return e.has("dev", "custom_instructions", "disabled_tools", "disabled_prompts") || strings.Contains(string(e.raw()), "${cmd:")
	})
}

func gatherMCPHub(g *gathered, docs []members) {
	for _, root := range []string{"servers", "mcpServers"} {
		g.addAll(docs[0].object(root))
	}
	g.leave("", docs[0], "servers", "mcpServers", "$schema")
}

var hubCommand = lazy.Regexp(`^(?:[Bb]earer )?\$\{cmd:\s*(.*)\}$`)

// mcpHubRead reads ${cmd: PROGRAM}, which MCP Hub replaces by what the program prints: of a
// header with a token it is auth.command. Nothing is run here.
func mcpHubRead(in *incoming, name string, value json.RawMessage) bool {
	of := objectOf(value)
	switch {
	case name == "dev", name == "autoApprove", name == "custom_instructions" && of.text("text") == "":
	case name == "env" || name == "headers":
		var rest members
		for _, key := range of.names {
			switch text := of.text(key); {
			case name == "env" && (text == "" || string(of.values[key]) == "null"):
				rest.put(key, encode("${env:"+key+"}"))
			case strings.Contains(text, "${cmd:"):
				m := hubCommand().FindStringSubmatch(text)
				if name == "headers" && strings.EqualFold(key, "Authorization") && m != nil {
					in.runs("headers.Authorization", "!"+m[1])
					continue
				}
				in.lose(name+"."+key, asCommand)
			default:
				rest.put(key, of.values[key])
			}
		}
		got := in.pairs(name, rest.raw())
		if name == "env" {
			in.env = append(in.env, got...)
		} else {
			in.headers = append(in.headers, got...)
		}
	case strings.Contains(string(value), "${cmd:"):
		in.lose(name, asCommand)
	default:
		return false
	}
	return true
}

// mcpJungle: README.md of mcpjungle/MCPJungle. A file is one server or one tool group.
func mcpJungle() dialect {
	d := typed("stdio", "streamable_http")
	d.syntax, d.guarded = braces(), true
	d.special.read = mcpJungleRead
	return d
}

func isJungleGroup(doc members) bool {
	return doc.has("included_tools", "included_servers", "excluded_tools")
}

func isMCPJungle(docs []members) bool {
	return docs[0].has("name") && (docs[0].has("transport") && docs[0].has("url", "command") || isJungleGroup(docs[0]))
}

func gatherMCPJungle(g *gathered, docs []members) {
	doc := docs[0]
	switch {
	case !isMCPJungle(docs):
		return
	case !isJungleGroup(doc):
		g.add(doc.text("name"), doc)
		return
	}
	v := viewOf(doc.text("name"), doc.texts("included_servers"))
	for _, name := range doc.texts("included_tools") {
		server, tool, _ := strings.Cut(name, "__")
		v.Tools = append(v.Tools, Selection{Server: server, Patterns: []string{tool}})
	}
	for _, name := range doc.texts("excluded_tools") {
		server, tool, _ := strings.Cut(name, "__")
		v.Tools = append(v.Tools, Selection{Server: server, Patterns: []string{tool}, Not: true})
	}
	g.views = append(g.views, v)
	g.leave("", doc, "name", "description", "included_tools", "included_servers", "excluded_tools")
}

func mcpJungleRead(in *incoming, name string, value json.RawMessage) bool {
	switch name {
	case "name", "description", "session_mode":
	case "bearer_token":
		if token := in.text(name, value); token != "" {
			in.bearer(token)
		}
	default:
		return false
	}
	return true
}

// dollarText returns a text with $NAME and ${NAME} as servers.json has it.
func dollarText(text string) string {
	out, _ := dollars().parse(text, "")
	return out
}
