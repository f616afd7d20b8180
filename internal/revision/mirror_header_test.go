package revision_test

import (
	"testing"

	"github.com/mcpctl/mcpctl/internal/revision"
)

// TestEncodeHeader: examples of 2026-07-28, Streamable HTTP, and the edges.
func TestEncodeHeader(t *testing.T) {
	for in, want := range map[string]string{
		"":                           "=?base64??=",
		"us-west1":                   "us-west1",
		"a b\"c":                     "a b\"c",
		"Hello, 世界":                  "=?base64?SGVsbG8sIOS4lueVjA==?=",
		" padded ":                   "=?base64?IHBhZGRlZCA=?=",
		"\ttab":                      "=?base64?CXRhYg==?=",
		"in\tside":                   "=?base64?aW4Jc2lkZQ==?=",
		"line\r\nInjected: 1":        "=?base64?bGluZQ0KSW5qZWN0ZWQ6IDE=?=",
		"\x7f":                       "=?base64?fw==?=",
		"=?base64?literal?=":         "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=",
		"=?BASE64?literal?=":         "=?BASE64?literal?=",
		"=?base64?without its end":   "=?base64?without its end",
		"without its beginning ?=":   "without its beginning ?=",
		"9007199254740993":           "9007199254740993",
		"file:///tmp/%E4%B8%96.txt?": "file:///tmp/%E4%B8%96.txt?",
	} {
		if got := revision.EncodeHeader(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
