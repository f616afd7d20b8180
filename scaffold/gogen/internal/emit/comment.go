package emit

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"
)

// Widths of lines of comments, in characters, without the indentation.
const (
	docWidth   = 100
	fieldWidth = 96
)

// maxDoc is how many bytes of a description are kept.
const maxDoc = 6000

// clean returns a server's text in a form that is safe in a comment: only
// newlines end a line, and nothing steers a terminal or the direction of text. A
// byte order mark, which Go forbids inside a file, is removed too.
func clean(s string) string {
	s = shorten(strings.ToValidUTF8(s, "\uFFFD"), maxDoc)
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= ' ' && r < 0x7f, r == '\n':
			return r
		case r == '\t':
			return ' '
		case r == '\r', r == '\v', r == '\f', r == '\u0085', r == '\u2028', r == '\u2029':
			return '\n'
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
			return -1
		}
		return r
	}, s)
	// As gofmt writes it.
	return strings.ReplaceAll(strings.ReplaceAll(s, "``", "“"), "''", "”")
}

// oneLine returns clean text without line ends.
func oneLine(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }

// shorten cuts text at a number of bytes, between characters.
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}

// commentLines returns paragraphs as the lines of a doc comment, with slashes.
// Lists stay lists; everything else is wrapped at width characters.
func commentLines(paragraphs []string, width int) []string {
	var out []string
	for _, p := range paragraphs {
		lines := layOut(fullStop(strings.TrimSpace(clean(p))), width)
		if len(lines) == 0 {
			continue
		}
		if len(out) > 0 {
			out = append(out, "//")
		}
		out = append(out, lines...)
	}
	return out
}

// fullStop adds a full stop: gofmt would take a bare line between paragraphs for
// a heading.
func fullStop(s string) string {
	if r, _ := utf8.DecodeLastRuneInString(s); unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(")]\"'`%”’", r) {
		return s + "."
	}
	return s
}

func layOut(text string, width int) []string {
	var out []string
	var pending []string
	flush := func(first, rest string) {
		if len(pending) == 0 {
			return
		}
		prefix, line := first, ""
		for _, w := range pending {
			if n := utf8.RuneCountInString(prefix) + utf8.RuneCountInString(line) + 1 + utf8.RuneCountInString(w); line != "" && n > width {
				out = append(out, prefix+onlyText(line))
				prefix, line = rest, ""
			}
			if line != "" {
				line += " "
			}
			line += w
		}
		out = append(out, prefix+onlyText(line))
		pending = nil
	}
	blank := func() {
		if len(out) > 0 && out[len(out)-1] != "//" {
			out = append(out, "//")
		}
	}
	first, rest := "// ", "// "
	for line := range strings.SplitSeq(text, "\n") {
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
			flush(first, rest)
			first, rest = "// ", "// "
			blank()
			continue
		case isBullet(words[0]) && len(words) > 1:
			flush(first, rest)
			first, rest = "//   - ", "//     "
			words = words[1:]
		}
		pending = append(pending, words...)
	}
	flush(first, rest)
	for len(out) > 0 && out[len(out)-1] == "//" {
		out = out[:len(out)-1]
	}
	for i, line := range out {
		if (i == 0 || out[i-1] == "//") && (i == len(out)-1 || out[i+1] == "//") {
			out[i] = fullStop(line)
		}
	}
	return out
}

// onlyText removes what Go tools would interpret in a line of a comment: an old
// build constraint, which gofmt moves to the top of the file from anywhere, and
// the target of a link, which is not shown.
func onlyText(line string) string {
	if rest, ok := strings.CutPrefix(line, "+build"); ok {
		return "+ build" + rest
	}
	if strings.HasPrefix(line, "[") {
		return strings.ReplaceAll(line, "]: ", "] : ")
	}
	return line
}

func isBullet(w string) bool { return w == "-" || w == "*" || w == "•" }

// comment writes paragraphs as line comments.
func comment(g *jen.Group, paragraphs []string, width int) {
	for _, line := range commentLines(paragraphs, width) {
		g.Comment(line)
	}
}

// docOf returns documentation with the declaration's name in front.
func docOf(name string, doc []string) []string {
	if len(doc) == 0 {
		return []string{name + " has no documentation."}
	}
	return append([]string{name + " " + doc[0]}, doc[1:]...)
}
