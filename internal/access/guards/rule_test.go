package guards_test

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/access/guards"
	"github.com/mcpctl/mcpctl/internal/rawjson"
)

// TestRule: what is found is where its pointer says, and what is taken away is all that
// changes.
func TestRule(t *testing.T) {
	r := guards.NewRule("x", regexp.MustCompile(`secret\d*`))
	for _, row := range []struct{ in, at, out string }{
		{`{"a":"a secret7!"}`, "/a", `{"a":"a [x removed]!"}`},
		{`{"a":["b",{"c/d~":"secret"}]}`, "/a/1/c~1d~0", `{"a":["b",{"c/d~":"[x removed]"}]}`},
		{`{"n":9007199254740993, "e":1e2,"a":"\u0073ecret\u0031\/"}`, "/a", `{"n":9007199254740993, "e":1e2,"a":"[x removed]\/"}`},
		{`{"a":"secret secret2"}`, "/a", `{"a":"[x removed] [x removed]"}`},
		{`{"secret":{"b":1}}`, "/secret", `{"secret":{"b":1}}`},
		{`{"a":{"secret":"secret"}}`, "/a/secret", `{"a":{"secret":"[x removed]"}}`},
		{`"secret"`, "", `"[x removed]"`},
		{`{"a":"😀 secret 😀"}`, "/a", `{"a":"😀 [x removed] 😀"}`},
		{`{"a":"\ud83d\ude00secret\ud83d\ude00"}`, "/a", `{"a":"\ud83d\ude00[x removed]\ud83d\ude00"}`},
	} {
		at, found := r.Find([]byte(row.in))
		out, cleaned, err := r.Clean([]byte(row.in))
		if err != nil || !found || !cleaned || at != row.at || string(out) != row.out {
			t.Errorf("%s: got %q, %t, %s, %t, %v", row.in, at, found, out, cleaned, err)
		}
	}
	for _, in := range []string{`{}`, `{"a":1}`, `{"a":"sec","b":"ret"}`, `{"a":["s"]}`} {
		if _, found := r.Find([]byte(in)); found {
			t.Errorf("%s: found", in)
		}
		if out, found, err := r.Clean([]byte(in)); found || err != nil || string(out) != in {
			t.Errorf("%s: got %s, %t, %v", in, out, found, err)
		}
	}
}

// FuzzRule: whatever the message, it is valid afterwards, nothing is found in its values any
// more, and all that is no string stays.
func FuzzRule(f *testing.F) {
	f.Add(`{"a":"x","b":["\u0078x",1e9]}`)
	f.Add(`{"x":{"y":"\ud83d\ude00 x \ud800x"}}`)
	r := guards.NewRule("n", regexp.MustCompile(`x+`))
	f.Add(`{ "x" :"y\u0079", "n":9007199254740993,"x":["\/x"] }`)
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "removed") || !json.Valid([]byte(text)) || strings.ToValidUTF8(text, "") != text {
			return
		}
		out, _, err := r.Clean([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var before, after any
		if json.Unmarshal([]byte(text), &before) != nil {
			return // a number that is out of range
		}
		if err := json.Unmarshal(out, &after); err != nil {
			t.Fatalf("%s became %s: %v", text, out, err)
		}
		if want := cleaned(before); !reflect.DeepEqual(after, want) {
			t.Fatalf("%s became %s, want %v", text, out, want)
		}
		if got, want := besides(out, nil), besides([]byte(text), xs); got != want {
			t.Fatalf("%s became %s: what is not found is %s, want %s", text, out, got, want)
		}
	})
}

// besides is a message without the strings that are values and that a pattern matches, or, where
// there is none, that have what a rule has written.
func besides(message []byte, pattern *regexp.Regexp) string {
	var edits []rawjson.Edit
	rawjson.Strings(message, func(at rawjson.Span, isName bool) {
		text := string(rawjson.Unquote(nil, at.Of(message)))
		if !isName && (pattern == nil && strings.Contains(text, "[n removed]") || pattern != nil && pattern.MatchString(text)) {
			edits = append(edits, rawjson.Edit{Span: at, New: []byte(`"*"`)})
		}
	})
	return string(rawjson.Splice(nil, message, edits...))
}

var xs = regexp.MustCompile(`x+`)

// cleaned is a value without what is looked for in its strings.
func cleaned(v any) any {
	switch v := v.(type) {
	case string:
		return xs.ReplaceAllString(v, "[n removed]")
	case []any:
		for i := range v {
			v[i] = cleaned(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = cleaned(v[k])
		}
	}
	return v
}
