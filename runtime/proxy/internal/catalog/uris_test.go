package catalog

import (
	"encoding/json"
	"log/slog"
	"testing"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// membersIn counts the members of all objects in a document.
func membersIn(text []byte) int {
	var doc any
	if json.Unmarshal(text, &doc) != nil {
		return -1
	}
	n := 0
	var count func(v any)
	count = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, member := range v {
				n++
				count(member)
			}
		case []any:
			for _, element := range v {
				count(element)
			}
		}
	}
	count(doc)
	return n
}

// FuzzExposed: a result with other URIs is JSON still, and has all its members.
func FuzzExposed(f *testing.F) {
	for _, s := range []string{
		`{"content":[{"type":"resource_link","uri":"file:///a"},{"type":"resource","resource":{"uri":"x"}}],"_meta":{"ui":{"resourceUri":"ui://a"}}}`,
		`{"messages":[{"content":{"type":"resource_link","uri":"a:\u0062"}}]}`, `{"contents":[{"uri":"u"},7,{"uri":{}}]}`, `{"_meta":{"ui/resourceUri":"x"}}`, `{"_meta":{"ui/resourceUri":":"}}`,
		`{"content":{"resource":1}}`, `[]`, `"resource"`,
	} {
		f.Add([]byte(s), "a:b")
	}
	set := upstream.NewSet(upstream.Options{Logger: slog.New(slog.DiscardHandler)})
	set.Roster.Store(&[]*upstream.Backend{upstream.NewBackend(set, upstream.Settings{Name: "a"}), upstream.NewBackend(set, upstream.Settings{Name: "b"})})
	p := NewPublisher(Options{Logger: set.Log}, set)
	f.Fuzz(func(t *testing.T, in []byte, asked string) {
		if !json.Valid(in) || !utf8.Valid(in) {
			return
		}
		for _, method := range []string{"tools/call", "prompts/get"} {
			if got := p.ExposedContent(set.All()[0], nil, method, in); !json.Valid(got) || membersIn(got) < membersIn(in) {
				t.Fatalf("%s: %s became %s", method, in, got)
			}
		}
		if got := p.ExposedContents(set.All()[0], nil, in, "u", asked); !json.Valid(got) {
			t.Fatalf("%s became %s", in, got)
		}
	})
}
