package ui

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/test/require"
)

// TestTerminalJSON: on a terminal, JSON and log lines hold nothing that it
// obeys or does not show, and still say the same.
func TestTerminalJSON(t *testing.T) {
	const text = "a\u009b31m\u202eb\u200b\x7f\U000e0041 漢 ❤\ufe0f"
	const shown = `a\u009b31m\u202eb\u200b\u007f\udb40\udc41 漢 ❤` + "\ufe0f"
	raw := "{\r\"a\":\"" + text + "\"}"
	var out, errs bytes.Buffer
	u := &UI{Out: &out, Err: &errs, OutTTY: true, ErrTTY: true}
	require.NoError(t, u.PrintJSON([]byte(raw)))
	if got, want := out.String(), "{\n  \"a\": \""+shown+"\"\n}\n"; got != want {
		t.Errorf("PrintJSON: got %q, want %q", got, want)
	}
	var back struct{ A string }
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back.A != text {
		t.Errorf("it says %q now, %v", back.A, err)
	}
	out.Reset()
	require.NoError(t, u.EncodeJSON(map[string]string{"a": text}))
	if got, want := out.String(), "{\n  \"a\": \""+shown+"\"\n}\n"; got != want {
		t.Errorf("EncodeJSON: got %q, want %q", got, want)
	}
	if _, err := u.Log().Write([]byte("text=" + text + "\n")); err != nil || errs.String() != "text="+shown+"\n" {
		t.Errorf("a line of the log: got %q, %v", errs.String(), err)
	}
}

// TestTable: cells are cleaned, and without a terminal nothing is cut.
func TestTable(t *testing.T) {
	var b bytes.Buffer
	u := New(nil, &b, nil)
	require.NoError(t, u.NameTable([]string{"NAME", "TARGET"}, [][]string{{"fs", "npx -y server-filesystem /home/user/notes"}, {"漢字", "line\nbreak\x1b[31m"}}))
	want := "NAME  TARGET\nfs    npx -y server-filesystem /home/user/notes\n漢字  line break\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestNote: the word that opens a note is coloured, its text is not the server's to
// colour.
func TestNote(t *testing.T) {
	var b bytes.Buffer
	u := &UI{Err: &b, ErrColor: true}
	u.Info("warning: %s", "a\x1b[31mb")
	u.Info("saved")
	if got, want := b.String(), "\x1b[33mwarning:\x1b[0m ab\nsaved\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestJSONOutput(t *testing.T) {
	var b bytes.Buffer
	u := New(nil, &b, nil)
	raw := `{ "n": 1.0, "big": 9007199254740993 }`
	require.NoError(t, u.PrintJSON([]byte(raw)))
	if got, want := b.String(), raw+"\n"; got != want {
		t.Errorf("PrintJSON: got %q, want %q", got, want)
	}
	b.Reset()
	require.NoError(t, u.EncodeJSON(map[string]any{"a": "<&>", "n": json.RawMessage("1.0")}))
	if got, want := b.String(), `{"a":"<&>","n":1.0}`+"\n"; got != want {
		t.Errorf("EncodeJSON: got %q, want %q", got, want)
	}
}
