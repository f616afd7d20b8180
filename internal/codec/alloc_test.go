//go:build !race

// The race detector makes pools forget at random.

package codec_test

import (
	"encoding/json"
	"testing"

	"github.com/mcpctl/mcpctl/internal/codec"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestAllocs: one allocation more than encoding/json makes with plain structs
// is the most, in either direction.
func TestAllocs(t *testing.T) {
	for _, c := range benchCases() {
		plain, typed := c.plain(), c.typed()
		within := func(what string, theirs, ours func() error) {
			t.Helper()
			count := func(f func() error) float64 {
				return testing.AllocsPerRun(50, func() {
					require.NoError(t, f())
				})
			}
			if want, got := count(theirs), count(ours); got > want+1 {
				t.Errorf("%s %s: got %v allocations, want %v and one at most", what, c.name, got, want)
			}
		}
		within(
			"decode", func() error { return json.Unmarshal(c.in, c.plain()) },
			func() error { return codec.Decode(c.in, c.typed()) },
		)
		require.NoError(t, json.Unmarshal(c.in, plain))
		require.NoError(t, codec.Decode(c.in, typed))
		within(
			"encode", func() error { _, err := json.Marshal(plain); return err },
			func() error { _, err := codec.Encode(typed); return err },
		)
	}
}
