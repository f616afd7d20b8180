package upgrade_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/upgrade"
	"github.com/mcpctl/mcpctl/registry"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/scaffold"
	"github.com/mcpctl/mcpctl/test/require"
)

const reg = "https://registry.example.com/v0.1"

// server returns a record of a version with some members.
func server(t *testing.T, version, members string) *registry.Server {
	t.Helper()
	s, err := registry.ParseServer(fmt.Appendf(nil, `{"name":"io.example/x","description":"x","version":%q,%s}`, version, members))
	require.NoError(t, err)
	return s
}

func entry(t *testing.T, raw string) config.Entry {
	t.Helper()
	f, err := config.Parse("servers.json", []byte(`{"mcpServers":{"x":`+raw+`}}`))
	require.NoError(t, err)
	e, _ := f.Entry("x")
	require.NoError(t, e.Err())
	return e
}

// npm returns packages of one with some members, over stdio.
func npm(version, members string) string {
	return `"packages":[{"registryType":"npm","identifier":"p","version":"` + version + `","transport":{"type":"stdio"}` + members + `}]`
}

func oci(tag, members string) string {
	return `"packages":[{"registryType":"oci","identifier":"ghcr.io/a/b:` + tag + `","transport":{"type":"stdio"}` + members + `}]`
}

const origin1, origin2 = `"origin":{"registry":"` + reg + `","name":"io.example/x","version":"1.0.0"}`, `"origin":{"registry":"` + reg + `","name":"io.example/x","version":"2.0.0"}`

func TestUpgrade(t *testing.T) {
	t.Parallel()
	const token = `{"name":"TOKEN","isRequired":true,"isSecret":true}`
	for name, tt := range map[string]struct {
		old, now    string // members of the records; old "" is not known
		entry, want string // without braces and origin
		conflicts   []string
		required    string
	}{
		"what is filled in stays": {
			old: npm("1.0.0", `,"environmentVariables":[`+token+`,{"name":"URL","default":"a"}]`), now: npm("2.0.0", `,"environmentVariables":[`+token+`,{"name":"URL","default":"b"},{"name":"ORG","isRequired":true}]`),
			entry:    `"command":"npx","args":["-y","p@1.0.0"],"env":{"TOKEN":"mine","URL":"a","LOG":"debug"},"requestTimeout":"5s"`,
			want:     `"command":"npx","args":["-y","p@2.0.0"],"env":{"TOKEN":"mine","URL":"b","LOG":"debug","ORG":"${ORG}"},"requestTimeout":"5s"`,
			required: "ORG",
		},
		"an option of the user's becomes required": {
			old: oci("1", `,"environmentVariables":[`+token+`,{"name":"FOO"}]`), now: oci("2", `,"environmentVariables":[{"name":"FOO","isRequired":true},`+token+`]`),
			entry: `"command":"docker","args":["run","-i","--rm","-e","TOKEN","-e","FOO","ghcr.io/a/b:1"],"env":{"TOKEN":"${TOKEN}","FOO":"1"}`,
			want:  `"command":"docker","args":["run","-i","--rm","-e","FOO","-e","TOKEN","ghcr.io/a/b:2"],"env":{"TOKEN":"${TOKEN}","FOO":"1"}`,
		},
		"a value goes where its argument goes": {
			old: npm("1.0.0", `,"packageArguments":[{"type":"named","name":"--db=","valueHint":"db","isRequired":true}]`), now: npm("2.0.0", `,"packageArguments":[{"type":"positional","value":"serve"},{"type":"named","name":"--db","isRequired":true}]`),
			entry:     `"command":"npx","args":["-y","p@1.0.0","--db=postgres://h/x"]`,
			want:      `"command":"npx","args":["-y","p@2.0.0","serve","--db","postgres://h/x"]`,
			conflicts: nil,
		},
		"an argument of another name is a conflict, and the version is none": {
			old: npm("1.0.0", `,"environmentVariables":[{"name":"A"}],"packageArguments":[{"type":"named","name":"--db=","isRequired":true}]`), now: npm("2.0.0", `,"environmentVariables":[{"name":"A"}],"packageArguments":[{"type":"named","name":"--url=","isRequired":true}]`),
			entry:     `"command":"npx","args":["-y","p@1.0.0","--db=postgres://h/x"],"env":{"A":"1"}`,
			want:      `"command":"npx","args":["-y","p@2.0.0","--db=postgres://h/x"],"env":{"A":"1"}`,
			conflicts: []string{`args: ["--db=postgres://h/x"] or ["--url=${X_URL}"]`},
		},
		"arguments of the user's stay": {
			old: npm("1.0.0", `,"packageArguments":[{"type":"positional","value":"serve"}]`), now: npm("2.0.0", `,"packageArguments":[{"type":"positional","value":"run"},{"type":"positional","value":"--stdio"}]`),
			entry: `"command":"/opt/npx","args":["-y","--quiet","p@1.0.0","serve"],"cwd":"/srv"`,
			want:  `"command":"/opt/npx","args":["-y","--quiet","p@2.0.0","run","--stdio"],"cwd":"/srv"`,
		},
		"both have changed a value": {
			old:       npm("1.0.0", `,"environmentVariables":[{"name":"URL","default":"a"}],"packageArguments":[{"type":"named","name":"--port","default":"1"}]`),
			now:       npm("2.0.0", `,"environmentVariables":[{"name":"URL","default":"b"}],"packageArguments":[{"type":"named","name":"--port","default":"2"}]`),
			entry:     `"command":"npx","args":["-y","p@1.0.0","--port","3"],"env":{"URL":"c"}`,
			want:      `"command":"npx","args":["-y","p@2.0.0","--port","3"],"env":{"URL":"c"}`,
			conflicts: []string{`args: ["3"] or ["2"]`},
		},
		"a version of the user's": {
			old: npm("1.0.0", ""), now: npm("2.0.0", ""),
			entry: `"command":"npx","args":["-y","p@1.5.0"]`, want: `"command":"npx","args":["-y","p@1.5.0"]`,
			conflicts: []string{`args: ["p@1.5.0"] or ["p@2.0.0"]`},
		},
		"the same package of several": {
			old:   `"packages":[{"registryType":"oci","identifier":"a/b:1","transport":{"type":"stdio"}},{"registryType":"npm","identifier":"q","version":"1.0.0","transport":{"type":"stdio"}},{"registryType":"npm","identifier":"p","version":"1.0.0","transport":{"type":"stdio"}}]`,
			now:   `"packages":[{"registryType":"npm","identifier":"p","version":"2.0.0","transport":{"type":"stdio"}},{"registryType":"npm","identifier":"q","version":"2.0.0","transport":{"type":"stdio"}}],"remotes":[{"type":"sse","url":"https://x"}]`,
			entry: `"command":"npx","args":["-y","q@1.0.0"]`, want: `"command":"npx","args":["-y","q@2.0.0"]`,
		},
		"a remote with its parts": {
			old:      `"remotes":[{"type":"streamable-http","url":"https://{tenant}.example.com/mcp","variables":{"tenant":{"isRequired":true}},"headers":[{"name":"Authorization","value":"Bearer {key}","isRequired":true,"variables":{"key":{"isRequired":true,"isSecret":true}}}]}]`,
			now:      `"remotes":[{"type":"streamable-http","url":"https://{tenant}.example.com/v2","variables":{"tenant":{"isRequired":true}},"headers":[{"name":"Authorization","value":"Token {key}","isRequired":true,"variables":{"key":{"isRequired":true,"isSecret":true}}},{"name":"X-Team","isRequired":true}]}]`,
			entry:    `"url":"https://acme.example.com/mcp","headers":{"Authorization":"Bearer sesame-sesame","X-Mine":"1"}`,
			want:     `"url":"https://acme.example.com/v2","headers":{"Authorization":"Token sesame-sesame","X-Mine":"1","X-Team":"${X_TEAM}"}`,
			required: "X_TEAM",
		},
		"the older record is not known": {
			now:   npm("2.0.0", `,"environmentVariables":[`+token+`]`),
			entry: `"command":"npx","args":["-y","p@1.0.0","--mine"],"env":{"TOKEN":"x"}`, want: `"command":"npx","args":["-y","p@2.0.0","--mine"],"env":{"TOKEN":"x"}`,
		},
		"an entry of other things": {
			old: npm("1.0.0", ""), now: npm("2.0.0", ""),
			entry: `"command":"node","args":["/home/me/p.js"]`, want: `"command":"node","args":["/home/me/p.js"]`,
			conflicts: []string{`args: ["/home/me/p.js"] or ["-y","p@2.0.0"]`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var old *registry.Server
			if tt.old != "" {
				old = server(t, "1.0.0", tt.old)
			}
			up, err := upgrade.New(old, server(t, "2.0.0", tt.now), entry(t, "{"+tt.entry+","+origin1+"}"), upgrade.Options{Registry: reg})
			require.NoError(t, err)
			var conflicts, required []string
			for _, c := range up.Conflicts {
				conflicts = append(conflicts, fmt.Sprintf("%s: %s or %s", strings.Join(c.Path, "."), c.Mine, c.Theirs))
			}
			for _, r := range up.Required {
				required = append(required, r.Name)
			}
			if !sameJSON(t, up.Entry, "{"+tt.want+","+origin2+"}") {
				t.Errorf("got  %s\nwant {%s,%s}", up.Entry, tt.want, origin2)
			}
			if !slices.Equal(conflicts, tt.conflicts) || strings.Join(required, " ") != tt.required || up.Guessed != (tt.old == "") {
				t.Errorf("conflicts %q, required %q, guessed %v", conflicts, required, up.Guessed)
			}
		})
	}
}

func sameJSON(t *testing.T, a json.RawMessage, b string) bool {
	t.Helper()
	same, err := upgrade.Objects(json.RawMessage(b), a, json.RawMessage(b), upgrade.Theirs)
	require.NoError(t, err)
	back, err := upgrade.Objects(a, json.RawMessage(b), a, upgrade.Theirs)
	require.NoError(t, err)
	var x, y any
	require.NoError(t, json.Unmarshal(same.Object, &x))
	require.NoError(t, json.Unmarshal(back.Object, &y))
	return fmt.Sprint(x) == fmt.Sprint(y)
}

// TestTheirs: the registry's side of a conflict can be taken.
func TestTheirs(t *testing.T) {
	t.Parallel()
	up, err := upgrade.New(server(t, "1.0.0", npm("1.0.0", "")), server(t, "2.0.0", npm("2.0.0", "")), entry(t, `{"command":"npx","args":["-y","p@1.5.0"],`+origin1+`}`),
		upgrade.Options{Registry: reg, Prefer: upgrade.Theirs})
	require.NoError(t, err)
	if len(up.Conflicts) != 1 || !strings.Contains(string(up.Entry), `"p@2.0.0"`) {
		t.Errorf("got %s, %v", up.Entry, up.Conflicts)
	}
}

// TestRefused: what add refuses an upgrade refuses, too.
func TestRefused(t *testing.T) {
	t.Parallel()
	old, mine := server(t, "1.0.0", npm("1.0.0", "")), entry(t, `{"command":"npx","args":["-y","p@1.0.0"],`+origin1+`}`)
	danger := server(t, "2.0.0", npm("2.0.0", `,"environmentVariables":[{"name":"NODE_OPTIONS","value":"--require /tmp/x"}]`))
	_, err := upgrade.New(old, danger, mine, upgrade.Options{Registry: reg})
	var refused *scaffold.RefusedError
	if !errors.As(err, &refused) || !refused.Force {
		t.Errorf("got %v", err)
	}
	if up, err := upgrade.New(old, danger, mine, upgrade.Options{Registry: reg, Force: true}); err != nil || !strings.Contains(string(up.Entry), "NODE_OPTIONS") {
		t.Errorf("with force: %v", err)
	}
	_, err = upgrade.New(old, server(t, "2.0.0", `"remotes":[{"type":"sse","url":"https://x.example.com"}]`), mine, upgrade.Options{Registry: reg})
	var gone *upgrade.GoneError
	if !errors.As(err, &gone) || gone.What != "npm package" {
		t.Errorf("got %v", err)
	}
}

// TestMask: no value of a secret input is shown, whatever it looks like.
func TestMask(t *testing.T) {
	t.Parallel()
	doc := npm("1.0.0", `,"environmentVariables":[{"name":"DSN","isRequired":true,"isSecret":true},{"name":"X","isSecret":true}],"packageArguments":[{"type":"named","name":"--pin=","isRequired":true,"isSecret":true}]`)
	mine := entry(t, `{"command":"npx","args":["-y","p@1.0.0","--pin=tulip"],"env":{"DSN":"plain words","X":"no"},`+origin1+`}`)
	up, err := upgrade.New(server(t, "1.0.0", doc), server(t, "2.0.0", strings.Replace(doc, `"1.0.0"`, `"2.0.0"`, 1)), mine, upgrade.Options{Registry: reg})
	require.NoError(t, err)
	for _, raw := range []json.RawMessage{up.Entry, mine.Raw} {
		if shown := string(up.Mask(raw)); strings.Contains(shown, "tulip") || strings.Contains(shown, "plain words") || strings.Contains(shown, `"no"`) || !json.Valid([]byte(shown)) {
			t.Errorf("shown: %s", shown)
		}
	}
	if !strings.Contains(string(up.Entry), "--pin=tulip") {
		t.Errorf("the entry lost its secret: %s", up.Entry)
	}
}
