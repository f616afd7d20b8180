package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/cmd/internal/adding"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/registrytest"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

// shop is a registry of samples and a servers.json to add to.
type shop struct {
	url, file string
	env       map[string]string
}

func newShop(t *testing.T, servers string) *shop {
	t.Helper()
	recs, err := registrytest.Records()
	require.NoError(t, err)
	h, err := registrytest.NewServer(recs, registrytest.Options{})
	require.NoError(t, err)
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	s := &shop{url: srv.URL, file: filepath.Join(t.TempDir(), "servers.json")}
	if servers != "" {
		require.NoError(t, os.WriteFile(s.file, []byte(servers), 0o600))
	}
	return s
}

func (s *shop) app(out, errOut io.Writer) *app {
	return &app{environment: environment{
		ui: ui.New(strings.NewReader(""), out, errOut), log: slog.New(slog.DiscardHandler),
		getenv: func(k string) string {
			if v, ok := s.env[k]; ok {
				return v
			}
			return map[string]string{"MCPCTL_CONFIG": s.file, "MCPCTL_REGISTRY": s.url}[k]
		},
	}}
}

func (s *shop) run(t *testing.T, words ...string) outcome {
	t.Helper()
	var out, errOut bytes.Buffer
	code := s.app(&out, &errOut).run(t.Context(), words)
	return outcome{code, out.String(), errOut.String()}
}

func (s *shop) servers(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(s.file)
	require.NoError(t, err)
	return string(b)
}

func TestAddKeepsTheRestOfTheFile(t *testing.T) {
	before := "{\n\t// mine\n\t\"mcpServers\": {\n\t\t\"fs\": {\"command\": \"fs\"}, // first\n\t},\n}\n"
	s := newShop(t, before)
	got := s.run(t, "add", "io.github.acme/thing")
	if got.code != exitOK {
		t.Fatalf("got %+v", got)
	}
	after := s.servers(t)
	for _, want := range []string{"\t// mine\n", "\"fs\": {\"command\": \"fs\"}, // first\n", `"THING_TOKEN": "${THING_TOKEN}"`, `"THING_URL": "https://thing.example.com"`} {
		if !strings.Contains(after, want) {
			t.Errorf("%q is not in\n%s", want, after)
		}
	}
	var res struct {
		Alias              string
		Entry, Origin      json.RawMessage
		Required, Optional []struct{ Name string }
		Warnings           []string
	}
	require.NoError(t, json.Unmarshal([]byte(got.out), &res))
	if res.Alias != "thing" || len(res.Required) != 2 || len(res.Optional) != 1 || res.Warnings == nil || !strings.Contains(string(res.Origin), `"version":"1.3.0"`) {
		t.Errorf("got %s", got.out)
	}
	for _, want := range []string{"export before use:\n", "  THING_TOKEN (secret): Access token", "THING_REGION (one of eu, us)", "optional: --env THING_TRACE"} {
		if !strings.Contains(got.errOut, want) {
			t.Errorf("%q is not in\n%s", want, got.errOut)
		}
	}
	// The second time it is taken, and nothing changes.
	again := s.run(t, "add", "thing")
	if again.code != exitConfig || !strings.Contains(again.errOut, "taken") || s.servers(t) != after {
		t.Errorf("again: got %+v", again)
	}
	if got := s.run(t, "add", "thing", "--replace"); got.code != exitOK || s.servers(t) != after {
		t.Errorf("with --replace: got %+v, want success and the same bytes\n%s", got, s.servers(t))
	}
}

func TestAddMarksVariablesThatAreSet(t *testing.T) {
	s := newShop(t, "")
	s.env = map[string]string{"THING_TOKEN": "x"}
	got := s.run(t, "add", "thing", "--env", "THING_REGION=eu")
	if got.code != exitOK || !strings.Contains(got.errOut, "THING_TOKEN (already set; secret)") || strings.Contains(got.errOut, "THING_REGION") {
		t.Errorf("got %+v", got)
	}
	if !strings.Contains(s.servers(t), `"THING_REGION": "eu"`) {
		t.Errorf("got %s", s.servers(t))
	}
}

func TestAddWarnsOfSecretsInTheFile(t *testing.T) {
	s := newShop(t, "")
	got := s.run(t, "add", "thing", "--env", "THING_TOKEN=hush")
	if got.code != exitOK || !strings.Contains(got.errOut, "warning: the secret THING_TOKEN is now in the file") || !strings.Contains(s.servers(t), `"THING_TOKEN": "hush"`) {
		t.Errorf("got %+v\n%s", got, s.servers(t))
	}
	if strings.Contains(got.out+got.errOut, "hush") || !strings.Contains(got.out, `"THING_TOKEN":"[redacted]"`) {
		t.Errorf("it prints the secret: %+v", got)
	}
}

func TestAddDryRun(t *testing.T) {
	s := newShop(t, "")
	got := s.run(t, "-o", "text", "add", "thing", "--as", "My Things", "--dry-run")
	if got.code != exitOK || !strings.HasPrefix(got.out, "would add My-Things: io.github.acme/thing 1.3.0, npm @acme/thing-mcp@1.3.0\n{") {
		t.Errorf("got %+v", got)
	}
	if _, err := os.Stat(s.file); !os.IsNotExist(err) {
		t.Errorf("the file exists now: %v", err)
	}
	s = newShop(t, `{"mcpServers":{"thing":{"command":"x"}}}`)
	if got := s.run(t, "add", "thing", "--dry-run"); got.code != exitConfig {
		t.Errorf("taken: got %+v, want exit %d", got, exitConfig)
	}
}

func TestAddByHand(t *testing.T) {
	for name, tt := range map[string]struct {
		words []string
		entry string
		err   string
	}{
		"command": {
			[]string{"add", "x", "--env", "A=1", "--env", "B", "--cwd", "/w", "--", "run", "--flag", "a <b> & c", "${HOME}/x"},
			`{"command":"run","args":["--flag","a <b> & c","${HOME}/x"],"env":{"A":"1","B":"${B}"},"cwd":"/w"}`, "export before use:\n  HOME\n  B\n",
		},
		"command alone": {[]string{"add", "x", "--", "run"}, `{"command":"run"}`, "run is not on the PATH"},
		"URL": {
			[]string{"add", "x", "--url", "https://h.example/mcp", "--header", "Authorization=Bearer ${T}", "-H", "X-B=2"},
			`{"url":"https://h.example/mcp","headers":{"Authorization":"Bearer ${T}","X-B":"2"}}`, "export before use:\n  T\n",
		},
		"headers as curl has them": {
			[]string{"add", "x", "--url", "https://h.example/mcp", "-H", "Authorization: Bearer ${T:-a=b}", "-H", "X-B=2: 3"},
			`{"url":"https://h.example/mcp","headers":{"Authorization":"Bearer ${T:-[redacted]}","X-B":"2: 3"}}`, "",
		},
		"a URL behind the name": {[]string{"add", "x", "https://h.example/mcp", "-H", "X-B: 2"}, `{"url":"https://h.example/mcp","headers":{"X-B":"2"}}`, ""},
		"a URL alone":           {[]string{"add", "https://h.example/mcp", "--as", "x"}, `{"url":"https://h.example/mcp"}`, ""},
		"as claude mcp add, http": {
			[]string{"add", "--transport", "http", "x", "https://h.example/mcp", "--header", "X-B: 2"}, `{"url":"https://h.example/mcp","headers":{"X-B":"2"}}`, "",
		},
		"as claude mcp add, sse":   {[]string{"add", "--transport", "sse", "x", "https://h.example/sse"}, `{"type":"sse","url":"https://h.example/sse"}`, ""},
		"as claude mcp add, stdio": {[]string{"add", "--transport", "stdio", "-e", "A=1", "x", "--", "run"}, `{"command":"run","env":{"A":"1"}}`, ""},
		"JSON":                     {[]string{"add", "x", `{"command": "run", "args": ["${A}"], "requestTimeout": "5s"}`}, `{"command":"run","args":["${A}"],"requestTimeout":"5s"}`, "export before use:\n  A\n"},
		"SSE":                      {[]string{"add", "x", "--url", "https://h.example/sse", "--sse"}, `{"type":"sse","url":"https://h.example/sse"}`, ""},
		"http":                     {[]string{"add", "x", "--url", "http://h.example/mcp"}, `{"url":"http://h.example/mcp"}`, "the URL is http"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t, "")
			got := s.run(t, tt.words...)
			var res struct{ Entry json.RawMessage }
			if err := json.Unmarshal([]byte(got.out), &res); err != nil {
				t.Fatalf("%v: %+v", err, got)
			}
			if string(res.Entry) != tt.entry || !strings.Contains(got.errOut, tt.err) {
				t.Errorf("got  %s\nwant %s\nand %q in %s", res.Entry, tt.entry, tt.err, got.errOut)
			}
			if back := s.run(t, "get", "x"); !strings.Contains(back.out, tt.entry) {
				t.Errorf("read back: got %s, want %s", back.out, tt.entry)
			}
			written := strings.ReplaceAll(tt.entry, "[redacted]", "a=b")
			if back := s.run(t, "get", "x", "--reveal"); !strings.Contains(back.out, written) {
				t.Errorf("read back: got %s, want %s", back.out, written)
			}
		})
	}
}

func TestAddDocument(t *testing.T) {
	s := newShop(t, "")
	dir := t.TempDir()
	doc := filepath.Join(dir, "server.json")
	require.NoError(t, os.WriteFile(doc, []byte(`{"name":"a.b/mine","version":"1.0.0","packages":[{"registryType":"npm","identifier":"mine","version":"1.0.0"}]}`), 0o600))
	got := s.run(t, "--registry", "http://127.0.0.1:1", "add", doc)
	if got.code != exitOK || !strings.Contains(got.out, `"entry":{"command":"npx","args":["-y","mine@1.0.0"]}`) || !strings.Contains(got.out, `"origin":null`) {
		t.Errorf("got %+v", got)
	}
	for name, text := range map[string]string{"broken": `{"name":`, "list": `[]`, "nameless": `{}`} {
		path := filepath.Join(dir, name+".json")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		if got := s.run(t, "add", path); got.code != exitOther || !strings.Contains(got.errOut, "hint: want a server.json document") {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	if got := s.run(t, "add", filepath.Join(dir, "none.json")); got.code != exitUsage {
		t.Errorf("missing: got %+v", got)
	}
}

func TestAddFails(t *testing.T) {
	broken := `{"mcpServers": {`
	for name, tt := range map[string]struct {
		servers string
		words   []string
		code    int
		err     string
	}{
		"not found":               {"", []string{"thingy"}, exitOther, "no such server"},
		"near":                    {"", []string{"notebooks-mcp"}, exitOther, "hint: mcpctl search"},
		"version not found":       {"", []string{"thing@7.0.0"}, exitOther, "no version 7.0.0"},
		"refused":                 {"", []string{"desk-bundle"}, exitOther, "hint: its publisher explains at https://desk.example.com/install"},
		"deleted":                 {"", []string{"io.github.acme/gone"}, exitOther, "was deleted from the registry: Published by mistake"},
		"ambiguous":               {"", []string{"calendar"}, exitUsage, "(mcpctl add com.example.oak/calendar or io.github.birch/calendar)"},
		"two answers missing":     {`{"mcpServers":{"calendar":{"command":"x"}}}`, []string{"calendar"}, exitUsage, "another name for the entry (--as ALIAS or --replace)"},
		"short":                   {"", []string{"ab"}, exitUsage, "three letters"},
		"bad package":             {"", []string{"notebook", "--package", "cargo"}, exitUsage, "hint: there is --package npm"},
		"bad remote":              {"", []string{"notebook", "--remote=x"}, exitUsage, "want a number"},
		"unknown argument":        {"", []string{"thing", "--arg", "x=1"}, exitUsage, "has no such input"},
		"bad choice":              {"", []string{"thing", "--env", "THING_REGION=mars"}, exitUsage, "none of eu, us"},
		"no pair":                 {"", []string{"thing", "--env", "=x"}, exitUsage, "want NAME=VALUE"},
		"reserved alias":          {"", []string{"thing", "--as", "call"}, exitUsage, "name of a command"},
		"broken file":             {broken, []string{"thing"}, exitConfig, "servers.json"},
		"broken file, by hand":    {broken, []string{"x", "--", "run"}, exitConfig, "servers.json"},
		"two words":               {"", []string{"x", "run"}, exitUsage, "hint: for a command: mcpctl add x -- run"},
		"no alias":                {"", []string{"--", "run"}, exitUsage, "want one ALIAS before --"},
		"no command":              {"", []string{"x", "--"}, exitUsage, "want one ALIAS before --"},
		"URL and command":         {"", []string{"x", "--url", "https://h.example", "--", "run"}, exitUsage, "cannot be used together"},
		"header of a command":     {"", []string{"x", "-H", "A=b", "--", "run"}, exitUsage, "need a URL"},
		"env of a URL":            {"", []string{"x", "--url", "https://h.example", "--env", "A=b"}, exitUsage, "need a command"},
		"header twice":            {"", []string{"x", "--url", "https://h.example", "-H", "A=b", "-H", "a=c"}, exitUsage, "given twice"},
		"no header":               {"", []string{"x", "--url", "https://h.example", "-H", "A"}, exitUsage, "mcpctl: --header: want NAME=VALUE\n"},
		"taken, by hand":          {`{"mcpServers":{"x":{"command":"run"}}}`, []string{"x", "--", "run"}, exitConfig, "hint: choose another ALIAS, or --replace overwrites the entry\n"},
		"package by hand":         {"", []string{"x", "--package", "npm", "--", "run"}, exitUsage, "--package cannot be used with"},
		"cwd of a record":         {"", []string{"thing", "--cwd", "/"}, exitUsage, "--cwd cannot be used with"},
		"registry that is no URL": {"", []string{"thing", "--registry", "nowhere"}, exitUsage, "http"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t, tt.servers)
			got := s.run(t, append([]string{"add"}, tt.words...)...)
			if got.code != tt.code || got.out != "" || !strings.Contains(got.errOut, tt.err) {
				t.Errorf("got %+v, want exit %d, no result and %q", got, tt.code, tt.err)
			}
			if b, err := os.ReadFile(s.file); err == nil && string(b) != tt.servers {
				t.Errorf("the file changed: %s", b)
			}
		})
	}
}

// userFile returns the user's file as what a command edits.
func userFile(t *testing.T, a *app) *Target {
	t.Helper()
	target, err := a.editable(false)
	require.NoError(t, err)
	return target
}

// ask runs add with a person who answers.
func (s *shop) ask(t *testing.T, o adding.Options, arg string, answers ...any) (asked []string, out string, err error) {
	t.Helper()
	var outBuf, errBuf bytes.Buffer
	a := s.app(&outBuf, &errBuf)
	a.settings = settings.Settings{ConfigPath: s.file, Registries: []config.Entry{{URL: s.url}}}
	script := &ui.Scripted{Answers: answers}
	a.asker = script
	c := &addCommand{app: a, o: o, target: userFile(t, a)}
	err = c.fromRegistry(t.Context(), arg)
	if len(script.Answers) > 0 {
		t.Errorf("answers never asked for: %v", script.Answers)
	}
	return script.Asked, outBuf.String(), err
}

func TestAddAsks(t *testing.T) {
	s := newShop(t, `{"mcpServers":{"thing":{"command":"x"}}}`)
	asked, _, err := s.ask(t, adding.Options{}, "calendar", "io.github.birch", true)
	if err != nil || !strings.Contains(s.servers(t), "birch-calendar@1.4.2") {
		t.Errorf("a choice of two: got %v, asked %q\n%s", err, asked, s.servers(t))
	}
	asked, _, err = s.ask(t, adding.Options{}, "thing", "thing2", "eu", true)
	want := []string{"thing is taken or reserved; another name for the entry", "THING_REGION", "Add it to " + s.file + " as thing2"}
	if diff := cmp.Diff(want, asked); err != nil || diff != "" {
		t.Errorf("got %v %s", err, diff)
	}
	if !strings.Contains(s.servers(t), `"THING_REGION": "eu"`) || !strings.Contains(s.servers(t), `"thing2"`) {
		t.Errorf("got %s", s.servers(t))
	}
	// A typed dollar is a dollar; no answer leaves the placeholder.
	if _, _, err = s.ask(t, adding.Options{}, "notebook", "/a$b", true); err != nil || !strings.Contains(s.servers(t), `"/a$$b"`) {
		t.Errorf("got %v\n%s", err, s.servers(t))
	}
	if _, _, err = s.ask(t, adding.Options{As: "nb2"}, "notebook", "", true); err != nil || !strings.Contains(s.servers(t), `"${NB2_FOLDER}"`) {
		t.Errorf("got %v\n%s", err, s.servers(t))
	}
	if asked, _, err := s.ask(t, adding.Options{As: "t4", Yes: true}, "thing"); err != nil || len(asked) > 0 {
		t.Errorf("--yes: got %v, asked %q", err, asked)
	}
	before := s.servers(t)
	if _, _, err := s.ask(t, adding.Options{As: "t5"}, "atlas", false); err == nil || exitCode(err) != exitOther {
		t.Errorf("no: got %v", err)
	}
	if _, _, err := s.ask(t, adding.Options{}, "calendar", context.Canceled); exitCode(err) != exitInterrupted {
		t.Errorf("broken off: got %v, want exit %d", err, exitInterrupted)
	}
	if s.servers(t) != before {
		t.Errorf("the file changed:\n%s", s.servers(t))
	}
}
