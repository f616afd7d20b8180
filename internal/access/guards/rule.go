package guards

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// Rule looks for a pattern in the strings of a message, each as the text that it stands for.
// It is immutable.
type Rule struct {
	pattern *regexp.Regexp
	instead string
}

// NewRule returns a rule. Its name stands in the place of what is taken away.
func NewRule(name string, pattern *regexp.Regexp) *Rule {
	return &Rule{pattern, "[" + name + " removed]"}
}

// find calls found with the matches in a text that have a character.
func (r *Rule) find(text string, found func(part) bool) {
	for _, at := range r.pattern.FindAllStringIndex(text, -1) {
		if at[0] < at[1] && !found(part{at[0], at[1], r.instead}) {
			return
		}
	}
}

// Find reports whether there is a match in a string of a message, a valid JSON value, names of
// members among them, and returns where: a JSON pointer (RFC 6901).
func (r *Rule) Find(message []byte) (pointer string, found bool) {
	var scratch []byte
	var first rawjson.Span
	rawjson.Strings(message, func(at rawjson.Span, _ bool) {
		if found {
			return
		}
		scratch = rawjson.Unquote(scratch[:0], message[at.Start:at.End])
		r.find(string(scratch), func(part) bool {
			found, first = true, at
			return false
		})
	})
	if !found {
		return "", false
	}
	return pointerTo(message, first), true
}

// Clean returns a message without what matches, the message itself where nothing does: only
// characters inside of strings change, not those of members' names. The error is that this
// has failed; the message must not be used then.
func (r *Rule) Clean(message []byte) (out []byte, found bool, err error) {
	found, edits := scan(message, r.find, true)
	if len(edits) == 0 {
		return message, found, nil
	}
	out = rawjson.Apply(message, edits)
	return out, true, rawjson.Valid(out)
}

// pointerTo returns the pointer to the value that a span of a value is in, or is the name of.
func pointerTo(value []byte, at rawjson.Span) string {
	var b strings.Builder
	for {
		var part string
		var within rawjson.Span
		holds := func(s rawjson.Span) bool { return s.Start <= at.Start && at.End <= s.End }
		if rawjson.IsObject(value) {
			entries, err := rawjson.Entries(value)
			if err != nil {
				return b.String()
			}
			for _, e := range entries {
				if holds(e.Value) || holds(e.Key) {
					part, within = strings.NewReplacer("~", "~0", "/", "~1").Replace(e.Name), e.Value
				}
			}
		} else if items, err := rawjson.Elements(value); err == nil {
			for i, item := range items {
				if holds(item) {
					part, within = strconv.Itoa(i), item
				}
			}
		}
		if !within.Present() {
			return b.String()
		}
		b.WriteString("/" + part)
		if !holds(within) {
			return b.String() // its name
		}
		value, at = within.Of(value), rawjson.Span{Start: at.Start - within.Start, End: at.End - within.Start}
	}
}
