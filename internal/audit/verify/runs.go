package verify

import "hash/maphash"

// runs are the last records of each run. Names of runs are kept as hashes: there may be as
// many as there are records.
type runs struct {
	seed maphash.Seed
	last map[uint64]runEnd
	// skipped is how many records were passed over, because they are missing or others than
	// those that were signed: they explain as many holes.
	skipped uint64
}

type runEnd struct {
	n       uint64
	t       int64 // microseconds
	back    bool  // the clock was set back before
	skipped uint64
}

func newRuns() runs { return runs{seed: maphash.MakeSeed(), last: map[uint64]runEnd{}} }

func (r *runs) key(name string) uint64 { return maphash.String(r.seed, name) }

func (r *runs) count() int { return len(r.last) }

// see notes a record, and returns what is noted of its run now, and what was before; nil for
// the first one.
func (r *runs) see(l *leaf) (now runEnd, before *runEnd) {
	now = runEnd{n: l.n, t: l.t, skipped: r.skipped}
	if b, ok := r.last[l.run]; ok {
		before, now.back, now.n = &b, b.back, max(l.n, b.n)
	}
	r.last[l.run] = now
	return now, before
}

// stepped notes that the clock of a run was set back: once is enough.
func (r *runs) stepped(l *leaf) {
	e := r.last[l.run]
	e.back = true
	r.last[l.run] = e
}
