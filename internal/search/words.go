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
const stopWords = " a about above after again all also always am an and another any anybody anyone anything are as at be because been before being below" +
	" between both but by can cannot could did do does doing done during each either else ever every everybody everyone everything few for from further" +
	" get gets getting got had has have having he her here hers him his how i if in into is it its itself just let lets like may me might mine more most much must my" +
	" need needs neither never no nobody none nor not nothing now of off often on once only or other our ours out over own per please quite rather same shall she" +
	" should since so some somebody someone something still such than that the their theirs them then there these they thing things this those through thus to too" +
	" under until unto up upon us use used using very via want wants was we were what when where whether which while who whom whose why will with within without" +
	" would yet you your yours "
