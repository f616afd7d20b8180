package doctor

import (
	"slices"
	"testing"
)

func TestLiteralSecrets(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string][]string{
		`{"command":"x","args":["--token","abc","--token=${T}","-v"],"env":{"A_TOKEN":"t","B_TOKEN":"${B}","LOG":"info"}}`: {"env.A_TOKEN", "args[1]"},
		`{"url":"https://u:p@x/mcp","headers":{"Authorization":"Bearer abc","X-Region":"eu-central-1"}}`:                   {"headers.Authorization", "url"},
		`{"url":"https://x/mcp?api_key=abc"}`:                                 {"url"},
		`{"url":"https://x/mcp?region=eu-central-1&key=${KEY}","headers":{}}`: nil,
		`{"url":"https://x/mcp","auth":{"clientId":"me","clientSecret":"s"}}`: {"auth.clientSecret"},
		`[]`: nil,
	} {
		if got := LiteralSecrets([]byte(raw)); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", raw, got, want)
		}
	}
}
