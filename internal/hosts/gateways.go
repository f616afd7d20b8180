package hosts

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/config"
)

// gateway is how the file of a program is read that serves many servers as one.
type gateway struct {
	// companion is a file beside it that belongs to it, "" for none.
	companion string
	// is reports whether a file has the form of the gateway's.
	is func(docs []members) bool
	// gather reads the documents of a file, then those of its companion.
	gather func(g *gathered, docs []members)
}

// What stands here for the settings of gateways.
const (
	asContainer = "write the flags of docker run that do the same, such as --network none, into the entry's args"
	asTemplate  = "it is a template, which has no values outside of the gateway"
)

// Gateways returns the gateways whose files are imported, by name. Nothing is written to them.
func Gateways() []*Host {
	return []*Host{
		{Name: "1mcp", Title: "1MCP", files: configDir("1mcp/mcp.json"), dialect: oneMCP, gateway: &gateway{"presets.json", isOneMCP, gatherOneMCP}},
		{Name: "agentgateway", Title: "agentgateway", files: nowhere, dialect: whole, gateway: &gateway{"", isAgentgateway, gatherAgentgateway}},
		{Name: "contextforge", Title: "ContextForge", files: nowhere, dialect: whole, gateway: &gateway{"", isContextForge, gatherContextForge}},
		{Name: "docker", Title: "Docker MCP Gateway", files: nowhere, dialect: whole, gateway: &gateway{"", isDocker, gatherDocker}},
		{Name: "envoy", Title: "Envoy AI Gateway", files: nowhere, dialect: whole, gateway: &gateway{"", isEnvoy, gatherEnvoy}},
		{Name: "litellm", Title: "LiteLLM", files: nowhere, dialect: whole, gateway: &gateway{"", isLiteLLM, gatherLiteLLM}},
		{Name: "mcp-hub", Title: "MCP Hub", files: inHome(".config/mcphub/servers.json"), dialect: mcpHub, gateway: &gateway{"", isMCPHub, gatherMCPHub}},
		{Name: "mcpjungle", Title: "MCPJungle", files: nowhere, dialect: mcpJungle, gateway: &gateway{"", isMCPJungle, gatherMCPJungle}},
		{Name: "mcpproxy-go", Title: "MCPProxy", files: inHome(".mcpproxy/mcp_config.json"), dialect: mcpproxyGo, gateway: &gateway{"", isMCPProxyGo, gatherMCPProxyGo}},
		{Name: "metamcp", Title: "MetaMCP", files: nowhere, dialect: metaMCP, gateway: &gateway{"", isMetaMCP, gatherMetaMCP}},
		{Name: "toolhive", Title: "ToolHive", files: nowhere, dialect: whole, gateway: &gateway{"", isToolHive, gatherToolHive}},
	}
}

// GatewayNames returns the names of all gateways.
func GatewayNames() []string {
	var names []string
	for _, h := range Gateways() {
		names = append(names, h.Name)
	}
	return names
}

// ReadOnly reports whether the files of a host are read only.
func (h *Host) ReadOnly() bool { return h.gateway != nil }

// read reads the text of a gateway's file and of its companion, whose mistakes are those of
// the file.
func (w *gateway) read(path string, text, companion []byte) (*gathered, error) {
	docs, err := formOf(path, text).objects(text)
	if err != nil {
		return nil, err
	}
	if companion != nil {
		more, err := formOf(w.companion, companion).objects(companion)
		if err != nil {
			return nil, &FileError{w.companion, err}
		}
		docs = append(docs, more...)
	}
	g := &gathered{text: text}
	if len(docs) > 0 {
		w.gather(g, docs)
	}
	return g, nil
}

// companionOf reads the file that belongs to another, nil for none.
func (h *Host) companionOf(path string) []byte {
	if h.gateway == nil || h.gateway.companion == "" || !filepath.IsAbs(path) {
		return nil
	}
	text, err := readText(filepath.Join(filepath.Dir(path), h.gateway.companion))
	if err != nil {
		return nil
	}
	return text
}

// formOf returns the language of a gateway's file, by its name or else by how it begins.
func formOf(path string, text []byte) form {
	if (dialect{form: formYAML}).reads(path, text) {
		return formYAML
	}
	return formJSON
}

// gatewayOf returns the gateway that has a file of this form, nil for none.
func gatewayOf(path string, text []byte) *Host {
	docs, err := formOf(path, text).objects(text)
	if err != nil || len(docs) == 0 {
		return nil
	}
	all := Gateways()
	if i := slices.IndexFunc(all, func(h *Host) bool { return h.gateway.is(docs) }); i >= 0 {
		return all[i]
	}
	return nil
}

// anyEntry reports whether one of the servers below mcpServers or servers matches.
func anyEntry(docs []members, matches func(members) bool) bool {
	for _, root := range []string{"mcpServers", "servers"} {
		servers := docs[0].object(root)
		for _, name := range servers.names {
			if matches(servers.object(name)) {
				return true
			}
		}
	}
	return false
}

// addAll adds the servers of an object as they are.
func (g *gathered) addAll(servers members) {
	for _, name := range servers.names {
		if entry := servers.object(name); len(entry.names) > 0 {
			g.add(name, entry)
		} else {
			g.skip(name, "the entry is no object with members")
		}
	}
}

// secretRef returns the placeholder for a secret that a gateway keeps elsewhere.
func secretRef(id string) string {
	clean := strings.Map(func(r rune) rune {
		if isName("a" + string(r)) {
			return r
		}
		return '_'
	}, id)
	if name := variable(clean); name != "" {
		return "${" + name + "}"
	}
	return "${SECRET_" + strings.ToUpper(clean) + "}"
}

// bearerOf returns a token as the value of a header.
func bearerOf(token string) string {
	if strings.HasPrefix(strings.ToLower(token), "bearer ") {
		return token
	}
	return "Bearer " + token
}

// tools sets which tools an entry has.
func (m *members) tools(allow, deny []string) {
	m.set("tools", config.ToolFilter{Allow: allow, Deny: deny})
}
