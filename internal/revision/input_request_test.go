package revision_test

import (
	"testing"

	"github.com/mcpctl/mcpctl/internal/revision"
)

// TestAsksInput: what says so, and what has what such a result has.
func TestAsksInput(t *testing.T) {
	t.Parallel()
	for result, want := range map[string]bool{
		`{"content":[]}`: false,
		`{"resultType":"input_required","requestState":"s"}`:        true,
		`{"resultType":"complete","requestState":"s"}`:              false,
		`{"content":[],"inputRequests":{"a":{}}}`:                   true,
		`{"content":[],"requestState":"s"}`:                         true,
		`{"content":[],"inputRequests":null,"requestState":null}`:   false,
		`{"content":[],"requestState":{"done":true}}`:               false,
		`{"structuredContent":{"requestState":"s"},"content":[]}`:   false,
		`{"resultType":null,"inputRequests":null,"content":[true]}`: false,
	} {
		if _, ok := revision.ParseInputRequest([]byte(result)); ok != want {
			t.Errorf("%s: %t", result, ok)
		}
	}
}
