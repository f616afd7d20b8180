package tomledit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/tomledit"
	"github.com/mcpctl/mcpctl/test/require"
)

const codex = `# mine
model = "o3" # the model

[mcp_servers.a]
command = "npx" # runs
args = [
  "-y", # yes
  "a]",
]

  [mcp_servers.a.env]
  K = """
[mcp_servers.x]
"""

# about b
[mcp_servers.b]
url = "https://b.example/mcp"

# tail of b

[tui]
theme = 'dark'
`

const entry = `{"command":"npx","args":["-y","x@1"],"env":{"A B":"q\"\\\n"},"none":null,"n":1,"f":1.5,"on":true,"empty":{}}`

const written = `[mcp_servers.new]
command = "npx"
args = ["-y", "x@1"]
env = { "A B" = "q\"\\\n" }
n = 1
f = 1.5
on = true
empty = {}
`

func parse(t *testing.T, text string) *tomledit.Document {
	t.Helper()
	d, err := tomledit.Parse([]byte(text))
	require.NoError(t, err)
	return d
}

func TestSet(t *testing.T) {
	t.Parallel()
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", written},
		{"a byte order mark", "\uFEFF", "\uFEFF" + written},
		{"other keys", "x = 1\n", "x = 1\n\n" + written},
		{"no last newline", "x = 1", "x = 1\n\n" + written},
		{"carriage returns", "x = 1\r\n", crlf("x = 1\n\n" + written)},
		{"behind the servers", codex, strings.Replace(codex, "[tui]", written+"\n[tui]", 1)},
		{"in place", "[mcp_servers.new]\ncommand = \"old\"\n\n# about new's environment\n[mcp_servers.new.env]\nA = \"1\"\n\n# z\n[z]\n", written + "\n# z\n[z]\n"},
		{"in place, comments above", "# mine\n[mcp_servers.new]\ncommand = \"old\"\n", "# mine\n" + written},
		{"dotted keys", "[mcp_servers]\nnew.command = \"old\"\nnew.args = []\n", "[mcp_servers]\n" + written},
		{"at the root", "mcp_servers.new.command = \"old\"\n", written},
	} {
		d, err := parse(t, c.in).Set(json.RawMessage(entry), "mcp_servers", "new")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.want, string(d.Bytes())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	withoutA := strings.Replace(codex, codex[strings.Index(codex, "[mcp_servers.a]"):strings.Index(codex, "# about b")], "", 1)
	withoutB := strings.Replace(codex, "# about b\n[mcp_servers.b]\nurl = \"https://b.example/mcp\"\n\n", "", 1)
	for _, c := range []struct{ name, in, want string }{
		{"a", codex, withoutA},
		{"b", codex, withoutB},
		{"none", codex, codex},
		{"x", "[mcp_servers]\nx = {command = \"a\"} # x\ny.command = \"b\"\n", "[mcp_servers]\ny.command = \"b\"\n"},
	} {
		d, err := parse(t, c.in).Remove("mcp_servers", c.name)
		require.NoError(t, err)
		if diff := cmp.Diff(c.want, string(d.Bytes())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestInline: what is one expression is not taken apart.
func TestInline(t *testing.T) {
	t.Parallel()
	d := parse(t, `mcp_servers = { a = { command = "a" } }`)
	if _, err := d.Set(json.RawMessage(`{}`), "mcp_servers", "b"); !errors.Is(err, tomledit.ErrInline) {
		t.Errorf("Set: %v", err)
	}
	if _, err := d.Remove("mcp_servers", "a"); !errors.Is(err, tomledit.ErrInline) {
		t.Errorf("Remove: %v", err)
	}
	if got := d.Names("mcp_servers"); !cmp.Equal(got, []string{"a"}) {
		t.Errorf("names: %q", got)
	}
	if got := string(d.Value("mcp_servers", "a")); got != `{"command":"a"}` {
		t.Errorf("value: %s", got)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	d := parse(t, codex)
	if got := d.Names("mcp_servers"); !cmp.Equal(got, []string{"a", "b"}) {
		t.Errorf("names: %q", got)
	}
	if got, want := string(d.Value("mcp_servers", "a")), `{"args":["-y","a]"],"command":"npx","env":{"K":"[mcp_servers.x]\n"}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := d.Line("mcp_servers", "b"); got != 17 {
		t.Errorf("line %d", got)
	}
	if _, err := tomledit.Parse([]byte("a = 1\nb = =\n")); err == nil || !strings.HasPrefix(err.Error(), "line 2, column 5") {
		t.Errorf("broken: %v", err)
	}
}

// FuzzEdit: whatever is written can be taken out again, and every line that was there
// before is there, in its order.
func FuzzEdit(f *testing.F) {
	for _, s := range []string{codex, "", "a=1", "[mcp_servers]\n", "[[x]]\ny=1\n[[x]]\n", "x='''\n[mcp_servers.new]'''\n", "mcp_servers.q.w=1\r\n", "[mcp_servers.q]\nw=[1,\n#c\n]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := tomledit.Parse(raw)
		if err != nil || d.Value("mcp_servers", "new") != nil {
			return
		}
		set, err := d.Set(json.RawMessage(`{"command":"c"}`), "mcp_servers", "new")
		if err != nil {
			return
		}
		rest := set.Bytes()
		for line := range bytes.Lines(raw) {
			_, after, ok := bytes.Cut(rest, bytes.TrimSuffix(line, []byte("\n")))
			if !ok {
				t.Fatalf("%q is gone from\n%s", line, set.Bytes())
			}
			rest = after
		}
		back, err := set.Remove("mcp_servers", "new")
		if err != nil {
			t.Fatalf("cannot be taken out again: %v", err)
		}
		if got, want := bytes.TrimSpace(back.Bytes()), bytes.TrimSpace(raw); len(got) < len(want) {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	})
}
