package journal

import (
	"github.com/mcpctl/mcpctl/internal/audit"
)

// Turns returns how often the writer was woken.
func (j *Journal) Turns() int64 { return j.w.turns.Load() }

// Recovered returns the record of an entry with any bytes, as recovery has it.
func Recovered(data, note []byte) []byte {
	it := Item{N: 1, Data: data}
	copy(it.Note[:], note)
	b := batch{o: new(Options), b: audit.Batch{Run: "run"}}
	b.add(&it, nil)
	return b.seal().Records[0]
}
