package declare_test

import (
	"encoding/json"
	"testing"

	"github.com/mcpctl/mcpctl/internal/declare"
)

func TestSignature(t *testing.T) {
	const merge = `{"type":"object","required":["owner"],"properties":{"owner":{"type":"string"},"method":{"enum":["merge","squash"]},"title":{"type":"string"}}}`
	for _, tc := range []struct {
		schema string
		most   int
		want   string
	}{
		{merge, 200, `merge(owner:string, method?:"merge"|"squash", title?:string)`},
		{merge, 54, `merge(owner:string, method?:string, title?:string)`},
		{merge, 49, `merge(owner:string, method?:string, …+1)`},
		{merge, 30, `merge(owner:string, …+2)`},
		{merge, 3, `merge(owner:string, …+2)`},
		{`{"properties":{"a":{"enum":["New York","Chicago","Los Angeles"]}}}`, 200, `merge(a?:"New York"|"Chicago"|…)`},
		{`{"properties":{"a":{"items":{"enum":["New York","Chicago","Los Angeles"]}, "type": "array"}}}`, 200, `merge(a?:("New York"|"Chicago"|…)[])`},
		{`{"properties":{"a":{"enum":["one value that is longer than all others","b"]}}}`, 200, `merge(a?:string)`},
		{`{"properties":{"a":{"enum":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]}}}`, 200, `merge(a?:1|2|3|4|5|6|7|8|…)`},
		{`{"type":"object"}`, 3, `merge()`},
		{`nonsense`, 3, `merge(?)`},
	} {
		if got := declare.Of("merge", json.RawMessage(tc.schema)).Within(tc.most); got != tc.want {
			t.Errorf("%d: got %s, want %s", tc.most, got, tc.want)
		}
	}
	if got := declare.FirstLine(" \n\x1b[31m one\ntwo"); got != "one" {
		t.Errorf("got %q", got)
	}
}
