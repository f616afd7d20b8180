package scaffold_test

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/scaffold"
	"github.com/mcpctl/mcpctl/test/require"
)

// parse returns a document with its packages and remotes.
func parse(t *testing.T, name, members string) registry.Server {
	t.Helper()
	s, err := registry.ParseServer(json.RawMessage(`{"name":"` + name + `","version":"9.9.9","description":"d",` + members + `}`))
	require.NoError(t, err)
	if len(s.Faults) > 0 {
		t.Fatalf("faults in the test's own document: %q", s.Faults)
	}
	return *s
}

// line returns the command line or URL of an entry, as in the file.
func line(t *testing.T, entry json.RawMessage) (cmd string, env map[string]string) {
	t.Helper()
	var e struct {
		Type, Command, URL string
		Args               []string
		Env, Headers       map[string]string
	}
	require.NoError(t, json.Unmarshal(entry, &e))
	if e.URL != "" {
		return strings.TrimSpace(e.Type + " " + e.URL), e.Headers
	}
	words := []string{e.Command}
	for _, a := range e.Args {
		if a == "" || strings.Contains(a, " ") {
			a = "'" + a + "'"
		}
		words = append(words, a)
	}
	return strings.Join(words, " "), e.Env
}

func given(pairs ...string) []scaffold.InputValue {
	var out []scaffold.InputValue
	for _, p := range pairs {
		name, value, ok := strings.Cut(p, "=")
		out = append(out, scaffold.InputValue{Name: name, Value: value, Placeholder: !ok})
	}
	return out
}

type env = map[string]string

// digest is one of an image.
const digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

// planCase is one record and the plan for it.
type planCase struct {
	name    string // the server's, "a.b/thing" when empty
	members string
	o       scaffold.Options
	cmd     string
	env     env // or headers
	// required and optional are names, joined by commas; warnings are parts of
	// sentences, one for each warning, joined by |.
	required, optional, warnings string
}

func (c planCase) run(t *testing.T) *scaffold.Plan {
	t.Helper()
	name := c.name
	if name == "" {
		name = "a.b/thing"
	}
	server := parse(t, name, c.members)
	p, err := scaffold.New(server, c.o)
	require.NoError(t, err)
	cmd, vars := line(t, p.Entry)
	if cmd != c.cmd {
		t.Errorf("got  %s\nwant %s", cmd, c.cmd)
	}
	if len(vars)+len(c.env) > 0 {
		if diff := cmp.Diff(c.env, vars); diff != "" {
			t.Errorf("env or headers: %s", diff)
		}
	}
	var required, optional []string
	for _, r := range p.Required {
		required = append(required, r.Name)
	}
	for _, o := range p.Optional {
		optional = append(optional, o.Name)
	}
	if got := strings.Join(required, ","); got != c.required {
		t.Errorf("required: got %s, want %s", got, c.required)
	}
	if got := strings.Join(optional, ","); got != c.optional {
		t.Errorf("optional: got %s, want %s", got, c.optional)
	}
	var warnings []string
	if c.warnings != "" {
		warnings = strings.Split(c.warnings, "|")
	}
	if len(p.Warnings) != len(warnings) {
		t.Errorf("warnings: got %q, want %q", p.Warnings, warnings)
	} else {
		for i, w := range warnings {
			if !strings.Contains(p.Warnings[i], w) {
				t.Errorf("warning %q, want one with %q", p.Warnings[i], w)
			}
		}
	}
	again, err := scaffold.New(server, c.o)
	if err != nil || string(again.Entry) != string(p.Entry) {
		t.Errorf("a second plan differs: %s, %v", again.Entry, err)
	}
	checkPlan(t, &server, p)
	return p
}

const stdio = `"transport":{"type":"stdio"}`

func pkg(kind, id, version, more string) string {
	s := `"packages":[{"registryType":"` + kind + `","identifier":"` + id + `",`
	if version != "" {
		s += `"version":"` + version + `",`
	}
	if more != "" {
		s += more + ","
	}
	return s + stdio + `}]`
}

func TestCommandLines(t *testing.T) {
	for name, c := range map[string]planCase{
		"npm": {
			members: pkg("npm", "@x/fs", "1.0.2", `"packageArguments":[{"type":"positional","valueHint":"dir","default":"/Users/me/Desk top","isRequired":true,"isRepeated":true}],
			  "environmentVariables":[{"name":"LOG_LEVEL","default":"info"}]`),
			cmd: "npx -y @x/fs@1.0.2 '/Users/me/Desk top'", env: env{"LOG_LEVEL": "info"},
		},
		"npm, unpinned":         {members: pkg("npm", "fs", "", ""), cmd: "npx -y fs", warnings: "not pinned"},
		"npm, version latest":   {members: pkg("npm", "fs", "latest", ""), cmd: "npx -y fs", warnings: "not pinned"},
		"npm, version in id":    {members: pkg("npm", "@x/fs@2", "1.0.0", ""), cmd: "npx -y @x/fs@2"},
		"npm, -y twice":         {members: pkg("npm", "fs", "1.0.0", `"runtimeHint":"npx","runtimeArguments":[{"type":"positional","value":"-y"},{"type":"named","name":"--yes"}]`), cmd: "npx -y fs@1.0.0"},
		"npm, operand twice":    {members: pkg("npm", "@x/fs", "1.0.0", `"runtimeArguments":[{"type":"positional","value":"@x/fs@0.9.0"},{"type":"named","name":"-q"}]`), cmd: "npx -y -q @x/fs@1.0.0"},
		"npm, bin of a package": {members: pkg("npm", "fs", "1.0.0", `"runtimeArguments":[{"type":"named","name":"--package","value":"fs@1.0.0"}]`), cmd: "npx -y --package fs@1.0.0 fs"},
		"bunx":                  {members: pkg("npm", "fs", "1.0.0", `"runtimeHint":"bunx"`), cmd: "bunx fs@1.0.0"},
		"pnpm":                  {members: pkg("npm", "fs", "1.0.0", `"runtimeHint":"pnpm","runtimeArguments":[{"type":"positional","value":"dlx"}]`), cmd: "pnpm dlx fs@1.0.0"},
		"yarn":                  {members: pkg("npm", "fs", "1.0.0", `"runtimeHint":"yarn"`), cmd: "yarn dlx fs@1.0.0"},
		"npm, hint of another type": {
			members: pkg("npm", "fs", "1.0.0", `"runtimeHint":"bash","runtimeArguments":[{"type":"named","name":"-c","value":"id"}]`),
			cmd:     "npx -y fs@1.0.0", warnings: `"bash" is not a runner|dropped`,
		},
		"pypi":               {members: pkg("pypi", "weather-mcp", "0.5.0", `"runtimeHint":"uvx"`), cmd: "uvx weather-mcp@0.5.0"},
		"pypi, hint python":  {members: pkg("pypi", "time-mcp", "1.0.6", `"runtimeHint":"python"`), cmd: "uvx time-mcp@1.0.6", warnings: `"python" is not a runner`},
		"pypi with extras":   {members: pkg("pypi", "tool[cli,web]", "2.0.0", ""), cmd: "uvx --from tool[cli,web]==2.0.0 tool"},
		"pypi, own --from":   {members: pkg("pypi", "tool", "2.0.0", `"runtimeArguments":[{"type":"named","name":"--from","value":"tool==2.0.0"},{"type":"positional","value":"tool"}]`), cmd: "uvx --from tool==2.0.0 tool"},
		"pypi, split --from": {members: pkg("pypi", "my_tool", "2.0.0", `"runtimeArguments":[{"type":"named","name":"--from"},{"type":"positional","value":"my-tool"}]`), cmd: "uvx --from my-tool my_tool"},
		"nuget":              {members: pkg("nuget", "Acme.Sample", "0.4.0-beta", `"packageArguments":[{"type":"positional","value":"mcp"},{"type":"positional","value":"start"}]`), cmd: "dnx Acme.Sample@0.4.0-beta --yes -- mcp start"},
		"nuget, no words":    {members: pkg("nuget", "Acme.Sample", "1.0.0", `"runtimeArguments":[{"type":"named","name":"--yes"}]`), cmd: "dnx Acme.Sample@1.0.0 --yes"},
		"cargo":              {members: pkg("cargo", "acme-mcp", "1.0.0", `"packageArguments":[{"type":"positional","value":"serve"}]`), cmd: "acme-mcp serve"},
		"other npm registry": {members: pkg("npm", "fs", "1.0.0", `"registryBaseUrl":"https://npm.corp.example/a/"`), cmd: "npx -y --registry https://npm.corp.example/a/ fs@1.0.0", warnings: "packages come from"},
		"the same in the public registry": {
			members: pkg("npm", "fs", "1.0.0", `"registryBaseUrl":"https://npm.corp.example/a/"`),
			o:       scaffold.Options{OfficialRegistry: true}, cmd: "npx -y fs@1.0.0",
		},
		"other index":  {members: pkg("pypi", "t", "1.0.0", `"registryBaseUrl":"https://pypi.corp.example"`), cmd: "uvx --index-url https://pypi.corp.example/simple/ t@1.0.0", warnings: "packages come from"},
		"other source": {members: pkg("nuget", "T", "1.0.0", `"registryBaseUrl":"https://nuget.corp.example/"`), cmd: "dnx --source https://nuget.corp.example/v3/index.json T@1.0.0 --yes", warnings: "packages come from"},
		"registry in RT": {
			members: pkg("npm", "fs", "1.0.0", `"registryBaseUrl":"https://a.example","runtimeArguments":[{"type":"named","name":"--registry","value":"https://b.example"}]`),
			o:       scaffold.Options{Force: true}, cmd: "npx -y --registry https://b.example fs@1.0.0", warnings: "npx --registry: packages would come from",
		},
		"registry of junk": {members: pkg("npm", "fs", "1.0.0", `"registryBaseUrl":"--prefix=/"`), cmd: "npx -y fs@1.0.0", warnings: "is not a URL"},
	} {
		t.Run(name, func(t *testing.T) {
			c.run(t)
		})
	}
}

func TestDocker(t *testing.T) {
	for name, c := range map[string]planCase{
		"a manager of databases": {
			name: "a.b/database-manager",
			members: pkg("oci", "docker.io/example/dbm:3.1.0", "", `"runtimeArguments":[{"type":"named","name":"--network","value":"host"},
			  {"type":"named","name":"-e","value":"DB_TYPE={db_type}","isRepeated":true,"variables":{"db_type":{"isRequired":true,"choices":["postgres","mysql"]}}}],
			  "packageArguments":[{"type":"named","name":"--host","default":"localhost","isRequired":true},{"type":"named","name":"--port","format":"number"},
			   {"type":"positional","valueHint":"database_name","isRequired":true}],
			  "environmentVariables":[{"name":"DB_USERNAME","isRequired":true},{"name":"DB_PASSWORD","isRequired":true,"isSecret":true},{"name":"SSL_MODE","default":"prefer"}]`),
			cmd:      "docker run -i --rm --network host -e DB_USERNAME -e DB_PASSWORD -e SSL_MODE -e DB_TYPE docker.io/example/dbm:3.1.0 --host localhost ${DATABASE_MANAGER_DATABASE_NAME}",
			env:      env{"DB_USERNAME": "${DB_USERNAME}", "DB_PASSWORD": "${DB_PASSWORD}", "SSL_MODE": "prefer", "DB_TYPE": "${DB_TYPE}"},
			required: "DB_USERNAME,DB_PASSWORD,DB_TYPE,DATABASE_MANAGER_DATABASE_NAME", optional: "--port", warnings: "host network",
		},
		"the whole command line in runtimeArguments": {
			members: pkg("oci", "ghcr.io/gh/server", "0.5.0", `"runtimeHint":"docker","runtimeArguments":[{"type":"positional","value":"run"},{"type":"named","name":"-i"},{"type":"named","name":"--rm"},
			  {"type":"named","name":"-e"},{"type":"positional","value":"GH_TOKEN","valueHint":"env_var_name"},{"type":"positional","value":"ghcr.io/gh/server","valueHint":"image_name"},
			  {"type":"positional","value":"stdio"}],
			  "packageArguments":[{"type":"positional","value":"--read-only"}],
			  "environmentVariables":[{"name":"GH_TOKEN","isRequired":true,"isSecret":true}]`),
			cmd: "docker run -i --rm -e GH_TOKEN ghcr.io/gh/server:0.5.0 stdio --read-only",
			env: env{"GH_TOKEN": "${GH_TOKEN}"}, required: "GH_TOKEN",
		},
		"pairs with templates": {
			members: pkg("oci", "docker.io/hashi/tf:0.3.2", "", `"runtimeArguments":[{"type":"positional","value":"run"},{"type":"named","name":"--rm"},{"type":"named","name":"-i"},
			  {"type":"named","name":"-e","value":"TF_ADDRESS={tf_address}","variables":{"tf_address":{"default":"https://app.example.io"}}},
			  {"type":"named","name":"--env","value":"TF_TOKEN={tf_token}","variables":{"tf_token":{"isSecret":true}}},
			  {"type":"named","name":"-e","value":"FIXED=1"},{"type":"named","name":"-e","value":"PASSED"},
			  {"type":"positional","value":"index.docker.io/hashi/tf:0.3.2"}]`),
			cmd: "docker run -i --rm -e FIXED=1 -e PASSED -e TF_ADDRESS docker.io/hashi/tf:0.3.2",
			env: env{"TF_ADDRESS": "https://app.example.io"}, optional: "TF_TOKEN",
		},
		"a token that was asked for": {
			members: pkg("oci", "a.io/tf:1", "", `"runtimeArguments":[{"type":"named","name":"-e","value":"TF_TOKEN={tf_token}","variables":{"tf_token":{"isSecret":true}}}]`),
			o:       scaffold.Options{Vars: given("tf_token")},
			cmd:     "docker run -i --rm -e TF_TOKEN a.io/tf:1", env: env{"TF_TOKEN": "${TF_TOKEN}"}, required: "TF_TOKEN",
		},
		"env of the user's own": {
			members: pkg("oci", "a.io/tf:1", "", ""), o: scaffold.Options{Env: given("X=1", "Y")},
			cmd: "docker run -i --rm -e X -e Y a.io/tf:1", env: env{"X": "1", "Y": "${Y}"}, required: "Y",
			warnings: "knows no environment variable X|knows no environment variable Y",
		},
		"two inputs of one placeholder": {
			members: pkg("oci", "a.io/dbm:1", "", `"packageArguments":[{"type":"named","name":"--token","isRequired":true,"isSecret":true},{"type":"named","name":"--key","isRequired":true}],
			  "environmentVariables":[{"name":"THING_TOKEN","isRequired":true,"isSecret":true},{"name":"THING_KEY"}]`),
			cmd:      "docker run -i --rm -e THING_TOKEN a.io/dbm:1 --token ${THING_ARG_TOKEN} --key ${THING_ARG_KEY}",
			env:      env{"THING_TOKEN": "${THING_TOKEN}"},
			required: "THING_TOKEN,THING_ARG_TOKEN,THING_ARG_KEY", optional: "THING_KEY", warnings: "--token is a secret on the command line",
		},
		"one -e a name": {
			members: pkg("oci", "a.io/x:1", "", `"runtimeArguments":[{"type":"named","name":"-e","value":"A=other"},{"type":"named","name":"-e","value":"B"},{"type":"named","name":"-e","value":"B"}],
			  "environmentVariables":[{"name":"A","default":"1"}]`),
			cmd: "docker run -i --rm -e B -e A a.io/x:1", env: env{"A": "1"}, warnings: "A is in the record twice",
		},
		"the same variable in both places": {
			members: pkg("oci", "a.io/x:1", "", `"runtimeArguments":[{"type":"named","name":"-e","value":"A={a}","variables":{"a":{"default":"1"}}},{"type":"named","name":"-e","value":"B={b}","variables":{"b":{"default":"2"}}}],
			  "environmentVariables":[{"name":"A","default":"1"},{"name":"B","default":"1"}]`),
			cmd: "docker run -i --rm -e A -e B a.io/x:1", env: env{"A": "1", "B": "1"}, warnings: "B is in the record twice",
		},
		"and the user gives the template's": {
			members: pkg("oci", "a.io/x:1", "", `"runtimeArguments":[{"type":"named","name":"-e","value":"A=<{a}>","variables":{"a":{"default":"1"}}}],"environmentVariables":[{"name":"A","default":"1"}]`),
			o:       scaffold.Options{Vars: given("a=7")}, cmd: "docker run -i --rm -e A a.io/x:1", env: env{"A": "<7>"},
		},
		"terminal and background are dropped": {
			members: pkg("oci", "a.io/x:1", "", `"runtimeArguments":[{"type":"positional","value":"run"},{"type":"positional","value":"-it"},{"type":"positional","value":"-d"},{"type":"named","name":"--tty"},{"type":"named","name":"--init"}]`),
			cmd:     "docker run -i --rm --init a.io/x:1",
		},
		"podman":             {members: pkg("oci", "a.io/x:1", "", `"runtimeHint":"podman"`), cmd: "podman run -i --rm a.io/x:1"},
		"hint of npm":        {members: pkg("oci", "docker.io/n/u", "dev", `"runtimeHint":"npx","runtimeArguments":[{"type":"named","name":"-y","value":""}]`), cmd: "docker run -i --rm docker.io/n/u:dev", warnings: `"npx" is not a runner|dropped`},
		"host from the base": {members: pkg("oci", "n/u", "1.0", `"registryBaseUrl":"https://docker.io"`), cmd: "docker run -i --rm docker.io/n/u:1.0"},
		"a port is no tag":   {members: pkg("oci", "localhost:5000/u", "1.0", ""), cmd: "docker run -i --rm localhost:5000/u:1.0"},
		"digest":             {members: pkg("oci", "a.io/u@sha256:"+digest, "1.0", ""), cmd: "docker run -i --rm a.io/u@sha256:" + digest},
		"no tag":             {members: pkg("oci", "a.io/u", "", ""), cmd: "docker run -i --rm a.io/u", warnings: "not pinned"},
		"tag latest":         {members: pkg("oci", "a.io/u:latest", "", ""), cmd: "docker run -i --rm a.io/u:latest", warnings: "not pinned"},
		"tag of another version": {
			members: pkg("oci", "a.io/u:2.0", "1.0", ""), cmd: "docker run -i --rm a.io/u:2.0", warnings: "version 1.0, its image the tag 2.0",
		},
		"mount from a template": {
			members: pkg("oci", "a.io/u:1", "", `"runtimeArguments":[{"type":"named","name":"--mount","isRequired":true,"value":"type=bind,src={src},dst={dst}",
			  "variables":{"src":{"isRequired":true,"format":"filepath"},"dst":{"isRequired":true,"default":"/project"}}}]`),
			cmd: "docker run -i --rm --mount type=bind,src=${THING_SRC},dst=/project a.io/u:1", required: "THING_SRC",
		},
	} {
		t.Run(name, func(t *testing.T) { c.run(t) })
	}
}

func TestRemotes(t *testing.T) {
	remote := func(more string) string {
		return `"remotes":[{"type":"streamable-http","url":"https://h.example/mcp"` + more + `}]`
	}
	for name, c := range map[string]planCase{
		"plain": {members: remote(""), cmd: "https://h.example/mcp"},
		"sse":   {members: `"remotes":[{"type":"sse","url":"https://h.example/sse"}]`, cmd: "sse https://h.example/sse"},
		"streamable before sse": {
			members: `"remotes":[{"type":"sse","url":"https://h.example/sse"},{"type":"streamable-http","url":"https://h.example/mcp"}]`,
			cmd:     "https://h.example/mcp",
		},
		"tenant in the host": {
			name: "com.example/acme-analytics", members: `"remotes":[{"type":"streamable-http","url":"https://{tenant_id}.example.com/mcp","variables":{"tenant_id":{"isRequired":true}}}]`,
			cmd: "https://${ACME_ANALYTICS_TENANT_ID}.example.com/mcp", required: "ACME_ANALYTICS_TENANT_ID",
		},
		"tenant given": {
			members: `"remotes":[{"type":"streamable-http","url":"https://{t}.example.com/mcp","variables":{"t":{"isRequired":true}}}]`,
			o:       scaffold.Options{Vars: given("t=eu-1")}, cmd: "https://eu-1.example.com/mcp",
		},
		"default in the URL":  {members: `"remotes":[{"type":"streamable-http","url":"https://h.example/{r}/mcp","variables":{"r":{"default":"eu","choices":["eu","us"]}}}]`, cmd: "https://h.example/eu/mcp"},
		"optional in the URL": {members: `"remotes":[{"type":"streamable-http","url":"https://h.example/{t}/mcp","variables":{"t":{}}}]`, cmd: "https://h.example/${THING_T}/mcp", required: "THING_T"},
		"header with a secret": {
			name: "com.airtable/mcp", members: remote(`,"headers":[{"name":"Authorization","isRequired":true,"isSecret":true}]`),
			cmd: "https://h.example/mcp", env: env{"Authorization": "${AIRTABLE_AUTHORIZATION}"}, required: "AIRTABLE_AUTHORIZATION",
		},
		"header with the remote's variable": {
			name: "io.tavily/mcp", members: remote(`,"headers":[{"name":"Authorization","value":"Bearer {TAVILY_API_KEY}"}],"variables":{"TAVILY_API_KEY":{"isRequired":true,"isSecret":true}}`),
			cmd: "https://h.example/mcp", env: env{"Authorization": "Bearer ${TAVILY_API_KEY}"}, required: "TAVILY_API_KEY",
		},
		"optional header with an optional variable": {
			members: remote(`,"headers":[{"name":"X-Key","value":"{KEY}"}],"variables":{"KEY":{"isSecret":true}}`),
			cmd:     "https://h.example/mcp", optional: "X-Key",
		},
		"default of a header":             {members: remote(`,"headers":[{"name":"X-Region","default":"eu"}]`), cmd: "https://h.example/mcp", env: env{"X-Region": "eu"}},
		"default of a secret is no value": {members: remote(`,"headers":[{"name":"X-Key","default":"changeme","isSecret":true}]`), cmd: "https://h.example/mcp", optional: "X-Key"},
		"registry text never expands": {
			members: remote(`,"headers":[{"name":"X","value":"Bearer ${AWS_SECRET_ACCESS_KEY}"},{"name":"Y","value":"a$b$$c"}]`),
			cmd:     "https://h.example/mcp", env: env{"X": "Bearer $${AWS_SECRET_ACCESS_KEY}", "Y": "a$$b$$$$c"}, warnings: "declared nowhere and stays text",
		},
		"header twice":              {members: remote(`,"headers":[{"name":"X","value":"1"},{"name":"x","value":"2"}]`), cmd: "https://h.example/mcp", env: env{"X": "1"}, warnings: "is in the record twice"},
		"headers of the user's own": {members: remote(""), o: scaffold.Options{Headers: given("X-A=${A}", "X-B=b")}, cmd: "https://h.example/mcp", env: env{"X-A": "${A}", "X-B": "b"}, required: ""},
		"http on this machine":      {members: `"remotes":[{"type":"streamable-http","url":"http://127.0.0.1:80/mcp"}]`, cmd: "http://127.0.0.1:80/mcp", warnings: "http, not https"},
		"http forced":               {members: `"remotes":[{"type":"streamable-http","url":"http://h.example/mcp"}]`, o: scaffold.Options{Force: true}, cmd: "http://h.example/mcp", warnings: "allowed by --force"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "headers of the user's own" {
				// ${A} is the user's placeholder and not one of the record's.
				server := parse(t, "a.b/thing", c.members)
				p, err := scaffold.New(server, c.o)
				require.NoError(t, err)
				if _, headers := line(t, p.Entry); !maps.Equal(headers, c.env) {
					t.Errorf("got %v, want %v", headers, c.env)
				}
				return
			}
			c.run(t)
		})
	}
}

func TestHTTPPackages(t *testing.T) {
	c := planCase{
		members: `"packages":[{"registryType":"npm","identifier":"@x/s","version":"1.0.0","transport":{"type":"streamable-http","url":"http://localhost:{--port}/{path}/{BASE}"},
		  "packageArguments":[{"type":"named","name":"--port","default":"3000"},{"type":"positional","valueHint":"path"}],
		  "environmentVariables":[{"name":"BASE","default":"mcp"},{"name":"KEY","isRequired":true,"isSecret":true}]}]`,
		cmd: "http://localhost:3000/${THING_PATH}/mcp", required: "THING_PATH", warnings: "http, not https",
	}
	p := c.run(t)
	if diff := cmp.Diff([]string{"npx", "-y", "@x/s@1.0.0", "--port", "3000", "${THING_PATH}"}, p.Start); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"BASE=mcp", "KEY=${KEY}"}, p.StartEnv); diff != "" {
		t.Error(diff)
	}
	if len(p.StartRequired) != 2 || p.StartRequired[0].Name != "KEY" {
		t.Errorf("to start it: got %+v, want KEY and THING_PATH", p.StartRequired)
	}
}

func TestChoice(t *testing.T) {
	all := `"packages":[{"registryType":"mcpb","identifier":"https://x/y.mcpb","transport":{"type":"stdio"}},
	  {"registryType":"npm","identifier":"served","version":"1","transport":{"type":"sse","url":"http://localhost:1/sse"}},
	  {"registryType":"cargo","identifier":"crate-mcp","version":"1","transport":{"type":"stdio"}},
	  {"registryType":"oci","identifier":"a.io/i:1","transport":{"type":"stdio"}},
	  {"registryType":"npm","identifier":"first","version":"1","transport":{"type":"stdio"}},
	  {"registryType":"npm","identifier":"second","version":"1","transport":{"type":"stdio"}}],
	  "remotes":[{"type":"sse","url":"https://r.example/sse"},{"type":"streamable-http","url":"https://r.example/mcp"}]`
	for name, tt := range map[string]struct {
		o    scaffold.Options
		want string
	}{
		"first of the first tier": {scaffold.Options{}, "docker run -i --rm a.io/i:1"},
		"by type":                 {scaffold.Options{Package: "npm"}, "npx -y first@1"},
		"by type, any case":       {scaffold.Options{Package: "NPM"}, "npx -y first@1"},
		"by number":               {scaffold.Options{Package: "6"}, "npx -y second@1"},
		"cargo":                   {scaffold.Options{Package: "cargo"}, "crate-mcp"},
		"served":                  {scaffold.Options{Package: "2"}, "sse http://localhost:1/sse"},
		"best remote":             {scaffold.Options{Remote: scaffold.AnyRemote}, "https://r.example/mcp"},
		"first remote":            {scaffold.Options{Remote: 1}, "sse https://r.example/sse"},
	} {
		p, err := scaffold.New(parse(t, "a.b/c", all), tt.o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if cmd, _ := line(t, p.Entry); cmd != tt.want {
			t.Errorf("%s: got %s, want %s", name, cmd, tt.want)
		}
		if len(p.Alternatives) != 6 {
			t.Errorf("%s: got %d alternatives, want 6", name, len(p.Alternatives))
		}
		// Each alternative's flag leads to it.
		for _, alt := range p.Alternatives {
			flag, value, _ := strings.Cut(strings.TrimPrefix(alt.Flag, "--"), " ")
			o := scaffold.Options{}
			switch flag {
			case "package":
				o.Package = value
			case "remote=1":
				o.Remote = 1
			case "remote=2":
				o.Remote = 2
			default:
				t.Fatalf("flag %q", alt.Flag)
			}
			q, err := scaffold.New(parse(t, "a.b/c", all), o)
			if err != nil || q.Reference != alt.Reference {
				t.Errorf("%s: %s leads to %+v %v, want %s", name, alt.Flag, q, err, alt.Reference)
			}
		}
	}
	for _, o := range []scaffold.Options{{Package: "mcpb"}, {Package: "1"}, {Package: "7"}, {Package: "pypi"}, {Remote: 3}, {Package: "npm", Remote: 1}} {
		_, err := scaffold.New(parse(t, "a.b/c", all), o)
		if _, ok := errors.AsType[*scaffold.UsageError](err); !ok {
			t.Errorf("%+v: got %v, want a usage error", o, err)
		}
	}
	_, err := scaffold.New(parse(t, "a.b/c", all), scaffold.Options{Package: "pypi"})
	var usage *scaffold.UsageError
	if !errors.As(err, &usage) || !strings.Contains(usage.Hint(), "--package oci (a.io/i:1)") {
		t.Errorf("got %v, want a hint with the good choices", err)
	}
}

// TestTiers removes the best candidate until nothing is left.
func TestTiers(t *testing.T) {
	members := []string{
		`{"registryType":"npm","identifier":"served","transport":{"type":"streamable-http","url":"http://localhost:1/mcp"}}`,
		`{"registryType":"cargo","identifier":"crate-mcp","version":"1","transport":{"type":"stdio"}}`,
		`{"registryType":"nuget","identifier":"A","version":"1"}`,
	}
	remotes := []string{`{"type":"sse","url":"https://r.example/sse"}`, `{"type":"streamable-http","url":"https://r.example/mcp"}`}
	for _, want := range []string{"nuget", "https://r.example/mcp", "https://r.example/sse", "cargo", "http://localhost:1/mcp", "refused"} {
		s := parse(t, "a.b/c", `"packages":[`+strings.Join(members, ",")+`],"remotes":[`+strings.Join(remotes, ",")+`],"websiteUrl":"https://w.example"`)
		got := "refused"
		p, err := scaffold.New(s, scaffold.Options{})
		var refused *scaffold.RefusedError
		switch {
		case errors.As(err, &refused):
			if !strings.Contains(refused.Hint(), "https://w.example") {
				t.Errorf("got hint %q, want the website", refused.Hint())
			}
		case err != nil:
			t.Fatal(err)
		default:
			var e struct{ URL string }
			require.NoError(t, json.Unmarshal(p.Entry, &e))
			if got = e.URL; got == "" {
				got = p.Type
			}
		}
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		switch {
		case len(members) == 3, len(members) == 2 && len(remotes) == 0:
			members = members[:len(members)-1]
		case len(remotes) > 0:
			remotes = remotes[:len(remotes)-1]
		default:
			members = nil
		}
	}
}

func TestAlias(t *testing.T) {
	for name, want := range map[string]string{
		"io.github.acme/Thing": "thing", "com.stripe/mcp": "stripe", "com.acme.api/mcp": "acme", "a.b/x.y_z": "x-y_z", "com.x/mcp-server": "x",
		"atlassian-confluence": "atlassian-confluence", "a.b/_x__y": "x_y", "mcp/mcp": "mcp", "io.github.o/été": "t",
	} {
		got := scaffold.Alias(name)
		if got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
		if err := config.CheckAlias(got); err != nil && !config.Reserved(got) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOriginStandsInTheEntry(t *testing.T) {
	s := parse(t, "a.b/c", pkg("npm", "x", "1.0.0", ""))
	p, err := scaffold.New(s, scaffold.Options{Registry: "https://r.example"})
	require.NoError(t, err)
	want := `{"command":"npx","args":["-y","x@1.0.0"],"origin":{"registry":"https://r.example","name":"a.b/c","version":"9.9.9"}}`
	if string(p.Entry) != want {
		t.Errorf("got  %s\nwant %s", p.Entry, want)
	}
	if !slices.Equal([]string{p.Alias, p.Type, p.Reference, p.Runner}, []string{"c", "npm", "x@1.0.0", "npx"}) {
		t.Errorf("got %+v", p)
	}
}
