// Package jsonschema reads JSON Schemas for the packages that build types of
// them and compare them: values with their numbers as they are written, the one
// text of equal values, and documents, in which references are resolved.
package jsonschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/codegen"
)

// Object is a decoded JSON object.
type Object = map[string]any

// Decode returns a JSON value with its numbers as they are written.
func Decode(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return v, nil
}

// Text returns the compact form of a decoded value, numbers as written.
func Text(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Canonical returns the one text for all spellings of a value: 1.0 is 1.
func Canonical(v any) string {
	text := Text(v)
	if out, err := codegen.Canonical([]byte(text)); err == nil {
		return string(out)
	}
	return text
}

// Equal reports whether two decoded values are the same value.
func Equal(a, b any) bool { return Canonical(a) == Canonical(b) }
