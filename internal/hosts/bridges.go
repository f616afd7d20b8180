package hosts

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/lazy"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// Programs that hosts start to reach a remote server. mcpctl reaches it by itself.

// bridge is such a program, by its command line.
type bridge struct {
	// flags are those that are understood, with what each does with its values; a flag that
	// is not there leaves the command as it is.
	flags map[string]flag
	// expands says that ${NAME} in headers is a variable of the entry's env.
	expands bool
	// sse says that a server is one of HTTP+SSE unless a flag says otherwise.
	sse bool
	// token is a variable with a bearer token, "" for none.
	token string
}

type flag struct {
	values int
	read   func(to *remote, values []string) bool
}

// remote is the server behind a bridge.
type remote struct {
	url, typ string
	headers  pairs
	auth     members
	deny     []string
	insecure bool
}

func ignored(values int) flag { return flag{values, func(*remote, []string) bool { return true }} }

func readHeader(to *remote, v []string) bool {
	name, value, ok := strings.Cut(v[0], ":")
	to.headers = append(to.headers, pair{strings.TrimSpace(name), strings.TrimSpace(value)})
	return ok
}

// bridges returns the programs: README.md of geelen/mcp-remote, supercorp-ai/supergateway and
// sparfenyuk/mcp-proxy.
func bridges() map[string]bridge {
	transports := map[string]string{"http-only": "", "http-first": "", "streamablehttp": "", "sse-only": config.TransportSSE, "sse": config.TransportSSE}
	transport := flag{1, func(to *remote, v []string) bool {
		typ, known := transports[v[0]]
		to.typ = typ
		return known
	}}
	set := func(name string) flag {
		return flag{1, func(to *remote, v []string) bool { to.auth.set(name, v[0]); return true }}
	}
	server := func(typ string) flag {
		return flag{1, func(to *remote, v []string) bool { to.url, to.typ = v[0], typ; return true }}
	}
	return map[string]bridge{
		"mcp-remote": {expands: true, flags: map[string]flag{
			"--header": {1, readHeader}, "--transport": transport, "--resource": set("resource"),
			"--allow-http":  {0, func(to *remote, _ []string) bool { to.insecure = true; return true }},
			"--ignore-tool": {1, func(to *remote, v []string) bool { to.deny = append(to.deny, v[0]); return true }},
			"--debug":       ignored(0), "--silent": ignored(0), "--enable-proxy": ignored(0), "--host": ignored(1), "--auth-timeout": ignored(1),
			"--static-oauth-client-info": {1, readClientInfo},
		}},
		"supergateway": {flags: map[string]flag{
			"--sse": server(config.TransportSSE), "--streamableHttp": server(""), "--header": {1, readHeader}, "--logLevel": ignored(1),
			"--oauth2Bearer": {1, func(to *remote, v []string) bool {
				to.headers = append(to.headers, pair{"Authorization", bearerOf(v[0])})
				return true
			}},
		}},
		"mcp-proxy": {sse: true, token: "API_ACCESS_TOKEN", flags: map[string]flag{
			"--transport": transport, "--client-id": set("clientId"), "--client-secret": set("clientSecret"), "--token-url": set("tokenEndpoint"),
			"-H": {2, readPair}, "--headers": {2, readPair}, "--debug": ignored(0),
		}},
	}
}

func readPair(to *remote, v []string) bool {
	to.headers = append(to.headers, pair{v[0], v[1]})
	return true
}

// readClientInfo reads a client that is registered by hand, which may not be in another file.
func readClientInfo(to *remote, v []string) bool {
	of := objectOf(json.RawMessage(v[0]))
	to.auth.set("clientId", of.text("client_id"))
	to.auth.set("clientSecret", of.text("client_secret"))
	return to.auth.has("clientId") && len(of.names) == len(to.auth.names)
}

// unbridge replaces a command that only reaches a remote server by the server. A command with
// anything that is not known stays as it is.
func (in *incoming) unbridge() {
	if in.d.verbatim || in.command == "" || in.url != "" || in.cwd != "" {
		return
	}
	name, words := programOf(append([]string{in.command}, in.args...))
	b, known := bridges()[name]
	if !known {
		return
	}
	to := &remote{}
	if b.sse {
		to.typ = config.TransportSSE
	}
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		f, isFlag := b.flags[word]
		switch {
		case isFlag && len(words) >= f.values && f.read(to, words[:f.values]):
			words = words[f.values:]
		case isFlag || strings.HasPrefix(word, "-"):
			return
		case to.url == "":
			to.url = word
		case !isPort(word): // where mcp-remote is called back
			return
		}
	}
	if !isAddress(to.url) {
		return
	}
	env := map[string]string{}
	for _, p := range in.env {
		env[p.name] = p.value
	}
	used := map[string]bool{}
	if b.expands {
		for i, h := range to.headers {
			to.headers[i].value = expandHeader(h.value, env, used)
		}
	}
	if token := env[b.token]; b.token != "" && token != "" {
		to.headers = append(to.headers, pair{"Authorization", bearerOf(token)})
		used[b.token] = true
	}
	if len(used) != len(env) {
		return // a variable is for the program itself
	}
	if to.auth.has("tokenEndpoint") {
		to.auth.set("grant", "client_credentials")
	}
	if len(to.auth.names) > 0 && unsound("auth", to.auth.raw()) != "" && !onlyClient(to.auth) {
		return
	}
	in.take(to)
	in.warn("%s is left out: mcpctl connects to the server itself", name)
}

// onlyClient reports whether members are about a client alone, of which the entry can name
// the authorization server later.
func onlyClient(auth members) bool {
	return !slices.ContainsFunc(auth.names, func(name string) bool { return name != "clientId" && name != "clientSecret" })
}

// take makes the entry that of a remote server.
func (in *incoming) take(to *remote) {
	in.command, in.args, in.env = "", nil, nil
	in.url, in.typ = to.url, to.typ
	in.headers = append(in.headers, to.headers...)
	for _, name := range to.auth.names {
		in.auth.put(name, to.auth.values[name])
	}
	in.tools.Deny = append(in.tools.Deny, to.deny...)
	if to.insecure && strings.HasPrefix(to.url, "http://") {
		in.unchanged.put("allowInsecureHttp", json.RawMessage("true"))
	}
}

// programOf returns the program that a command line starts, without its version, and its
// arguments: npx and other runners are not it.
func programOf(words []string) (string, []string) {
	base := strings.TrimSuffix(strings.TrimSuffix(words[0][strings.LastIndexAny(words[0], `/\`)+1:], ".exe"), ".cmd")
	rest := words[1:]
	switch {
	case slices.Contains([]string{"npx", "bunx", "uvx", "pnpx"}, base):
		for len(rest) > 0 && slices.Contains([]string{"-y", "--yes", "-q", "--quiet"}, rest[0]) {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			return "", nil
		}
		base, rest = rest[0], rest[1:]
	case base == "cmd" && len(rest) > 1 && strings.EqualFold(rest[0], "/c"):
		return programOf(rest[1:])
	}
	base, _, _ = strings.Cut(base, "@")
	return base, rest
}

func isPort(word string) bool {
	return word != "" && len(word) <= 5 && strings.Trim(word, "0123456789") == ""
}

func isAddress(word string) bool {
	return strings.HasPrefix(word, "https://") || strings.HasPrefix(word, "http://")
}

var findEscaped = lazy.Regexp(`\$\{(` + namePattern + `)\}`)

// expandHeader returns a header with the variables that the bridge replaces in it, whether or
// not the host has such placeholders, and notes which of the entry's own were used.
func expandHeader(value string, env map[string]string, used map[string]bool) string {
	var b strings.Builder
	for _, part := range config.Parts(value) {
		text := part.Text
		if part.Name != "" {
			if part.HasDefault {
				return value
			}
			text = "${" + part.Name + "}"
		}
		last := 0
		for _, at := range findEscaped().FindAllStringSubmatchIndex(text, -1) {
			b.WriteString(escape(text[last:at[0]]))
			last = at[1]
			name := text[at[2]:at[3]]
			own, ok := env[name]
			if !ok {
				own = "${" + name + "}"
			}
			b.WriteString(own)
			if ok {
				used[name] = true
			}
		}
		b.WriteString(escape(text[last:]))
	}
	return b.String()
}
