package httpsyntax_test

import (
	"math"
	"testing"

	"github.com/mcpctl/mcpctl/internal/httpsyntax"
)

// TestField: what is a line of a head, and what is refused.
func TestField(t *testing.T) {
	for line, want := range map[string][2]string{
		"A: b": {"A", "b"}, "a-1:\t b c \t": {"a-1", "b c"}, "A:": {"A", ""}, "A: b:c": {"A", "b:c"}, "A: \xff\t.": {"A", "\xff\t."},
	} {
		if name, value, ok := httpsyntax.Field(line); !ok || name != want[0] || value != want[1] {
			t.Errorf("%q: got %q, %q, %t", line, name, value, ok)
		}
	}
	for _, line := range []string{"", ":", ": b", "A", "A : b", " A: b", "A b: c", "\xff: b", "A: b\r", "A: b\n", "A: \x00", "A: \x7f", "A\r: b"} {
		if _, _, ok := httpsyntax.Field(line); ok {
			t.Errorf("%q: taken", line)
		}
	}
}

// TestNumbers: lengths and sizes of chunks, -1 for what is refused.
func TestNumbers(t *testing.T) {
	for s, want := range map[string]int64{
		"0": 0, "007": 7, "9223372036854775807": math.MaxInt64, "": -1, "9223372036854775808": -1, "99999999999999999999": -1,
		"+1": -1, "-1": -1, " 1": -1, "1 ": -1, "1,1": -1, "0x1": -1, "1_0": -1, "١": -1,
	} {
		got, ok := httpsyntax.Length(s)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("length %q: got %d, want %d", s, got, want)
		}
	}
	for s, want := range map[string]int64{
		"0": 0, "00": 0, "aF": 0xaf, "1;x": 1, "1 ;x=\"y\"": 1, "fffffffffffffff": 1<<60 - 1, "": -1, ";x": -1, "1000000000000000": -1,
		"g": -1, "+1": -1, "-1": -1, "0x1": -1, " 1": -1, "1;\r": -1, "1;\x00": -1, "1 1": -1,
	} {
		got, ok := httpsyntax.ChunkSize(s)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("chunk size %q: got %d, want %d", s, got, want)
		}
	}
}
