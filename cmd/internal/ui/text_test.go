package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
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
	if got, want := out.String(), `{ "a":"`+shown+"\"}\n"; got != want {
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

// TestPromptErrors: a prompt's error about an answer is plain text.
func TestPromptErrors(t *testing.T) {
	err := textCheck(func(string) error { return errors.New("want\x1b[31m a\u200b\nb") })("x")
	if err == nil || err.Error() != "want a b" {
		t.Errorf("got %v", err)
	}
	if err := textCheck(func(string) error { return nil })("x"); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestTable(t *testing.T) {
	headers := []string{"NAME", "TRANSPORT", "TARGET"}
	rows := [][]string{
		{"fs", "stdio", "npx -y server-filesystem /home/user/notes"},
		{"漢字", "http", "line\nbreak\x1b[31m"},
		{"short"},
	}
	for _, tt := range []struct {
		name  string
		width int
		want  string
	}{
		{"unlimited", 0, "" +
			"NAME   TRANSPORT  TARGET\n" +
			"fs     stdio      npx -y server-filesystem /home/user/notes\n" +
			"漢字   http       line break\n" +
			"short\n"},
		{"narrow", 36, "" +
			"NAME   TRANSPORT  TARGET\n" +
			"fs     stdio      npx -y server-fil…\n" +
			"漢字   http       line break\n" +
			"short\n"},
		{"impossible", 3, "" +
			"NAME   TRANSPO…  TARGET\n" +
			"fs     stdio     npx -y …\n" +
			"漢字   http      line br…\n" +
			"short\n"},
	} {
		if diff := cmp.Diff(tt.want, renderTable(headers, rows, 0, tt.width, false)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	// A name that is to be copied is shortened last.
	long := [][]string{{"io.github.acme/thing", "1.3.0", "Make, find and move things"}}
	for width, want := range map[int]string{
		40: "io.github.acme/thing  1.3.0    Make, fi…\n",
		30: "io.github.…  1.3.0    Make, f…\n",
	} {
		got := renderTable([]string{"NAME", "VERSION", "TITLE"}, long, 1, width, false)
		if _, row, _ := strings.Cut(got, "\n"); row != want {
			t.Errorf("%d columns: got %q, want %q", width, row, want)
		}
	}
	// Bold is the text alone: spaces in it would reach beyond the terminal's
	// width and break the line.
	plain, bold := renderTable(headers, rows, 0, 30, false), renderTable(headers, rows, 0, 30, true)
	if got := strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "").Replace(bold); got != plain {
		t.Errorf("in colour:\n%q\nwithout:\n%q", got, plain)
	}
	if got := renderTable(headers, rows, 0, 0, true); !strings.Contains(got, "\x1b[1mNAME") {
		t.Errorf("no bold header in %q", got)
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
