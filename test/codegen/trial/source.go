package trial

import (
	"encoding/json"
	"math/rand/v2"
)

// Source is where random choices come from.
type Source interface {
	// IntN returns a number from 0 up to and without n, which is positive.
	IntN(n int) int
}

// Seeded is a source that gives the same numbers for the same seed, on every
// machine.
func Seeded(seed uint64) Source {
	return rand.New(rand.NewPCG(seed, 0x6d6370))
}

// Bytes is a source that a fuzzer steers: each choice takes a byte, and 0 is
// chosen where there are no more.
func Bytes(b []byte) Source { return &bytesSource{b} }

type bytesSource struct{ rest []byte }

func (s *bytesSource) IntN(n int) int {
	if len(s.rest) == 0 {
		return 0
	}
	b := s.rest[0]
	s.rest = s.rest[1:]
	return int(b) % n
}

func pick[T any](s Source, of ...T) T { return of[s.IntN(len(of))] }

// one is true once in n times. The end of a [Bytes] source is not.
func one(s Source, n int) bool { return s.IntN(n) == n-1 }

// text writes a value of maps, slices, strings, [json.Number], booleans and nil
// as JSON.
func text(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("trial: " + err.Error()) // such values always have a JSON form
	}
	return b
}
