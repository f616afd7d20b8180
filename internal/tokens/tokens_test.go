package tokens_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/tokens"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestEstimate compares with the counts of o200k_base that make token-counts has written.
func TestEstimate(t *testing.T) {
	raw, err := os.ReadFile("testdata/definitions.jsonl")
	require.NoError(t, err)
	is, estimate := map[string]int{}, map[string]int{}
	all, allEstimate := 0, 0
	for line := range bytes.Lines(raw) {
		var c struct {
			Server     string
			Tokens     int
			Definition json.RawMessage
		}
		require.NoError(t, json.Unmarshal(line, &c))
		n := tokens.Estimate(c.Definition)
		if off := math.Abs(float64(n)/float64(c.Tokens) - 1); off > 0.3 {
			t.Errorf("%d tokens, estimated %d: %s", c.Tokens, n, c.Definition)
		}
		is[c.Server] += c.Tokens
		estimate[c.Server] += n
		all += c.Tokens
		allEstimate += n
	}
	for server, n := range is {
		if off := math.Abs(float64(estimate[server])/float64(n) - 1); off > 0.12 {
			t.Errorf("%s: %d tokens, estimated %d", server, n, estimate[server])
		}
	}
	if off := math.Abs(float64(allEstimate)/float64(all) - 1); off > 0.06 {
		t.Errorf("%d tokens in all, estimated %d", all, allEstimate)
	}
}

func TestEstimateOdd(t *testing.T) {
	for text, want := range map[string]int{
		"":                       0,
		" ":                      1,
		"\xff\xfe":               2,
		"word":                   1,
		strings.Repeat("A", 90):  42, // a long run of capitals is no word
		strings.Repeat("7", 90):  51,
		strings.Repeat("天", 100): 75,
		strings.Repeat("😀", 10):  10,
		"a  b\n\n\tc":            4,
	} {
		if got := tokens.Estimate([]byte(text)); got != want {
			t.Errorf("%.20q: got %d, want %d", text, got, want)
		}
	}
}

func FuzzEstimate(f *testing.F) {
	f.Add([]byte(`{"name":"a_b","x":[1,22,"Ünï 天"]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if n := tokens.Estimate(text); n < 0 || n > 2*len(text)+1 {
			t.Errorf("%q: %d", text, n)
		}
	})
}
