package main

import "testing"

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
