package upstream

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/mcpctl/mcpctl/internal/revision"
)

// Sizes counts results by their number of bytes, in the buckets of latency: fixed memory
// (2 KiB), no lock, and nothing of what is in them. Noting one costs an atomic addition.
// Counts are of this process and of those before it. The zero value is ready, and all
// methods but Resume may be called concurrently.
type Sizes struct {
	counts [latencyBuckets]atomic.Uint32
}

// Record counts a result, nil for none.
func (s *Sizes) Record(result []byte) {
	if result != nil {
		s.counts[bucketOf(uint64(len(result)))].Add(1)
	}
}

// Noted notes a result where it is one of a tool, and returns it.
func (s *Sizes) Noted(method string, result []byte) []byte {
	if method == revision.MethodToolsCall {
		s.Record(result)
	}
	return result
}

// Encode returns the counts as [store.Usage] keeps them: "" for none, else pairs of
// varints for each bucket that has any, its distance from the one before and its count.
func (s *Sizes) Encode() string {
	var out []byte
	before := 0
	for b := range s.counts {
		if n := s.counts[b].Load(); n > 0 {
			out = binary.AppendUvarint(out, uint64(b-before)) //nolint:gosec // b ascends
			out = binary.AppendUvarint(out, uint64(n))
			before = b
		}
	}
	return string(out)
}

// Resume takes over counts of an earlier process. It is to be called before the first Note.
func (s *Sizes) Resume(encoded string) {
	counts := decoded(encoded)
	for b, n := range counts {
		s.counts[b].Store(uint32(n)) //nolint:gosec // Encode wrote 32 bits
	}
}

// Quantiles returns how many results encoded counts are of, and the numbers of bytes that
// the fractions q of them did not exceed, within 3 %. q ascends. Without results all are 0.
func Quantiles(encoded string, q ...float64) (n uint64, sizes []int) {
	counts := decoded(encoded)
	for _, c := range counts {
		n += c
	}
	sizes = make([]int, len(q))
	if n == 0 {
		return 0, sizes
	}
	for i, b := range ranked(&counts, n, q) {
		low, width := bounds(b)
		sizes[i] = int(low + width/2) //nolint:gosec // below 2^33
	}
	return n, sizes
}

// decoded returns the counts of a text of Encode, none for another one.
func decoded(encoded string) (counts [latencyBuckets]uint64) {
	rest := []byte(encoded)
	for b := uint64(0); len(rest) > 0; {
		gap, n := binary.Uvarint(rest)
		rest = rest[max(n, 0):]
		count, m := binary.Uvarint(rest)
		if b += gap; n <= 0 || m <= 0 || gap >= latencyBuckets || b >= latencyBuckets || count > 1<<32-1 {
			return [latencyBuckets]uint64{}
		}
		rest = rest[m:]
		counts[b] = count //nolint:gosec // b is below latencyBuckets
	}
	return counts
}
