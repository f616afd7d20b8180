package dial

import (
	"strings"
	"testing"
)

// TestPackages: what package managers say of what does not exist.
func TestPackages(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"npm error code E404\nnpm error 404 Not Found - GET https://r/x": "npm",
		"npm error code ETARGET":                                       "npm",
		"× No solution found when resolving tool dependencies":         "PyPI",
		"docker: Error response from daemon: pull access denied for x": "the registry",
		"Error: API key missing":                                       "",
		"HTTP 404":                                                     "",
	} {
		if got := missingPackage(said); !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%q: got %q", said, got)
		}
	}
	for _, c := range []struct {
		args       []string
		said, want string
	}{
		{[]string{"-y", "@a/b@1", "c"}, "E404", "@a/b@1"},
		{[]string{"run", "-i", "-e", "TOKEN", "a/b:1"}, "manifest for a/b:1 not found", "a/b:1"},
		{[]string{"-y"}, "E404", ""},
	} {
		if got := packageOf(c.args, c.said); got != c.want {
			t.Errorf("%q: got %q", c.args, got)
		}
	}
}
