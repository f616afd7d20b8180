package rawjson_test

import (
	"testing"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

func TestNormal(t *testing.T) {
	for text, want := range map[string]string{
		` { "b" : [ 1, {"d":2,"c":3} ] , "a":"\u003c\u00e9" } `: `{"a":"<é","b":[1,{"c":3,"d":2}]}`,
		`9007199254740993`: `9007199254740993`,
		`1.0`:              `1.0`,
		`{"a":1,"a":2}`:    `{"a":1,"a":2}`,
		`{"a":`:            `{"a":`,
		``:                 ``,
	} {
		if got := string(rawjson.Normal([]byte(text))); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
