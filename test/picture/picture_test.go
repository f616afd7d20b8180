package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// TestPicture runs the commands again: the drawing shows what they print now.
func TestPicture(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("there is no tmux here, which draws the picture: apt-get install tmux, or the like")
	}
	program := filepath.Join(t.TempDir(), "mcpctl")
	_, err := wire.Build(t.Context(), program, "github.com/mcpctl/mcpctl/cmd/mcpctl")
	require.NoError(t, err)
	screen, err := record(t.Context(), program, shown())
	require.NoError(t, err)
	want, err := os.ReadFile(filepath.Join("..", "..", "docs", "terminal.svg"))
	require.NoError(t, err)
	if draw(screen, columns) != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("docs/terminal.svg shows something else: make terminal-picture. The terminal:\n%s", screen)
	}
}

// TestSpans draws lines with escape sequences.
func TestSpans(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"":                  "",
		"a <b>":             `<tspan x="16.0" textLength="39.0">a &lt;b&gt;</tspan>`,
		"a\x1b[31mé\x1b[0m": `<tspan x="16.0" textLength="7.8">a</tspan><tspan x="23.8" textLength="7.8" fill="#ff7b72">é</tspan>`,
		"\x1b[1m  b  ":      `<tspan x="16.0" textLength="23.4" font-weight="bold">  b</tspan>`,
	} {
		if got, _ := spans(line, ""); got != want {
			t.Errorf("%q: got %s, want %s", line, got, want)
		}
	}
}
