package clihelp

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/internal/lazy"
)

// Bounds of what is read and returned. What is beyond them is left out.
const (
	maxInput   = 1 << 20  // bytes of a text
	maxItems   = 2000     // flags or subcommands of a command
	maxValues  = 200      // values of an enum
	maxSummary = 2000     // bytes of one description
	maxText    = 16 << 10 // bytes of the text of a command, of a line, and of one form of usage
	maxDepth   = 16       // nested brackets, and nested commands
)

// line is one line of a text without its indentation.
type line struct {
	indent int
	text   string
}

func (l line) blank() bool { return l.text == "" }

var escapes = lazy.Regexp(`\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][0-9A-B]|\x1b.?`)

// clean returns text without escape sequences, overstrikes and control characters.
func clean(text []byte) string {
	if len(text) > maxInput {
		text = text[:maxInput]
	}
	s := escapes().ReplaceAllString(strings.ToValidUTF8(string(text), ""), "")
	var out []byte
	for _, r := range s {
		switch {
		case r == '\b': // a man page prints a bold letter twice, with a backspace between
			_, n := utf8.DecodeLastRune(out)
			out = out[:len(out)-n]
		case r == '\n' || r == '\t' || !unicode.IsControl(r):
			out = utf8.AppendRune(out, r)
		}
	}
	return string(out)
}

// split returns the lines of a cleaned text, with tabs as spaces.
func split(text string) []line {
	var lines []line
	for raw := range strings.SplitSeq(text, "\n") {
		s := strings.TrimRightFunc(unbox(untab(cut(raw, maxText))), unicode.IsSpace)
		trimmed := strings.TrimLeft(s, " ")
		lines = append(lines, line{indent: len(s) - len(trimmed), text: trimmed})
	}
	return lines
}

// untab returns s with its tabs as spaces. A tab after text is two spaces at least: it
// separates columns.
func untab(s string) string {
	if !strings.Contains(s, "\t") {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if s[i] != '\t' {
			b.WriteByte(s[i])
			continue
		}
		n := 8 - b.Len()%8
		if n == 1 && i > 0 && s[i-1] != '\t' && s[i-1] != ' ' {
			n = 2
		}
		b.WriteString("        "[:n])
	}
	return b.String()
}

// unbox returns a line without the frame that some libraries draw around sections.
func unbox(s string) string {
	inner := strings.TrimSpace(s)
	switch r, _ := utf8.DecodeRuneInString(inner); r {
	case '╭', '┌', '┏':
		return strings.Trim(inner, "╭╮┌┐┏┓─━ ") + ":"
	case '╰', '└', '┗':
		return ""
	case '│', '┃':
		inner = strings.Trim(inner, "│┃")
		if rest, ok := strings.CutPrefix(inner, " * "); ok { // typer marks what is required
			inner = "   " + rest
		}
		return " " + inner
	}
	return s
}

// columns returns the parts of s between two spaces or more.
func columns(s string) []string {
	return wide().Split(s, -1)
}

var wide = lazy.Regexp(` {2,}`)

// join appends a line to a description that is no longer than its bound.
func join(text, more string) string {
	if len(text)+len(more) > maxSummary || more == "" {
		return text
	}
	if text == "" {
		return more
	}
	return text + " " + more
}

// cut returns s with at most n bytes, and no part of a letter at the end.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// closing returns the index of the bracket that closes the one at s[0], or -1.
func closing(s string) int {
	var open []byte
	for i := range len(s) {
		switch c := s[i]; c {
		case '[', '(', '{', '<':
			if len(open) == maxDepth {
				return -1
			}
			open = append(open, c)
		case ']', ')', '}', '>':
			if len(open) > 0 && open[len(open)-1] == partner(c) {
				open = open[:len(open)-1]
			}
			if len(open) == 0 {
				return i
			}
		}
	}
	return -1
}

func partner(c byte) byte {
	switch c {
	case ']':
		return '['
	case ')':
		return '('
	case '}':
		return '{'
	}
	return '<'
}
