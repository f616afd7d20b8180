package rawjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
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
	s := acquire(text)
	defer s.release()
	if s.dec.PeekKind() != '{' {
		if err := s.dec.SkipValue(); err != nil {
			return eof(err)
		}
		return errors.Join(s.end(), ErrNotObject)
	}
	if _, err := s.message(m, envelope); err != nil {
		return eof(err)
	}
	if err := s.end(); err != nil {
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
func (s *scanner) message(m *Message, l level) (Span, error) {
	start, err := s.open()
	if err != nil {
		return Span{}, err
	}
	for s.dec.PeekKind() != '}' {
		name, err := s.name()
		if err != nil {
			return Span{}, err
		}
		if l == meta && !bytes.HasPrefix(name, []byte("io.modelcontextprotocol/")) {
			m.MetaOthers++
		}
		at := m.member(l, name)
		if at == nil {
			if err := s.dec.SkipValue(); err != nil {
				return Span{}, err
			}
			continue
		}
		if at.Present() {
			if s.dup != "id" { // of which must be told: no answer can be addressed
				s.dup = string(name)
			}
			at = &Span{}
		}
		var span Span
		if inner := l + 1; inner <= meta && s.dec.PeekKind() == '{' && (at == &m.Params || at == &m.Meta) {
			span, err = s.message(m, inner)
		} else {
			span, err = s.value()
		}
		if err != nil {
			return Span{}, err
		}
		*at = span
	}
	return s.close(start)
}

// scanner is a decoder together with the text it reads, pooled.
type scanner struct {
	dec     jsontext.Decoder
	buf     bytes.Buffer
	scratch []byte
	kept    []byte // a copy of a name
	dup     string
}

//nolint:gochecknoglobals // a pool of scratch space and constant options
var (
	scanners        = sync.Pool{New: func() any { return new(scanner) }}
	allowDuplicates = jsontext.AllowDuplicateNames(true)
	allowSurrogates = jsontext.AllowInvalidUTF8(true)
)

func acquire(text []byte) *scanner {
	s, _ := scanners.Get().(*scanner)
	s.buf = *bytes.NewBuffer(text)
	s.dec.Reset(&s.buf, allowDuplicates, allowSurrogates)
	s.dup = ""
	return s
}

func (s *scanner) release() {
	s.buf = bytes.Buffer{}
	scanners.Put(s)
}

// open reads a bracket and returns where it stands.
func (s *scanner) open() (int, error) {
	_, err := s.dec.ReadToken()
	return int(s.dec.InputOffset()) - 1, err
}

// close reads a closing bracket and returns the span of the whole.
func (s *scanner) close(start int) (Span, error) {
	_, err := s.dec.ReadToken()
	return Span{start, int(s.dec.InputOffset())}, err
}

// begin reads the bracket of an object or array whose members are read next; a
// value of another kind is the error other.
func (s *scanner) begin(bracket jsontext.Kind, other error) error {
	if s.dec.PeekKind() != bracket {
		return other
	}
	if _, err := s.open(); err != nil {
		return eof(err)
	}
	return nil
}

// finish reads what begin has opened to the end of the text.
func (s *scanner) finish() error {
	if _, err := s.close(0); err != nil {
		return eof(err)
	}
	return s.end()
}

// value reads one value.
func (s *scanner) value() (Span, error) {
	v, err := s.dec.ReadValue()
	end := int(s.dec.InputOffset())
	return Span{end - len(v), end}, err
}

// name reads a member name and returns it unescaped; it is valid until the next
// read.
func (s *scanner) name() ([]byte, error) {
	v, err := s.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	if bytes.IndexByte(v, '\\') < 0 {
		return v[1 : len(v)-1], nil
	}
	s.scratch = Unquote(s.scratch[:0], v)
	return s.scratch, nil
}

// end makes sure that nothing but white space follows.
func (s *scanner) end() error {
	if _, err := s.dec.ReadToken(); err == nil {
		return fmt.Errorf("text after the end of the message at offset %d", s.dec.InputOffset())
	} else if !errors.Is(err, io.EOF) {
		return eof(err)
	}
	return nil
}

// eof turns the end of the text inside a value into an unexpected one. What is
// wrong with a text is said without the names of members around it, which may be
// anything: the text is another's, and the error goes into logs.
func eof(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	if wrong, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return &jsontext.SyntacticError{ByteOffset: wrong.ByteOffset, Err: wrong.Err}
	}
	return err
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
	s := acquire(text)
	defer s.release()
	if err := s.dec.SkipValue(); err != nil {
		return eof(err)
	}
	return s.end()
}
