package build

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// decode reads JSON with numbers kept as they are written.
func decode(data []byte) (any, error) {
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

// jsonText is the compact form of a decoded value, numbers as written.
func jsonText(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// canonical is one text for all spellings of a value: 1.0 is 1.
func canonical(v any) string {
	switch v := v.(type) {
	case json.Number:
		if r := ratOf(string(v)); r != nil {
			return r.RatString()
		}
		return string(v)
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = canonical(item)
		}
		return "[" + strings.Join(parts, ",") + "]"
	case object:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, strconv.Quote(k)+":"+canonical(v[k]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	return jsonText(v)
}

func equalJSON(a, b any) bool { return canonical(a) == canonical(b) }

// unescapeStep reads one step of a JSON pointer (RFC 6901).
func unescapeStep(s string) string {
	if !strings.Contains(s, "~") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "~1", "/"), "~0", "~")
}
