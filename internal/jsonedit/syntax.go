package jsonedit

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error is why a text is not a JSON document.
type Error struct {
	// Line and Column are where it is, counted from 1 in lines and characters.
	Line, Column int
	// Message says what is wrong, Remedy how to fix it, "" where that is unknown.
	Message, Remedy string
}

// Error returns the place and the message.
func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// Hint returns the remedy.
func (e *Error) Hint() string { return e.Remedy }

func (d *Document) errorAt(offset int, message, remedy string) *Error {
	line, column := d.Position(offset)
	return &Error{Line: line, Column: column, Message: message, Remedy: remedy}
}

// checkText refuses text that the parser cannot read.
func (d *Document) checkText() error {
	if bytes.HasPrefix(d.text, []byte("\xff\xfe")) || bytes.HasPrefix(d.text, []byte("\xfe\xff")) {
		return &Error{Line: 1, Column: 1, Message: "the file is UTF-16", Remedy: "save it as UTF-8"}
	}
	if !utf8.Valid(d.text) {
		n := 0
		for n < len(d.text) {
			r, size := utf8.DecodeRune(d.text[n:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			n += size
		}
		return d.errorAt(n, "a byte that is not UTF-8", "save the file as UTF-8")
	}
	depth := 0
	for i, c := range d.text {
		switch c {
		case '{', '[':
			if depth++; depth > maxDepth {
				return d.errorAt(i, "objects and arrays are nested too deeply", "no setting needs that: remove it")
			}
		case '}', ']':
			depth--
		}
	}
	return nil
}

// Position returns the line and the character of an offset, counted from 1.
func (d *Document) Position(offset int) (line, column int) {
	offset = min(max(offset, 0), len(d.text))
	before := d.text[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:])
}

// syntaxError returns the parser's error with its place and a remedy.
func (d *Document) syntaxError(err error) error {
	var line, column int
	offset := len(d.text)
	if _, scanErr := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); scanErr == nil {
		offset = min(lineStart(d.text, line)+column-1, len(d.text))
	}
	message := err.Error()
	if inner := errors.Unwrap(err); inner != nil {
		message = inner.Error()
	}
	contains := func(s string) bool { return strings.Contains(message, s) }
	remedy := ""
	switch {
	case contains("unexpected EOF"):
		return d.unclosed()
	case contains("after object value"):
		message, remedy = d.found(offset)+" after a value, where a comma or '}' is due", "put a comma between two members"
	case contains("after array value"):
		message, remedy = d.found(offset)+" after a value, where a comma or ']' is due", "put a comma between two elements"
	case contains("at start of object name"), (contains("at start of value") || contains("invalid literal")) && !contains("literal: \"") && wantsName(d.text, offset):
		message, remedy = d.found(offset)+" where a name is due", `names go in double quotes: "command"`
	case contains("after object name"):
		message, remedy = d.found(offset)+" after a name, where a colon is due", `as in "command": "npx"`
	case contains("after top-level value"):
		message, remedy = d.found(offset)+" after the end of the object", "remove what follows the last brace, or a brace too many"
	case contains("invalid literal: \""):
		message, remedy = d.badString(offset)
	case contains("invalid literal"), contains("at start of value"):
		message, remedy = d.found(offset)+" where a value is due", "text goes in double quotes"
	}
	return d.errorAt(offset, message, remedy)
}

// found quotes the word or character at an offset.
func (d *Document) found(offset int) string {
	rest := d.text[offset:]
	n := 0
	for n < len(rest) && n < 20 && wordByte(rest[n]) {
		n++
	}
	if n == 0 {
		r, _ := utf8.DecodeRune(rest)
		return strconv.QuoteRune(r)
	}
	return strconv.Quote(string(rest[:n]))
}

// badString returns what is wrong with the string literal at an offset.
func (d *Document) badString(offset int) (message, remedy string) {
	for i := offset + 1; i < len(d.text) && d.text[i] != '"'; i++ {
		switch c := d.text[i]; {
		case c == '\n':
			return "a string that goes over the end of its line", `close it with a double quote, or write \n`
		case c < 0x20:
			return fmt.Sprintf("a string with the control character %q", rune(c)), `write \t for a tab`
		case c == '\\':
			i++
			if i < len(d.text) && !strings.ContainsRune(`"\/bfnrtu`, rune(d.text[i])) {
				return fmt.Sprintf(`a string with the unknown escape \%c`, d.text[i]), `write \\ for a backslash, as in "C:\\tools"`
			}
		}
	}
	return "a malformed string", `write \\ for a backslash`
}

// unclosed reports the innermost string, comment, object or array that the end of
// the file leaves open.
func (d *Document) unclosed() error {
	s := scanTo(d.text, len(d.text))
	switch {
	case s.inString >= 0:
		return d.errorAt(s.inString, "a string without a closing quote", "add the quote; a line break in a text is \\n")
	case s.inComment >= 0:
		return d.errorAt(s.inComment, "a comment without an end", "close it with */")
	case len(s.open) == 0:
		return d.errorAt(len(d.text), "the file ends too early", "close what is open with } or ]")
	}
	at := s.open[len(s.open)-1]
	closing := "}"
	if d.text[at] == '[' {
		closing = "]"
	}
	return d.errorAt(at, fmt.Sprintf("this %q is never closed", d.text[at]), "add the missing "+closing)
}

// wantsName reports whether the name of a member is due at an offset.
func wantsName(text []byte, offset int) bool {
	s := scanTo(text, offset)
	return len(s.open) > 0 && text[s.open[len(s.open)-1]] == '{' && s.last != ':'
}

// scan is what a text has open at some offset.
type scan struct {
	open                []int // offsets of '{' and '['
	last                byte  // the last byte that is no white space or comment
	inString, inComment int   // where an unclosed one begins, or -1
}

// scanTo scans text up to an offset, whether or not it is JSON.
func scanTo(text []byte, limit int) scan {
	s := scan{inString: -1, inComment: -1}
	for i := 0; i < limit; i++ {
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			continue
		case bytes.HasPrefix(text[i:], []byte("//")):
			n := bytes.IndexByte(text[i:], '\n')
			if n < 0 {
				return s
			}
			i += n
			continue
		case bytes.HasPrefix(text[i:], []byte("/*")):
			n := bytes.Index(text[i+2:], []byte("*/"))
			if n < 0 {
				s.inComment = i
				return s
			}
			i += 2 + n + 1
			continue
		case c == '{' || c == '[':
			s.open = append(s.open, i)
		case (c == '}' || c == ']') && len(s.open) > 0:
			s.open = s.open[:len(s.open)-1]
		case c == '"':
			end := i + 1
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(text) {
				s.inString = i
				return s
			}
			i = end
		}
		s.last = text[i]
	}
	return s
}

func lineStart(text []byte, line int) int {
	offset := 0
	for range line - 1 {
		i := bytes.IndexByte(text[offset:], '\n')
		if i < 0 {
			return len(text)
		}
		offset += i + 1
	}
	return offset
}

// wordByte reports whether a byte belongs to a word that an error quotes.
func wordByte(c byte) bool {
	return c == '.' || c == '_' || c == '-' || c == '$' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
