package access

import "testing"

func TestWeakSecret(t *testing.T) {
	t.Parallel()
	const (
		known = "it is a value from examples"
	)
	for text, want := range map[string]string{
		"":                                      "it is empty",
		"changeme":                              known,
		"Change-Me!":                            known,
		"secret123":                             known,
		"changeme-changeme-changeme-changeme":   known,
		"my-secret":                             known,
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": "it has only 1 different characters",
		"01234567890123456789":                  "it has at most 66 bits, and 128 are required",
		"0123456789abcdef0123456789abcde":       "it has at most 124 bits, and 128 are required",
		"0123456789abcdef0123456789abcdef":      "",
		"0123456789ABCDEFGHIJabcd":              "",
		"Zm9vYmFyYmF6cXV4cXV1eA":                "",
		"correct horse battery":                 "",
		"correct horse":                         "it has at most 84 bits, and 128 are required",
	} {
		if got := WeakSecret(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
