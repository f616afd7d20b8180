package rawjson

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Span is a half-open range of bytes in a text. The zero Span means absent: no
// value of an object or array begins at offset 0.
type Span struct{ Start, End int }

// Present reports whether the span stands for something.
func (s Span) Present() bool { return s.End > 0 }

// Of returns the bytes of the span, nil when absent. They alias text.
func (s Span) Of(text []byte) []byte {
	if s.End == 0 {
		return nil
	}
	return text[s.Start:s.End:s.End]
}

// Message is where the parts of one JSON-RPC message lie. Spans include quotes
// and brackets.
type Message struct {
	ID, Method, Params, Result, Error Span

	// Members of params that routing needs.
	Name, URI, Arguments, Meta, Ref, RequestID, ProgressToken, ProtocolVersion Span
	TaskID, Notifications, InputResponses, RequestState                        Span
	// Members of params._meta.
	MetaToken, MetaVersion, MetaCapabilities, MetaLevel Span
	// MetaOthers is how many members of params._meta are not the protocol's own:
	// their names do not begin with io.modelcontextprotocol/.
	MetaOthers int
}

var (
	// ErrNotObject is a text that is valid JSON and not an object.
	ErrNotObject = errors.New("message is not a JSON object")
	// ErrInvalidUTF8 is a text with raw bytes that are not UTF-8.
	ErrInvalidUTF8 = errors.New("invalid UTF-8")
)

// DuplicateError is a member that stands twice where backends disagree about
// which one wins: in the envelope, in params or in params._meta.
type DuplicateError struct{ Member string }

// Error names the member.
func (e *DuplicateError) Error() string { return "duplicate member " + e.Member }

// Scan validates one message and records where its parts are. An error other
// than ErrNotObject and *DuplicateError means that the text is not JSON; with
// *DuplicateError the first of the members is recorded, and the error names id
// before all others. Members are matched exactly, after unescaping. It does not
// allocate, but for names with escapes.
func Scan(text []byte, m *Message) error {
	*m = Message{}
	if !utf8.Valid(text) {
		return ErrInvalidUTF8
	}
	s := scanner{text: text}
	if s.space() != '{' {
		s.value()
		if err := s.finish(); err != nil {
			return err
		}
		return ErrNotObject
	}
	s.message(m, envelope)
	if err := s.finish(); err != nil {
		return err
	}
	if s.dup != "" {
		return &DuplicateError{Member: s.dup}
	}
	return nil
}

// level is which object of a message is being read.
type level int

const (
	envelope level = iota
	params
	meta
)

// member returns where a member's span is recorded, nil for one of no interest.
func (m *Message) member(l level, name []byte) *Span {
	switch l {
	case envelope:
		switch string(name) {
		case "id":
			return &m.ID
		case "method":
			return &m.Method
		case "params":
			return &m.Params
		case "result":
			return &m.Result
		case "error":
			return &m.Error
		}
	case params:
		switch string(name) {
		case "name":
			return &m.Name
		case "uri":
			return &m.URI
		case "arguments":
			return &m.Arguments
		case "_meta":
			return &m.Meta
		case "ref":
			return &m.Ref
		case "requestId":
			return &m.RequestID
		case "progressToken":
			return &m.ProgressToken
		case "protocolVersion":
			return &m.ProtocolVersion
		case "taskId":
			return &m.TaskID
		case "notifications":
			return &m.Notifications
		case "inputResponses":
			return &m.InputResponses
		case "requestState":
			return &m.RequestState
		}
	case meta:
		switch string(name) {
		case "progressToken":
			return &m.MetaToken
		case "io.modelcontextprotocol/protocolVersion":
			return &m.MetaVersion
		case "io.modelcontextprotocol/clientCapabilities":
			return &m.MetaCapabilities
		case "io.modelcontextprotocol/logLevel":
			return &m.MetaLevel
		}
	}
	return nil
}

// message reads one object of a message and, inside it, params and _meta.
func (s *scanner) message(m *Message, l level) Span {
	start := s.open()
	for n := 0; s.next(n, '}'); n++ {
		name := s.name()
		if l == meta && !bytes.HasPrefix(name, []byte("io.modelcontextprotocol/")) {
			m.MetaOthers++
		}
		at := m.member(l, name)
		if at == nil {
			s.value()
			continue
		}
		if at.Present() {
			if s.dup != "id" { // of which must be told: no answer can be addressed
				s.dup = string(name)
			}
			at = &Span{}
		}
		if inner := l + 1; inner <= meta && (at == &m.Params || at == &m.Meta) && s.space() == '{' {
			*at = s.message(m, inner)
		} else {
			*at = s.value()
		}
	}
	return Span{start, s.at}
}

// Unquote appends the text of a valid JSON string to dst. A lone surrogate
// becomes U+FFFD.
func Unquote(dst, quoted []byte) []byte {
	if len(quoted) >= 2 && bytes.IndexByte(quoted, '\\') < 0 {
		return append(dst, quoted[1:len(quoted)-1]...)
	}
	// The only error left in a valid string is the lone surrogate, for which
	// AppendUnquote has written the replacement already.
	dst, _ = jsontext.AppendUnquote(dst, quoted)
	return dst
}

// Quote appends text as a JSON string to dst; invalid UTF-8 becomes U+FFFD.
func Quote(dst []byte, text string) []byte {
	dst, _ = jsontext.AppendQuote(dst, text)
	return dst
}

// Valid reports whether text is one JSON value by the rules of Scan.
func Valid(text []byte) error {
	if !utf8.Valid(text) {
		return ErrInvalidUTF8
	}
	s := scanner{text: text}
	s.value()
	return s.finish()
}
