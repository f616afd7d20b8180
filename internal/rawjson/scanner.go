package rawjson

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/go-json-experiment/json/jsontext"
)

// scanner passes over the values of a text and checks their grammar. Once bad is
// set, its methods may be called but say nothing; finish returns what is wrong.
//
// It takes what jsontext takes with duplicate names and lone surrogates allowed,
// and takes a third of the time for long strings. Whether raw bytes are UTF-8 is
// not looked at.
type scanner struct {
	text    []byte
	at      int
	depth   int
	bad     bool
	scratch []byte // a name without its escapes
	dup     string // a member of a message that stands twice
}

// maxDepth is how many objects and arrays may stand inside one another: those of a
// hostile text would use up the stack.
const maxDepth = 10_000

// space passes over white space and returns the byte after it, 0 at the end.
func (s *scanner) space() byte {
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// open passes over the bracket of an object or array, which is the next byte, and
// returns where it stands.
func (s *scanner) open() int {
	s.depth++
	if s.depth > maxDepth {
		s.bad = true
	}
	s.at++
	return s.at - 1
}

// next goes to member or element n of what is open and reports whether there is
// one. If there is none, it passes over the closing bracket.
func (s *scanner) next(n int, bracket byte) bool {
	if s.bad {
		return false
	}
	c := s.space()
	if c == bracket {
		s.at++
		s.depth--
		return false
	}
	if n > 0 {
		s.pass(c == ',', 1)
	}
	return !s.bad
}

// pass passes over n bytes that are right.
func (s *scanner) pass(right bool, n int) {
	if right {
		s.at += n
	} else {
		s.bad = true
	}
}

// value passes over one value and returns where it stands.
func (s *scanner) value() Span {
	c := s.space()
	start := s.at
	switch c {
	case '"':
		s.quoted()
	case '{':
		s.open()
		for n := 0; s.next(n, '}'); n++ {
			s.key()
			s.value()
		}
	case '[':
		s.open()
		for n := 0; s.next(n, ']'); n++ {
			s.value()
		}
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		s.number()
	}
	return Span{start, s.at}
}

func (s *scanner) literal(word string) {
	s.pass(bytes.HasPrefix(s.text[s.at:], []byte(word)), len(word))
}

func (s *scanner) number() {
	s.skip("-")
	if !s.skip("0") {
		s.digits()
	}
	if s.skip(".") {
		s.digits()
	}
	if s.skip("eE") {
		s.skip("+-")
		s.digits()
	}
}

// skip passes over the next byte if it is one of those given.
func (s *scanner) skip(of string) bool {
	for i := range len(of) {
		if s.at < len(s.text) && s.text[s.at] == of[i] {
			s.at++
			return true
		}
	}
	return false
}

// digits passes over digits, at least one.
func (s *scanner) digits() {
	start := s.at
	for s.at < len(s.text) && s.text[s.at]-'0' <= 9 {
		s.at++
	}
	s.bad = s.bad || s.at == start
}

// key passes over a member's name and the colon, and returns where the name stands
// and whether it has escapes.
func (s *scanner) key() (at Span, escaped bool) {
	s.space()
	at.Start = s.at
	escaped = s.quoted()
	at.End = s.at
	s.pass(s.space() == ':', 1)
	return at, escaped
}

// name is key and returns the name, unescaped. It is valid until the next one.
func (s *scanner) name() []byte {
	at, escaped := s.key()
	switch quoted := s.text[at.Start:at.End]; {
	case s.bad:
		return nil
	case escaped:
		s.scratch = Unquote(s.scratch[:0], quoted)
		return s.scratch
	default:
		return quoted[1 : len(quoted)-1]
	}
}

// quoted passes over a string and reports whether it has escapes.
func (s *scanner) quoted() (escaped bool) {
	if s.at >= len(s.text) || s.text[s.at] != '"' {
		s.bad = true
		return false
	}
	for i := s.at + 1; ; {
		i = plainEnd(s.text, i)
		switch {
		case i < len(s.text) && s.text[i] == '"':
			s.at = i + 1
			return escaped
		case i < len(s.text) && s.text[i] == '\\':
			n := escape(s.text[i+1:])
			if n == 0 {
				s.bad = true
				return true
			}
			escaped = true
			i += 1 + n
		default: // a control character, or the end
			s.bad = true
			return escaped
		}
	}
}

// escape returns the length of an escape after its backslash, 0 for none that is
// right.
func escape(text []byte) int {
	if len(text) == 0 {
		return 0
	}
	switch text[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 1
	case 'u':
		if len(text) < 5 {
			return 0
		}
		for _, c := range text[1:5] {
			if c-'0' > 9 && c|0x20-'a' > 5 {
				return 0
			}
		}
		return 5
	}
	return 0
}

// plainEnd returns the index of the first byte at or after i that does not stand
// for itself in a string: a quote, a backslash or a control character; len(text)
// for none.
func plainEnd(text []byte, i int) int {
	if i+8 <= len(text) { // most strings are short
		if m := special(text[i:]); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
		i += 8
	}
	for ; i+32 <= len(text); i += 32 {
		part := text[i : i+32]
		if special(part)|special(part[8:])|special(part[16:])|special(part[24:]) != 0 {
			break
		}
	}
	for ; i+8 <= len(text); i += 8 {
		if m := special(text[i:]); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for ; i < len(text); i++ {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

// special looks at eight bytes at once. Its lowest set bit is in the first that
// does not stand for itself; it is 0 where all do.
func special(text []byte) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	w := binary.LittleEndian.Uint64(text)
	quote, backslash := w^ones*'"', w^ones*'\\'
	return ((w-ones*' ')&^w | (quote-ones)&^quote | (backslash-ones)&^backslash) & tops
}

// begin passes over the bracket of an object or array whose members are read next;
// a value of another kind is the error other.
func (s *scanner) begin(bracket byte, other error) error {
	if s.space() != bracket {
		return other
	}
	s.open()
	return nil
}

// finish makes sure that the text was right and that nothing but white space
// follows.
func (s *scanner) finish() error {
	switch s.space(); {
	case s.bad:
		return fault(s.text)
	case s.at < len(s.text):
		return fmt.Errorf("text after the end of the message at offset %d", s.at)
	}
	return nil
}

// fault says what is wrong with a text, in the words of jsontext. They leave out the
// names of members around it, which may be anything: the text is another's, and the
// error goes into logs.
func fault(text []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	err := d.SkipValue()
	if wrong, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return &jsontext.SyntacticError{ByteOffset: wrong.ByteOffset, Err: wrong.Err}
	}
	return io.ErrUnexpectedEOF
}
