package rawjson_test

import (
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/rawjson"
)

func TestWithout(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                               `{}`,
		`{"a":1}`:                          `{"a":1}`,
		`{ "x":1 }`:                        `{  }`,
		`{"x":1,"a":2}`:                    `{"a":2}`,
		`{"a":1.0 , "x":{"a":[]} , "b":2}`: `{"a":1.0 , "b":2}`,
		`{"a":1, "x":2, "x":3 }`:           `{"a":1 }`,
		`{"x":1,"a":1,"x1":2,"b":3,"x":4}`: `{"a":1,"b":3}`,
		`{"\u0078":1,"a":{"x":1}}`:         `{"a":{"x":1}}`,
		`{"x":1,"x":2}`:                    `{}`,
	} {
		got, err := rawjson.Without([]byte(in), func(name string) bool { return strings.HasPrefix(name, "x") })
		if err != nil || string(got) != want {
			t.Errorf("%s: got %s %v, want %s", in, got, err, want)
		}
	}
	for _, in := range []string{``, `[]`, `7`, `{`, `{"a"}`, `{"a":1,}`, `{} {}`, `{"a":1`} {
		if got, err := rawjson.Without([]byte(in), func(string) bool { return true }); err == nil {
			t.Errorf("%s: got %s", in, got)
		}
	}
}

func TestSetAfterWhiteSpace(t *testing.T) {
	for in, want := range map[string]string{" \n{} ": " \n{\"a\":1} ", ` {"b":2}`: ` {"a":1,"b":2}`, `{"a":0}`: `{"a":1}`} {
		got, err := rawjson.Set([]byte(in), []rawjson.Member{{Name: "a", Value: []byte("1")}})
		if err != nil || string(got) != want {
			t.Errorf("%q: got %q %v, want %q", in, got, err, want)
		}
	}
}
