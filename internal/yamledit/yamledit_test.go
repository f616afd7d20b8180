package yamledit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/yamledit"
	"github.com/mcpctl/mcpctl/test/require"
)

const goose = `# mine
GOOSE_PROVIDER: x   # which
extensions:
  # about a
  a:
    type: stdio
    cmd: npx
    args:
    - -y
    - a
    envs: {K: v}

  # about b
  b:
    type: streamable_http
    uri: https://b.example/mcp
    description: |
      # no comment
      text

# end
other:
- 1
`

const cont = `name: mine
mcpServers:
  - name: a
    command: npx
    args: ["-y", "a"]
  # about b
  - command: b
    name: b
rules: []
`

const entry = `{"cmd":"npx","args":["-y","x: #1"],"envs":{"A":"1"},"none":{},"on":true}`

func parse(t *testing.T, text string) *yamledit.Document {
	t.Helper()
	d, err := yamledit.Parse([]byte(text))
	require.NoError(t, err)
	return d
}

func indented(text, by string) string {
	return by + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+by) + "\n"
}

func TestSet(t *testing.T) {
	t.Parallel()
	written := "new:\n  cmd: npx\n  args:\n    - -y\n    - 'x: #1'\n  envs:\n    A: \"1\"\n  none: {}\n  \"on\": true\n"
	root := "extensions:\n" + indented(written, "  ")
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", root},
		{"comments alone, no last newline", "# c", "# c\n" + root},
		{"a byte order mark", "\uFEFFx: 1\n", "\uFEFFx: 1\n" + root},
		{"carriage returns", "x: 1\r\n", strings.ReplaceAll("x: 1\n"+root, "\n", "\r\n")},
		{"empty", "extensions:\nx: 1\n", root + "x: 1\n"},
		{"empty braces, a comment", "extensions: {} # c\nx: 1\n", strings.Replace(root, ":", ": # c", 1) + "x: 1\n"},
		{"behind the last", goose, strings.Replace(goose, "      text\n", "      text\n"+indented(written, "  "), 1)},
		{"in place", "extensions:\n    new:\n        cmd: old\n    # z\n    z: {}\n", "extensions:\n" + strings.ReplaceAll(indented(written, "  "), "  ", "    ") + "    # z\n    z: {}\n"},
	} {
		d, err := parse(t, c.in).Set(json.RawMessage(entry), "extensions", "new")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.want, string(d.Bytes())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestSetKeepsComment: the comment behind a value stays, with the space before it.
func TestSetKeepsComment(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, value, want string }{
		{"a: 1   # c\nb: 2\n", `3`, "a: 3   # c\nb: 2\n"},
		{"a: 1 # c", `3`, "a: 3 # c\n"},
		{"a: 1 # c  \n", `3`, "a: 3 # c  \n"},
		{"a: \"x # y\" # it's\r\nb: 2\r\n", `"z"`, "a: z # it's\r\nb: 2\r\n"},
		{"a: x#y\n", `"z"`, "a: z\n"},
		{"a: ~ # c\n", `["x","y"]`, "a: # c\n  - x\n  - \"y\"\n"},
		{"a: 1 # c\n", `{"x":1}`, "a: # c\n  x: 1\n"},
		{"a: 1 # c\n", `"x\ny"`, "a: |- # c\n  x\n  y\n"},
	} {
		d, err := parse(t, c.in).Set(json.RawMessage(c.value), "a")
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
		} else if got := string(d.Bytes()); got != c.want {
			t.Errorf("%q, %s: got %q, want %q", c.in, c.value, got, c.want)
		}
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	d := parse(t, cont)
	if got := d.Names("mcpServers"); !cmp.Equal(got, []string{"a", "b"}) {
		t.Fatalf("names: %q", got)
	}
	if got := string(d.Value("mcpServers", "b")); got != `{"command":"b","name":"b"}` {
		t.Errorf("value: %s", got)
	}
	set, err := d.Set(json.RawMessage(`{"command":"c","args":["1"]}`), "mcpServers", "c")
	require.NoError(t, err)
	want := strings.Replace(cont, "rules", "  - name: c\n    command: c\n    args:\n      - \"1\"\nrules", 1)
	if diff := cmp.Diff(want, string(set.Bytes())); diff != "" {
		t.Errorf("a new one (-want +got):\n%s", diff)
	}
	set, err = d.Set(json.RawMessage(`{"command":"z"}`), "mcpServers", "a")
	require.NoError(t, err)
	want = strings.Replace(cont, "    command: npx\n    args: [\"-y\", \"a\"]\n", "    command: z\n", 1)
	if diff := cmp.Diff(want, string(set.Bytes())); diff != "" {
		t.Errorf("in place (-want +got):\n%s", diff)
	}
	gone, err := d.Remove("mcpServers", "b")
	require.NoError(t, err)
	want = strings.Replace(cont, "  # about b\n  - command: b\n    name: b\n", "", 1)
	if diff := cmp.Diff(want, string(gone.Bytes())); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"a", goose, strings.Replace(goose, goose[strings.Index(goose, "  # about a"):strings.Index(goose, "\n  # about b")], "", 1)},
		{"b", goose, strings.Replace(goose, goose[strings.Index(goose, "  # about b"):strings.Index(goose, "\n# end")], "", 1)},
		{"none", goose, goose},
		{"only", "extensions:\n  only:\n    cmd: x\ny: 1\n", "extensions: {}\ny: 1\n"},
	} {
		d, err := parse(t, c.in).Remove("extensions", c.name)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.want, string(d.Bytes())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestRefused: what cannot be edited line by line is left alone.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		want error
	}{
		{"extensions: {a: {cmd: x}}\n", yamledit.ErrFlow},
		{"x: &x\n  a: {}\nextensions: *x\n", yamledit.ErrAlias},
	} {
		d := parse(t, c.in)
		if _, err := d.Set(json.RawMessage(`{}`), "extensions", "new"); !errors.Is(err, c.want) {
			t.Errorf("Set in %q: %v", c.in, err)
		}
		if _, err := d.Remove("extensions", "a"); !errors.Is(err, c.want) {
			t.Errorf("Remove in %q: %v", c.in, err)
		}
		if got := d.Names("extensions"); !cmp.Equal(got, []string{"a"}) {
			t.Errorf("names of %q: %q", c.in, got)
		}
	}
	for in, want := range map[string]string{
		"a: 1\n---\nb: 1\n": "line 2: a second document in the file",
		"- 1\n":             "line 1: the file holds no mapping",
		"a: [1\n":           "line 1: did not find expected ',' or ']'",
	} {
		if _, err := yamledit.Parse([]byte(in)); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", in, err, want)
		}
	}
}

// FuzzEdit: whatever is written can be taken out again, and every line that was there
// before is there, in its order.
func FuzzEdit(f *testing.F) {
	for _, s := range []string{goose, cont, "", "a: 1", "extensions:\n", "extensions: {}\n", "a: &x {b: 1}\nextensions:\n  y: *x\n", "extensions:\n  a: >-\n   t\n\n   # u\n", "? a\n: b\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := yamledit.Parse(raw)
		if err != nil || d.Value("extensions", "new") != nil || d.Names("extensions") == nil {
			return
		}
		set, err := d.Set(json.RawMessage(`{"cmd":"c"}`), "extensions", "new")
		if err != nil {
			return
		}
		rest := set.Bytes()
		for line := range bytes.Lines(raw) {
			_, after, ok := bytes.Cut(rest, bytes.TrimRight(line, "\r\n"))
			if !ok {
				t.Fatalf("%q is gone from\n%s", line, set.Bytes())
			}
			rest = after
		}
		if _, err := set.Remove("extensions", "new"); err != nil {
			t.Fatalf("cannot be taken out again: %v", err)
		}
	})
}

// TestAppend: an element is one line at the end of its list, and nothing else changes.
func TestAppend(t *testing.T) {
	t.Parallel()
	const item = `{"deny":"*","to":["fs/a","fs/b: c"],"when":{"args.x":{"eq":"yes"}}}`
	const line = `- {deny: '*', to: [fs/a, 'fs/b: c'], when: {args.x: {eq: "yes"}}}` + "\n"
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", "access:\n  rules:\n    " + line},
		{"no list", "access:\n  default: deny\nx: 1\n", "access:\n  default: deny\n  rules:\n    " + line + "x: 1\n"},
		{"empty", "access:\n  rules: []   # mine\n  x: 1\n", "access:\n  rules:   # mine\n    " + line + "  x: 1\n"},
		{"null", "access:\n  rules:\n  x: 1\n", "access:\n  rules:\n    " + line + "  x: 1\n"},
		{"behind one of several lines", "access:\n    rules:\n    - allow: a\n      # of it\n      to: |\n        b\n\n    # y\n    y: 1\n", "access:\n    rules:\n    - allow: a\n      # of it\n      to: |\n        b\n    " + line + "\n    # y\n    y: 1\n"},
		{"behind one in braces, no last newline", "access:\n  rules:\n    - {allow: a} # c\n    # end", "access:\n  rules:\n    - {allow: a} # c\n    " + line + "    # end"},
		{"a dash alone", "access:\n  rules:\n    -\n      allow: a\nx: 1\n", "access:\n  rules:\n    -\n      allow: a\n    " + line + "x: 1\n"},
		{"carriage returns", "access:\r\n  rules:\r\n    - a\r\n", "access:\r\n  rules:\r\n    - a\r\n    " + strings.ReplaceAll(line, "\n", "\r\n")},
	} {
		d, err := parse(t, c.in).Append(json.RawMessage(item), "access", "rules")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.want, string(d.Bytes())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	for in, want := range map[string]string{
		"access: {rules: []}\n":             "braces",
		"access:\n  rules: [a]\n":           "braces",
		"access:\n  rules: x\n":             "line 2: a value where a list is due",
		"a: &a [x]\naccess:\n  rules: *a\n": "alias",
		"access:\n  rules: {a: b}\n":        "a list is due",
	} {
		if _, err := parse(t, in).Append(json.RawMessage(item), "access", "rules"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", in, err, want)
		}
	}
}

func TestComment(t *testing.T) {
	t.Parallel()
	d, err := parse(t, "serve:\n  auth:\n    - token: {}\nx: 1\n").Comment("Who asks: a client.", "serve", "auth")
	require.NoError(t, err)
	if got, want := string(d.Bytes()), "serve:\n  # Who asks: a client.\n  auth:\n    - token: {}\nx: 1\n"; got != want {
		t.Errorf("got %s", got)
	}
	for _, text := range []string{"two\nlines", "none"} {
		if _, err := d.Comment(text, map[bool]string{true: "serve", false: "nope"}[text != "none"]); err == nil {
			t.Errorf("%q is written", text)
		}
	}
}
