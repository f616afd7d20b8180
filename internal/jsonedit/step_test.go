package jsonedit_test

import (
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/jsonedit"
	"github.com/mcpctl/mcpctl/test/require"
)

// steps reads a path of words: a number is an index, "+" the end.
func steps(path string) (out []jsonedit.Step) {
	for word := range strings.FieldsSeq(path) {
		switch {
		case word == "+":
			out = append(out, jsonedit.Step{Element: true, Index: jsonedit.End})
		case word[0] >= '0' && word[0] <= '9':
			out = append(out, jsonedit.Step{Element: true, Index: int(word[0] - '0')})
		default:
			out = append(out, jsonedit.Step{Name: word})
		}
	}
	return out
}

func TestSetAt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, path, value, want string }{
		{`{"a": ["x", /* c */ "y"], "b": 1}`, "a 1", `"z"`, `{"a": ["x", /* c */ "z"], "b": 1}`},
		{`{"a": ["x"]}`, "a +", `"y"`, `{"a": ["x", "y"]}`},
		{`{"a": ["x"]}`, "a 1", `"y"`, `{"a": ["x", "y"]}`},
		{`{"a": ["x",]}`, "a +", `"y"`, `{"a": ["x", "y",]}`},
		{`{"a": []}`, "a +", `"y"`, `{"a": ["y"]}`},
		{"{\"a\": [ // c\n]}", "a +", `"y"`, "{\"a\": [ // c\n  \"y\"\n]}"},
		{"{\n  \"a\": [\n    \"x\" // c\n  ]\n}", "a +", `"y"`, "{\n  \"a\": [\n    \"x\", // c\n    \"y\"\n  ]\n}"},
		{`{"b": 1}`, "a +", `"y"`, `{"b": 1, "a": ["y"]}`},
		{`{"a": [{"n": 1, // c
 "m": 2}]}`, "a 0 n", `3`, `{"a": [{"n": 3, // c
 "m": 2}]}`},
		{`{"a": [["x"]]}`, "a 0 +", `"y"`, `{"a": [["x", "y"]]}`},
		{`{"a": [{}]}`, "a 0", `{"k": [1,2]}`, `{"a": [{ "k": [1, 2] }]}`},
	} {
		d, err := jsonedit.Parse([]byte(tt.in))
		require.NoError(t, err)
		got, err := d.SetAt([]byte(tt.value), steps(tt.path)...)
		if err != nil || string(got.Bytes()) != tt.want {
			t.Errorf("%s at %s:\ngot  %v %v\nwant %s", tt.in, tt.path, err, text(got), tt.want)
		}
	}
	for _, tt := range []struct{ in, path string }{
		{`{"a": ["x"]}`, "a 3"}, {`{"a": 1}`, "a 0"}, {`{"a": 1}`, "a +"}, {`{}`, "a 2"}, {`{"a": ["x"]}`, "a 0 b"}, {`{"a": [1]}`, "a 1 b"},
	} {
		d, err := jsonedit.Parse([]byte(tt.in))
		require.NoError(t, err)
		if got, err := d.SetAt([]byte(`1`), steps(tt.path)...); err == nil {
			t.Errorf("%s at %s: got %s", tt.in, tt.path, got.Bytes())
		}
	}
}

func text(d *jsonedit.Document) string {
	if d == nil {
		return ""
	}
	return string(d.Bytes())
}

func TestRemoveAt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, path, want string }{
		{`{"a": ["x", "y", "z"]}`, "a 0", `{"a": ["y", "z"]}`},
		{`{"a": ["x", "y", "z"]}`, "a 1", `{"a": ["x", "z"]}`},
		{`{"a": ["x", "y", "z"]}`, "a 2", `{"a": ["x", "y"]}`},
		{`{"a": ["x"]}`, "a 0", `{"a": []}`},
		{"{\"a\": [\n  // of x\n  \"x\", // x\n  // of y\n  \"y\" // y\n]}", "a 0", "{\"a\": [\n  // of y\n  \"y\" // y\n]}"},
		{"{\"a\": [\n  \"x\", // x\n  // of y\n  \"y\" // y\n]}", "a 1", "{\"a\": [\n  \"x\" // x\n]}"},
		{`{"a": [{"n": 1, "m": 2}]}`, "a 0 n", `{"a": [{"m": 2}]}`},
		{`{"a": ["x"]}`, "a 7", `{"a": ["x"]}`},
		{`{"a": ["x"], "b": 1}`, "b", `{"a": ["x"]}`},
	} {
		d, err := jsonedit.Parse([]byte(tt.in))
		require.NoError(t, err)
		got, err := d.RemoveAt(steps(tt.path)...)
		if err != nil || string(got.Bytes()) != tt.want {
			t.Errorf("%s at %s:\ngot  %v %s\nwant %s", tt.in, tt.path, err, text(got), tt.want)
		}
	}
}
