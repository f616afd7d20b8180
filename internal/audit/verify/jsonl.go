package verify

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/mcpctl/mcpctl/internal/audit/merkle"
)

// maxLine bounds a line of an export: a checkpoint with the signatures of many witnesses, or
// a record.
const maxLine = 1 << 20

// mark is a line of an export that is no record: the first one, and checkpoints.
type mark struct {
	Log        string `json:"log"`
	Checkpoint string `json:"checkpoint"`
	// Next is the number of the record behind it, Edge the hashes of the tree up to there.
	Next int64       `json:"next"`
	Edge []tlog.Hash `json:"edge"`
}

// maxBehind is how many records a checkpoint may stand behind its place.
const maxBehind = 64 << 10

// export is the check of an export. Checkpoints stand at their place or behind it, so the
// hashes of the last records are kept.
type export struct {
	c      *checker
	recent []tlog.Hash // not yet added to the tree
}

// JSONL verifies an export: a record a line, as it was hashed, and lines with checkpoints
// between them. Its first line may say with which record it begins, and the hashes of the
// tree before that. Errors are of reading, and of options.
func JSONL(ctx context.Context, from io.Reader, o Options) (*Report, error) {
	c, err := newChecker(o)
	if err != nil {
		return nil, err
	}
	c.tree.bare = true
	c.merge(func() (size int64, msg []byte) { return 0, nil })
	e := export{c: c}
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	for lines.Scan() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		e.line(lines.Bytes())
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		c.find(Unreadable, e.next(), e.next(), "the line of record %d is longer than any that mcpctl writes", e.next())
	} else if err != nil {
		return nil, err
	}
	e.flush(e.next())
	c.rest()
	return c.finish(), nil
}

// next is the number of the next record.
func (e *export) next() int64 { return e.c.tree.stored.Size() + int64(len(e.recent)) }

// flush adds records to the tree, up to a number.
func (e *export) flush(to int64) {
	n := max(0, to-e.c.tree.stored.Size())
	for i := range n {
		e.c.push(&e.recent[i], nil)
	}
	e.recent = e.recent[:copy(e.recent, e.recent[n:])]
}

func (e *export) line(line []byte) {
	if bytes.HasPrefix(line, []byte(`{"v":`)) {
		l := leafOf(line, &e.c.runs)
		e.c.leaf(e.next(), &l)
		e.recent = append(e.recent, l.hash)
		if len(e.recent) == 2*maxBehind {
			e.flush(e.next() - maxBehind)
		}
		return
	}
	var m mark
	if err := json.Unmarshal(line, &m); err != nil || m.Checkpoint == "" && m.Log == "" || m.Next < 0 {
		e.c.find(Unreadable, e.next(), e.next(), "the line before record %d is not what mcpctl writes", e.next())
		return
	}
	if m.Next != e.next() {
		e.skip(&m)
	}
	if m.Checkpoint == "" {
		return
	}
	signed, err := merkle.Unsigned([]byte(m.Checkpoint))
	if err != nil {
		e.c.find(Unsigned, -1, -1, "the checkpoint before record %d cannot be read", m.Next)
		return
	}
	p := e.c.read(signed.Size, []byte(m.Checkpoint))
	switch {
	case p == nil: // read has said why
	case p.Size > m.Next:
		e.c.find(Short, m.Next, p.Size-1, "records %d to %d are missing before a checkpoint", m.Next, p.Size-1)
	case p.Size >= e.c.tree.stored.Size():
		e.flush(p.Size)
		e.at(p)
	case p.Size <= e.c.report.Oldest: // of what came before
	default:
		e.c.find(Unsigned, -1, -1, "the checkpoint of %d records stands behind record %d, too late to be compared", p.Size, m.Next-1)
	}
}

// skip goes on with the record that a mark names.
func (e *export) skip(m *mark) {
	size := e.next()
	edge, err := merkle.NewEdge(m.Next, m.Edge)
	if err == nil {
		defer func() { e.c.tree.stored, e.c.lost = edge, false }() // what follows can be compared
	}
	switch {
	case size == 0 && err == nil:
		e.c.report.Oldest, e.c.prunedTo = m.Next, m.Next
		return
	case size == 0:
		e.c.report.Oldest, e.c.prunedTo = m.Next, m.Next
		e.c.remark(Missing, 0, m.Next-1, "the export begins with record %d, without the hashes of those before it: its checkpoints cannot be compared", m.Next)
	case m.Next > size:
		e.c.find(Missing, size, m.Next-1, "records %d to %d are missing", size, m.Next-1)
		e.c.runs.skipped += uint64(m.Next - size) //nolint:gosec // not negative
	default:
		e.c.find(Inserted, m.Next, size-1, "there are %d records more than there should be before record %d", size-m.Next, m.Next)
	}
	e.flush(size)
	e.c.jump(m.Next)
}

// at compares the tree with a checkpoint of its size.
func (e *export) at(p *checkpoint) {
	for e.c.next.Size < p.Size {
		e.c.compare()
	}
	given, others := e.c.next, e.c.checkNext
	e.c.next, e.c.checkNext = *p, func() (checkpoint, bool) { return given, true }
	e.c.compare()
	e.c.checkNext = others
}
