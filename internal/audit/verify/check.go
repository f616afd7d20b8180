package verify

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/logfile"
	"github.com/mcpctl/mcpctl/internal/audit/merkle"
)

// checker goes through a log from its first record to the last.
type checker struct {
	report Report
	most   int
	keys   *keyring
	known  []knownCheckpoint // of the options, the smallest first

	tree tree
	// lost is that neither the records nor their hashes are there, or others than those
	// that were signed: later checkpoints cannot be compared.
	lost    bool
	checked int64 // size of the last checkpoint that was compared

	runs      runs
	prunedTo  int64 // what records of retention say
	checkNext func() (checkpoint, bool)
	next      checkpoint
}

// tree is what the records and their stored hashes make.
type tree struct {
	// stored is the tree of the stored hashes, got that of the records, if forked: until
	// there both are one. A checkpoint says which of them is right.
	stored, got merkle.Edge
	forked      bool
	doubts      []doubt // since the last checkpoint
	wrong       []doubt // those that a checkpoint has decided: the stored hashes are right
	bare        bool    // there are no stored hashes
	unhashed    span    // records without stored hashes
	upper       upperTiles
}

// doubt is a record whose hash is not the stored one.
type doubt struct {
	n           int64
	got, stored tlog.Hash
}

const maxDoubts = 100_000

type span struct{ first, last int64 }

type knownCheckpoint struct {
	merkle.Checkpoint
	msg []byte
}

// checkpoint is one to compare with.
type checkpoint struct {
	merkle.Checkpoint
	msg   []byte
	given bool // by the options
}

func newChecker(o Options) (*checker, error) {
	keys, err := newKeyring(o.Keys)
	if err != nil {
		return nil, err
	}
	c := &checker{most: cmp.Or(o.Most, 1000), keys: keys, runs: newRuns(), tree: tree{unhashed: span{-1, -1}}}
	c.next.Size = math.MaxInt64
	for _, msg := range o.Since {
		k, err := merkle.Unsigned(msg)
		if err != nil {
			return nil, err
		}
		c.known = append(c.known, knownCheckpoint{k, msg})
	}
	slices.SortFunc(c.known, func(a, b knownCheckpoint) int { return cmp.Compare(a.Size, b.Size) })
	return c, nil
}

// log checks a log.
func (c *checker) log(ctx context.Context, r *logfile.Reader) error {
	c.tree.upper = upperTiles{read: r.Tiles(ctx), last: map[int]upperTile{}}
	var failed error
	after := int64(math.MinInt64)
	c.merge(func() (size int64, msg []byte) {
		msg, err := nextCheckpoint(ctx, r, &after)
		failed = cmp.Or(failed, err)
		return after, msg
	})
	if err := c.pipeline(ctx, r); err != nil {
		return err
	}
	c.rest()
	tiles, err := r.TileCount(ctx)
	if err != nil {
		return err
	}
	want := int64(0)
	for n := c.tree.stored.Size(); n > 0; n >>= merkle.TileHeight {
		want += (n + merkle.TileWidth - 1) >> merkle.TileHeight
	}
	if tiles > want {
		c.find(Hashes, -1, -1, "there are %d tiles of hashes more than there should be", tiles-want)
	}
	return failed
}

// merge sets what the next checkpoint is: of the log's and of those in the options.
func (c *checker) merge(stored func() (size int64, msg []byte)) {
	known := c.known
	var ahead *checkpoint
	c.checkNext = func() (checkpoint, bool) {
		for ahead == nil {
			size, msg := stored()
			if msg == nil {
				break
			}
			ahead = c.read(size, msg)
		}
		if len(known) > 0 && (ahead == nil || known[0].Size <= ahead.Size) {
			k := known[0]
			known = known[1:]
			return checkpoint{k.Checkpoint, k.msg, true}, true
		}
		if ahead == nil {
			return checkpoint{Checkpoint: merkle.Checkpoint{Size: math.MaxInt64}}, false
		}
		found := *ahead
		ahead = nil
		return found, true
	}
	c.next, _ = c.checkNext()
}

// read reads a checkpoint of the log; nil if there is none to compare with.
func (c *checker) read(size int64, msg []byte) *checkpoint {
	c.report.Checkpoints++
	p, err := merkle.Unsigned(msg)
	switch {
	case err != nil:
		c.find(Unsigned, -1, -1, "the checkpoint of %d records cannot be read", size)
		return nil
	case p.Size != size:
		c.find(Unsigned, -1, -1, "the checkpoint of %d records is one of %d", size, p.Size)
		return nil
	case p.Origin != c.keys.trusted[0].Name():
		c.find(Unsigned, -1, -1, "the checkpoint of %d records is of the log %q, the key of %q", size, p.Origin, c.keys.trusted[0].Name())
		return nil
	}
	c.report.Origin = p.Origin
	return &checkpoint{p, msg, false}
}

// push adds a record, its stored hash, or both.
func (c *checker) push(got, stored *tlog.Hash) {
	n := c.tree.stored.Size()
	for c.next.Size <= n {
		c.compare()
	}
	switch {
	case got == nil:
		got = stored
	case stored == nil && c.tree.bare:
		stored = got
	case stored == nil:
		if c.tree.unhashed.first < 0 {
			c.tree.unhashed.first = n
		}
		c.tree.unhashed.last, stored = n, got
	case *got != *stored:
		if !c.tree.forked {
			c.tree.got, c.tree.forked = c.tree.stored, true
		}
		if len(c.tree.doubts) < maxDoubts {
			c.tree.doubts = append(c.tree.doubts, doubt{n, *got, *stored})
		}
	}
	if c.tree.forked {
		c.tree.got.Add(*got, c.tree.upper.expect)
	}
	c.tree.stored.Add(*stored, c.tree.upper.expect)
	if bad := c.tree.upper.bad(); bad >= 0 {
		c.find(Hashes, -1, -1, "a stored hash of level %d was changed, at record %d", bad, n)
	}
}

// compare compares the tree with the next checkpoint, which has its size.
func (c *checker) compare() {
	p := c.next
	defer func() { c.next, _ = c.checkNext() }()
	signed := c.keys.check(p.Size, p.msg)
	if signed == unknownKey && !p.given && c.keys.later(p.Size, p.msg) {
		signed = good // it may turn out to be
	}
	if signed != good {
		c.unsigned(p, signed)
		return
	}
	if c.lost {
		return
	}
	switch {
	case c.tree.stored.Root() == p.Root:
		c.tree.forked = false
		c.changed()
	case c.tree.forked && c.tree.got.Root() == p.Root:
		c.tree.stored, c.tree.forked = c.tree.got, false
		var numbers []int64
		for _, d := range c.tree.doubts {
			numbers = append(numbers, d.n)
		}
		c.tree.doubts = nil
		for _, n := range numbers {
			c.find(Hashes, n, n, "the stored hash of record %d was changed", n)
		}
	case p.given:
		c.find(Inconsistent, 0, p.Size-1, "the first %d records are not those that the given checkpoint has signed: the log was written anew", p.Size)
		return
	default:
		c.lost = true
		c.changed()
		c.find(Inconsistent, c.checked, p.Size-1, "records %d to %d are not those that the checkpoint of %d records has signed; later ones cannot be compared", c.checked, p.Size-1, p.Size)
	}
	c.checked = p.Size
}

func (c *checker) unsigned(p checkpoint, why signature) {
	what := "the checkpoint"
	if p.given {
		what = "the given checkpoint"
	}
	c.find(Unsigned, -1, -1, "%s of %d records does not count: %s", what, p.Size, why)
}

// changed notes that the stored hashes are right, and the records are not.
func (c *checker) changed() {
	n := min(len(c.tree.doubts), maxDoubts-len(c.tree.wrong))
	c.report.More += len(c.tree.doubts) - n
	c.tree.wrong, c.tree.doubts = append(c.tree.wrong, c.tree.doubts[:n]...), nil
}

// wrong turns records that are not those which were signed into findings.
func (c *checker) wrong() {
	places := map[tlog.Hash]int64{}
	for _, d := range c.tree.wrong {
		places[d.stored] = d.n
	}
	var numbers []int64
	for _, d := range c.tree.wrong {
		if place, ok := places[d.got]; ok {
			c.find(Reordered, d.n, d.n, "record %d stands at the place of record %d", place, d.n)
			continue
		}
		numbers = append(numbers, d.n)
	}
	c.findEach(Changed, numbers, "was changed", "were changed")
}

// rest compares what is behind the last record.
func (c *checker) rest() {
	size := c.tree.stored.Size()
	for c.next.Size <= size {
		c.compare()
	}
	c.changed()
	c.wrong()
	longest, given := int64(-1), false
	for c.next.Size != math.MaxInt64 {
		p := c.next
		c.next, _ = c.checkNext()
		if why := c.keys.check(p.Size, p.msg); why != good {
			c.unsigned(p, why)
			continue
		}
		longest, given = max(longest, p.Size), given || p.given
	}
	if longest >= 0 {
		what := "a checkpoint"
		if given {
			what = "a known checkpoint"
		}
		c.find(Short, size, longest-1, "the log ends after %d records, and %s has %d: records %d to %d are missing at the end", size, what, longest, size, longest-1)
	}
	if c.tree.unhashed.first >= 0 {
		c.findRange(Hashes, c.tree.unhashed.first, c.tree.unhashed.last, "has no stored hash", "have no stored hashes")
	}
}

// finish returns the report.
func (c *checker) finish() *Report {
	r := &c.report
	r.Size, r.Runs = c.tree.stored.Size(), c.runs.count()
	c.keys.settle(func(size int64, why signature) {
		c.find(Unsigned, -1, -1, "the checkpoint of %d records does not count: %s", size, why)
	})
	r.Signed = max(c.keys.signed, 0)
	switch unsigned := r.Size - r.Signed; {
	case c.keys.signed < 0:
		c.find(Unsigned, -1, -1, "no checkpoint is signed by the key: nothing is proven")
	case unsigned > MaxUnsigned:
		c.find(Unsigned, r.Signed, r.Size-1, "the last %d records are not signed", unsigned)
	case unsigned > 0:
		c.remark(Unsigned, r.Signed, r.Size-1, "the last %d records are not signed yet", unsigned)
	}
	if r.Oldest > 0 && !c.tree.bare {
		if c.prunedTo >= r.Oldest {
			c.remark(Pruned, 0, r.Oldest-1, "records 0 to %d were removed by retention; their hashes were verified", r.Oldest-1)
		} else {
			c.find(Missing, 0, r.Oldest-1, "records 0 to %d are missing, and no record says that retention has removed them", r.Oldest-1)
		}
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return cmp.Compare(a.First, b.First) })
	return r
}

// segment checks a segment that stands where it should.
func (c *checker) segment(j *job) {
	s := &j.segment
	first := s.First
	c.head(j)
	if int64(len(j.leaves)) == j.want {
		for i := range j.leaves {
			l, stored := &j.leaves[i], j.storedAt(i)
			c.push(&l.hash, stored)
			if stored != nil && l.hash != *stored {
				c.runs.skipped++
				continue
			}
			c.leaf(first+int64(i), l)
		}
	} else {
		c.uneven(j)
	}
}

// head checks what the log says of a segment.
func (c *checker) head(j *job) {
	s := &j.segment
	last := s.First + max(int64(len(j.leaves)), j.want, 1) - 1
	if int64(len(j.leaves)) != s.Count {
		c.find(Segment, s.First, last, "the segment from record %d on says that it has %d records, and has %d", s.First, s.Count, len(j.leaves))
	}
	if j.t0 != s.T0 || j.t1 != s.T1 {
		c.find(Segment, s.First, last, "the segment from record %d on says that its records are of %s to %s, and they are of %s to %s", s.First, s.T0, s.T1, j.t0, j.t1)
	}
	if len(j.leaves) > 0 && !bytes.HasSuffix(s.Records, []byte("\n")) {
		last = s.First + int64(len(j.leaves)) - 1
		c.find(Changed, last, last, "record %d was changed: its end is missing", last)
	}
}

// uneven checks a segment that has more records than it should, or fewer, against its stored
// hashes, which stand in for the records then.
func (c *checker) uneven(j *job) {
	first, have := j.segment.First, min(j.want, int64(len(j.stored)/tlog.HashSize))
	stored := map[tlog.Hash]int{}
	for i := range int(have) {
		stored[*j.storedAt(i)] = i
		c.push(nil, j.storedAt(i))
	}
	for i := int(have); i < min(int(j.want), len(j.leaves)); i++ { // without stored hashes
		c.push(&j.leaves[i].hash, nil)
	}
	var inserted, reordered []int64
	last := -1
	c.runs.skipped += uint64(max(0, j.want-int64(len(j.leaves))))
	for i := range j.leaves {
		at, ok := stored[j.leaves[i].hash]
		delete(stored, j.leaves[i].hash) // so that another one is one too many
		switch {
		case !ok && int64(i) >= have && int64(i) < j.want: // without stored hashes
			c.leaf(first+int64(i), &j.leaves[i])
			continue
		case !ok:
			inserted = append(inserted, first+int64(i))
			continue
		case at < last:
			reordered = append(reordered, first+int64(at))
		default:
			last = at
		}
		c.leaf(first+int64(at), &j.leaves[i])
	}
	var missing []int64
	for _, at := range stored {
		missing = append(missing, first+int64(at))
	}
	c.findEach(Missing, missing, "is missing", "are missing")
	c.findEach(Inserted, inserted, "was inserted, or changed", "were inserted, or changed")
	c.findEach(Reordered, reordered, "is not in its place", "are not in their places")
}

// leaf checks what a record says.
func (c *checker) leaf(n int64, l *leaf) {
	if l.unreadable {
		c.find(Unreadable, n, n, "record %d is not what mcpctl writes", n)
		return
	}
	if r := l.special; r != nil && r.Kind == audit.KindRotate {
		c.keys.rotate(n, r.Text)
	} else if r != nil {
		c.prunedTo = max(c.prunedTo, r.Count) // of retention
	}
	now, before := c.runs.see(l)
	switch {
	case before == nil && l.n > 1+now.skipped && c.report.Oldest == 0:
		c.find(Hole, n, n, "record %d is number %d of its run, whose first %d are missing", n, l.n, l.n-1)
	case before == nil:
	case l.n == before.n:
		c.find(Twice, n, n, "record %d is number %d of its run, which was there before", n, l.n)
	case l.n < before.n:
		c.find(Reordered, n, n, "record %d is number %d of its run, and follows number %d", n, l.n, before.n)
	case l.n > before.n+1+(now.skipped-before.skipped):
		c.find(Hole, n, n, "record %d is number %d of its run, and follows number %d: %d are missing", n, l.n, before.n, l.n-before.n-1)
	}
	if before != nil && !now.back && before.t-l.t > time.Second.Microseconds() {
		c.runs.stepped(l)
		c.remark(Clock, n, n, "record %d is older than the one before it in its run: the clock was set back by %v", n, time.Duration(before.t-l.t)*time.Microsecond)
	}
}
