package verify

import (
	"bytes"
	"context"
	"errors"
	"math"
	"runtime"
	"sync"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/logfile"
	"github.com/mcpctl/mcpctl/internal/audit/merkle"
)

// job is a part of the log: a segment with the hashes that are stored of its records, or
// hashes without records.
type job struct {
	segment logfile.Segment
	kind    jobKind
	// want is how many records the segment should have, stored their hashes, as far as there
	// are any.
	want   int64
	stored []byte
	// to is where a jump leads.
	to int64

	// What follows is made of the segment, and there when done is closed.
	leaves []leaf
	t0, t1 string
	done   chan struct{}
}

type jobKind int

const (
	inPlace  jobKind = iota
	overlaid         // a segment where another one is
	hashOnly         // hashes whose records are not there
	jump             // neither hashes nor records, up to
)

// leaf is a record.
type leaf struct {
	hash       tlog.Hash
	run, n     uint64
	t          int64         // microseconds
	special    *audit.Record // of some kinds
	unreadable bool
}

func (j *job) storedAt(i int) *tlog.Hash {
	if len(j.stored) < (i+1)*tlog.HashSize {
		return nil
	}
	return (*tlog.Hash)(j.stored[i*tlog.HashSize:])
}

// maxWant is how many records a segment may say it has: more were never written at once.
const maxWant = 4096

// pipeline reads the log in one goroutine, hashes it in some, and checks it in this one.
func (c *checker) pipeline(ctx context.Context, r *logfile.Reader) error {
	workers := runtime.GOMAXPROCS(0)
	var g sync.WaitGroup
	var failed error
	// Segments have up to a megabyte.
	ordered, work := make(chan *job, workers+2), make(chan *job, workers+2)
	g.Go(func() {
		defer close(ordered)
		defer close(work)
		failed = (&source{ctx: ctx, r: r, ordered: ordered, work: work, tiles: r.Tiles(ctx)}).run()
	})
	for range workers {
		g.Go(func() {
			for j := range work {
				j.hash(&c.runs)
				close(j.done)
			}
		})
	}
	seen := false
	for j := range ordered {
		<-j.done
		switch j.kind {
		case inPlace:
			if !seen {
				c.report.Oldest, seen = j.segment.First, true
			}
			if j.segment.First != c.tree.stored.Size() { // hashes were missing before
				c.jump(j.segment.First)
			}
			c.segment(j)
		case overlaid:
			first := j.segment.First
			c.findRange(Inserted, first, first+int64(max(len(j.leaves), 1))-1, "was inserted: another one has its place", "were inserted: others have their places")
		case hashOnly:
			first := c.tree.stored.Size()
			for i := range j.want {
				c.push(nil, j.storedAt(int(i)))
			}
			if seen { // else they were pruned
				c.runs.skipped += uint64(j.want) //nolint:gosec // not negative
				c.findRange(Missing, first, c.tree.stored.Size()-1, "is missing", "are missing")
			}
		case jump:
			c.lost = true
			c.find(Missing, c.tree.stored.Size(), j.to-1, "records %d to %d are missing, and so are their hashes: later ones cannot be compared", c.tree.stored.Size(), j.to-1)
			c.jump(j.to)
		}
	}
	g.Wait()
	return failed
}

// jump goes on behind records of which nothing is known.
func (c *checker) jump(to int64) {
	for c.next.Size < to {
		c.compare()
	}
	c.lost = true
	if e, err := merkle.NewEdge(to, make([]tlog.Hash, onesIn(to))); err == nil {
		c.tree.stored, c.tree.forked = e, false
	}
}

func onesIn(n int64) (ones int) {
	for ; n > 0; n &= n - 1 {
		ones++
	}
	return ones
}

// source reads a log.
type source struct {
	ctx           context.Context //nolint:containedctx // of one goroutine
	r             *logfile.Reader
	ordered, work chan<- *job

	tiles merkle.Tiles
	tile  int64 // number of hashes
	data  []byte
	read  bool

	at   int64 // number of the next record
	held *job  // until it is known where the next segment begins
}

func (s *source) run() error {
	err := s.r.Segments(s.ctx, logfile.Span{From: math.MinInt64}, func(seg logfile.Segment) error {
		if s.held == nil && seg.First < 0 || s.held != nil && seg.First <= s.held.segment.First {
			return s.send(&job{segment: seg, kind: overlaid})
		}
		if err := s.release(seg.First); err != nil {
			return err
		}
		s.held = &job{segment: seg}
		return nil
	})
	if err != nil {
		return err
	}
	return s.release(math.MaxInt64)
}

// release sends the segment that is held, and the hashes between it and the next one, or
// the end of the log.
func (s *source) release(next int64) error {
	j := s.held
	if j == nil {
		return s.fill(next)
	}
	first, err := j.segment.First, error(nil)
	if j.stored, err = s.hashes(first, min(next, first+maxWant)); err != nil {
		return err
	}
	j.want = j.segment.Count
	if j.want < 1 || j.want > maxWant {
		j.want = int64(bytes.Count(j.segment.Records, []byte("\n")))
	}
	// What is missing before the next segment, or too much, is taken as missing or too much
	// in this one. Behind the last one hashes say where the log ends, if they do not end with
	// a tile: another one may be missing.
	end := first + int64(len(j.stored)/tlog.HashSize)
	if gap := next - first; gap <= maxWant {
		j.want = gap
	} else if next == math.MaxInt64 && end < first+maxWant && (end > first+j.want || end%merkle.TileWidth != 0) {
		j.want = end - first
	}
	j.stored = j.stored[:min(int64(len(j.stored)), j.want*tlog.HashSize)]
	s.at = first + j.want
	if err := s.send(j); err != nil {
		return err
	}
	return s.fill(next)
}

// fill sends hashes of records that are not there, up to a number, or as long as there are
// any.
func (s *source) fill(to int64) error {
	for s.at < to {
		end := min(to, (s.at>>merkle.TileHeight+1)<<merkle.TileHeight)
		stored, err := s.hashes(s.at, end)
		if err != nil {
			return err
		}
		if n := int64(len(stored) / tlog.HashSize); n > 0 {
			if err := s.send(&job{kind: hashOnly, want: n, stored: stored}); err != nil {
				return err
			}
			s.at += n
		}
		if s.at < end {
			if to == math.MaxInt64 {
				return nil
			}
			s.at = to
			return s.send(&job{kind: jump, to: to})
		}
	}
	return nil
}

// hashes returns the stored hashes of records, up to the first that is missing.
func (s *source) hashes(from, to int64) (list []byte, err error) {
	for from < to {
		if tile := from >> merkle.TileHeight; tile != s.tile || !s.read {
			if s.data, err = s.tiles(0, tile); err != nil {
				return nil, err
			}
			s.tile, s.read = tile, true
		}
		low := (from & (merkle.TileWidth - 1)) * tlog.HashSize
		high := min(int64(len(s.data)/tlog.HashSize*tlog.HashSize), low+(to-from)*tlog.HashSize, merkle.TileWidth*tlog.HashSize)
		if high <= low {
			break
		}
		list = append(list, s.data[low:high]...)
		from += (high - low) / tlog.HashSize
		if from&(merkle.TileWidth-1) != 0 && from < to {
			break // the tile is too short
		}
	}
	return list, nil
}

func (s *source) send(j *job) error {
	j.done = make(chan struct{})
	if j.segment.Records == nil {
		close(j.done)
	} else {
		s.work <- j
	}
	s.ordered <- j // it is read to the end
	return s.ctx.Err()
}

// hash makes the leaves of a segment.
func (j *job) hash(names *runs) {
	j.leaves = make([]leaf, 0, min(bytes.Count(j.segment.Records, []byte("\n"))+1, maxWant))
	for line := range bytes.Lines(j.segment.Records) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		j.leaves = append(j.leaves, leafOf(line, names))
		t := audit.Stamp(line)
		if len(j.leaves) == 1 {
			j.t0 = t
		}
		j.t0, j.t1 = min(j.t0, t), max(j.t1, t)
	}
	j.segment.Records = j.segment.Records[max(0, len(j.segment.Records)-1):] // its end is looked at
}

func leafOf(line []byte, names *runs) leaf {
	l := leaf{hash: tlog.RecordHash(line)}
	r, err := audit.Parse(line)
	if err != nil {
		l.unreadable = true
		return l
	}
	l.run, l.n, l.t = names.key(r.Run), r.N, r.Time.UnixMicro()
	if r.Kind == audit.KindPrune || r.Kind == audit.KindRotate {
		l.special = &r
	}
	return l
}

// errStop ends a read.
var errStop = errors.New("stop")

// nextCheckpoint returns the checkpoint of the next greater size; nil if there is none.
func nextCheckpoint(ctx context.Context, r *logfile.Reader, after *int64) (msg []byte, err error) {
	err = r.Checkpoints(ctx, *after, func(size int64, m []byte) error {
		*after, msg = size, m
		return errStop
	})
	if errors.Is(err, errStop) {
		err = nil
	}
	return msg, err
}

// upperTiles compares the hashes of subtrees with stored ones.
type upperTiles struct {
	read merkle.Tiles
	last map[int]upperTile
	// want are what the hashes of one record make full: by what is stored, by what is there.
	want []upperHash
}

type upperTile struct {
	n    int64
	data []byte
}

type upperHash struct {
	level int
	n     int64
	hash  tlog.Hash
}

// expect is for [merkle.Edge.Add].
func (u *upperTiles) expect(level int, n int64, h tlog.Hash) {
	if u.read != nil && level%merkle.TileHeight == 0 {
		u.want = append(u.want, upperHash{level / merkle.TileHeight, n, h})
	}
}

// bad returns the level of a stored hash that is none of what is expected; -1 for none.
func (u *upperTiles) bad() int {
	if len(u.want) == 0 {
		return -1
	}
	found := map[int]bool{}
	for _, w := range u.want {
		tile := w.n >> merkle.TileHeight
		at := (w.n & (merkle.TileWidth - 1)) * tlog.HashSize
		last, ok := u.last[w.level]
		if !ok || last.n != tile {
			data, err := u.read(w.level, tile)
			if err != nil {
				data = nil // it does not have what is expected
			}
			last = upperTile{tile, data}
			u.last[w.level] = last
		}
		found[w.level] = found[w.level] || int64(len(last.data)) >= at+tlog.HashSize && tlog.Hash(last.data[at:at+tlog.HashSize]) == w.hash
	}
	u.want = u.want[:0]
	for level, ok := range found {
		if !ok {
			return level
		}
	}
	return -1
}
