// Package schema reads the JSON Schemas that tools declare for their arguments
// and results, answers what a value at some place may look like, and validates
// raw JSON against them.
//
// The dialect is 2020-12 unless "$schema" declares another one of draft-04 to
// 2020-12; a declared dialect that is none of them is an error (2026-07-28,
// Tools, "JSON Schema Usage"). Nothing is ever fetched: a "$ref" that leaves
// the document is an error. "format" is an annotation in every dialect. A
// "pattern" that is no regular expression of ECMA-262, or takes more than a
// tenth of a second, is not checked: a server knows better than a client which
// value it takes.
//
// Numbers keep every digit. Depth and size of schemas, digits of numbers, and
// the work of one validation are bounded. A *Schema may be used concurrently.
package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcpctl/mcpctl/runtime"
)

// Schema is one parsed schema.
type Schema struct {
	root    any                  // *object or bool
	remotes jsonschema.URLLoader // set by tests alone; nil is nothing beyond the schema

	once     sync.Once
	compiled *jsonschema.Schema
	err      error

	mu    sync.Mutex // guards steps and serializes validation
	steps *budget
}

// Error says that a schema itself cannot be used. It is the server's fault.
type Error struct {
	Err error
}

// Error returns the cause.
func (e *Error) Error() string { return "schema: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ExitKind is the kind of failure on a command line.
func (e *Error) ExitKind() string { return "protocol" }

// Parse reads a schema: a JSON object or a boolean. Nil and empty bytes are the
// schema that allows everything. Whether the schema is sound is found out by
// the first [Schema.Validate]; what can be said without is available before.
func Parse(raw json.RawMessage) (*Schema, error) {
	if len(raw) == 0 {
		return &Schema{root: true}, nil
	}
	if len(raw) > maxSchemaBytes {
		return nil, &Error{fmt.Errorf("%d bytes, more than %d", len(raw), maxSchemaBytes)}
	}
	v, err := decode(raw, maxSchemaDepth, maxSchemaValues)
	if err != nil {
		return nil, &Error{err}
	}
	switch v.(type) {
	case *object, bool:
		return &Schema{root: v}, nil
	}
	return nil, &Error{errors.New("neither an object nor a boolean")}
}

// Sound reports whether values can be validated against the schema: an *[Error]
// says why not, such as a keyword that has no meaning or a "$ref" to something
// outside the document. The work is kept for [Schema.Validate].
func (s *Schema) Sound() error {
	_, err := s.compile()
	return err
}

// location is the address of the document itself; it is never opened.
const location = "mcpctl:///schema.json"

func (s *Schema) compile() (*jsonschema.Schema, error) {
	s.once.Do(func() {
		s.steps = &budget{}
		c := jsonschema.NewCompiler()
		c.UseLoader(closedLoader{})
		if s.remotes != nil {
			c.UseLoader(s.remotes)
		}
		c.UseRegexpEngine(compileRegexp)
		for _, name := range formats() {
			c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(any) error { return nil }})
		}
		c.RegisterVocabulary(s.steps.vocabulary())
		c.AssertVocabs()
		if err := c.AddResource(location, native(mended(s.root))); err != nil {
			s.err = &Error{err}
			return
		}
		compiled, err := c.Compile(location)
		if err != nil {
			s.err = &Error{tidy(err)}
			return
		}
		s.compiled = compiled
	})
	return s.compiled, s.err
}

// tidy takes our own document's address out of a compiler's message and keeps
// it to one line. Of a schema that the specification does not allow it says what is wrong
// where.
func tidy(err error) error {
	if bad, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if e, ok := errors.AsType[*jsonschema.ValidationError](bad.Err); ok {
			return errors.New(unsound(e).String())
		}
	}
	msg := strings.ReplaceAll(err.Error(), location, "")
	return errors.New(strings.ReplaceAll(msg, "\n", " "))
}

// closedLoader is what "$ref" and "$schema" meet outside the document.
type closedLoader struct{}

func (closedLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is outside the schema, and nothing is fetched", url)
}

// formats are the names that the validator would check by itself.
func formats() []string {
	return []string{
		"json-pointer", "relative-json-pointer", "uuid", "duration", "period", "ipv4", "ipv6", "hostname", "email", "date",
		"time", "date-time", "uri", "iri", "uri-reference", "iri-reference", "uri-template", "semver",
	}
}

// anything stands for a pattern that no engine here takes.
type anything string

func (anything) MatchString(string) bool { return true }
func (a anything) String() string        { return string(a) }

// compileRegexp compiles a pattern of ECMA-262: with Go's engine as far as that
// goes (it runs in linear time, so that no pattern can hang us), with a
// backtracking one where there is look-around or the like.
func compileRegexp(p string) (jsonschema.Regexp, error) {
	if re, err := regexp.Compile(unicodeEscape(p)); err == nil {
		return pattern{re, p}, nil
	}
	re, err := regexp2.Compile(p, regexp2.ECMAScript)
	if err != nil {
		return anything(p), nil //nolint:nilerr // the server may know what it means
	}
	re.MatchTimeout = patternTime
	return backtracking{re}, nil
}

// Checkable reports whether a pattern is one that [Schema.Validate] holds texts
// to; any text passes one that is not.
func Checkable(p string) bool {
	re, err := compileRegexp(p)
	_, vague := re.(anything)
	return err == nil && !vague
}

// patternTime is how long a backtracking match may take; a text that needs more
// passes, as a server knows better than a client.
const patternTime = 100 * time.Millisecond

// backtracking is a pattern with look-around, back references and the like.
type backtracking struct{ *regexp2.Regexp }

func (b backtracking) MatchString(s string) bool {
	ok, err := b.Regexp.MatchString(s)
	return ok || err != nil
}

// pattern is a compiled pattern that goes by its text in the schema.
type pattern struct {
	*regexp.Regexp
	source string
}

func (p pattern) String() string { return p.source }

// unicodeEscape turns \uXXXX into \x{XXXX}.
func unicodeEscape(p string) string {
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		switch {
		case p[i] != '\\' || i+1 == len(p):
			b.WriteByte(p[i])
		case p[i+1] == 'u' && i+6 <= len(p) && isHex(p[i+2:i+6]):
			b.WriteString(`\x{` + p[i+2:i+6] + `}`)
			i += 5
		default:
			b.WriteString(p[i : i+2])
			i++
		}
	}
	return b.String()
}

func isHex(s string) bool {
	return strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

// Embedded is a schema that generated code carries as text. It is parsed and
// compiled once, by the first check that needs it, and may be used
// concurrently.
type Embedded struct {
	load func() (*Schema, error)
}

// Lazy makes the embedded schema of a JSON text. It costs nothing until the
// first [Embedded.Check].
func Lazy(text string) Embedded {
	return Embedded{sync.OnceValues(func() (*Schema, error) { return Parse(json.RawMessage(text)) })}
}

// Check validates a raw JSON value. What is wrong with the value is a
// *[runtime.FieldError] at the first place that is wrong, in the order of the
// pointers; what is wrong with the schema itself an *[Error].
func (e Embedded) Check(raw []byte) error {
	s, err := e.load()
	if err != nil {
		return err
	}
	err = s.Validate(raw)
	var invalid *ValidationError
	if !errors.As(err, &invalid) || len(invalid.Issues) == 0 {
		return err
	}
	first := invalid.Issues[0]
	reason := first.Message
	if first.Near != "" {
		reason += "; did you mean " + first.Near + "?"
	}
	return &runtime.FieldError{Pointer: first.Pointer, Reason: reason}
}
