package signature_test

import (
	"encoding/json"
	"testing"

	"github.com/mcpctl/mcpctl/runtime/signature"
)

func TestSignature(t *testing.T) {
	const merge = `{"type":"object","required":["owner"],"properties":{"owner":{"type":"string"},"method":{"enum":["merge","squash"]},"title":{"type":"string"}}}`
	for _, tc := range []struct {
		schema string
		most   int
		want   string
	}{
		{merge, 200, `merge(owner:string, method?:"merge"|"squash", title?:string)`},
		{merge, 54, `merge(owner:string, method?:"merge"|"squash", …+1)`},
		{merge, 30, `merge(owner:string, …+2)`},
		{merge, 3, `merge(owner:string, …+2)`},
		{`{"type":"object"}`, 3, `merge()`},
		{`nonsense`, 3, `merge(?)`},
	} {
		if got := signature.Of("merge", json.RawMessage(tc.schema)).Within(tc.most); got != tc.want {
			t.Errorf("%d: got %s, want %s", tc.most, got, tc.want)
		}
	}
	if got := signature.FirstLine(" \n\x1b[31m one\ntwo"); got != "one" {
		t.Errorf("got %q", got)
	}
}
