package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/mcpctl/mcpctl/test/require"
)

const (
	keyDown  = "\x1b[B"
	keyLeft  = "\x1b[D" // marks nothing
	keyRight = "\x1b[C" // marks everything
)

// TestChooseCommands: at a terminal a person chooses which commands of a tool are exposed.
// They stand in the order of its help: act, apply, config set, config view, delete, get,
// store, store drop.
func TestChooseCommands(t *testing.T) {
	t.Parallel()
	const question = "Which commands are exposed:"
	for name, c := range map[string]struct {
		answers [][2]string
		code    int
		want    string // of the entry, "" where none is written
		drawn   string
	}{
		"what reads, unchanged": {[][2]string{{question, "\r"}}, 0, `{"command":"kit","cli":true}`, "[x]  config view"},
		"one more, one less": {
			[][2]string{{question, keyDown + " " + strings.Repeat(keyDown, 4) + " \r"}},
			0,
			`{"command":"kit","cli":true,"cliOnly":["apply","config view"]}`, "[ ]  apply",
		},
		"everything": {
			[][2]string{{question, keyRight + "\r"}},
			0,
			`{"command":"kit","cli":true,"cliOnly":["act","apply","config set","config view","delete","get","store","store drop"]}`, "[ ]  delete",
		},
		"without what stands below it": {
			[][2]string{{question, keyLeft + strings.Repeat(keyDown, 6) + " \r"}},
			0,
			`{"command":"kit","cli":true,"cliOnly":["store"],"cliDeny":["store drop"]}`, "store",
		},
		"nothing is refused": {
			[][2]string{{question, keyLeft + "\r"}, {"choose at least one", " \r"}},
			0,
			`{"command":"kit","cli":true,"cliOnly":["act"]}`, "Ctrl+C adds nothing",
		},
		"broken off": {[][2]string{{question, " \x03"}}, 130, "", "interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := openTerminal(t, c.answers...)
			file := filepath.Join(t.TempDir(), "servers.json")
			require.NoError(t, os.WriteFile(file, []byte(`{"mcpServers":{}}`), 0o600))
			out, code := atTerminal(t, p, nil, "--config", file, "--json", "add", "tool", "--cli", "--", "kit")
			if drawn := withoutCodes(p.text()); code != c.code || !strings.Contains(drawn, c.drawn) {
				t.Errorf("got exit %d, %s; drawn:\n%s", code, out, drawn)
			}
			b, err := os.ReadFile(file)
			require.NoError(t, err)
			want := `{"mcpServers":{}}`
			if c.want != "" {
				want = `{"mcpServers":{"tool":` + c.want + `}}`
			}
			if got := regexp.MustCompile(`\s*\n\s*|([:,]) `).ReplaceAllString(string(b), "$1"); got != want {
				t.Errorf("the file has %s, want %s", got, want)
			}
		})
	}
}

// withoutCodes is what is drawn without colors and movements of the cursor.
func withoutCodes(drawn string) string {
	return regexp.MustCompile(`\x1b(\[[0-9;?]*[a-zA-Z]|[78])`).ReplaceAllString(drawn, "")
}

// TestChooseInNarrowTerminal: lines of a tool that says much of its commands are
// shortened to the width, so that each stays one line.
func TestChooseInNarrowTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tool := filepath.Join(dir, "wordy")
	help := "Usage: wordy [command]\n\nCommands:\n" +
		"  list    Print " + strings.Repeat("very much ", 15) + "of it\n" +
		"  delete  Delete " + strings.Repeat("véry much ", 15) + "of it\n"
	require.NoError(t, require.WriteProgram(tool, []byte("#!/bin/sh\n[ \"$1\" = --help ] && cat <<'.'\n"+help+".\n"), 0o700))
	p := openTerminal(t, [2]string{"Which commands are exposed:", keyDown + " \r"})
	require.NoError(t, unix.IoctlSetWinsize(int(p.tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
	file := filepath.Join(dir, "servers.json")
	_, code := atTerminal(t, p, []string{"PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH")}, "--config", file, "add", "tool", "--cli", "--", "wordy")
	drawn := p.text()
	if code != 0 {
		t.Fatalf("got exit %d; drawn:\n%s", code, drawn)
	}
	shown, _, _ := strings.Cut(withoutCodes(drawn), "? Which commands are exposed: list")
	lines := regexp.MustCompile(`[\r\n]+`).Split(shown, -1)
	snipped := 0
	for _, line := range lines {
		if utf8.RuneCountInString(line) > 80 && !strings.Contains(line, "[Use arrows") {
			t.Errorf("a line of %d columns: %q", utf8.RuneCountInString(line), line)
		}
		if strings.HasSuffix(strings.TrimSpace(line), "…") {
			snipped++
		}
	}
	if snipped < 4 {
		t.Errorf("%d lines are shortened, want those of the tree and of the question:\n%s", snipped, shown)
	}
	b, err := os.ReadFile(file)
	if err != nil || !regexp.MustCompile(`"cliOnly": \[\s*"list",\s*"delete"\s*\]`).Match(b) {
		t.Errorf("got %v, %s", err, b)
	}
}
