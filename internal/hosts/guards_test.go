package hosts_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/hosts"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

// open reads a file that is in no host's place.
func open(t *testing.T, text string) *hosts.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "elsewhere.json")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	f, err := hosts.Open(path, place())
	require.NoError(t, err)
	return f
}

// lost returns the names of what an entry has lost.
func lost(in hosts.Imported) string {
	var names []string
	for _, l := range in.Lost {
		names = append(names, l.Setting)
	}
	return strings.Join(names, ", ")
}

// equal compares two JSON values, whatever the order of their members is.
func equal(t *testing.T, want string, got json.RawMessage) {
	t.Helper()
	var x, y any
	require.NoError(t, json.Unmarshal([]byte(want), &x))
	require.NoError(t, json.Unmarshal(got, &y))
	if diff := cmp.Diff(x, y); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestImportOwn: each member that an entry of servers.json may have is imported as it is.
func TestImportOwn(t *testing.T) {
	t.Parallel()
	values := map[string]string{
		"args": `["$$5","${A-b}","${B:-c}","!x","{env:X}"]`, "env": `{"A":"${principal.id}","B":"$$"}`, "cwd": `"${HOME}/x"`, "headers": `{"X-A":"!y","X-B":"${principal.name}"}`,
		"auth": `{"grant":"client_credentials","clientId":"x","clientSecret":"${S-t}","issuer":"https://i.example"}`, "allowInsecureHttp": `true`, "type": `"sse"`, "disabled": `true`,
		"cli": `true`, "cliOnly": `[]`, "cliDeny": `["delete","--kubeconfig"]`, "cliDepth": `1`, "cliRoots": `["${HOME}","$$x"]`, "cliArgs": `true`, "cliHelp": `"help"`,
		"tools": `[{"command":"get","name":"g","inputSchema":{"pattern":"^${X}$$"}}]`, "missingEnv": `"empty"`, "public": `["REGION"]`,
		"connectTimeout": `"1s"`, "requestTimeout": `"never"`, "probeTimeout": `"2s"`, "protocolVersion": `"2025-11-25"`, "shutdownTimeout": `"3s"`, "idleTimeout": `"4m"`, "minIdleTimeout": `"1m"`, "maxIdleTimeout": `"2m"`,
		"start": `"eager"`, "isolation": `"session"`, "maxPrincipals": `3`, "requestIdFormat": `"string"`, "wrapUris": `true`, "noServerStream": `true`, "maxMessageBytes": `65536`, "strict": `true`,
		"pin": `"hold"`, "labels": `["private"]`, "trustAnnotations": `true`, "origin": `{"name":"io.example/x","version":"1"}`,
	}
	remote := []string{"headers", "auth", "allowInsecureHttp", "type", "noServerStream"}
	for _, key := range config.Keys() {
		if key == "command" || key == "url" {
			continue
		}
		value, ok := values[key]
		if !ok {
			t.Errorf("the test has no value for %s", key)
			continue
		}
		entry := fmt.Sprintf(`{"command":"x","pin":"hold",%q:%s}`, key, value)
		if slices.Contains(remote, key) {
			entry = fmt.Sprintf(`{"url":"https://x.example/mcp","pin":"hold",%q:%s}`, key, value)
		}
		if key == "pin" {
			entry = `{"command":"x","pin":"hold"}`
		}
		f := open(t, `{"mcpServers":{"x":`+entry+`}}`)
		in := f.Import("x", "")
		if in.Skip != "" || len(in.Lost)+len(in.Notes) > 0 {
			t.Fatalf("%s: %+v", key, in)
		}
		equal(t, entry, in.Entry)
	}
}

// TestImportLimits: what limits a server at another program comes along, or is named.
func TestImportLimits(t *testing.T) {
	t.Parallel()
	const token = "t0psecret"
	for _, tt := range []struct {
		name, servers, around string
		want                  string // the entry x
		lost                  string
	}{
		{
			"snake case", `{"command":"k","cli":true,"cli_only":["get"],"cli_depth":1,"cli_help":"-h","idle_timeout":"never","min_idle_timeout":"90","max_idle_timeout":"2h"}`, ``,
			`{"command":"k","cli":true,"cliOnly":["get"],"cliDepth":1,"cliHelp":"-h","idleTimeout":"never","minIdleTimeout":"90s","maxIdleTimeout":"2h"}`, ``,
		},
		{"adaptive", `{"command":"k","idle_timeout":"adaptive"}`, ``, `{"command":"k"}`, ``},
		{"old tools", `{"command":"k","cli":true,"tools":[{"name":"a","args":["b"],"input_schema":{}}]}`, ``, `{"command":"k","cli":true,"tools":[{"name":"a","args":["b"],"input_schema":{}}]}`, ``},
		{"classes of tools", `{"command":"k","tool_acl":{"read":["get_*"],"write":[]}}`, ``, `{"command":"k"}`, `tool_acl`},
		{"no classes of tools", `{"command":"k","tool_acl":{"read":[],"write":[]}}`, ``, `{"command":"k"}`, ``},
		{"faults", `{"command":"k","cliOnly":"get","pin":true}`, ``, `{"command":"k"}`, `cliOnly, pin`},
		{"both spellings", `{"command":"k","cli":true,"cliOnly":["get"],"cli_only":["get","delete"]}`, ``, `{"command":"k","cli":true,"cliOnly":["get"]}`, `cli_only`},
		{"a login with a fault", `{"url":"https://k/mcp","auth":{"grant":"client_credentials","clientId":"` + token + `"}}`, ``, `{"url":"https://k/mcp"}`, `auth`},

		{"a list", `{"command":"k"}`, `"acl":{"default":"deny"}`, `{"command":"k"}`, `acl`},
		{"people", `{"command":"k"}`, `"serverAuth":{"providers":["bearer"],"bearer":{"tokens":{"` + token + `":"alice"}},"acl":{"default":"deny"}},"oauthAs":{"jwtSecret":"` + token + `"}`, `{"command":"k"}`, `serverAuth.acl, serverAuth, oauthAs`},
		{"a list of people", `{"command":"k"}`, `"serverAuth":{"acl":{"default":"deny"}}`, `{"command":"k"}`, `serverAuth.acl`},
		{"nobody is asked", `{"command":"k"}`, `"serverAuth":{"providers":["none"]},"audit":{"enabled":false},"acl":{}`, `{"command":"k"}`, ``},
		{"a log", `{"command":"k"}`, `"audit":{"output":"file"}`, `{"command":"k"}`, `audit`},
		{"no log", `{"command":"k"}`, `"audit":{"output":"none"}`, `{"command":"k"}`, ``},

		{"off by name", `{"command":"k"}`, `"disabledServers":["y","x"]`, `{"command":"k","disabled":true}`, ``},
		{"off by a switch", `{"command":"k"}`, `"disabledServers":{"x":true}`, `{"command":"k","disabled":true}`, ``},
		{"on by name", `{"command":"k","enabled":false}`, `"enabledServers":["x"]`, `{"command":"k","disabled":true}`, ``},
		{"off in another form", `{"command":"k"}`, `"disabledServers":"x"`, `{"command":"k"}`, `disabledServers`},
		{"off and on", `{"command":"k","disabled":true,"enabled":true}`, ``, `{"command":"k","disabled":true}`, ``},
		{"off as a text", `{"command":"k","disabled":"true"}`, ``, `{"command":"k","disabled":true}`, ``},
		{"not off", `{"command":"k","disabled":false,"enabled":"true"}`, ``, `{"command":"k"}`, ``},
		{"tools", `{"command":"k","enabledTools":["get*"],"disabledTools":[]}`, ``, `{"command":"k","tools":{"allow":["get*"]}}`, ``},
		{"other tools", `{"command":"k","disabled_tools":["rm"],"allowedTools":[]}`, ``, `{"command":"k","tools":{"deny":["rm"]}}`, `allowedTools`},
		{"all tools", `{"command":"k","tools":["*"],"disabledTools":[]}`, ``, `{"command":"k"}`, ``},
		{"no tools", `{"command":"k","tools":[]}`, ``, `{"command":"k"}`, `tools`},
		{"no changes of tools", `{"command":"k","tools":[],"pin":"hold"}`, ``, `{"command":"k","pin":"hold"}`, ``},
		{"some tools", `{"command":"k","tools":["get"]}`, ``, `{"command":"k","tools":{"allow":["get"]}}`, ``},
		{"our tools", `{"command":"k","tools":{"allow":["get"],"deny":["g*"]}}`, ``, `{"command":"k","tools":{"allow":["get"],"deny":["g*"]}}`, ``},
		{"tools in two lists", `{"command":"k","enabledTools":["a","b"],"allow_tools":["b","c"]}`, ``, `{"command":"k","tools":{"allow":["b"]}}`, ``},
		{"tools in another form", `{"command":"k","enabledTools":{"a":true}}`, ``, `{"command":"k"}`, `enabledTools`},
		{"tools beside another form", `{"url":"https://k/mcp","disabledTools":["rm"],"headers":{"X-A":"${env:A}"}}`, ``, `{"url":"https://k/mcp","headers":{"X-A":"${A}"},"tools":{"deny":["rm"]}}`, ``},
		{"headers for one origin", `{"url":"https://k/mcp","headerPolicy":"origin-locked"}`, ``, `{"url":"https://k/mcp"}`, ``},
		{"milliseconds", `{"command":"k","timeout":45000,"requestIdFormat":"string"}`, `"disabledServers":[]`, `{"command":"k","requestTimeout":"45s","requestIdFormat":"string"}`, ``},
		{"no limit of time", `{"command":"k","timeout":0}`, `"disabledServers":[]`, `{"command":"k","requestTimeout":"never"}`, ``},
		{"a header from a command", `{"url":"https://k/mcp","headers":{"Authorization":"!echo ` + token + ` $HOME ${V}","X-A":"b"}}`, ``, `{"url":"https://k/mcp","headers":{"X-A":"b"},"auth":{"command":["sh","-c","echo ` + token + ` $HOME ${V}"]}}`, ``},
		{"two tokens from commands", `{"url":"https://k/mcp","headers":{"Authorization":"!a"},"authorizationToken":"!b $$HOME"}`, ``, `{"url":"https://k/mcp","auth":{"command":["sh","-c","a"]}}`, `authorizationToken`},
		{"another header from a command", `{"url":"https://k/mcp","headers":{"X-Key":"!a"}}`, ``, `{"url":"https://k/mcp"}`, `headers.X-Key`},
		{"a variable from a command", `{"command":"k","env":{"TOKEN":"!pass show k"}}`, ``, `{"command":"k"}`, `env.TOKEN`},
		{"a client", `{"url":"https://k/mcp","auth":{"type":"oauth","clientId":"a","clientSecret":"${B}","resource":"https://k"}}`, ``, `{"url":"https://k/mcp","auth":{"clientId":"a","clientSecret":"${B}","resource":"https://k"}}`, ``},
		{"a client of one endpoint", `{"url":"https://k/mcp","auth":{"type":"oauth","tokenUrl":"https://t","clientId":"a","clientSecret":"` + token + `"}}`, ``, `{"url":"https://k/mcp"}`, `auth.tokenUrl`},
		{"another login", `{"url":"https://k/mcp","auth":"bearer"}`, ``, `{"url":"https://k/mcp"}`, `auth`},
		{"a login", `{"url":"https://k/mcp","auth":"oauth"}`, ``, `{"url":"https://k/mcp"}`, ``},

		{
			"rules for all", `{"url":"https://k/mcp","authorizationToken":"a"}`, `"httpServer":{"middleware":{"client":{"default":[{"type":"logging"},{"type":"security","enabled":true,"config":{}}]}}}`,
			`{"url":"https://k/mcp","headers":{"Authorization":"Bearer a"}}`, `security in httpServer.middleware.client.default`,
		},
		{
			"its own rules", `{"command":"k"}`, `"httpServer":{"shutdownTimeout":7,"middleware":{"client":{"default":[{"type":"security"}],"servers":{"x":[{"type":"tool_filter","config":{"allow":"get"}}]}}}}`,
			`{"command":"k","shutdownTimeout":"7s","tools":{"allow":["*get*"]}}`, ``,
		},
		{"a rule of names", `{"command":"k"}`, `"middleware":{"client":{"default":[{"type":"tool_filter","config":{"disallow":"^(rm|delete_.*)$"}}]}}`, `{"command":"k","tools":{"deny":["rm","delete_*"]}}`, ``},
		{"a rule that is no list of names", `{"command":"k"}`, `"middleware":{"client":{"default":[{"type":"tool_filter","config":{"disallow":"^r[ma]+"}}]}}`, `{"command":"k"}`, `tool_filter in middleware.client.default`},
		{"a rule whose marks are apart", `{"command":"k"}`, `"middleware":{"client":{"default":[{"type":"tool_filter","config":{"allow":"^a|b$"}}]}}`, `{"command":"k"}`, `tool_filter in middleware.client.default`},
		{"two rules", `{"command":"k"}`, `"middleware":{"client":{"default":[{"type":"tool_filter","config":{"allow":"a","disallow":"b"}}]}}`, `{"command":"k"}`, `tool_filter in middleware.client.default`},
		{"a rule for the proxy", `{"command":"k"}`, `"middleware":{"proxy":[{"type":"tool_filter","config":{"allow":"a"}}]}`, `{"command":"k"}`, `tool_filter in middleware.proxy`},
		{"no rules of its own", `{"command":"k"}`, `"httpServer":{"middleware":{"client":{"default":[{"type":"security"}],"servers":{"x":[]}}}}`, `{"command":"k"}`, ``},
		{"rules that are off", `{"command":"k"}`, `"httpServer":{"middleware":{"client":{"default":[{"type":"security","enabled":false}]}}}`, `{"command":"k"}`, ``},
		{"rules for lists", `{"command":"k"}`, `"httpServer":{"middleware":{"proxy":[{"type":"description_enricher"},{"type":"tool_search"},{"type":"mine"}]}}`, `{"command":"k"}`, `mine in httpServer.middleware.proxy`},
		{"rules in another form", `{"command":"k"}`, `"httpServer":{"middleware":[{"type":"security"}]}`, `{"command":"k"}`, `httpServer.middleware`},
		{"rules in another place", `{"command":"k"}`, `"httpServer":{"middleware":{"server":[{"type":"security"}]}}`, `{"command":"k"}`, `httpServer.middleware`},
		{"no rules", `{"command":"k"}`, `"httpServer":{"port":1,"corsOrigins":["*"]}`, `{"command":"k"}`, ``},
		{"no token", `{"url":"https://k/mcp","authorizationToken":""}`, ``, `{"url":"https://k/mcp"}`, ``},
	} {
		text := `{"mcpServers":{"x":` + tt.servers + `,"y":{"command":"y"}}`
		if tt.around != "" {
			text += "," + tt.around
		}
		in := open(t, text+"}").Import("x", "")
		if in.Skip != "" || lost(in) != tt.lost {
			t.Errorf("%s: skip %q, lost %q, want %q", tt.name, in.Skip, lost(in), tt.lost)
			continue
		}
		equal(t, tt.want, in.Entry)
		all, err := json.Marshal([]any{in.Lost, in.Notes})
		require.NoError(t, err)
		if bytes.Contains(all, []byte(token)) {
			t.Errorf("%s: a secret is shown: %s", tt.name, all)
		}
		for _, l := range in.Lost {
			if !strings.Contains(l.Instead, "docs/") && !strings.Contains(l.Instead, "mend") && !strings.Contains(l.Instead, "disabled") {
				t.Errorf("%s: nothing says how to write %s here: %s", tt.name, l.Setting, l.Instead)
			}
		}
	}
}

// TestImportPlaces: avelino's own file is read as one that is elsewhere, and what hosts with
// forms of their own have is read as before.
func TestImportPlaces(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{"avelino": "acl", "philschmid": "acl", "cursor": "", "claude-code": "", "kiro": ""} {
		l := hosts.Find(host).Locations(place())[0]
		f, err := l.Read([]byte(`{"mcpServers":{"x":{"command":"k","enabledTools":["a"]}},"acl":{"default":"deny"}}`))
		require.NoError(t, err)
		in := f.Import("x", "")
		if lost(in) != want {
			t.Errorf("%s: lost %q, want %q", host, lost(in), want)
		}
		if want == "" && !slices.Contains(in.Notes, "enabledTools is left out: mcpctl has no such setting") {
			t.Errorf("%s: notes %q", host, in.Notes)
		}
	}
}
