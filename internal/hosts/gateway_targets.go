package hosts

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/lazy"
)

// agentgateway: crates/agentgateway/src/types/local.rs and examples of agentgateway/agentgateway.

func isAgentgateway(docs []members) bool {
	return len(docs[0].object("mcp").objects("targets")) > 0 || strings.Contains(string(docs[0].values["binds"])+string(docs[0].values["backends"]), `"targets":`)
}

func gatherAgentgateway(g *gathered, docs []members) {
	top := docs[0]
	backends := map[string]string{} // the hosts that have a name
	for _, b := range top.objects("backends") {
		if host := b.text("host"); host != "" {
			backends[b.text("name")] = host
		}
	}
	w := agentTargets{g, backends}
	w.walk(top.raw(), "", nil)
	g.leave("", top, "mcp", "binds", "backends", "config", "gateways", "routes", "ui")
}

type agentTargets struct {
	g        *gathered
	backends map[string]string
}

// policyAt are policies, and where they are.
type policyAt struct {
	at string
	of members
}

// walk finds lists of targets at any depth, with the policies of what they are in.
func (w agentTargets) walk(value json.RawMessage, at string, policies []policyAt) {
	if len(value) > 0 && value[0] == '[' {
		var list []json.RawMessage
		_ = json.Unmarshal(value, &list)
		for _, item := range list {
			w.walk(item, at, policies)
		}
		return
	}
	of := objectOf(value)
	if p := of.object("policies"); len(p.names) > 0 {
		policies = append(slices.Clip(policies), policyAt{strings.TrimPrefix(at+".policies", "."), p})
	}
	if targets := of.objects("targets"); len(targets) > 0 && strings.HasSuffix(at, "mcp") {
		for _, target := range targets {
			w.target(target, policies, targets)
		}
		w.g.leave(at+".", of, "targets", "policies", "port", "gateways", "statefulMode")
		return
	}
	for _, name := range of.names {
		if name != "policies" {
			w.walk(of.values[name], strings.TrimPrefix(at+"."+name, "."), policies)
		}
	}
}

// target adds one target.
func (w agentTargets) target(of members, policies []policyAt, all []members) {
	name := of.text("name")
	own := of.object("policies")
	var entry members
	switch stdio, sse, http := of.object("stdio"), of.object("sse"), of.object("mcp"); {
	case len(stdio.names) > 0:
		entry.set("command", dollarText(stdio.text("cmd")))
		var args []string
		for _, word := range stdio.texts("args") {
			args = append(args, dollarText(word))
		}
		entry.set("args", args)
		entry.set("env", stdio.pairsOf("env", dollarText))
	case len(sse.names) > 0:
		entry.set("type", "sse")
		entry.set("url", w.url(sse, own, "/sse"))
	case len(http.names) > 0:
		entry.set("url", w.url(http, own, "/mcp"))
	default:
		w.g.skip(name, "mcpctl has no servers of an OpenAPI document")
		return
	}
	headers := slices.Concat(own.object("requestHeaderModifier").pairsOf("add", dollarText), own.object("requestHeaderModifier").pairsOf("set", dollarText))
	notes, lost := []string(nil), []Loss(nil)
	for _, p := range append(slices.Clip(policies), policyAt{"policies", own}) {
		auth := p.of.object("backendAuth")
		switch key := auth.text("key"); {
		case key != "" && entry.has("url"):
			headers = append(headers, pair{"Authorization", bearerOf(dollarText(key))})
		case len(auth.names) > 0:
			notes = append(notes, p.at+".backendAuth is left out: mcpctl logs in when a server asks for it (docs/auth.md)")
		}
		for _, limit := range p.of.names {
			instead := agentLimit(limit)
			if limit == "mcpAuthorization" {
				if allow := onlyTools(p.of.object(limit), name, len(all)); allow != nil {
					entry.tools(allow, nil)
					continue
				}
			}
			if instead != "" {
				lost = append(lost, Loss{p.at + "." + limit, instead})
			}
		}
	}
	if entry.has("url") {
		entry.set("headers", headers)
	}
	if entry.has("url") && entry.text("url") == "" {
		w.g.skip(name, "its address is not in the file")
		return
	}
	f := w.g.add(name, entry)
	f.notes, f.lost = notes, lost
}

// agentLimit returns what stands here for a policy that limits, "" for one that does not.
func agentLimit(policy string) string {
	switch policy {
	case "mcpAuthorization", "authorization":
		return asAccess
	case "jwtAuth", "mcpAuthentication", "apiKey", "basicAuth", "oidc", "extAuthz":
		return asLogin
	case "mcpGuardrails", "extProc", "localRateLimit", "remoteRateLimit":
		return asHook
	}
	return ""
}

var (
	toolRule   = lazy.Regexp(`^\s*mcp\.tool\.name\s*==\s*["']([^"']+)["']\s*$`)
	targetRule = lazy.Regexp(`^\s*mcp\.tool\.target\s*==\s*["']([^"']+)["']\s*&&\s*(.*)$`)
)

// onlyTools returns the tools that rules let through which name tools and nothing else, nil
// for other rules. Without a target, a rule is about all of them: then there is one.
func onlyTools(rules members, target string, targets int) []string {
	allow := []string{}
	list := rules.list("rules")
	for _, raw := range list {
		var rule string
		if json.Unmarshal(raw, &rule) != nil {
			return nil
		}
		if m := targetRule().FindStringSubmatch(rule); m != nil {
			if m[1] != target {
				continue
			}
			rule = m[2]
		}
		m := toolRule().FindStringSubmatch(rule)
		if m == nil {
			return nil
		}
		allow = append(allow, m[1])
	}
	if len(list) == 0 || targets == 0 {
		return nil
	}
	return allow
}

// url returns the address of a target, "" where it is not known.
func (w agentTargets) url(of, policies members, path string) string {
	host := of.text("host")
	if ref := strings.TrimPrefix(of.text("backend"), "/"); host == "" && ref != "" {
		host = w.backends[ref]
	}
	if p := of.text("path"); p != "" {
		path = p
	}
	scheme, rest, full := strings.Cut(host, "://")
	switch {
	case host == "":
		return ""
	case full && strings.Contains(rest, "/"):
		return dollarText(host)
	case full:
		return dollarText(scheme + "://" + rest + "/" + strings.TrimPrefix(path, "/"))
	}
	name, port, _ := strings.Cut(host, ":")
	if p := of.text("port"); p != "" {
		port = p
	}
	scheme = "http"
	if port == "443" || policies.has("backendTLS", "backendTls") {
		scheme = "https"
	}
	return dollarText(urlOf(scheme, name, port, path))
}

// LiteLLM: docs/mcp.md and docs/mcp_control.md of docs.litellm.ai.

func isLiteLLM(docs []members) bool { return len(docs[0].object("mcp_servers").names) > 0 }

func gatherLiteLLM(g *gathered, docs []members) {
	servers := docs[0].object("mcp_servers")
	groups := map[string]*View{}
	for _, name := range servers.names {
		of := servers.object(name)
		for _, group := range of.texts("access_groups") {
			if groups[group] == nil {
				groups[group] = &View{Name: group}
			}
			groups[group].Tools = append(groups[group].Tools, Selection{Server: name})
		}
		liteServer(g, name, of)
	}
	for _, name := range servers.names {
		for _, group := range servers.object(name).texts("access_groups") {
			if v := groups[group]; v != nil {
				g.views = append(g.views, *v)
				delete(groups, group)
			}
		}
	}
}

// liteText returns a text, which may be the name of a variable behind os.environ/.
func liteText(text string) string {
	if name, ok := strings.CutPrefix(text, "os.environ/"); ok && isName(name) {
		return "${" + name + "}"
	}
	return dollarText(text)
}

func liteServer(g *gathered, name string, of members) {
	var entry members
	var notes []string
	switch {
	case of.has("command"):
		entry.set("command", liteText(of.text("command")))
		var args []string
		for _, word := range of.texts("args") {
			args = append(args, liteText(word))
		}
		entry.set("args", args)
		entry.set("env", of.pairsOf("env", liteText))
	case of.text("url") == "" || of.text("url") == "None" || of.has("spec_path"):
		g.skip(name, "mcpctl has no servers of an OpenAPI document")
		return
	default:
		entry.set("url", liteText(of.text("url")))
		if of.text("transport") == "sse" {
			entry.set("type", "sse")
		}
		headers := slices.Concat(of.pairsOf("headers", liteText), of.pairsOf("static_headers", liteText))
		credential, more := liteCredential(of)
		notes = more
		entry.set("headers", append(headers, credential...))
		entry.set("auth", liteClient(of))
		if auth := entry.values["auth"]; auth != nil && unsound("auth", auth) != "" {
			entry.remove("auth")
			notes = append(notes, "its client is left out: "+unsound("auth", auth)+" (docs/auth.md)")
		}
	}
	entry.tools(of.texts("allowed_tools"), of.texts("disallowed_tools"))
	f := g.add(name, entry)
	f.notes = notes
	if !saysNothing(of.values["allowed_params"]) {
		f.lose("allowed_params", asHook)
	}
	if !saysNothing(of.values["extra_headers"]) {
		f.notes = append(f.notes, "extra_headers is left out: a login of each user is auth in the entry (docs/auth.md)")
	}
}

// liteCredential returns the header that a server asks for.
func liteCredential(of members) (out pairs, notes []string) {
	value := of.text("auth_value")
	if value == "" {
		value = of.text("authentication_token")
	}
	if value == "" {
		return nil, nil
	}
	text := liteText(value)
	switch of.text("auth_type") {
	case "api_key":
		return pairs{{"X-API-Key", text}}, nil
	case "authorization":
		return pairs{{"Authorization", text}}, nil
	case "token":
		return pairs{{"Authorization", "token " + text}}, nil
	case "basic":
		if text != value {
			return pairs{{"Authorization", "Basic " + text}}, []string{"auth_value: the variable has to be base64 of user:password"}
		}
		return pairs{{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(value))}}, nil
	case "", "none":
		return nil, []string{"auth_value is left out: it has no auth_type"}
	}
	return pairs{{"Authorization", bearerOf(text)}}, nil
}

// liteClient returns a client that is registered by hand, nil for none.
func liteClient(of members) json.RawMessage {
	var auth members
	auth.set("clientId", liteText(of.text("client_id")))
	if !auth.has("clientId") {
		return nil
	}
	if of.has("client_secret") && of.has("token_url") && !of.has("authorization_url") {
		auth.set("grant", "client_credentials")
	}
	auth.set("clientSecret", liteText(of.text("client_secret")))
	auth.set("scopes", of.texts("scopes"))
	auth.set("tokenEndpoint", liteText(of.text("token_url")))
	auth.set("authorizationEndpoint", liteText(of.text("authorization_url")))
	return auth.raw()
}

// ContextForge: mcpgateway/services/export_service.py of IBM/mcp-context-forge. Credentials are
// encrypted in an export.

func isContextForge(docs []members) bool {
	entities := docs[0].object("entities")
	return entities.has("gateways", "servers") && docs[0].has("version", "exported_at", "export_timestamp", "metadata")
}

func gatherContextForge(g *gathered, docs []members) {
	entities := docs[0].object("entities")
	slugs := map[string]string{} // servers by what their tools' names begin with
	for _, of := range entities.objects("gateways") {
		name := of.text("name")
		forgeGateway(g, name, of)
		slugs[slug(name)+"-"] = name
	}
	for _, of := range entities.objects("servers") {
		v := View{Name: of.text("name"), Tools: []Selection{}}
		ids := of.texts("tool_ids")
		if len(ids) == 0 {
			ids = of.texts("associated_tools")
		}
		unknown := 0
		for _, id := range ids {
			server, rest := "", ""
			for prefix, of := range slugs {
				if after, ok := strings.CutPrefix(id, prefix); ok && len(after) > 0 && (server == "" || len(after) < len(rest)) {
					server, rest = of, after
				}
			}
			if server == "" {
				unknown++
				continue
			}
			// A dash may stand for another character of the tool's own name.
			v.Tools = append(v.Tools, Selection{Server: server, Patterns: []string{strings.ReplaceAll(rest, "-", "*")}})
		}
		if unknown > 0 {
			g.left = append(g.left, fmt.Sprintf("%d of %d tool_ids of %s", unknown, len(ids), v.Name))
		}
		if len(v.Tools) > 0 {
			g.views = append(g.views, v)
		}
	}
	g.leave("entities.", entities, "gateways", "servers")
}

// slug returns a name as it stands in front of tools' names.
func slug(name string) string {
	return strings.Trim(notSlug().ReplaceAllString(strings.ToLower(name), "-"), "-")
}

var notSlug = lazy.Regexp(`[^a-z0-9]+`)

func forgeGateway(g *gathered, name string, of members) {
	var entry members
	entry.set("url", escape(of.text("url")))
	if strings.EqualFold(of.text("transport"), "sse") {
		entry.set("type", "sse")
	}
	var notes []string
	ref := secretRef(strings.ToUpper(name) + "_TOKEN")
	encrypted := func(what string) {
		notes = append(notes, "its "+what+" is encrypted in the export: set "+strings.Trim(ref, "${}"))
	}
	switch kind := of.text("auth_type"); kind {
	case "bearer":
		entry.set("headers", pairs{{"Authorization", "Bearer " + ref}})
		encrypted("token")
	case "basic":
		entry.set("headers", pairs{{"Authorization", "Basic " + ref}})
		encrypted("password")
	case "", "none", "oauth": // mcpctl logs in when a server asks for it
	default:
		notes = append(notes, "its credential is encrypted in the export: write headers into the entry")
	}
	if of.text("is_active") == "false" || of.text("enabled") == "false" {
		entry.set("disabled", true)
	}
	f := g.add(name, entry)
	f.notes = notes
	if !saysNothing(of.values["passthrough_headers"]) {
		f.notes = append(f.notes, "passthrough_headers is left out: a login of each user is auth in the entry (docs/auth.md)")
	}
}
