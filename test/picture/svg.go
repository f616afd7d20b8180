package main

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Sizes of the drawing, in pixels. A character of a monospaced font of 13 pixels is
// 7.8 wide.
const (
	charWidth  = 7.8
	lineHeight = 18
	margin     = 16
)

// colours are those of the terminal, by the number of the escape sequence.
func colours() map[string]string {
	return map[string]string{"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "34": "#79c0ff", "35": "#d2a8ff", "36": "#76e3ea", "90": "#8b949e"}
}

var sequenceRE = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// draw returns a screen as an SVG drawing.
func draw(screen string, columns int) string {
	lines := strings.Split(strings.Trim(screen, "\n"), "\n")
	width, height := float64(columns)*charWidth+2*margin, len(lines)*lineHeight+2*margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" width="%.0f" height="%d">`+"\n", width, height, width, height)
	b.WriteString(`<rect width="100%" height="100%" rx="8" fill="#0d1117"/>` + "\n" +
		`<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="13" fill="#e6edf3" xml:space="preserve">` + "\n")
	style := ""
	for i, line := range lines {
		var text string
		if text, style = spans(line, style); text != "" {
			fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", margin, margin+lineHeight*i+13, text)
		}
	}
	return b.String() + "</g>\n</svg>\n"
}

// spans returns a line as elements, and the style that it ends in. Each piece of text is
// stretched to its columns, whatever font there is.
func spans(line, style string) (text, after string) {
	var b strings.Builder
	column := 0
	add := func(s string) {
		n := utf8.RuneCountInString(s)
		if strings.TrimSpace(s) != "" {
			fmt.Fprintf(&b, `<tspan x="%.1f" textLength="%.1f"%s>%s</tspan>`, margin+float64(column)*charWidth, float64(n)*charWidth, style, html.EscapeString(s))
		}
		column += n
	}
	start := 0
	for _, m := range sequenceRE.FindAllStringSubmatchIndex(line, -1) {
		add(line[start:m[0]])
		style = styleOf(line[m[2]:m[3]], style)
		start = m[1]
	}
	add(strings.TrimRight(line[start:], " "))
	return b.String(), style
}

// styleOf returns the attributes after an escape sequence.
func styleOf(codes, before string) string {
	style := before
	for code := range strings.SplitSeq(codes, ";") {
		switch colour := colours()[code]; {
		case code == "" || code == "0" || code == "39":
			style = ""
		case code == "1":
			style += ` font-weight="bold"`
		case colour != "":
			style += ` fill="` + colour + `"`
		}
	}
	return style
}
