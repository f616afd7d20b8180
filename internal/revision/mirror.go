package revision

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// ParamPrefix begins the name of a header that repeats an argument of a tool
// (2026-07-28, Streamable HTTP, Request Metadata).
const ParamPrefix = "Mcp-Param-"

// Mirror is an argument of a tool that HTTP requests repeat as a header.
type Mirror struct {
	// Header is the header's name, prefix included, in canonical form.
	Header string
	// path are the names of the members that lead to the value in arguments.
	path []string
}

// Path returns the names of the members that lead to the value in arguments. It is not to be changed.
func (m *Mirror) Path() []string { return m.path }

// ToolMirrors reads the x-mcp-header annotations of a tool's inputSchema,
// sorted by path; nil where there are none. An error says how the schema breaks
// the rules of the revision: then a client on HTTP must leave the tool out.
func ToolMirrors(inputSchema json.RawMessage) ([]Mirror, error) {
	if !bytes.Contains(inputSchema, []byte(HeaderAnnotation)) && bytes.IndexByte(inputSchema, '\\') < 0 {
		return nil, nil // no annotation, not even one that hides behind escapes
	}
	var schema any
	d := json.NewDecoder(bytes.NewReader(inputSchema))
	d.UseNumber() // one too large for a float is no fault here
	if err := d.Decode(&schema); err != nil {
		return nil, fmt.Errorf("inputSchema: %w", err)
	}
	w := schemaWalk{seen: map[string]string{}}
	if err := w.schema(schema, nil, true); err != nil {
		return nil, err
	}
	return w.found, nil
}

// HeaderAnnotation is the member of a property's schema that names its header.
const HeaderAnnotation = "x-mcp-header"

// schemaWalk collects annotations.
type schemaWalk struct {
	found []Mirror
	seen  map[string]string // by the header's name, where it stands
}

// schema walks a schema. Reachable is true where properties alone lead to it.
func (w *schemaWalk) schema(v any, path []string, reachable bool) error {
	switch s := v.(type) {
	case []any: // of oneOf and the like
		for _, e := range s {
			if err := w.schema(e, path, false); err != nil {
				return err
			}
		}
	case map[string]any:
		if a, ok := s[HeaderAnnotation]; ok {
			if err := w.addAnnotation(a, s["type"], path, reachable); err != nil {
				return err
			}
		}
		for _, keyword := range slices.Sorted(maps.Keys(s)) {
			if err := w.keyword(keyword, s[keyword], path, reachable); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *schemaWalk) keyword(keyword string, v any, path []string, reachable bool) error {
	switch contentOf(keyword) {
	case data:
		return nil
	case schemasByName:
		named, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		for _, name := range slices.Sorted(maps.Keys(named)) {
			sub := append(slices.Clip(path), name)
			if err := w.schema(named[name], sub, reachable && keyword == "properties"); err != nil {
				return err
			}
		}
		return nil
	case schemas:
	}
	return w.schema(v, path, false)
}

// addAnnotation checks one annotation, and records it.
func (w *schemaWalk) addAnnotation(a, kind any, path []string, reachable bool) error {
	at := strings.Join(path, ".")
	header, ok := a.(string)
	switch {
	case !ok || header == "":
		return fmt.Errorf("property %q: %s must be text that is not empty", at, HeaderAnnotation)
	case !IsToken(header):
		return fmt.Errorf("property %q: %s %q cannot be the name of a header", at, HeaderAnnotation, header)
	case !reachable || len(path) == 0:
		return fmt.Errorf("%s %q cannot be reached through properties only", HeaderAnnotation, header)
	case !hasHeaderForm(kind):
		return fmt.Errorf("property %q: %s on a type that is not string, integer or boolean", at, HeaderAnnotation)
	}
	name := strings.ToLower(header)
	if other, twice := w.seen[name]; twice {
		return fmt.Errorf("properties %q and %q: the same %s %q", other, at, HeaderAnnotation, header)
	}
	w.seen[name] = at
	w.found = append(w.found, Mirror{Header: textproto.CanonicalMIMEHeaderKey(ParamPrefix + header), path: path})
	return nil
}

// hasHeaderForm reports whether a type can be repeated in a header; one that
// may be null as well can, since null is left out.
func hasHeaderForm(kind any) bool {
	switch k := kind.(type) {
	case string:
		return k == "string" || k == "integer" || k == "boolean"
	case []any:
		some := false
		for _, e := range k {
			if e != "null" && !hasHeaderForm(e) {
				return false
			}
			some = some || e != "null"
		}
		return some
	}
	return false
}

// RemoveMirrors returns the edits that take the x-mcp-header annotations out of
// a tool's inputSchema, which is at a place of text, where [ToolMirrors] looks.
// They are in order.
func RemoveMirrors(text []byte, inputSchema rawjson.Span) []rawjson.Edit {
	var edits []rawjson.Edit
	for _, at := range objects(text, inputSchema) {
		edits = removeMirrors(text, at, edits)
	}
	slices.SortFunc(edits, func(a, b rawjson.Edit) int { return a.Start - b.Start })
	return edits
}

func removeMirrors(text []byte, at rawjson.Span, edits []rawjson.Edit) []rawjson.Edit {
	o, err := rawjson.ObjectAt(text, at)
	if err != nil {
		return edits
	}
	o.Remove(HeaderAnnotation)
	edits = append(edits, o.Edits()...)
	for i := range o.Entries {
		for _, s := range subschemas(text, &o.Entries[i]) {
			edits = removeMirrors(text, s, edits)
		}
	}
	return edits
}

// Value returns the text that repeats the value of raw arguments, and whether
// there is one: a value that is absent or null has none. An error is a value
// that no header can repeat, such as an integer beyond ±(2^53-1).
func (m *Mirror) Value(arguments json.RawMessage) (text string, ok bool, err error) {
	text, ok, err = headerText(m.argument(arguments))
	if err != nil {
		return "", false, fmt.Errorf("argument %q: %w", strings.Join(m.path, "."), err)
	}
	return text, ok, nil
}

// argument returns the raw value that the header repeats, nil where it is absent
// or its place is no object: the tool is to refuse such arguments.
func (m *Mirror) argument(arguments json.RawMessage) []byte {
	raw := []byte(arguments)
	for _, name := range m.path {
		at, err := rawjson.Field(raw, name)
		if err != nil || !at.Present() {
			return nil
		}
		raw = at.Of(raw)
	}
	return raw
}

// maxInteger is the largest integer that is exact everywhere.
const maxInteger = 1<<53 - 1

func headerText(raw []byte) (text string, ok bool, err error) {
	if len(raw) == 0 {
		return "", false, nil
	}
	switch raw[0] {
	case 'n':
		return "", false, nil
	case 't', 'f':
		return string(raw), true, nil
	case '"':
		return string(rawjson.Unquote(nil, raw)), true, nil
	case '{', '[':
		return "", false, errors.New("no header can repeat an object or array")
	}
	n, err := integer(string(raw))
	return strconv.FormatInt(n, 10), err == nil, err
}

// integer reads a number that is an integer, however it is written.
func integer(text string) (int64, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > maxInteger {
		return 0, fmt.Errorf("%s is not an integer within ±(2^53-1), which a header needs", text)
	}
	return int64(f), nil
}

// CheckMirrors compares the Mcp-Param headers of a request (canonical names, as
// of http.Header) with raw arguments. What it finds wrong is a -32020. Headers
// that no mirror asks for are ignored.
func CheckMirrors(mirrors []Mirror, arguments json.RawMessage, header map[string][]string) error {
	for i := range mirrors {
		m := &mirrors[i]
		lines := header[m.Header]
		want, ok, err := m.Value(arguments)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", m.Header, err)
		case len(lines) > 1:
			return fmt.Errorf("%s is there %d times", m.Header, len(lines))
		case !ok && len(lines) == 0:
			continue
		case !ok:
			return fmt.Errorf("%s is there, and no argument for it", m.Header)
		case len(lines) == 0:
			return fmt.Errorf("%s is missing", m.Header)
		}
		got, err := DecodeHeader(lines[0])
		if err != nil {
			return fmt.Errorf("%s: %w", m.Header, err)
		}
		if got != want && !m.sameInteger(arguments, got, want) {
			return fmt.Errorf("%s %q does not match the argument", m.Header, lines[0])
		}
	}
	return nil
}

// sameInteger compares by value where the argument is a number.
func (m *Mirror) sameInteger(arguments json.RawMessage, got, want string) bool {
	raw := m.argument(arguments)
	if len(raw) == 0 || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return false
	}
	n, err := integer(got)
	return err == nil && strconv.FormatInt(n, 10) == want
}

const (
	wrapperStart = "=?base64?"
	wrapperEnd   = "?="
)

// EncodeHeader returns a text as the value of a mirrored header (2026-07-28,
// Streamable HTTP, Value Encoding): as it is, or wrapped in base64 where it
// holds anything but printable ASCII, has white space at an end, or looks like
// the wrapper itself. An empty text is wrapped, too: a header without a value
// counts as missing.
func EncodeHeader(value string) string {
	plain := value != "" && strings.Trim(value, " \t") == value &&
		!(strings.HasPrefix(value, wrapperStart) && strings.HasSuffix(value, wrapperEnd))
	for i := 0; i < len(value) && plain; i++ {
		plain = value[i] >= ' ' && value[i] < 0x7f
	}
	if plain {
		return value
	}
	return wrapperStart + base64.StdEncoding.EncodeToString([]byte(value)) + wrapperEnd
}

// DecodeHeader returns the text that a mirrored header stands for, Mcp-Name
// included: what it says, or what its base64 wrapper holds (2026-07-28,
// Streamable HTTP, Value Encoding).
func DecodeHeader(value string) (string, error) {
	inner, ok := strings.CutPrefix(value, wrapperStart)
	if !ok {
		return value, nil
	}
	if inner, ok = strings.CutSuffix(inner, wrapperEnd); !ok {
		return value, nil
	}
	text, err := base64.StdEncoding.DecodeString(inner)
	if err != nil {
		return "", errors.New("invalid base64")
	}
	return string(text), nil
}

// IsToken reports whether a text can be the name of a header (RFC 9110, 5.6.2).
func IsToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return false
		}
	}
	return s != ""
}
