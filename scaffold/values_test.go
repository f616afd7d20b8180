package scaffold_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/scaffold"
	"github.com/mcpctl/mcpctl/test/require"
)

// npmArgs returns an npm package with these packageArguments.
func npmArgs(args string) string { return pkg("npm", "x", "1", `"packageArguments":[`+args+`]`) }

func npmRuntime(args string) string { return pkg("npm", "x", "1", `"runtimeArguments":[`+args+`]`) }

func npmEnv(vars string) string { return pkg("npm", "x", "1", `"environmentVariables":[`+vars+`]`) }

func TestArguments(t *testing.T) {
	for name, c := range map[string]planCase{
		"named":                      {members: npmArgs(`{"type":"named","name":"--a","value":"b c"}`), cmd: "npx -y x@1 --a 'b c'"},
		"name with =":                {members: npmArgs(`{"type":"named","name":"--a=","value":"b"}`), cmd: "npx -y x@1 --a=b"},
		"value is the name":          {members: npmArgs(`{"type":"named","name":"--a","value":"--a"}`), cmd: "npx -y x@1 --a"},
		"empty value":                {members: npmArgs(`{"type":"named","name":"--a","value":""}`), cmd: "npx -y x@1 --a"},
		"flag of the package":        {members: npmArgs(`{"type":"named","name":"--isolated"}`), cmd: "npx -y x@1 --isolated"},
		"described is optional":      {members: npmArgs(`{"type":"named","name":"--isolated","description":"d"}`), cmd: "npx -y x@1", optional: "--isolated"},
		"described, of the runner":   {members: npmRuntime(`{"type":"named","name":"--offline","description":"d"}`), cmd: "npx -y --offline x@1"},
		"placeholder, of the runner": {members: npmRuntime(`{"type":"named","name":"--cache","placeholder":"/tmp"}`), cmd: "npx -y x@1", optional: "--cache"},
		"required":                   {members: npmArgs(`{"type":"named","name":"--api-key","isRequired":true}`), cmd: "npx -y x@1 --api-key ${THING_API_KEY}", required: "THING_API_KEY"},
		"id begins with the alias":   {members: npmArgs(`{"type":"named","name":"--thing-key","isRequired":true}`), cmd: "npx -y x@1 --thing-key ${THING_KEY}", required: "THING_KEY"},
		"required secret": {
			members: npmArgs(`{"type":"named","name":"--key","isRequired":true,"isSecret":true,"default":"k"}`),
			cmd:     "npx -y x@1 --key ${THING_KEY}", required: "THING_KEY", warnings: "secret on the command line",
		},
		"boolean true":                 {members: npmArgs(`{"type":"named","name":"--a","format":"boolean","value":"true"}`), cmd: "npx -y x@1 --a"},
		"boolean fixed false":          {members: npmArgs(`{"type":"named","name":"--a","format":"boolean","value":"false"}`), cmd: "npx -y x@1 --a=false"},
		"boolean default false":        {members: npmArgs(`{"type":"named","name":"--a","format":"boolean","default":"false"}`), cmd: "npx -y x@1", optional: "--a"},
		"boolean given false":          {members: npmArgs(`{"type":"named","name":"--a","format":"boolean"}`), o: scaffold.Options{Args: given("a=false")}, cmd: "npx -y x@1 --a=false"},
		"only choice":                  {members: npmArgs(`{"type":"named","name":"--a","description":"d","choices":["one"]}`), cmd: "npx -y x@1 --a one"},
		"positional required":          {members: npmArgs(`{"type":"positional","valueHint":"data dir","isRequired":true}`), cmd: "npx -y x@1 ${THING_DATA_DIR}", required: "THING_DATA_DIR"},
		"hint is never text":           {members: npmArgs(`{"type":"positional","valueHint":"dir"}`), cmd: "npx -y x@1", optional: "dir"},
		"empty positional":             {members: npmArgs(`{"type":"positional","value":""},{"type":"positional","value":"z"}`), cmd: "npx -y x@1 '' z"},
		"optional before a fixed one":  {members: npmArgs(`{"type":"positional","valueHint":"dir"},{"type":"positional","value":"z"}`), cmd: "npx -y x@1 ${THING_DIR} z", required: "THING_DIR"},
		"optional before a named one":  {members: npmArgs(`{"type":"positional","valueHint":"dir"},{"type":"named","name":"-q"}`), cmd: "npx -y x@1 -q", optional: "dir"},
		"repeated":                     {members: npmArgs(`{"type":"named","name":"--dir","isRepeated":true,"description":"d"}`), o: scaffold.Options{Args: given("--dir=a", "dir=b")}, cmd: "npx -y x@1 --dir a --dir b"},
		"repeated positional":          {members: npmArgs(`{"type":"positional","valueHint":"dir","isRepeated":true}`), o: scaffold.Options{Args: given("dir=a", "dir=b")}, cmd: "npx -y x@1 a b"},
		"a value of the user's":        {members: npmArgs(`{"type":"named","name":"--mode","value":"a"}`), o: scaffold.Options{Args: given("mode=b")}, cmd: "npx -y x@1 --mode b"},
		"the user's placeholder":       {members: npmArgs(`{"type":"named","name":"--mode","choices":["a","b"]}`), o: scaffold.Options{Args: given("mode")}, cmd: "npx -y x@1 --mode ${THING_MODE}", required: "THING_MODE"},
		"default outside the choices":  {members: npmArgs(`{"type":"named","name":"--mode","default":"c","choices":["a","b"]}`), cmd: "npx -y x@1 --mode c", warnings: `"c" is none of a, b`},
		"default that is no number":    {members: npmArgs(`{"type":"named","name":"--n","default":"many","format":"number"}`), cmd: "npx -y x@1 --n many", warnings: `"many" is not a number`},
		"a shell has no part in it":    {members: npmArgs(`{"type":"positional","value":"~/x; rm -rf $HOME 'q' \"r\""}`), cmd: `npx -y x@1 '~/x; rm -rf $$HOME 'q' "r"'`},
		"one variable, two places":     {members: npmArgs(`{"type":"positional","value":"https://{region}.x/","variables":{"region":{"isRequired":true,"default":"us"}}},{"type":"named","name":"--region","value":"{region}","variables":{"region":{"default":"eu"}}}`), cmd: "npx -y x@1 https://us.x/ --region us"},
		"variable in the name of env":  {members: pkg("npm", "x", "1", `"packageArguments":[{"type":"named","name":"--url","value":"db://{USER}@h"}],"environmentVariables":[{"name":"USER","default":"me"}]`), cmd: "npx -y x@1 --url db://me@h", env: env{"USER": "me"}},
		"hangs on an unset variable":   {members: npmArgs(`{"type":"named","name":"--url","value":"db://{u}","variables":{"u":{}}}`), cmd: "npx -y x@1", optional: "--url"},
		"required, on the same":        {members: npmArgs(`{"type":"named","name":"--url","isRequired":true,"value":"db://{u}","variables":{"u":{}}}`), cmd: "npx -y x@1 --url db://${THING_U}", required: "THING_U"},
		"with a dollar before it":      {members: npmArgs(`{"type":"named","name":"--url","value":"${u}","variables":{"u":{"default":"z"}}}`), cmd: "npx -y x@1 --url z"},
		"dollars around a variable":    {members: npmArgs(`{"type":"named","name":"--u","value":"a$$b{u}c$$d","variables":{"u":{"default":"$z"}}}`), cmd: "npx -y x@1 --u a$$$$b$$zc$$$$d"},
		"required in one place":        {members: npmArgs(`{"type":"named","name":"--a","value":"{u}","variables":{"u":{}}},{"type":"named","name":"--b","value":"{u}","variables":{"u":{"isRequired":true}}}`), cmd: "npx -y x@1 --a ${THING_U} --b ${THING_U}", required: "THING_U"},
		"declared nowhere":             {members: npmArgs(`{"type":"named","name":"--url","value":"{u}"}`), cmd: "npx -y x@1 --url {u}", warnings: "{u} is declared nowhere"},
		"JSON is no template":          {members: npmArgs(`{"type":"named","name":"--json","value":"{\"a\": 1}"}`), cmd: `npx -y x@1 --json '{"a": 1}'`},
		"another program's expression": {members: npmArgs(`{"type":"positional","value":"${input:path}"}`), cmd: "npx -y x@1 $${input:path}", warnings: "stays text"},
		"a user's dollar at the end":   {members: npmArgs(`{"type":"positional","value":"{u}{HOME}","variables":{"u":{}}}`), o: scaffold.Options{Vars: given("u=a$")}, cmd: "npx -y x@1 a$${HOME}", warnings: "{HOME} is declared nowhere"},
	} {
		t.Run(name, func(t *testing.T) { c.run(t) })
	}
}

func TestEnvironment(t *testing.T) {
	for name, c := range map[string]planCase{
		"required":              {members: npmEnv(`{"name":"A","isRequired":true}`), env: env{"A": "${A}"}, required: "A"},
		"default":               {members: npmEnv(`{"name":"A","default":"$1","isRequired":true}`), env: env{"A": "$$1"}},
		"fixed":                 {members: npmEnv(`{"name":"A","value":"1","default":"2"}`), env: env{"A": "1"}},
		"optional":              {members: npmEnv(`{"name":"A","placeholder":"x"}`), optional: "A"},
		"empty default is none": {members: npmEnv(`{"name":"A","default":""}`), optional: "A"},
		"secret with a default": {members: npmEnv(`{"name":"A","default":"x","isSecret":true}`), optional: "A"},
		"required secret":       {members: npmEnv(`{"name":"A","default":"x","isSecret":true,"isRequired":true}`), env: env{"A": "${A}"}, required: "A"},
		"asked for":             {members: npmEnv(`{"name":"A","isSecret":true}`), o: scaffold.Options{Env: given("A")}, env: env{"A": "${A}"}, required: "A"},
		"given":                 {members: npmEnv(`{"name":"A"}`), o: scaffold.Options{Env: given("A=1=2")}, env: env{"A": "1=2"}},
		"given empty":           {members: npmEnv(`{"name":"A","default":"1"}`), o: scaffold.Options{Env: given("A=")}, env: env{"A": ""}},
		"secret given":          {members: npmEnv(`{"name":"A","isSecret":true}`), o: scaffold.Options{Env: given("A=hush")}, env: env{"A": "hush"}, warnings: "is now in the file"},
		"beyond the record":     {members: npmEnv(`{"name":"A","default":"1"}`), o: scaffold.Options{Env: given("B=2")}, env: env{"A": "1", "B": "2"}, warnings: "knows no environment variable B"},
		"template":              {members: npmEnv(`{"name":"A","value":"x={v}","variables":{"v":{"isRequired":true,"isSecret":true}}}`), env: env{"A": "x=${THING_V}"}, required: "THING_V"},
		"template of one":       {members: npmEnv(`{"name":"A","value":"{v}","variables":{"v":{"isRequired":true}}}`), env: env{"A": "${A}"}, required: "A"},
		"no name of a variable": {members: npmEnv(`{"name":"my.key","isRequired":true}`), o: scaffold.Options{Force: true}, env: env{"my.key": "${THING_MY_KEY}"}, required: "THING_MY_KEY", warnings: "a name that no shell takes"},
		"twice":                 {members: npmEnv(`{"name":"A","default":"1"},{"name":"A","default":"2"}`), env: env{"A": "1"}, warnings: "is in the record twice"},
		"takes over, forced":    {members: npmEnv(`{"name":"LD_PRELOAD","value":"x"}`), o: scaffold.Options{Force: true}, env: env{"LD_PRELOAD": "x"}, warnings: "LD_PRELOAD makes every program load other code; allowed by --force"},
		"an everyday variable":  {members: npmEnv(`{"name":"HOME","isRequired":true}`), env: env{"HOME": "${THING_HOME}"}, required: "THING_HOME"},
		"harmless of a family":  {members: npmEnv(`{"name":"NODE_ENV","default":"production"},{"name":"PYTHONUNBUFFERED","value":"1"}`), env: env{"NODE_ENV": "production", "PYTHONUNBUFFERED": "1"}},
		"an optional member":    {members: npmEnv(`{"name":"HTTPS_PROXY"}`), optional: "HTTPS_PROXY"},
		"and asked for":         {members: npmEnv(`{"name":"HTTPS_PROXY"}`), o: scaffold.Options{Env: given("HTTPS_PROXY")}, env: env{"HTTPS_PROXY": "${HTTPS_PROXY}"}, required: "HTTPS_PROXY"},
		"whole by the user":     {members: npmEnv(`{"name":"GIT_DIR","value":"{d}","variables":{"d":{"isRequired":true}}}`), env: env{"GIT_DIR": "${GIT_DIR}"}, required: "GIT_DIR"},
		"but the user may":      {members: npmEnv(`{"name":"PATH","default":"/evil"}`), o: scaffold.Options{Env: given("PATH=${PATH}:/x")}, env: env{"PATH": "${PATH}:/x"}},
		"only choice":           {members: npmEnv(`{"name":"A","choices":["x"]}`), env: env{"A": "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.cmd = "npx -y x@1"
			if name == "but the user may" {
				p, err := scaffold.New(parse(t, "a.b/thing", c.members), c.o)
				require.NoError(t, err)
				if _, got := line(t, p.Entry); got["PATH"] != c.env["PATH"] {
					t.Errorf("got %v, want %v", got, c.env)
				}
				return
			}
			c.run(t)
		})
	}
}

func TestRequirementsSayWhatIsWanted(t *testing.T) {
	p, err := scaffold.New(parse(t, "a.b/thing", npmEnv(`{"name":"A","isRequired":true,"isSecret":true,"description":"the key","format":"string","choices":["x","y"],"placeholder":"x"}`)), scaffold.Options{})
	require.NoError(t, err)
	got, err := json.Marshal(p.Required)
	want := `[{"name":"A","description":"the key","secret":true,"format":"string","choices":["x","y"],"example":"x","kind":"env","input":"A"}]`
	if err != nil || string(got) != want || p.Required[0].Flag() != "--env A=VALUE" {
		t.Errorf("got %s %v, want %s", got, err, want)
	}
	// An optional input that depends on a variable is set by that variable.
	p, err = scaffold.New(parse(t, "a.b/thing", `"remotes":[{"type":"streamable-http","url":"https://h.example","headers":[{"name":"K","value":"{key}"}],"variables":{"key":{"isSecret":true}}}]`), scaffold.Options{})
	if err != nil || len(p.Optional) != 1 || p.Optional[0].Flag() != "--var key=VALUE" || !p.Optional[0].Secret {
		t.Errorf("got %+v %v, want an option with --var key", p, err)
	}
}

func TestUsage(t *testing.T) {
	for name, c := range map[string]struct {
		members string
		o       scaffold.Options
		want    string
	}{
		"unknown argument":        {npmArgs(``), scaffold.Options{Args: given("nope=1")}, "--arg nope: the npm package chosen has no such input"},
		"unknown variable":        {npmArgs(``), scaffold.Options{Vars: given("nope=1")}, "--var nope"},
		"header of a package":     {npmArgs(``), scaffold.Options{Headers: given("X=1")}, "--header X"},
		"environment of a remote": {`"remotes":[{"type":"sse","url":"https://h.example"}]`, scaffold.Options{Env: given("X=1")}, "--env X: the remote chosen"},
		"all of them at once":     {npmArgs(``), scaffold.Options{Args: given("a=1"), Vars: given("b=1")}, "--arg a: the npm package chosen has no such input; --var b"},
		"not among the choices":   {npmEnv(`{"name":"A","choices":["x","y"]}`), scaffold.Options{Env: given("A=z")}, `"z" is none of x, y`},
		"no number":               {npmArgs(`{"type":"named","name":"--n","format":"number"}`), scaffold.Options{Args: given("n=many")}, `"many" is not a number`},
		"twice":                   {npmArgs(`{"type":"named","name":"--n"}`), scaffold.Options{Args: given("n=1", "n=2")}, "given twice"},
		"environment twice":       {npmEnv(`{"name":"A"}`), scaffold.Options{Env: given("A=1", "A=2")}, "given twice"},
		"bad name":                {npmEnv(``), scaffold.Options{Env: given("=1")}, "not the name"},
	} {
		_, err := scaffold.New(parse(t, "a.b/thing", c.members), c.o)
		var usage *scaffold.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	docker := func(args string) string { return pkg("oci", "a.io/i:1", "", `"runtimeArguments":[`+args+`]`) }
	remote := func(url, headers string) string {
		return `"remotes":[{"type":"streamable-http","url":"` + url + `","headers":[` + headers + `]}]`
	}
	for name, c := range map[string]struct {
		members string
		reason  string
		force   bool // --force allows it
	}{
		"option for an identifier": {pkg("npm", "--registry=http://evil", "1", ""), "begins with a dash", false},
		"empty identifier":         {pkg("npm", "", "1", ""), "is empty", false},
		"space in an identifier":   {pkg("pypi", "a b", "1", ""), "white space", false},
		"newline in an identifier": {pkg("oci", `a\nb`, "1", ""), "control characters", false},
		"escape in a version":      {pkg("npm", "a", `1\u001b[2J`, ""), "control characters", false},
		"a path for a crate":       {pkg("cargo", "../sh", "1", ""), "not the name of a crate", false},
		"line break in a header":   {remote("https://h.example", `{"name":"X","value":"a\r\nB: c"}`), "line break", false},
		"bad header name":          {remote("https://h.example", `{"name":"X Y","value":"a"}`), "cannot be the name of a header", false},
		"unknown in the URL":       {remote("https://{who}.example", ``), "declared nowhere", false},
		"no URL":                   {remote("javascript:alert(1)", ``), "not the URL", false},
		"file URL":                 {remote("file:///etc/passwd", ``), "not the URL", false},
		"http":                     {remote("http://h.example", ``), "not https", true},
		"privileged":               {docker(`{"type":"named","name":"--privileged"}`), "--privileged", true},
		"privileged, in a word":    {docker(`{"type":"positional","value":"--privileged=true"}`), "--privileged", true},
		"host processes":           {docker(`{"type":"named","name":"--pid","value":"host"}`), "--pid", true},
		"capability":               {docker(`{"type":"named","name":"--cap-add=","value":"ALL"}`), "--cap-add", true},
		"the whole disk":           {docker(`{"type":"named","name":"-v","value":"/:/host"}`), "see / of", true},
		"the whole disk, disguised": {
			docker(`{"type":"named","name":"--volume","value":"/etc/../:/host"}`), "see /etc/../ of", true,
		},
		"mount of the socket":  {docker(`{"type":"named","name":"--mount","value":"type=bind,source=/var/run/docker.sock,target=/s"}`), "docker.sock", true},
		"split mount":          {docker(`{"type":"positional","value":"-v"},{"type":"positional","value":"/etc:/e"}`), "/etc", true},
		"joined mount":         {docker(`{"type":"positional","value":"-v/root:/r"}`), "/root", true},
		"bundle only":          {pkg("mcpb", "https://x/y.mcpb", "1", ""), "only bundles", false},
		"unknown type":         {pkg("deb", "x", "1", ""), "only deb packages", false},
		"nothing":              {`"websiteUrl":"https://w.example"`, "nothing to run", false},
		"two faults, one hard": {pkg("oci", "a.io/i:1", "", `"runtimeArguments":[{"type":"named","name":"--privileged"}]`), "--privileged", true},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := registry.ParseServer(json.RawMessage(`{"name":"a.b/c","version":"1",` + c.members + `}`))
			require.NoError(t, err)
			_, err = scaffold.New(*s, scaffold.Options{})
			var refused *scaffold.RefusedError
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.reason) || refused.Force != c.force {
				t.Fatalf("got %v (force %v), want a refusal with %q, force %v", err, refused != nil && refused.Force, c.reason, c.force)
			}
			p, err := scaffold.New(*s, scaffold.Options{Force: true})
			if (err == nil) != c.force {
				t.Errorf("with --force: got %v, want allowed %v", err, c.force)
			}
			if err == nil && !slices.ContainsFunc(p.Warnings, func(w string) bool { return strings.Contains(w, "--force") }) {
				t.Errorf("with --force: got warnings %q, want one of what was allowed", p.Warnings)
			}
		})
	}
	// What the user mounts is the user's.
	_, err := scaffold.New(parse(t, "a.b/c", docker(`{"type":"named","name":"-v","placeholder":"x:/y"}`)), scaffold.Options{Args: given("v=/etc:/e")})
	if err != nil {
		t.Errorf("a mount of the user's: %v", err)
	}
}

// FuzzNew: every document leads to an error or an entry that servers.json
// accepts and in which nothing expands but the placeholders of the report.
func FuzzNew(f *testing.F) {
	f.Add([]byte(`{"name":"a.b/c","packages":[{"registryType":"oci","identifier":"a.io/i:1","runtimeArguments":[{"type":"named","name":"-e","value":"A={b}","variables":{"b":{"isRequired":true}}}],"environmentVariables":[{"name":"A","value":"${X}"}]}]}`))
	f.Add([]byte(`{"name":"a.b/c","remotes":[{"type":"sse","url":"https://{x}.y/$<Z>","variables":{"x":{"default":"${Q}"}},"headers":[{"name":"A","value":"$${B}"}]}]}`))
	f.Add([]byte(`{"name":"a.b/c","packages":[{"registryType":"npm","identifier":"x${HOME}","version":"$","transport":{"type":"sse","url":"http://localhost/{--p}"},"packageArguments":[{"type":"named","name":"--p$","default":"{$}","isRequired":true},{"type":"positional","valueHint":"h","isRequired":true}]}]}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		s, err := registry.ParseServer(doc)
		if err != nil {
			return
		}
		p, err := scaffold.New(*s, scaffold.Options{Force: true})
		if err == nil {
			checkPlan(t, s, p)
		}
	})
}
