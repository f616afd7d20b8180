package search

import (
	"slices"
	"strings"
	"unicode"
)

// Split returns the words of a text in lower case, in their order. A name such as
// createIssue, HTTPServer or oauth2 gives its parts and the whole; parts of one letter
// are left out. Scripts that write no spaces (Chinese, Japanese, Korean) give pairs of
// characters.
func Split(text string) []string {
	var words []string
	for len(text) > 0 {
		run, kind := firstRun(text)
		text = text[len(run):]
		switch kind {
		case spaceless:
			words = append(words, pairs([]rune(run))...)
		case other:
		case letters:
			if strings.ContainsFunc(run, func(r rune) bool { return !unicode.IsMark(r) }) {
				words = append(words, splitName(run)...)
			}
		}
	}
	return words
}

// class is what a character is part of.
type class int

const (
	other class = iota
	letters
	spaceless
)

func classOf(r rune) class {
	switch {
	case r == 'ー', unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
		return spaceless
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
		return letters
	}
	return other
}

// firstRun returns the characters of one class that a text begins with.
func firstRun(text string) (run string, kind class) {
	for i, r := range text {
		switch c := classOf(r); {
		case i == 0:
			kind = c
		case c != kind:
			return text[:i], kind
		}
	}
	return text, kind
}

// pairs returns each two neighbours of a run, or its one character.
func pairs(run []rune) []string {
	if len(run) == 1 {
		return []string{string(run)}
	}
	var out []string
	for i := range len(run) - 1 {
		out = append(out, string(run[i:i+2]))
	}
	return out
}

// splitName returns a name and its parts. Parts begin at a capital letter after a small
// one, at the last of several capital letters before a small one, and at digits after
// three letters or more: k8s and s3 stay whole.
func splitName(name string) []string {
	var parts []string
	r := []rune(name)
	start := 0
	for i := 1; i < len(r); i++ {
		capital := unicode.IsUpper(r[i]) && (unicode.IsLower(r[i-1]) || i+1 < len(r) && unicode.IsUpper(r[i-1]) && unicode.IsLower(r[i+1]))
		digit := unicode.IsDigit(r[i]) && unicode.IsLetter(r[i-1]) && i-start >= 3
		if capital || digit {
			parts = append(parts, string(r[start:i]))
			start = i
		}
	}
	whole := strings.ToLower(name)
	if start == 0 {
		return []string{whole}
	}
	out := []string{whole}
	for _, p := range append(parts, string(r[start:])) {
		if len([]rune(p)) > 1 {
			out = append(out, strings.ToLower(p))
		}
	}
	return out
}

// Words returns the words of a query, each once, without those that say nothing about
// what is searched for: English function words, and those of skip. If nothing else is
// left, these are returned.
func Words(query string, skip ...string) []string {
	var all, telling []string
	for _, w := range Split(query) {
		if slices.Contains(all, w) {
			continue
		}
		if all = append(all, w); !strings.Contains(stopWords, " "+w+" ") && !slices.Contains(skip, w) {
			telling = append(telling, w)
		}
	}
	if len(telling) == 0 {
		return all
	}
	return telling
}

// stopWords are the words of a query that are not searched for, with a space around each.
const stopWords = " a about all an and any are as at be been but by can do does for from get has have how i if in into is it its" +
	" let lets like me my need no not of on or our out over so some something such that the their them there these they this those to up us use used using" +
	" via want was we were what when where which while who will with would you your "
