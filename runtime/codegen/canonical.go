package codegen

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/mcpctl/mcpctl/internal/codec"
)

// Canonical returns the canonical text of a JSON value: members sorted by name and
// the last of duplicates, no spaces, only necessary escapes, numbers by their exact
// value (1.0 and 1e0 are 1).
func Canonical(raw []byte) ([]byte, error) {
	b, err := codec.CanonicalJSON(raw)
	return b, fieldError(err)
}

// decodeAny reads one JSON value; numbers keep their digits.
func decodeAny(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("no JSON value")
		}
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return v, nil
}

// canonicalValue is [Canonical] of a decoded value.
func canonicalValue(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return Canonical(b)
}
