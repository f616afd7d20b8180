// Package guards looks at messages on their way: for secrets, for hidden characters, and
// at how long they are. It adds labels, which policies read as context.found, and takes
// away what it is told to. It never decides.
//
// What is split over several strings, or encoded in one of them, is not found.
package guards

import (
	"cmp"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// Mode is what a guard does with what it finds.
type Mode string

// Modes. The zero value is Off.
const (
	Off    Mode = "off"
	Label  Mode = "label"
	Redact Mode = "redact"
)

// Labels that guards add.
const (
	Secret = "secret"
	Hidden = "hidden"
	Size   = "size"
)

// minCanary is how many bytes a canary has at least: a short one is in many texts.
const minCanary = 8

// Config says what to look for. The zero value is nothing.
type Config struct {
	// Secrets looks for keys and tokens that have a form of their own, and for Canaries.
	Secrets Mode
	// Canaries are texts that are in no message: whoever sends one has read what it was
	// put into. Each has at least 8 bytes.
	Canaries []string
	// Hidden looks for characters that nobody sees: invisible ones, those that reorder
	// text, tags, and the escape sequences of terminals.
	Hidden Mode
	// Size is how many bytes a message may have before it gets the label, 0 for any
	// number.
	Size int64
}

// Guards looks at messages. It is immutable and may be used concurrently. Nil finds
// nothing.
type Guards struct {
	c       Config
	secrets *secrets // nil for off
}

// New returns the guards of a configuration, nil where nothing is looked for.
func New(c Config) (*Guards, error) {
	for name, m := range map[string]*Mode{"secrets": &c.Secrets, "hidden": &c.Hidden} {
		*m = cmp.Or(*m, Off)
		if *m != Off && *m != Label && *m != Redact {
			return nil, fmt.Errorf("%s: %q is not off, label or redact", name, *m)
		}
	}
	switch {
	case c.Size < 0:
		return nil, errors.New("size: it is below zero")
	case len(c.Canaries) > 0 && c.Secrets == Off:
		return nil, errors.New("canaries: secrets is off, which looks for them")
	}
	for i, canary := range c.Canaries {
		if len(canary) < minCanary {
			return nil, fmt.Errorf("canaries[%d]: it has less than %d bytes", i, minCanary)
		}
	}
	if c.Secrets == Off && c.Hidden == Off && c.Size == 0 {
		return nil, nil
	}
	g := &Guards{c: c}
	if c.Secrets != Off {
		g.secrets = newSecrets(c.Canaries)
	}
	return g, nil
}

// Look returns the labels of a message, a valid JSON value, sorted.
func (g *Guards) Look(message []byte) []string {
	if g == nil {
		return nil
	}
	var found []string
	for _, f := range g.finders() {
		if cut, _ := scan(message, f.find, false); cut {
			found = append(found, f.label)
		}
	}
	return g.sized(found, message)
}

// Clean is Look, and returns the message without what is to be taken away: the message
// itself where that is nothing. Only characters inside of strings change, not those of
// members' names. The error is that this has failed; the message must not be used then.
func (g *Guards) Clean(message []byte) (out []byte, found []string, err error) {
	if g == nil {
		return message, nil, nil
	}
	out = message
	for _, f := range g.finders() {
		hit, edits := scan(out, f.find, f.mode == Redact)
		if hit {
			found = append(found, f.label)
		}
		if len(edits) > 0 {
			out = rawjson.Apply(out, edits)
			if err := rawjson.Valid(out); err != nil {
				return nil, nil, err
			}
		}
	}
	return out, g.sized(found, message), nil
}

// finder finds parts of a text until its function returns false, in order and apart.
type finder struct {
	label string
	mode  Mode
	find  func(text string, found func(part) bool)
}

// finders returns what is looked for, by label. Hidden characters come first: without them
// what they were put into may be a secret.
func (g *Guards) finders() []finder {
	var out []finder
	if g.c.Hidden != Off {
		out = append(out, finder{Hidden, g.c.Hidden, findHidden})
	}
	if g.secrets != nil {
		out = append(out, finder{Secret, g.c.Secrets, g.secrets.find})
	}
	return out
}

// sized adds the label of a message that is too long.
func (g *Guards) sized(found []string, message []byte) []string {
	if g.c.Size > 0 && int64(len(message)) > g.c.Size {
		found = append(found, Size)
	}
	return found
}

// scan reports whether something is found in the strings of a message, and returns the
// edits that take it away. Without redacts it stops at the first.
func scan(message []byte, find func(string, func(part) bool), redacts bool) (found bool, all []rawjson.Edit) {
	var scratch []byte
	rawjson.Strings(message, func(at rawjson.Span, isName bool) {
		if found && !redacts {
			return
		}
		raw := message[at.Start:at.End]
		scratch = rawjson.Unquote(scratch[:0], raw)
		var parts []part
		find(string(scratch), func(p part) bool {
			found = true
			parts = append(parts, p)
			return redacts && !isName
		})
		if redacts && !isName {
			all = append(all, edits(at.Start, raw, parts)...)
		}
	})
	return found, all
}

// findHidden calls found with the hidden characters of a text, until it returns false.
func findHidden(text string, found func(part) bool) {
	before := rune(-1)
	for i := 0; i < len(text); {
		if c := text[i]; ' ' <= c && c < 0x7f {
			before = rune(c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case !plain.IsHidden(r, before):
			before = r
		case r == '\r', r == byteOrder && i == 0, isJoiner(r) && before >= utf8.RuneSelf:
			// usual in lines, files, and words and pictures of several characters
			if r != '\r' {
				before = -1 // one of them
			}
		default:
			if !found(part{i, i + n, ""}) {
				return
			}
		}
		i += n
	}
}

const byteOrder = 0xfeff

// isJoiner reports the joiner and non-joiner of scripts and emoji, and variations of what
// stands before.
func isJoiner(r rune) bool { return r == 0x200c || r == 0x200d || 0xfe00 <= r && r <= 0xfe0f }

// edits returns those that take parts of a string's text away. raw is the string as it is
// written, which begins at start.
func edits(start int, raw []byte, parts []part) []rawjson.Edit {
	if len(parts) == 0 {
		return nil
	}
	out := make([]rawjson.Edit, 0, len(parts))
	at, text := 1, 0 // in raw, after the quote, and in the text that it stands for
	to := func(want int) int {
		for text < want && at < len(raw)-1 {
			n, m := unit(raw[at:])
			at += n
			text += m
		}
		return start + at
	}
	for _, p := range parts {
		span := rawjson.Span{Start: to(p.start)}
		span.End = to(p.end)
		out = append(out, rawjson.Edit{Span: span, New: []byte(p.instead)})
	}
	return out
}

// unit returns how many bytes of a string stand for one character or byte of its text, and
// how many bytes of text those are.
func unit(raw []byte) (n, text int) {
	if raw[0] != '\\' {
		return 1, 1
	}
	if raw[1] != 'u' {
		return 2, 1
	}
	var quoted [14]byte
	for _, n := range []int{12, 6} { // a pair of surrogates is one character
		if len(raw) < n || n == 12 && (raw[6] != '\\' || raw[7] != 'u') {
			continue
		}
		escape := append(append(append(quoted[:0], '"'), raw[:n]...), '"')
		if r, size := utf8.DecodeRune(rawjson.Unquote(nil, escape)); n == 6 || r > 0xffff {
			return n, size
		}
	}
	return 6, len(string(utf8.RuneError))
}
