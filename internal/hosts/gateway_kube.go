package hosts

import (
	"slices"
	"strings"
)

// Gateways whose files are resources of Kubernetes.

// resource returns the resource of a kind and a name, an empty one for none.
func resource(docs []members, kind, name string) members {
	for _, doc := range docs {
		if doc.text("kind") == kind && doc.object("metadata").text("name") == name {
			return doc
		}
	}
	return members{}
}

func ofKind(docs []members, kinds ...string) []members {
	return slices.DeleteFunc(slices.Clone(docs), func(doc members) bool { return !slices.Contains(kinds, doc.text("kind")) })
}

// Envoy AI Gateway: api/v1beta1/mcp_route.go of envoyproxy/ai-gateway.

func isEnvoy(docs []members) bool { return len(ofKind(docs, "MCPRoute")) > 0 }

func gatherEnvoy(g *gathered, docs []members) {
	routes := ofKind(docs, "MCPRoute")
	for _, route := range routes {
		spec := route.object("spec")
		before := len(g.servers.names)
		for _, ref := range spec.objects("backendRefs") {
			envoyBackend(g, docs, ref)
		}
		servers := g.servers.names[before:]
		policy := spec.object("securityPolicy")
		for _, name := range servers {
			for _, of := range policy.names {
				instead := asLogin
				if of == "authorization" {
					instead = asAccess
				}
				g.found[name].lose("spec.securityPolicy."+of, instead)
			}
			if spec.has("backendSelector") {
				g.found[name].lose("spec.backendSelector", asAccess)
			}
		}
		if len(routes) > 1 {
			g.views = append(g.views, viewOf(route.object("metadata").text("name"), servers))
		}
		g.leave("spec.", spec, "parentRefs", "path", "backendRefs", "securityPolicy", "backendSelector")
	}
}

func envoyBackend(g *gathered, docs []members, ref members) {
	name := ref.text("name")
	backend := resource(docs, "Backend", name).object("spec")
	endpoints := backend.objects("endpoints")
	if len(endpoints) == 0 {
		g.skip(name, "the file has no Backend of that name")
		return
	}
	at := endpoints[0].object("fqdn")
	host := at.text("hostname")
	if host == "" {
		at = endpoints[0].object("ip")
		host = at.text("address")
	}
	if host == "" {
		g.skip(name, "its endpoint is neither a name nor an IP address")
		return
	}
	scheme := "http"
	if at.text("port") == "443" || backend.has("tls") || hasTLS(docs, name) {
		scheme = "https"
	}
	path := ref.text("path")
	if path == "" {
		path = "/mcp"
	}
	url := urlOf(scheme, host, at.text("port"), path)
	var entry members
	var headers pairs
	if key := ref.object("securityPolicy", "apiKey"); len(key.names) > 0 {
		value := escape(key.text("inline"))
		if secret := key.object("secretRef").text("name"); secret != "" {
			value = envoySecret(docs, secret)
		}
		switch header := key.text("header"); {
		case key.text("queryParam") != "":
			sep := "?"
			if strings.Contains(url, "?") {
				sep = "&"
			}
			url += sep + key.text("queryParam") + "=" + value
		case header == "" || strings.EqualFold(header, "Authorization"):
			headers = append(headers, pair{"Authorization", bearerOf(value)})
		default:
			headers = append(headers, pair{header, value})
		}
	}
	entry.set("url", url)
	entry.set("headers", headers)
	allow, deny, ok := envoyTools(ref.object("toolSelector"))
	entry.tools(allow, deny)
	f := g.add(name, entry)
	if !ok {
		f.lose("toolSelector", asView)
	}
	if len(endpoints) > 1 {
		f.notes = append(f.notes, "it has several endpoints, of which the first is taken")
	}
	if !saysNothing(ref.values["forwardHeaders"]) {
		f.notes = append(f.notes, "forwardHeaders is left out: a login of each user is auth in the entry (docs/auth.md)")
	}
}

func hasTLS(docs []members, backend string) bool {
	return slices.ContainsFunc(ofKind(docs, "BackendTLSPolicy"), func(policy members) bool {
		return slices.ContainsFunc(policy.object("spec").objects("targetRefs"), func(ref members) bool { return ref.text("name") == backend })
	})
}

// envoySecret returns the placeholder for a secret: the variable that its annotation names, or
// one of the secret's name. The secret itself is not read.
func envoySecret(docs []members, name string) string {
	notes := resource(docs, "Secret", name).object("metadata", "annotations")
	if v := notes.text("substitution.aigw.run/env/apiKey"); isName(v) {
		return "${" + v + "}"
	}
	return secretRef(name)
}

// envoyTools returns the patterns of a selector; ok is false for a regular expression that
// is no list of names.
func envoyTools(of members) (allow, deny []string, ok bool) {
	read := func(plain, re string) (out []string, ok bool) {
		out = of.texts(plain)
		for _, text := range of.texts(re) {
			globs := globsOf(text)
			if globs == nil {
				return nil, false
			}
			out = append(out, globs...)
		}
		return out, true
	}
	allow, ok = read("include", "includeRegex")
	if !ok {
		return nil, nil, false
	}
	deny, ok = read("exclude", "excludeRegex")
	return allow, deny, ok
}

// ToolHive: pkg/vmcp/config/config.go and cmd/thv-operator/api/v1beta1 of stacklok/toolhive. A
// file is the configuration of one vMCP, or resources.

func isToolHive(docs []members) bool {
	return len(ofKind(docs, "VirtualMCPServer", "MCPServer", "MCPRemoteProxy", "MCPServerEntry")) > 0 ||
		docs[0].has("aggregation", "groupRef") && docs[0].has("backends", "groupRef", "incomingAuth")
}

func gatherToolHive(g *gathered, docs []members) {
	for _, doc := range docs {
		name, spec := doc.object("metadata").text("name"), doc.object("spec")
		switch doc.text("kind") {
		case "MCPServer":
			hiveServer(g, name, spec)
		case "MCPRemoteProxy", "MCPServerEntry":
			hiveRemote(g, name, spec)
		}
	}
	for _, doc := range docs {
		switch {
		case doc.text("kind") == "VirtualMCPServer":
			spec := doc.object("spec")
			config := spec.object("config")
			for _, name := range []string{"incomingAuth", "outgoingAuth"} {
				if spec.has(name) {
					config.put(name, spec.values[name])
				}
			}
			hiveGateway(g, docs, doc.object("metadata").text("name"), config)
		case !doc.has("kind") && doc.has("aggregation", "groupRef", "backends"):
			hiveGateway(g, docs, doc.text("name"), doc)
		}
	}
}

// hiveServer adds a server that runs in a container.
func hiveServer(g *gathered, name string, spec members) {
	if t := spec.text("transport"); t != "" && t != "stdio" {
		g.skip(name, "its container speaks "+t+": start it, then mcpctl add its URL")
		return
	}
	var env pairs
	for _, v := range spec.objects("env") {
		env = append(env, pair{v.text("name"), escape(v.text("value"))})
	}
	for _, secret := range spec.objects("secrets") {
		target := secret.text("targetEnvName")
		if target == "" {
			target = secret.text("key")
		}
		env = append(env, pair{target, "${" + target + "}"})
	}
	args := containerRun(env)
	for _, v := range spec.objects("volumes") {
		mount := v.text("hostPath") + ":" + v.text("mountPath")
		if v.text("readOnly") == "true" {
			mount += ":ro"
		}
		args = append(args, "-v", escape(mount))
	}
	args = append(args, spec.text("image"))
	for _, word := range spec.texts("args") {
		args = append(args, escape(word))
	}
	var entry members
	entry.set("command", "docker")
	entry.set("args", args)
	entry.set("env", env)
	f := g.add(name, entry)
	if spec.has("permissionProfile") {
		f.lose("permissionProfile", asContainer)
	}
	hiveLimits(f, spec)
}

// hiveRemote adds a server that is somewhere else.
func hiveRemote(g *gathered, name string, spec members) {
	url := spec.text("remoteUrl")
	if url == "" {
		url = spec.text("remoteURL")
	}
	var entry members
	entry.set("url", escape(url))
	if spec.text("transport") == "sse" {
		entry.set("type", "sse")
	}
	forward := spec.object("headerForward")
	headers := forward.pairsOf("addPlaintextHeaders", escape)
	for _, h := range forward.objects("addHeadersFromSecret") {
		headers = append(headers, pair{h.text("headerName"), secretRef(h.object("valueSecretRef").text("name"))})
	}
	entry.set("headers", headers)
	f := g.add(name, entry)
	if spec.has("externalAuthConfigRef") {
		f.notes = append(f.notes, "externalAuthConfigRef is left out: mcpctl logs in when the server asks for it")
	}
	hiveLimits(f, spec)
}

func hiveLimits(f *found, spec members) {
	for _, of := range [][2]string{{"oidcConfigRef", asLogin}, {"oidcConfig", asLogin}, {"authzConfig", asAccess}, {"authzConfigRef", asAccess}, {"audit", asAudit}, {"webhookConfigRef", asHook}} {
		if !saysNothing(spec.values[of[0]]) {
			f.lose(of[0], of[1])
		}
	}
}

// hiveGateway reads what a vMCP says of its servers.
func hiveGateway(g *gathered, docs []members, name string, config members) {
	for _, backend := range config.objects("backends") {
		var entry members
		entry.set("url", escape(backend.text("url")))
		if backend.text("transport") == "sse" {
			entry.set("type", "sse")
		}
		g.add(backend.text("name"), entry)
	}
	v := View{Name: name, Search: config.has("optimizer")}
	aggregation := config.object("aggregation")
	for _, of := range aggregation.objects("tools") {
		v.Changes = append(v.Changes, hiveTools(g, docs, of)...)
	}
	if aggregation.text("excludeAllTools") == "true" {
		for _, server := range g.servers.names {
			g.limit(server, []string{})
		}
	}
	outgoing := config.object("outgoingAuth", "backends")
	for _, server := range outgoing.names {
		how := outgoing.object(server)
		inject := how.object("headerInjection")
		switch header, env := inject.text("headerName"), inject.text("headerValueEnv"); {
		case g.found[server] == nil:
		case header != "" && env != "":
			g.header(server, header, "${"+env+"}")
		case how.text("type") != "unauthenticated":
			g.found[server].notes = append(g.found[server].notes, "its "+how.text("type")+" credential is left out: write headers or auth into the entry")
		}
	}
	incoming := config.object("incomingAuth")
	if t := incoming.text("type"); t != "" && t != "anonymous" {
		g.loseAll("incomingAuth", incoming.values["type"], asLogin)
	}
	for _, name := range []string{"authz", "authzConfig"} {
		g.loseAll("incomingAuth."+name, incoming.values[name], asAccess)
	}
	g.loseAll("rateLimiting", config.values["rateLimiting"], asHook)
	if v.Search || v.Changes != nil {
		g.views = append(g.views, v)
	}
	g.leave("", config, "name", "groupRef", "backends", "incomingAuth", "outgoingAuth", "aggregation", "optimizer", "rateLimiting", "audit", "metadata")
	g.leave("aggregation.", aggregation, "tools", "excludeAllTools", "conflictResolution", "conflictResolutionConfig", "defaultToolVisibility")
	g.loseAll("audit", config.values["audit"], asAudit)
}

// hiveTools limits the tools of one server, and returns what is different about them.
func hiveTools(g *gathered, docs []members, of members) (changes []ToolChange) {
	server := of.text("workload")
	filter, overrides := of.texts("filter"), of.object("overrides")
	if ref := of.object("toolConfigRef").text("name"); ref != "" {
		spec := resource(docs, "MCPToolConfig", ref).object("spec")
		filter, overrides = spec.texts("toolsFilter"), spec.object("toolsOverride")
	}
	own := map[string]string{} // by the name that clients see
	for _, tool := range overrides.names {
		change := overrides.object(tool)
		if name := change.text("name"); name != "" {
			own[name] = tool
		}
		changes = append(changes, ToolChange{
			Server: server, Tool: tool, Name: change.text("name"), Description: change.text("description"), Title: change.object("annotations").text("title"),
		})
	}
	for i, name := range filter {
		if tool := own[name]; tool != "" {
			filter[i] = tool
		}
	}
	switch {
	case of.text("excludeAll") == "true":
		g.limit(server, []string{})
	case len(filter) > 0:
		g.limit(server, filter)
	}
	return changes
}

// limit sets the only tools of a server that was added.
func (g *gathered) limit(server string, allow []string) {
	if g.found[server] == nil {
		return
	}
	entry := objectOf(g.servers.values[server])
	entry.tools(allow, nil)
	g.servers.put(server, entry.raw())
}

// header adds a header to a server that was added.
func (g *gathered) header(server, name, value string) {
	entry := objectOf(g.servers.values[server])
	entry.set("headers", append(entry.pairsOf("headers", func(s string) string { return s }), pair{name, value}))
	g.servers.put(server, entry.raw())
}

// urlOf returns an address.
func urlOf(scheme, host, port, path string) string {
	if port != "" && (scheme != "https" || port != "443") && (scheme != "http" || port != "80") {
		host += ":" + port
	}
	return scheme + "://" + host + "/" + strings.TrimPrefix(path, "/")
}
