package views

import (
	"slices"
	"strings"
	"unicode"

	"github.com/mcpctl/mcpctl/internal/plain"
)

// selection is a compiled list of patterns. The zero value matches nothing.
type selection struct {
	all     bool // what is not left out is in
	in, out []string
}

// selectionOf compiles a list of patterns; nil is everything.
func selectionOf(patterns []string) selection {
	s := selection{all: patterns == nil}
	for _, pattern := range patterns {
		if but, ok := strings.CutPrefix(pattern, "!"); ok {
			s.out = append(s.out, but)
		} else {
			s.in = append(s.in, pattern)
		}
	}
	s.all = s.all || s.in == nil && s.out != nil
	return s
}

func (s *selection) has(text string) bool {
	matches := func(pattern string) bool { return plain.MatchGlob(pattern, text) }
	return !slices.ContainsFunc(s.out, matches) && (s.all || slices.ContainsFunc(s.in, matches))
}

// also returns the selection with another form of each pattern.
func (s *selection) also(form func(string) string) selection {
	both := func(patterns []string) []string {
		out := slices.Clone(patterns)
		for _, pattern := range patterns {
			if other := form(pattern); other != pattern {
				out = append(out, other)
			}
		}
		return out
	}
	return selection{all: s.all, in: both(s.in), out: both(s.out)}
}

// mayHave reports whether something that begins so could be in.
func (s *selection) mayHave(prefix string) bool {
	return !slices.ContainsFunc(s.out, func(pattern string) bool { return plain.MatchGlobAll(pattern, prefix) }) &&
		(s.all || slices.ContainsFunc(s.in, func(pattern string) bool { return plain.MatchGlobBegin(pattern, prefix) }))
}

// patternFault returns why a text is no pattern, "" if it is one. Names of clients may have
// spaces.
func patternFault(pattern string, spaces bool) string {
	switch but := strings.TrimPrefix(pattern, "!"); {
	case but == "":
		return "it is empty"
	case strings.HasPrefix(but, "!"):
		return `it has "!" twice`
	case !spaces && strings.ContainsFunc(but, unicode.IsSpace):
		return "it has a space"
	}
	return ""
}
