package rawjson

import (
	"slices"
	"testing"
)

func TestStrings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`{}`: nil, `12`: nil, `"a"`: {`"a"`},
		`{"a" : "b:\"\\", "c":["d", 1, {"\u0065\"":null}] , "":""}`: {`name "a"`, `"b:\"\\"`, `name "c"`, `"d"`, `name "\u0065\""`, `name ""`, `""`},
	} {
		var got []string
		Strings([]byte(text), func(at Span, isName bool) {
			s := string(at.Of([]byte(text)))
			if at.Start == 0 {
				s = text // of the whole text, whose Span is not absent
			}
			if isName {
				s = "name " + s
			}
			got = append(got, s)
		})
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
