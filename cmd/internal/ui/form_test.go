package ui_test

import (
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestYAML: members keep their order and numbers their digits; what looks like another type is
// quoted.
func TestYAML(t *testing.T) {
	t.Parallel()
	form := ui.YAML()
	for _, tt := range []struct{ doc, want string }{
		{`{"b":1,"a":{"x":[1.50,"1.50",true,"true",null,"null",12345678901234567890],"none":[],"nothing":{}}}`, "b: 1\na:\n  x:\n    - 1.50\n    - \"1.50\"\n    - true\n    - \"true\"\n    - null\n    - \"null\"\n    - 12345678901234567890\n  none: []\n  nothing: {}\n"},
		{`{"text":"one\ntwo\n","sign":"\ud83d\ude00","yes":"- a: b"}`, "---\ntext: |\n  one\n  two\nsign: \"\\U0001F600\"\n\"yes\": '- a: b'\n"},
		{`"bare"`, "---\nbare\n"},
	} {
		got, err := form([]byte(tt.doc))
		require.NoError(t, err)
		if string(got) != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.doc, got, tt.want)
		}
	}
	if _, err := form([]byte(`{"a":`)); err == nil {
		t.Error("half a document is written")
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		`{"servers":[{"name":"fs","command":"x"},{"name":"gh"}]}`: "fs\ngh\n",
		`{"servers":[]}`: "",
		`{"tools":[{"name":"read","inputSchema":{}}],"_meta":{"a":[{"name":"b"}]}}`:                     "read\n",
		`{"servers":[{"name":"fs","tools":[{"name":"read"},{"name":"x y"}]},{"name":"gh","tools":[]}]}`: "fs read\nfs x y\n",
		`{"resources":[{"uri":"file:///a","name":"a"}]}`:                                                "file:///a\n",
		`{"resourceTemplates":[{"uriTemplate":"file:///{a}","name":"a"}]}`:                              "file:///{a}\n",
		`{"serves":[{"pid":4711,"version":"v1"}],"logins":[{"name":"x"}]}`:                              "4711\n",
		`{"servers":[{"server":{"name":"io.x/y","version":"1"},"_meta":{}}]}`:                           "io.x/y\n",
		`{"name":"read","inputSchema":{"type":"object"}}`:                                               "read\n",
		`{"servers":[{"name":"a\nb\u001b[31m"}]}`:                                                       "a b\n",
		`{"content":[{"type":"text","text":"hi"}]}`:                                                     "!",
		`{"ok":true}`: "!",
		`[1]`:         "!",
	} {
		got, err := ui.Names([]byte(doc))
		if err != nil {
			got = []byte("!")
		}
		if string(got) != want {
			t.Errorf("%s: got %q, %v, want %q", doc, got, err, want)
		}
	}
}

func TestQuery(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ doc, query, want string }{
		{`{"tools":[{"name":"a"},{"name":"b"}]}`, ".tools[].name", "a\nb\n"},
		{`{"a":{"c":1,"b":"<&>"}}`, ".a", `{"b":"<&>","c":1}` + "\n"},
		{`{"n":12345678901234567890}`, ".n, .m", "12345678901234567890\nnull\n"},
		{`[1,2]`, "empty", ""},
		{`[1,2]`, "map(.+1)", "[2,3]\n"},
		{`[1,2]`, `.[0], halt, .[1]`, "1\n"},
		{`[1,2]`, ".a", "! expected an object"},
		{`[1,2]`, `error("no")`, "! no"},
		{``, ".[", "! unexpected"},
		{``, "nope(1)", "! function not defined"},
		{``, "$__prog_args, input", "! "},
	} {
		form, err := ui.Query(tt.query)
		var got []byte
		if err == nil {
			got, err = form([]byte(tt.doc))
		}
		if want, fails := strings.CutPrefix(tt.want, "! "); fails {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %q, %v, want %s", tt.query, got, err, want)
			}
			continue
		}
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: got %q, %v, want %q", tt.query, got, err, tt.want)
		}
	}
}
