package auth

import (
	"strings"
	"testing"
)

func TestBearer(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]map[string]string{
		`Bearer`:                       {},
		`Bearer error="invalid_token"`: {"error": "invalid_token"},
		`Basic realm="a, Bearer b=\"c\"", Bearer scope="x y", resource_metadata=https://h/.well-known/p?a=b`: {"scope": "x y", "resource_metadata": "https://h/.well-known/p?a=b"},
		`Negotiate abc==, bearer SCOPE = x`:         {"scope": "x"},
		`DPoP algs="ES256", error="use_dpop_nonce"`: {"algs": "ES256", "error": "use_dpop_nonce"},
		`Bearer scope="a", scope="b"`:               {"scope": "a"},
		`Bearer scope="never ends`:                  {},
		`Basic realm="x"`:                           nil,
		``:                                          nil,
	} {
		got := bearerOf([]string{header})
		if len(got) != len(want) || (got == nil) != (want == nil) {
			t.Errorf("%s: got %q, want %q", header, got, want)
		}
		for k, v := range want {
			if got[k] != v {
				t.Errorf("%s: got %q, want %q", header, got, want)
			}
		}
	}
}

// FuzzChallenges: whatever follows, what came first counts.
func FuzzChallenges(f *testing.F) {
	f.Add(`Bearer a="b", c=d, Basic x==`)
	f.Add(`resource_metadata="https://evil.example", error=x`)
	f.Add(`Bearer resource_metadata="https://evil.example\", realm="`)
	const own = `Bearer resource_metadata="https://mcp.example.com/a?b=\"c\"", error="invalid_token", `
	f.Fuzz(func(t *testing.T, header string) {
		for _, c := range parseChallenges([]string{header}) {
			if c.Scheme != strings.ToLower(c.Scheme) || c.Params == nil {
				t.Errorf("got %+v", c)
			}
		}
		all := parseChallenges([]string{own + header})
		if len(all) == 0 || all[0].Scheme != "bearer" || all[0].Params["resource_metadata"] != `https://mcp.example.com/a?b="c"` || all[0].Params["error"] != "invalid_token" {
			t.Errorf("got %+v", all)
		}
	})
}
