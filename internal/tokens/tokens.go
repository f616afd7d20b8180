// Package tokens estimates how many tokens a text is for a language model. No vocabulary
// of a model is needed: the text is cut as the tokenizers of models cut it before they look
// words up, and each piece counts by what it is and how long.
//
// The estimate is made for o200k_base, the vocabulary of OpenAI's present models, and texts
// such as tools' definitions. Other models' vocabularies differ by more than it errs.
package tokens

import (
	"math"
	"unicode"
	"unicode/utf8"
)

// class is a kind of piece.
type class int

const (
	shortWord  class = iota // a word of six letters at most, or a part of a name
	longWord                // a longer one
	longLetter              // each letter of it beyond the sixth
	capitals                // each letter of a run of capital letters beyond the second
	digits                  // three digits or fewer
	mark                    // a run of punctuation that no word takes along
	moreMarks               // each mark of it beyond the second
	space                   // a run of spaces or new lines
	ideograph               // a Chinese or Japanese character
	foreign                 // each letter of another script, or with an accent
	symbol                  // an emoji
	classes
)

// costs are tokens a piece: a least-squares fit to o200k_base over 1,399 published
// definitions, rounded. test/tokens measures how far they are off.
var costs = [classes]float64{ //nolint:gochecknoglobals // constant
	shortWord: 1.05, longWord: 1.16, longLetter: 0.015, capitals: 0.45, digits: 1.7, mark: 0.8, moreMarks: 0.24,
	space: 0.61, ideograph: 0.75, foreign: 0.2, symbol: 1,
}

// Estimate returns how many tokens a text is, roughly.
func Estimate(text []byte) int {
	sum := 0.0
	var count counts
	for len(text) > 0 {
		text = text[count.piece(text):]
	}
	for c, n := range count {
		sum += costs[c] * float64(n)
	}
	return int(math.Round(sum))
}

// OfBytes returns how many tokens a text of n bytes is, of which no more is known. It may
// be off by a third.
func OfBytes(n int) int { return (n + bytesPerToken/2) / bytesPerToken }

// bytesPerToken is what English text and JSON have, about.
const bytesPerToken = 4

// counts are how many pieces of each class a text has.
type counts [classes]int

// piece counts the piece at the beginning of a text and returns its length.
func (count *counts) piece(text []byte) int {
	r, size := utf8.DecodeRune(text)
	switch {
	case unicode.IsLetter(r):
		return count.word(text)
	case unicode.IsDigit(r):
		n := run(text, unicode.IsDigit)
		count[digits] += (n + 2) / 3
		return n
	case unicode.IsSpace(r):
		return count.spaces(text)
	}
	// One mark goes with the word behind it.
	if next, _ := utf8.DecodeRune(text[size:]); unicode.IsLetter(next) && !isIdeograph(next) {
		return size + count.word(text[size:])
	}
	return count.marks(text)
}

func isMark(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsSpace(r) }

func (count *counts) marks(text []byte) int {
	n := run(text, isMark)
	chars := 0
	for _, r := range string(text[:n]) {
		if r > unicode.MaxLatin1 && unicode.IsSymbol(r) {
			count[symbol]++
		} else {
			chars++
		}
	}
	if chars > 0 {
		count[mark]++
		count[moreMarks] += max(0, chars-2)
	}
	return n
}

// spaces counts a run of spaces; the last goes with what follows on the line.
func (count *counts) spaces(text []byte) int {
	n := run(text, unicode.IsSpace)
	last := text[n-1]
	if n < len(text) && last == ' ' {
		next, _ := utf8.DecodeRune(text[n:])
		if n > 1 {
			count[space]++
		}
		switch {
		case unicode.IsLetter(next):
			return n + count.word(text[n:])
		case isMark(next):
			return n + count.marks(text[n:])
		case n > 1:
			return n
		}
	}
	count[space]++
	return n
}

// word counts a word: capital letters and the small ones behind them.
func (count *counts) word(text []byte) int {
	r, _ := utf8.DecodeRune(text)
	if isIdeograph(r) {
		n := run(text, isIdeograph)
		count[ideograph] += utf8.RuneCount(text[:n])
		return n
	}
	upper := run(text, unicode.IsUpper)
	n := upper + run(text[upper:], func(r rune) bool { return unicode.IsLetter(r) && !unicode.IsUpper(r) && !isIdeograph(r) })
	letters := 0
	for _, r := range string(text[:n]) {
		if r > unicode.MaxASCII {
			count[foreign]++
		}
		letters++
	}
	if letters <= 6 {
		count[shortWord]++
	} else {
		count[longWord]++
		count[longLetter] += letters - 6
	}
	count[capitals] += max(0, upper-2)
	return n
}

func isIdeograph(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// run returns the length of the characters at the beginning of a text that are in a set.
func run(text []byte, in func(rune) bool) int {
	n := 0
	for n < len(text) {
		r, size := utf8.DecodeRune(text[n:])
		if !in(r) {
			break
		}
		n += size
	}
	return n
}
