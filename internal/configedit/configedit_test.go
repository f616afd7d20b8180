package configedit_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/configedit"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

func TestParsePath(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"gh.env.TOKEN": "gh.env.TOKEN", "gh.args[0]": "gh.args[0]", "gh.args[]": "gh.args[]", `"my.server".url`: `"my.server".url`,
		`["my.server"].url`: `"my.server".url`, `a["b c"][3]`: `a."b c"[3]`, `a."\u0041"`: "a.A", "a[0][1].b": "a[0][1].b", `""`: `""`, "é.ü": "é.ü",
	} {
		p, err := configedit.ParsePath(text)
		if err != nil || p.String() != want {
			t.Errorf("%s: got %s, %v, want %s", text, p, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "character 1", ".": "character 1", "a.": "character 2", "a..b": "character 2: want a name", "a[x]": "character 2", "a[-1]": "want [NUMBER]",
		"a[01]": "want [NUMBER]", "a[99999]": "want [NUMBER]", "a[0": "want [NUMBER]", "[0]": "begins with a name", "[]": "begins with a name",
		`a."b`: "does not end", `a["b"`: `want ["NAME"]`, "a b": "want a dot", `a"b"`: "want a dot", "a]": "want a dot", `"\x"`: "does not end",
		`ää"x`: "character 3", "a.[0]": "character 2: want a name after the dot",
	} {
		if p, err := configedit.ParsePath(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %s, %v, want an error with %q", text, p, err, want)
		}
	}
}

// FuzzParsePath: what is read and written is read as the same.
func FuzzParsePath(f *testing.F) {
	for _, s := range []string{"gh.env.TOKEN", `a["b.c"][0].d[]`, `"\""`, "a..b", "a\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := configedit.ParsePath(text)
		if err != nil {
			return
		}
		again, err := configedit.ParsePath(p.String())
		if err != nil || again.String() != p.String() || len(again) != len(p) {
			t.Fatalf("%q is %q, which is %v, %v", text, p, again, err)
		}
	})
}

func at(t *testing.T, path string) configedit.Path {
	t.Helper()
	p, err := configedit.ParsePath("mcpServers." + path)
	require.NoError(t, err)
	return p
}

func TestSchema(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ path, text, want string }{
		{"a.command", "true", `"true"`},
		{"a.env.PORT", "8080", `"8080"`},
		{"a.args[0]", "null", `"null"`},
		{"a.args[]", "-y", `"-y"`},
		{"a.type", "http", `"http"`},
		{"a.requestTimeout", "30s", `"30s"`},
		{"a.disabled", "true", `true`},
		{"a.cliDepth", "3", `3`},
		{"a.args", `["a", "b"]`, `["a", "b"]`},
		{"a.auth.callbackPort", " 0 ", `0`},
		{"a.auth.idp.issuer", "1", `"1"`},
		{"a.tools[0].inputSchema.properties.x", "1", `"1"`}, // the schema says nothing of it
		{"a.tools.allow[0]", "read_*", `"read_*"`},
		{"a.tools.deny", `["rm"]`, `["rm"]`},
		{"a.tools", `{"deny":["rm"]}`, `{"deny":["rm"]}`},
		{"a", `{"command":"x"}`, `{"command":"x"}`},
	} {
		schema, err := configedit.SchemaAt(at(t, tt.path))
		require.NoError(t, err)
		if got, err := schema.Value(tt.text); err != nil || string(got) != tt.want {
			t.Errorf("%s = %s: got %s, %v, want %s", tt.path, tt.text, got, err, tt.want)
		}
	}
	for _, tt := range []struct{ path, text, want string }{
		{"a.disabled", "maybe", "true or false"},
		{"a.args", "-y", "an array"},
		{"a.cliDepth", "many", "an integer"},
	} {
		schema, err := configedit.SchemaAt(at(t, tt.path))
		require.NoError(t, err)
		if got, err := schema.Value(tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s = %s: got %s, %v, want an error with %q", tt.path, tt.text, got, err, tt.want)
		}
	}
	for path, want := range map[string]string{
		"a.comand": "did you mean command?", "a.command.x": "has no members", "a.command[0]": "has no elements", "a.auth.clientID": "did you mean clientId?",
		"a.type.x": "has no members", "a.env[0]": "has no elements",
	} {
		_, err := configedit.SchemaAt(at(t, path))
		var bad *configedit.PathError
		if !errors.As(err, &bad) || !strings.Contains(bad.Message+bad.Remedy, want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
}

const servers = `// top
{"mcpServers": {
	"a": {"command": "x", "args": ["-y", /* c */ "z"], // behind
	      "env": {"A": "1"}}, // a
	"b": {"command": 7},
}}`

func TestSet(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ path, value, want string }{
		{"a.command", `"y"`, strings.Replace(servers, `"x"`, `"y"`, 1)},
		{"a.args[1]", `"w"`, strings.Replace(servers, `"z"`, `"w"`, 1)},
		{"a.args[]", `"w"`, strings.Replace(servers, `"z"]`, `"z", "w"]`, 1)},
		{"a.env.B", `"2"`, strings.Replace(servers, `"1"}`, `"1", "B": "2"}`, 1)},
	} {
		f, err := config.Parse("f", []byte(servers))
		require.NoError(t, err)
		if err := configedit.Set(f, at(t, tt.path), json.RawMessage(tt.value)); err != nil || string(f.Bytes()) != tt.want {
			t.Errorf("%s = %s: %v, got\n%s\nwant\n%s", tt.path, tt.value, err, f.Bytes(), tt.want)
		}
	}
	// What would add a fault is refused with its place, and the fault of b is no matter.
	for _, tt := range []struct{ path, value, want string }{
		{"a.url", `"http://x"`, `f:5:8: server "a": both "command" and "url"`},
		{"a.args", `"w"`, `f:3:32: server "a": args is a string, want an array of strings`},
		{"a.env.C", `1`, `f:4:31: server "a": env.C is the number 1, want a string`},
		{"a.args[7]", `"w"`, "there is no element 7"},
	} {
		f, err := config.Parse("f", []byte(servers))
		require.NoError(t, err)
		err = configedit.Set(f, at(t, tt.path), json.RawMessage(tt.value))
		var problem *config.Problem
		if !errors.As(err, &problem) || !strings.Contains(problem.Error(), tt.want) {
			t.Errorf("%s = %s: got %v, want %s", tt.path, tt.value, err, tt.want)
		}
		if string(f.Bytes()) != servers {
			t.Errorf("%s = %s is refused and changes the file to %s", tt.path, tt.value, f.Bytes())
		}
	}
}

func TestUnset(t *testing.T) {
	t.Parallel()
	f, err := config.Parse("f", []byte(servers))
	require.NoError(t, err)
	for _, path := range []string{"a.env.A", "a.args[0]"} {
		if found, err := configedit.Unset(f, at(t, path)); !found || err != nil {
			t.Errorf("%s: %v, %v", path, found, err)
		}
	}
	if found, err := configedit.Unset(f, at(t, "a.cwd")); found || err != nil {
		t.Errorf("what is not there: %v, %v", found, err)
	}
	if _, err := configedit.Unset(f, at(t, "a.command")); err == nil {
		t.Error("the command of a server was removed")
	}
	want := strings.Replace(strings.Replace(servers, `"-y", /* c */ "z"`, ` /* c */ "z"`, 1), `"A": "1"`, "", 1)
	if got := string(f.Bytes()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// FuzzSet: a value that is set is read back, the other servers keep their bytes, and
// taking it out again leaves all bytes that were there.
func FuzzSet(f *testing.F) {
	f.Add("x", "1")
	f.Add("${X}", "\"")
	f.Add("é\u2028", "a.b")
	f.Add("", "A")
	f.Fuzz(func(t *testing.T, value, name string) {
		file, err := config.Parse("f", []byte(servers))
		require.NoError(t, err)
		raw, err := json.Marshal(value)
		require.NoError(t, err)
		p := append(configedit.Names("mcpServers", "a", "env"), configedit.Names(name)...)
		if configedit.Set(file, p, raw) != nil {
			return // such as a name that no variable can have
		}
		var want, got string
		require.NoError(t, json.Unmarshal(raw, &want))
		require.NoError(t, json.Unmarshal(configedit.Get(file.Bytes(), p), &got))
		if got != want {
			t.Fatalf("%q is %q after it was set to %q:\n%s", name, got, want, file.Bytes())
		}
		head, tail, _ := strings.Cut(servers, `{"A"`)
		_, tail, _ = strings.Cut(tail, "}}")
		if text := string(file.Bytes()); !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) {
			t.Fatalf("other bytes have changed:\n%s", text)
		}
		if name == "A" {
			return
		}
		if found, err := configedit.Unset(file, p); !found || err != nil || string(file.Bytes()) != servers {
			t.Fatalf("unset: %v, %v\n%s", found, err, file.Bytes())
		}
	})
}

func TestYAML(t *testing.T) {
	t.Parallel()
	const text = "# mine\ntimeout: 2m   # two\nserve:\n  # grace\n  listGrace: 5s\ncolor: 'auto' # it's\n"
	for _, tt := range []struct {
		path  string
		value any
		want  string
	}{
		{"timeout", "3m", strings.Replace(text, "2m", "3m", 1)},
		{"serve listGrace", "never", strings.Replace(text, "5s\n", "never\n", 1)},
		{"color", "never", strings.Replace(text, "'auto'", "never", 1)},
		{"quiet", true, text + "quiet: true\n"},
		{"verbose", 2, text + "verbose: 2\n"},
		{"protocolVersion", "2025-11-25", text + "protocolVersion: \"2025-11-25\"\n"},
	} {
		got, err := configedit.SetYAML([]byte(text), tt.value, strings.Fields(tt.path)...)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %v, got\n%q\nwant\n%q", tt.path, err, got, tt.want)
		}
	}
	got, found, err := configedit.UnsetYAML([]byte(text), "timeout")
	if want := strings.Replace(text, "# mine\ntimeout: 2m   # two\n", "", 1); err != nil || !found || string(got) != want {
		t.Errorf("got %q, %v, %v", got, found, err)
	}
	if _, found, err := configedit.UnsetYAML([]byte(text), "serve", "roots"); found || err != nil {
		t.Errorf("got %v, %v", found, err)
	}
	for _, broken := range []string{"a: [", "serve: {listGrace: 5s}"} {
		if got, err := configedit.SetYAML([]byte(broken), "x", "serve", "listGrace"); err == nil {
			t.Errorf("%s: got %q", broken, got)
		}
	}
}

// TestUpdateText: several writers lose nothing.
func TestUpdateText(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/config.yaml"
	done := make(chan error)
	const writers = 6
	for range writers {
		go func() {
			done <- configedit.UpdateText(path, func(text []byte) ([]byte, error) { return append(text, 'x'), nil })
		}()
	}
	for range writers {
		require.NoError(t, <-done)
	}
	var got string
	require.NoError(t, configedit.UpdateText(path, func(text []byte) ([]byte, error) { got = string(text); return text, nil }))
	if len(got) != writers {
		t.Errorf("got %q", got)
	}
}
