package config_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/require"
)

func parse(t *testing.T, text string) *config.File {
	t.Helper()
	f, err := config.Parse("servers.json", []byte(text))
	if err != nil {
		t.Fatalf("Parse(%q): %v", text, err)
	}
	return f
}

const newEntry = `{"command":"npx","args":["-y","x@1.0"],"env":{"A":"${A}"}}`

func TestSet(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"no file", "", `{
  "mcpServers": {
    "new": {
      "command": "npx",
      "args": ["-y", "x@1.0"],
      "env": {
        "A": "${A}"
      }
    }
  }
}
`},
		{"byte order mark alone", "\uFEFF", "\uFEFF{\n  \"mcpServers\": {\n    \"new\": {\n      \"command\": \"npx\",\n      \"args\": [\"-y\", \"x@1.0\"],\n      \"env\": {\n        \"A\": \"${A}\"\n      }\n    }\n  }\n}\n"},
		{"comment alone, without a last newline", "// mine", "// mine\n{\n  \"mcpServers\": {\n    \"new\": {\n      \"command\": \"npx\",\n      \"args\": [\"-y\", \"x@1.0\"],\n      \"env\": {\n        \"A\": \"${A}\"\n      }\n    }\n  }\n}\n"},
		{"empty object", "{}\n", "{\n  \"mcpServers\": {\n    \"new\": {\n      \"command\": \"npx\",\n      \"args\": [\"-y\", \"x@1.0\"],\n      \"env\": {\n        \"A\": \"${A}\"\n      }\n    }\n  }\n}\n"},
		{"tabs, comments, trailing comma", `{
	// head
	"mcpServers": {
		"a": {"command": "a"}, // about a
		// more below
	},
	"x": 1.0, // keep
}
`, `{
	// head
	"mcpServers": {
		"a": {"command": "a"}, // about a
		"new": {
			"command": "npx",
			"args": ["-y", "x@1.0"],
			"env": {
				"A": "${A}"
			}
		},
		// more below
	},
	"x": 1.0, // keep
}
`},
		{"no trailing comma, a comment behind the last", `{
    "mcpServers": {
        "a": {"command": "a"} // about a
    }
}`, `{
    "mcpServers": {
        "a": {"command": "a"}, // about a
        "new": {
            "command": "npx",
            "args": ["-y", "x@1.0"],
            "env": {
                "A": "${A}"
            }
        }
    }
}`},
		{"one line", `{"mcpServers": {"a": {"command": "a"}}}`, `{"mcpServers": {"a": {"command": "a"}, "new": { "command": "npx", "args": ["-y", "x@1.0"], "env": { "A": "${A}" } }}}`},
		{"CR LF and no mcpServers", "{\r\n \"$schema\": \"s\"\r\n}\r\n", "{\r\n \"$schema\": \"s\",\r\n \"mcpServers\": {\r\n  \"new\": {\r\n   \"command\": \"npx\",\r\n   \"args\": [\"-y\", \"x@1.0\"],\r\n   \"env\": {\r\n    \"A\": \"${A}\"\r\n   }\r\n  }\r\n }\r\n}\r\n"},
		{"empty with a comment", "{\"mcpServers\": {\n  // none yet\n}}", "{\"mcpServers\": {\n  // none yet\n  \"new\": {\n    \"command\": \"npx\",\n    \"args\": [\"-y\", \"x@1.0\"],\n    \"env\": {\n      \"A\": \"${A}\"\n    }\n  }\n}}"},
		{"one line, a line comment last", "{\"mcpServers\": {\"a\": {\"command\": \"a\"} // c\n}}", "{\"mcpServers\": {\"a\": {\"command\": \"a\"}, // c\n  \"new\": {\n    \"command\": \"npx\",\n    \"args\": [\"-y\", \"x@1.0\"],\n    \"env\": {\n      \"A\": \"${A}\"\n    }\n  }\n}}"},
	} {
		f := parse(t, tt.in)
		if err := f.Set("new", json.RawMessage(newEntry), false); err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if diff := cmp.Diff(tt.want, string(f.Bytes())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if e, err := f.Use("new"); err != nil || string(e.Raw) != newEntry {
			t.Errorf("%s: entry is %s, %v", tt.name, e.Raw, err)
		}
	}
}

func TestSetReplaces(t *testing.T) {
	f := parse(t, `{"mcpServers": {
  // above
  "a": {
    "command": "old" // goes
  }, // behind
  "b": {"command": "b"},
}}`)
	if err := f.Set("a", json.RawMessage(`{"command":"new"}`), false); !errors.As(err, new(*config.ExistsError)) {
		t.Fatalf("without replace: got %v, want an ExistsError", err)
	}
	require.NoError(t, f.Set("a", json.RawMessage(`{"command":"new\u003c\u0026","args":["\u0007"]}`), true))
	want := `{"mcpServers": {
  // above
  "a": {
    "command": "new<&",
    "args": ["\u0007"]
  }, // behind
  "b": {"command": "b"},
}}`
	if diff := cmp.Diff(want, string(f.Bytes())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	require.NoError(t, f.Set("b", json.RawMessage(`{"command":"c"}`), true))
	if !bytes.Contains(f.Bytes(), []byte(`"b": { "command": "c" },`)) {
		t.Errorf("an entry on one line did not stay there:\n%s", f.Bytes())
	}
}

func TestSetRefuses(t *testing.T) {
	const file = `{"mcpServers": {"a": {"command": "a"}, "d": {"command": "d"}, "d": {"command": "e"}}}`
	for _, tt := range []struct{ alias, entry, want string }{
		{"x__y", `{"command":"a"}`, "__"},
		{"", `{"command":"a"}`, "empty"},
		{"-x", `{"command":"a"}`, "begin"},
		{"a b", `{"command":"a"}`, "' '"},
		{strings.Repeat("x", 65), `{"command":"a"}`, "64"},
		{"search", `{"command":"a"}`, "command"},
		{"ok", `{"command":"a","url":"http://x"}`, "both"},
		{"ok", `{}`, "neither"},
		{"ok", `{"command":1}`, "a string"},
		{"ok", `["command"]`, "an object"},
		{"ok", `{"command":`, "never closed"},
		{"d", `{"command":"x"}`, "twice"},
	} {
		f := parse(t, file)
		err := f.Set(tt.alias, json.RawMessage(tt.entry), true)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Set(%q, %s) = %v, want an error with %q", tt.alias, tt.entry, err, tt.want)
		}
		if got := string(f.Bytes()); got != file {
			t.Errorf("Set(%q, %s) failed and changed the file to %s", tt.alias, tt.entry, got)
		}
	}
}

func TestRemove(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"first of three lines", `{"mcpServers": {
  "x": {"command": "x"},
  "b": {"command": "b"},
  "c": {"command": "c"}
}}`, `{"mcpServers": {
  "b": {"command": "b"},
  "c": {"command": "c"}
}}`},
		{"last, without trailing comma", `{"mcpServers": {
  "a": {"command": "a"}, // about a
  // about x
  "x": {"command": "x"} // more about x
  // at the end
}}`, `{"mcpServers": {
  "a": {"command": "a"} // about a
  // at the end
}}`},
		{"last, with trailing comma", `{"mcpServers": {
  "a": {"command": "a"},
  "x": {"command": "x"}, /* gone */
}}`, `{"mcpServers": {
  "a": {"command": "a"},
}}`},
		{"comments above, a heading apart", `{"mcpServers": {
  "a": {"command": "a"}, // about a

  // ---- heading ----

  // about x
  /* and
     more */
  "x": {
    "command": "x", // inside
  },

  // about c
  "c": {"command": "c"},
}}`, `{"mcpServers": {
  "a": {"command": "a"}, // about a

  // ---- heading ----

  // about c
  "c": {"command": "c"},
}}`},
		{"blank lines", "{\"mcpServers\": {\n\n  \"a\": {\"command\": \"a\"},\n\n  \"x\": {\"command\": \"x\"},\n\n  \"c\": {\"command\": \"c\"}\n\n}}", "{\"mcpServers\": {\n\n  \"a\": {\"command\": \"a\"},\n\n  \"c\": {\"command\": \"c\"}\n\n}}"},
		{"CR LF", "{\"mcpServers\": {\r\n  \"a\": {\"command\": \"a\"},\r\n  // x\r\n  \"x\": {\"command\": \"x\"}\r\n}}\r\n", "{\"mcpServers\": {\r\n  \"a\": {\"command\": \"a\"}\r\n}}\r\n"},
		{"one line, first", `{ "mcpServers": { "x": {"command": "x"}, "b": {"command": "b"} } }`, `{ "mcpServers": { "b": {"command": "b"} } }`},
		{"one line, middle", `{"mcpServers": {"a": {"command": "a"}, "x": {"command": "x"}, "c": {"command": "c"}}}`, `{"mcpServers": {"a": {"command": "a"}, "c": {"command": "c"}}}`},
		{"one line, last", `{"mcpServers": {"a": {"command": "a"}, "x": {"command": "x"}}}`, `{"mcpServers": {"a": {"command": "a"}}}`},
		{"the only one", "{\"mcpServers\": {\n  \"x\": {\"command\": \"x\"}\n}}", "{\"mcpServers\": {\n}}"},
		{"comma first", `{"mcpServers":
  { "a": {"command": "a"} // a
  , "x": {"command": "x"} // x
  , "c": {"command": "c"}
  }}`, `{"mcpServers":
  { "a": {"command": "a"} // a
  , "c": {"command": "c"}
  }}`},
		{"a line comment before, a neighbour behind", "{\"mcpServers\": {\"a\": {\"command\": \"a\"}, // a\n\"x\": {\"command\": \"x\"}, \"c\": {\"command\": \"c\"}}}", "{\"mcpServers\": {\"a\": {\"command\": \"a\"}, // a\n\"c\": {\"command\": \"c\"}}}"},
		{"a line comment before, the brace behind", "{\"mcpServers\": {\"a\": {\"command\": \"a\"}, // a\n  \"x\": {\"command\": \"x\"} }}", "{\"mcpServers\": {\"a\": {\"command\": \"a\"} // a\n   }}"},
		{"twice", "{\"mcpServers\": {\n  \"x\": {\"command\": \"x\"},\n  \"b\": {\"command\": \"b\"},\n  \"\\u0078\": {\"command\": \"y\"}\n}}", "{\"mcpServers\": {\n  \"b\": {\"command\": \"b\"}\n}}"},
		{"broken, and another one too", "{\"mcpServers\": {\n  \"x\": 3,\n  \"b\": {\"command\": 7},\n}}", "{\"mcpServers\": {\n  \"b\": {\"command\": 7},\n}}"},
	} {
		f := parse(t, tt.in)
		if err := f.Remove("x"); err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if diff := cmp.Diff(tt.want, string(f.Bytes())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	f := parse(t, `{"mcpServers": {"files": {"command": "a"}}}`)
	err := f.Remove("fils")
	var missing *config.NotFoundError
	if !errors.As(err, &missing) || !cmp.Equal(missing.Nearest, []string{"files"}) {
		t.Errorf("Remove(fils) = %v, want a NotFoundError that names files", err)
	}
}

func TestInit(t *testing.T) {
	f := parse(t, "")
	require.NoError(t, f.Init())
	want := "{\n  \"mcpServers\": {}\n}\n"
	if got := string(f.Bytes()); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := f.Init(); err != nil || string(f.Bytes()) != want {
		t.Errorf("a second Init: %v, %q", err, f.Bytes())
	}
}

// FuzzEdit sets and removes an entry in arbitrary files: the other entries
// keep their bytes, whatever is inserted can be taken out again, and strict
// JSON stays strict.
func FuzzEdit(f *testing.F) {
	for _, s := range []string{
		"", "\uFEFF", "// c", "{}", "{\r\n}\r\n", `{"mcpServers":{}}`, `{"mcpServers":{ /* c */ }}`,
		`{"mcpServers": {"a": {"command": "a"}, "x": {"command": "x"}, }}`,
		"{\"mcpServers\": {\n\t\"a\": {} // a\n\t, /* x */ \"x\": 1 // x\n\n}, \"n\": [1.0, // c\n]}",
		"{\"a\": 1 // c\n}", "{\"mcpServers\": {\"x\": {},// c\n\"b\":{}}}",
		"{\"mcpServers\": {\n  // one\n\n  // two\n  \"x\": {\"command\": \"x\"}, /* t\n */ \"b\": {}\n}}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		file, err := config.Parse("f", bytes.Clone(raw))
		if err != nil {
			return
		}
		others := func(f *config.File) (raws []string) {
			for _, e := range f.Entries() {
				if e.Name != "x" {
					raws = append(raws, e.Name+string(e.Raw))
				}
			}
			return raws
		}
		before := others(file)
		strict := json.Valid(bytes.TrimPrefix(raw, []byte("\uFEFF"))) || len(raw) == 0
		check := func(what string) {
			if diff := cmp.Diff(before, others(file)); diff != "" {
				t.Fatalf("%s of %q gave %q; other entries (-before +after):\n%s", what, raw, file.Bytes(), diff)
			}
			if strict && !json.Valid(bytes.TrimPrefix(file.Bytes(), []byte("\uFEFF"))) {
				t.Fatalf("%s of %q gave %q, which is not strict JSON any more", what, raw, file.Bytes())
			}
		}
		if _, ok := file.Entry("x"); ok {
			if err := file.Remove("x"); err != nil {
				t.Fatalf("Remove from %q: %v", raw, err)
			}
			check("Remove")
		}
		clean := bytes.Clone(file.Bytes())
		if err := file.Set("x", json.RawMessage(newEntry), false); err != nil {
			t.Fatalf("Set in %q: %v", clean, err)
		}
		check("Set")
		if !subsequence(clean, file.Bytes()) {
			t.Fatalf("Set in %q gave %q, which lacks bytes of it", clean, file.Bytes())
		}
		if e, err := file.Use("x"); err != nil || string(e.Raw) != newEntry {
			t.Fatalf("Set in %q wrote %s, %v", clean, e.Raw, err)
		}
		if err := file.Set("x", json.RawMessage(`{"command":"y"}`), true); err != nil {
			t.Fatalf("Set again in %q: %v", file.Bytes(), err)
		}
		check("Set again")
		if err := file.Remove("x"); err != nil {
			t.Fatalf("Remove from %q: %v", file.Bytes(), err)
		}
		check("Remove again")
	})
}

func subsequence(a, b []byte) bool {
	for _, c := range b {
		if len(a) > 0 && a[0] == c {
			a = a[1:]
		}
	}
	return len(a) == 0
}

// TestAmend: what is equal keeps its bytes and comments.
func TestAmend(t *testing.T) {
	t.Parallel()
	before := "// top\r\n{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": { /* mine */ \"command\": \"a\" },\r\n\t\t\"fs\": {\r\n\t\t\t// runs it\r\n\t\t\t\"command\": \"npx\",\r\n" +
		"\t\t\t\"args\": [\"-y\", // yes\r\n\t\t\t\t\"p@1\", // pinned\r\n\t\t\t],\r\n\t\t\t\"env\": {\r\n\t\t\t\t\"A\": \"1\", // one\r\n\t\t\t\t\"B\": \"\\u0032\",\r\n\t\t\t},\r\n\t\t\t\"cwd\": \"/x\", // gone\r\n\t\t},\r\n\t},\r\n}\r\n"
	after := "// top\r\n{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": { /* mine */ \"command\": \"a\" },\r\n\t\t\"fs\": {\r\n\t\t\t// runs it\r\n\t\t\t\"command\": \"npx\",\r\n" +
		"\t\t\t\"args\": [\"-y\", // yes\r\n\t\t\t\t\"p@2\", // pinned\r\n\t\t\t],\r\n\t\t\t\"env\": {\r\n\t\t\t\t\"A\": \"1\", // one\r\n\t\t\t\t\"B\": \"\\u0032\",\r\n\t\t\t\t\"C\": \"3\",\r\n\t\t\t},\r\n\t\t\t\"type\": \"stdio\",\r\n\t\t},\r\n\t},\r\n}\r\n"
	f, err := config.Parse("servers.json", []byte(before))
	require.NoError(t, err)
	require.NoError(t, f.Amend("fs", json.RawMessage(`{"command":"npx","args":["-y","p@2"],"env":{"A":"1","B":"\u0032","C":"3"},"type":"stdio"}`)))
	if diff := cmp.Diff(after, string(f.Bytes())); diff != "" {
		t.Error(diff)
	}
	for alias, entry := range map[string]string{"none": `{"command":"x"}`, "fs": `{"url":"https://x","command":"x"}`, "a": `[]`} {
		if err := f.Amend(alias, json.RawMessage(entry)); err == nil || string(f.Bytes()) != after {
			t.Errorf("%s %s: got %v", alias, entry, err)
		}
	}
}
