package main

import (
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"strings"
)

// equalJSON reports whether two JSON texts are the same value: numbers by their
// exact value, objects whatever the order of their members.
func equalJSON(a, b []byte) bool {
	x, ok := decodeJSON(a)
	y, ok2 := decodeJSON(b)
	return ok && ok2 && equalValues(x, y)
}

func decodeJSON(raw []byte) (any, bool) {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil, false
	}
	_, err := d.Token()
	return v, errors.Is(err, io.EOF)
}

func equalValues(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		if !ok {
			return false
		}
		x, ok := new(big.Rat).SetString(string(a))
		y, ok2 := new(big.Rat).SetString(string(b))
		return ok && ok2 && x.Cmp(y) == 0
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equalValues(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a {
			w, there := b[k]
			if !there || !equalValues(v, w) {
				return false
			}
		}
		return true
	}
	return a == b
}
