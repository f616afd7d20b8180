package ui

import (
	"slices"
	"strings"
	"unicode"

	"github.com/AlecAivazis/survey/v2/terminal"
)

// typing is a line of text that is being typed.
type typing struct {
	text []rune
	at   int  // where the cursor is
	mask rune // shown in the place of each character; 0 shows them
}

// press takes a key. It reports whether the line is complete.
func (l *typing) press(key rune) (complete bool) {
	switch key {
	case terminal.KeyEnter, '\n', terminal.KeyEndTransmission:
		return true
	case terminal.KeyArrowLeft:
		l.at = max(0, l.at-1)
	case terminal.KeyArrowRight:
		l.at = min(len(l.text), l.at+1)
	case terminal.SpecialKeyHome:
		l.at = 0
	case terminal.SpecialKeyEnd:
		l.at = len(l.text)
	case terminal.KeyBackspace, terminal.KeyDelete:
		if l.at > 0 {
			l.at--
			l.text = slices.Delete(l.text, l.at, l.at+1)
		}
	case terminal.SpecialKeyDelete:
		if l.at < len(l.text) {
			l.text = slices.Delete(l.text, l.at, l.at+1)
		}
	case terminal.KeyDeleteLine:
		l.text, l.at = nil, 0
	default:
		if unicode.IsPrint(key) {
			l.text = slices.Insert(l.text, l.at, key)
			l.at++
		}
	}
	return false
}

// shown is the line as it is drawn, in two parts: before and behind the cursor.
func (l *typing) shown() (before, behind string) {
	if l.mask != 0 {
		stars := strings.Repeat(string(l.mask), len(l.text))
		return stars[:l.at], stars[l.at:]
	}
	return string(l.text[:l.at]), string(l.text[l.at:])
}
