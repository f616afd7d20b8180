package rawjson_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/test/require"
)

func TestList(t *testing.T) {
	const text = `{"a":1,"b": {"list" : [ 1 , {"x":2},"three" ],"none":[]}}`
	inner, err := rawjson.Field([]byte(text), "b")
	require.NoError(t, err)
	for name, want := range map[string]string{"list": `1|{"x":2}|"three"`, "none": "", "absent": ""} {
		spans, err := rawjson.List([]byte(text), inner, name)
		var parts []string
		for _, at := range spans {
			parts = append(parts, string(at.Of([]byte(text))))
		}
		if got := strings.Join(parts, "|"); got != want || err != nil {
			t.Errorf("%s: got %s, %v, want %s", name, got, err, want)
		}
	}
	if _, err := rawjson.List([]byte(text), rawjson.Whole([]byte(text)), "b"); !errors.Is(err, rawjson.ErrNotArray) {
		t.Errorf("got %v", err)
	}
	if _, err := rawjson.List([]byte(`[]`), rawjson.Whole([]byte(`[]`)), "b"); err == nil {
		t.Error("an array has a member")
	}
}
