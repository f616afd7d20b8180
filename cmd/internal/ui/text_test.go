package ui

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestClean(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "a\n\tb é 漢 👩‍💻", "a\n\tb é 漢 👩‍💻"},
		{"colour", "\x1b[31mred\x1b[0m", "red"},
		{"cursor", "a\x1b[2J\x1b[Hb", "ab"},
		{"title, BEL", "\x1b]0;owned\x07x", "x"},
		{"hyperlink, ST", "\x1b]8;;http://e.example\x1b\\link\x1b]8;;\x1b\\", "link"},
		{"eight-bit CSI", "\u009b31mred", "red"},
		{"eight-bit OSC", "\u009d0;t\u009cx", "x"},
		{"charset", "\x1b(Bx", "x"},
		{"endless OSC keeps the next line", "\x1b]0;t\nnext", "\nnext"},
		{"endless CSI", "\x1b[", ""},
		{"lone escape", "a\x1b", "a"},
		{"bell, backspace, DEL", "a\a\bb\x7fc", "abc"},
		{"CR LF", "a\r\nb", "a\nb"},
		{"overwriting CR", "safe\revil", "safe\nevil"},
		{"bidi", "a\u202eb\u2066c\u200fd", "abcd"},
		{"tags", "a\U000e0041b", "ab"},
		{"not UTF-8", "a\xffb", "a\uFFFDb"},
		{"nul", "a\x00b", "ab"},
	} {
		if got := Clean(tt.in); got != tt.want {
			t.Errorf("%s: Clean(%q) = %q, want %q", tt.name, tt.in, got, tt.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"plain", "\x1b[31mred", "\x1b]0;t\x07", "\u009b1m", "\xff\x1b", "\r\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Clean(s)
		for _, r := range got {
			if unsafeRune(r) {
				t.Fatalf("Clean(%q) = %q keeps %U", s, got, r)
			}
		}
		if !utf8.ValidString(got) {
			t.Fatalf("Clean(%q) = %q is not UTF-8", s, got)
		}
		if again := Clean(got); again != got {
			t.Fatalf("Clean is not idempotent: %q, then %q", got, again)
		}
	})
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
	if err := u.PrintJSON([]byte(raw)); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), raw+"\n"; got != want {
		t.Errorf("PrintJSON: got %q, want %q", got, want)
	}
	b.Reset()
	if err := u.EncodeJSON(map[string]any{"a": "<&>", "n": json.RawMessage("1.0")}); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), `{"a":"<&>","n":1.0}`+"\n"; got != want {
		t.Errorf("EncodeJSON: got %q, want %q", got, want)
	}
}
