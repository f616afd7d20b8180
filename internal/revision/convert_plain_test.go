package revision_test

import (
	"encoding/json"
	"testing"

	"github.com/mcpctl/mcpctl/internal/revision"
)

// TestPlainIsConversion: what Plain does is what Conversion does, byte for byte,
// and it leaves the rest alone.
func TestPlainIsConversion(t *testing.T) {
	for _, backend := range []json.RawMessage{nil, json.RawMessage(`{"name":"b","version":"2"}`)} {
		c := revision.Conversion{From: v202511, To: v2026, Method: "tools/call", Server: json.RawMessage(`{"name":"mcpctl","version":"1"}`), Backend: backend}
		p, err := revision.NewPlain(c)
		if err != nil {
			t.Fatal(err)
		}
		for in, plain := range map[string]bool{
			`{}`: true, ` { } `: true, `{"content":[]}`: true, "\n{\"content\":[], \"x\":1.0}\n": true,
			`{"content":[],"structuredContent":{"resultType":1},"isError":true}`: true,
			`{"ttlMs":1,"cacheScope":"public","messages":[]}`:                    true,
			`{"x":1,"x":2}`: true, `{"\u0063ontent":[]}`: true,
			`{"resultType":"complete"}`: false, `{"_meta":{}}`: false, `{"_meta":null}`: false, `{"inputRequests":{}}`: false,
			`{"requestState":"s"}`: false, `{"\u005fmeta":{}}`: false, `{"content":[],"content":[]}`: false,
			`{"ttlMs":1,"ttlMs":1}`: false, `{"task":{}}`: false, `[]`: false, `null`: false, `{`: false,
		} {
			got, ok := p.Append([]byte("x"), []byte(in))
			if ok != plain {
				t.Errorf("%s: plain is %v, want %v", in, ok, plain)
			}
			if !ok {
				if string(got) != "x" {
					t.Errorf("%s: got %s, want nothing", in, got)
				}
				continue
			}
			want, err := c.Result(json.RawMessage(in))
			if err != nil || string(got) != "x"+string(want) {
				t.Errorf("%s: got %s, want %s (%v)", in, got, want, err)
			}
		}
	}
}
