package scaffold_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/scaffold"
	"github.com/mcpctl/mcpctl/test/require"
)

// words returns positional arguments, as publishers write a command line.
func words(list ...string) string {
	out := make([]string, len(list))
	for i, w := range list {
		b, _ := json.Marshal(w)
		out[i] = `{"type":"positional","value":` + string(b) + `}`
	}
	return strings.Join(out, ",")
}

// named returns a named argument with a fixed value, "" for none.
func named(name, value string) string {
	v, _ := json.Marshal(value)
	return `{"type":"named","name":"` + name + `","value":` + string(v) + `}`
}

// asked returns a named argument with variables that the user has to set.
func asked(name, value string, variables ...string) string {
	v, _ := json.Marshal(value)
	for i, n := range variables {
		variables[i] = `"` + n + `":{"isRequired":true}`
	}
	return `{"type":"named","name":"` + name + `","value":` + string(v) + `,"isRequired":true,"variables":{` + strings.Join(variables, ",") + `}}`
}

func runArgs(list ...string) string { return `"runtimeArguments":[` + strings.Join(list, ",") + `]` }

func image(args ...string) string {
	return pkg("oci", "ghcr.io/acme/notes:1.2.3", "", runArgs(args...))
}

func podman(args ...string) string {
	return pkg("oci", "ghcr.io/acme/notes:1.2.3", "", `"runtimeHint":"podman",`+runArgs(args...))
}

func npmWith(args ...string) string { return pkg("npm", "@acme/notes-mcp", "1.2.3", runArgs(args...)) }

func hinted(hint string, args ...string) string {
	return pkg("npm", "@acme/notes-mcp", "1.2.3", `"runtimeHint":"`+hint+`",`+runArgs(args...))
}

func pypiWith(args ...string) string { return pkg("pypi", "acme-notes", "1.2.3", runArgs(args...)) }

func nugetWith(args ...string) string { return pkg("nuget", "Acme.Notes", "1.2.3", runArgs(args...)) }

// TestUsualRecords: records of the kind that people publish are added without
// --force, with the intended command line.
func TestUsualRecords(t *testing.T) {
	const run, end = "docker run -i --rm ", " ghcr.io/acme/notes:1.2.3"
	cases := []struct {
		name, members, cmd string
		// warnings are parts of sentences, joined by |.
		warnings string
	}{
		{"nothing", image(), "docker run -i --rm ghcr.io/acme/notes:1.2.3", ""},
		{"the habit of -it", image(words("run", "-it", "--rm")), "docker run -i --rm ghcr.io/acme/notes:1.2.3", ""},
		{"a fixed variable", image(named("-e", "LOG_LEVEL=info")), run + "-e LOG_LEVEL=info" + end, ""},
		{"a variable joined to its letter", image(words("-eLOG_LEVEL=info")), run + "-e LOG_LEVEL=info" + end, ""},
		{"a variable with =", image(words("--env=LOG_LEVEL=info")), run + "-e LOG_LEVEL=info" + end, ""},
		{"a variable handed on", image(words("-e", "ACME_TOKEN")), run + "-e ACME_TOKEN" + end, ""},
		{"a proxy handed on", image(words("-e", "HTTPS_PROXY")), run + "-e HTTPS_PROXY" + end, ""},
		{"a variable to ask for", image(asked("-e", "ACME_TOKEN={token}", "token")), run + "-e ACME_TOKEN" + end, ""},
		{"a folder to ask for", image(asked("-v", "{folder}:/data", "folder")), run + "-v ${THING_FOLDER}:/data" + end, ""},
		{"a folder to read", image(asked("-v", "{folder}:/data:ro", "folder")), run + "-v ${THING_FOLDER}:/data:ro" + end, ""},
		{"a folder with SELinux", podman(asked("-v", "{folder}:/data:ro,Z", "folder")), "podman run -i --rm -v ${THING_FOLDER}:/data:ro,Z" + end, ""},
		{"a folder, joined", image(`{"type":"positional","value":"-v={folder}:/data","isRequired":true,"variables":{"folder":{"isRequired":true}}}`), run + "-v=${THING_FOLDER}:/data" + end, ""},
		{"two folders", image(asked("-v", "{a}:/a", "a"), asked("--volume", "{b}:/b", "b")), run + "-v ${THING_A}:/a --volume ${THING_B}:/b" + end, ""},
		{"a folder and its place", image(asked("-v", "{from}:{to}", "from", "to")), run + "-v ${THING_FROM}:${THING_TO}" + end, ""},
		{"the whole mount", image(`{"type":"named","name":"-v","isRequired":true,"placeholder":"~/.kube/config:/kubeconfig:ro"}`), run + "-v ${THING_V}" + end, ""},
		{"a volume by name", image(named("-v", "acme-notes:/data")), run + "-v acme-notes:/data" + end, "uses the volume acme-notes"},
		{"a volume of its own", image(named("-v", "/data")), run + "-v /data" + end, ""},
		{"bind", image(asked("--mount", "type=bind,src={folder},dst=/data", "folder")), run + "--mount type=bind,src=${THING_FOLDER},dst=/data" + end, ""},
		{"bind to read", image(asked("--mount", "type=bind,source={folder},target=/data,readonly", "folder")), run + "--mount type=bind,source=${THING_FOLDER},target=/data,readonly" + end, ""},
		{"bind in capitals", image(asked("--mount", "Type=bind,Source={folder},Target=/data", "folder")), run + "--mount Type=bind,Source=${THING_FOLDER},Target=/data" + end, ""},
		{"mount of a volume", image(named("--mount", "type=volume,src=acme-notes,dst=/data")), run + "--mount type=volume,src=acme-notes,dst=/data" + end, "uses the volume acme-notes"},
		{"mount of memory", image(named("--mount", "type=tmpfs,dst=/tmp,tmpfs-size=64m")), run + "--mount type=tmpfs,dst=/tmp,tmpfs-size=64m" + end, ""},
		{"--tmpfs", image(named("--tmpfs", "/tmp:rw,size=64m,mode=1777")), run + "--tmpfs /tmp:rw,size=64m,mode=1777" + end, ""},
		{"the host's network", image(named("--network", "host")), run + "--network host" + end, "host network"},
		{"the host's network, joined", image(words("--network=host")), run + "--network=host" + end, "host network"},
		{"no network", image(named("--network", "none")), run + "--network none" + end, ""},
		{"a network by name", image(named("--net", "acme_default")), run + "--net acme_default" + end, "joins the network acme_default"},
		{"a port of this machine", image(named("-p", "127.0.0.1:8080:8080")), run + "-p 127.0.0.1:8080:8080" + end, ""},
		{"a port", image(named("-p", "8080:8080")), run + "-p 8080:8080" + end, "open to other machines"},
		{"a port to ask for", image(asked("--publish", "127.0.0.1:{port}:8080/tcp", "port")), run + "--publish 127.0.0.1:${THING_PORT}:8080/tcp" + end, ""},
		{"--init", image(words("--init")), run + "--init" + end, ""},
		{"--init with true", image(words("--init=true")), run + "--init=true" + end, ""},
		{"--platform", image(named("--platform", "linux/amd64")), run + "--platform linux/amd64" + end, ""},
		{"--platform, one word", image(words("--platform=linux/arm64/v8")), run + "--platform=linux/arm64/v8" + end, ""},
		{"a user by number", image(named("-u", "1000:1000")), run + "-u 1000:1000" + end, ""},
		{"a user by name", image(named("--user", "node")), run + "--user node" + end, ""},
		{"limits", image(named("--memory", "512m"), named("--cpus", "1.5"), named("--pids-limit", "256")), run + "--memory 512m --cpus 1.5 --pids-limit 256" + end, ""},
		{"limits in letters", image(words("-m", "1g", "--shm-size=1gb", "--ulimit", "nofile=1024:2048")), run + "-m 1g --shm-size=1gb --ulimit nofile=1024:2048" + end, ""},
		{"hardened", image(words("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")), run + "--read-only --cap-drop ALL --security-opt no-new-privileges" + end, ""},
		{"hardened, joined", image(words("--cap-drop=all", "--security-opt=no-new-privileges:true")), run + "--cap-drop=all --security-opt=no-new-privileges:true" + end, ""},
		{"where to start", image(named("-w", "/work")), run + "-w /work" + end, ""},
		{"a name", image(named("--name", "acme-notes")), run + "--name acme-notes" + end, ""},
		{"--pull", image(named("--pull", "always")), run + "--pull always" + end, ""},
		{"--pull, joined", image(words("--pull=missing", "-q")), run + "--pull=missing -q" + end, ""},
		{"this machine by name", image(named("--add-host", "host.docker.internal:host-gateway")), run + "--add-host host.docker.internal:host-gateway" + end, ""},
		{"another program of the image", image(named("--entrypoint", "/app/notes-mcp")), run + "--entrypoint /app/notes-mcp" + end, "starts /app/notes-mcp in place"},
		{"graphics", image(words("--gpus", "all")), run + "--gpus all" + end, "graphics processors"},
		{"no log", image(words("--log-driver=none", "--no-healthcheck")), run + "--log-driver=none --no-healthcheck" + end, ""},
		{"the whole command line", image(words("run", "-i", "--rm", "--init", "-e", "LOG_LEVEL=info", "ghcr.io/acme/notes", "serve", "--stdio")), run + "--init -e LOG_LEVEL=info" + end + " serve --stdio", ""},
		{"letters together", image(words("-im", "1g")), run + "-im 1g" + end, ""},

		{"npx -y", npmWith(words("-y")), "npx -y @acme/notes-mcp@1.2.3", ""},
		{"npx --yes", npmWith(named("--yes", "")), "npx -y @acme/notes-mcp@1.2.3", ""},
		{"npx from the cache", npmWith(words("-y", "--prefer-offline", "--quiet")), "npx -y --prefer-offline --quiet @acme/notes-mcp@1.2.3", ""},
		{"npx -q", npmWith(words("-q", "--loglevel=error")), "npx -y -q --loglevel=error @acme/notes-mcp@1.2.3", ""},
		{"npx --loglevel", npmWith(named("--loglevel", "silent"), words("--ignore-scripts")), "npx -y --loglevel silent --ignore-scripts @acme/notes-mcp@1.2.3", ""},
		{"npx --package", npmWith(named("--package", "@acme/notes-mcp@1.2.3")), "npx -y --package @acme/notes-mcp@1.2.3 @acme/notes-mcp", ""},
		{"npx -p", npmWith(words("-y", "-p", "@acme/notes-mcp")), "npx -y -p @acme/notes-mcp @acme/notes-mcp", ""},
		{"the package among its options", npmWith(words("-y", "@acme/notes-mcp@latest")), "npx -y @acme/notes-mcp@1.2.3", ""},
		{"bunx", hinted("bunx", words("--bun")), "bunx --bun @acme/notes-mcp@1.2.3", ""},
		{"yarn", hinted("yarn", words("dlx", "-q")), "yarn dlx -q @acme/notes-mcp@1.2.3", ""},
		{"pnpm", hinted("pnpm", words("dlx")), "pnpm dlx @acme/notes-mcp@1.2.3", ""},

		{"uvx with Python", pypiWith(named("--python", "3.12")), "uvx --python 3.12 acme-notes@1.2.3", ""},
		{"uvx with Python, in letters", pypiWith(words("-p", ">=3.10,<3.14", "-q")), "uvx -p >=3.10,<3.14 -q acme-notes@1.2.3", ""},
		{"uvx with Python, joined", pypiWith(words("-qp3.12")), "uvx -qp3.12 acme-notes@1.2.3", ""},
		{"uvx with another package", pypiWith(named("--with", "httpx[http2]>=0.27,<1")), "uvx --with httpx[http2]>=0.27,<1 acme-notes@1.2.3", "installs httpx"},
		{"uvx afresh", pypiWith(words("--refresh", "--isolated")), "uvx --refresh --isolated acme-notes@1.2.3", ""},
		{"uvx one package afresh", pypiWith(words("--refresh-package", "acme-notes", "--prerelease=allow")), "uvx --refresh-package acme-notes --prerelease=allow acme-notes@1.2.3", ""},
		{"uvx --from", pypiWith(words("--from", "acme_notes[web]==1.2.3", "acme-notes")), "uvx --from acme_notes[web]==1.2.3 acme-notes", ""},
		{"dnx", nugetWith(words("--yes", "--prerelease", "--verbosity", "quiet")), "dnx --prerelease --verbosity quiet Acme.Notes@1.2.3 --yes", ""},
	}
	if len(cases) < 60 {
		t.Errorf("got %d records, want 60", len(cases))
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := parse(t, "a.b/thing", c.members)
			p, err := scaffold.New(s, scaffold.Options{})
			require.NoError(t, err)
			if got, _ := line(t, p.Entry); got != c.cmd {
				t.Errorf("got  %s\nwant %s", got, c.cmd)
			}
			if got := strings.Join(p.Warnings, "|"); (got == "") != (c.warnings == "") || !strings.Contains(got, c.warnings) {
				t.Errorf("got warnings %q, want %q", p.Warnings, c.warnings)
			}
			checkPlan(t, &s, p)
			checkCommandLine(t, &s, p)
		})
	}
}

// The user may set what a record may not.
func TestTheUsersOwn(t *testing.T) {
	for name, c := range map[string]struct {
		members string
		o       scaffold.Options
		cmd     string
	}{
		"a mount":           {image(`{"type":"named","name":"-v","placeholder":"x:/y"}`), scaffold.Options{Args: given("v=/etc:/e")}, "docker run -i --rm -v /etc:/e ghcr.io/acme/notes:1.2.3"},
		"a folder":          {image(asked("-v", "{f}:/data", "f")), scaffold.Options{Vars: given("f=/")}, "docker run -i --rm -v /:/data ghcr.io/acme/notes:1.2.3"},
		"HOME, asked for":   {image(asked("-v", "{f}:/data", "f")), scaffold.Options{Vars: given("f=${HOME}")}, "docker run -i --rm -v ${HOME}:/data ghcr.io/acme/notes:1.2.3"},
		"a network":         {image(asked("--network", "{n}", "n")), scaffold.Options{Vars: given("n=container:db")}, "docker run -i --rm --network container:db ghcr.io/acme/notes:1.2.3"},
		"a cache":           {npmWith(`{"type":"named","name":"--cache","placeholder":"/tmp"}`), scaffold.Options{Args: given("cache=/tmp/npm")}, "npx -y --cache /tmp/npm @acme/notes-mcp@1.2.3"},
		"an option":         {npmWith(`{"type":"positional","valueHint":"option"}`), scaffold.Options{Args: given("option=--registry=https://npm.example")}, "npx -y --registry=https://npm.example @acme/notes-mcp@1.2.3"},
		"an everyday name":  {image(asked("-v", "{HOME}:/data", "HOME")), scaffold.Options{Alias: "home"}, "docker run -i --rm -v ${HOME_HOME}:/data ghcr.io/acme/notes:1.2.3"},
		"an everyday place": {image(asked("-v", "{AUTH_SOCK}:/s", "AUTH_SOCK")), scaffold.Options{Alias: "ssh"}, "docker run -i --rm -v ${SSH_SSH_AUTH_SOCK}:/s ghcr.io/acme/notes:1.2.3"},
		"an everyday name of a variable": {
			pkg("oci", "ghcr.io/acme/notes:1.2.3", "", runArgs(`{"type":"named","name":"-v","value":"{HOME}:/h"}`)+`,"environmentVariables":[{"name":"HOME","isRequired":true}]`),
			scaffold.Options{Alias: "a"},
			"docker run -i --rm -v ${A_HOME}:/h -e HOME ghcr.io/acme/notes:1.2.3",
		},
	} {
		p, err := scaffold.New(parse(t, "a.b/thing", c.members), c.o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, _ := line(t, p.Entry); got != c.cmd {
			t.Errorf("%s: got %s, want %s", name, got, c.cmd)
		}
	}
}

// refusal returns the refusal of a record, nil for none.
func refusal(t *testing.T, members string, o scaffold.Options) (*scaffold.RefusedError, *scaffold.Plan) {
	t.Helper()
	s, err := registry.ParseServer(json.RawMessage(`{"name":"a.b/thing","version":"1",` + members + `}`))
	require.NoError(t, err)
	p, err := scaffold.New(*s, o)
	refused, ok := errors.AsType[*scaffold.RefusedError](err)
	if err != nil && !ok {
		t.Fatal(err)
	}
	return refused, p
}
