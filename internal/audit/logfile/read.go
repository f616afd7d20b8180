package logfile

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/merkle"
)

// Reader reads a log. All methods may be called concurrently.
type Reader struct {
	f        *file
	snapshot *sql.Tx // nil for the log as it is
}

func (r *Reader) q() querier {
	if r.snapshot != nil {
		return r.snapshot
	}
	return r.f.read
}

// Snapshot calls do with a reader of the log as it is now, though others write and prune it
// meanwhile: what they write adds to its -wal file until do returns.
func (l *Log) Snapshot(ctx context.Context, do func(*Reader) error) error {
	tx, err := l.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return l.explain(err)
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	return do(&Reader{f: l.file, snapshot: tx})
}

// Size returns how many records were ever added; the number of the next one.
func (r *Reader) Size(ctx context.Context) (int64, error) {
	size, err := sizeOf(ctx, r.q())
	return size, r.f.explain(err)
}

// Oldest returns the number of the first record that is still there: 0, if nothing was
// pruned.
func (r *Reader) Oldest(ctx context.Context) (first int64, err error) {
	err = r.q().QueryRowContext(ctx, "SELECT coalesce(min(first), 0) FROM segment").Scan(&first)
	return first, r.f.explain(err)
}

// Segment are records that were added together.
type Segment struct {
	// First is the number of the first one, Count how many there are, as the log says.
	First, Count int64
	// T0 and T1 are the stamps of the earliest and the latest, as the log says.
	T0, T1 string
	// Records has the records, each with a newline.
	Records []byte
}

// Span is a part of the log.
type Span struct {
	// From and To are numbers of records, From included; a To of 0 is the end.
	From, To int64
	// Since and Until bound the times, both included; zero for no bound.
	Since, Until time.Time
	// Backwards has the last segment come first.
	Backwards bool
}

// Segments calls each with every segment that has records of a part of the log, and may have
// others.
// It stops with the first error of each, and returns it. Memory is that of one segment, and
// no transaction is open while each runs, so that the file can be written meanwhile. What
// each is given is its own.
func (r *Reader) Segments(ctx context.Context, span Span, each func(Segment) error) error {
	order, beyond := "ASC", "first > ?"
	if span.Backwards {
		order, beyond = "DESC", "first < ?"
	}
	where, args := " WHERE first + count > ?", []any{span.From}
	add := func(condition string, arg any) { where, args = where+" AND "+condition, append(args, arg) }
	if !span.Backwards && span.From > 0 {
		// A number that can be searched: the segment that has From.
		add("first >= coalesce((SELECT max(first) FROM segment WHERE first <= ?), 0)", span.From)
	}
	if span.To > 0 {
		add("first < ?", span.To)
	}
	if !span.Since.IsZero() {
		add("t1 >= ?", audit.StampOf(span.Since))
	}
	if !span.Until.IsZero() {
		add("t0 <= ?", audit.StampOf(span.Until))
	}
	page := where
	for {
		var s Segment
		err := r.q().QueryRowContext(ctx, "SELECT first, count, t0, t1, records FROM segment"+page+" ORDER BY first "+order+" LIMIT 1", args...).Scan(&s.First, &s.Count, &s.T0, &s.T1, &s.Records)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return r.f.explain(err)
		}
		if err := each(s); err != nil {
			return err
		}
		if page == where {
			page, args = page+" AND "+beyond, append(args, s.First)
		}
		args[len(args)-1] = s.First
	}
}

// Read calls each with the records from number from on, up to to, which is not included; 0 is
// the end.
// It stops with the first error of each, and returns it. The bytes are each's own. Memory is
// that of one segment; others may write meanwhile.
func (r *Reader) Read(ctx context.Context, from, to int64, each func(n int64, record []byte) error) error {
	return r.Segments(ctx, Span{From: from, To: to}, func(s Segment) error {
		n := s.First
		for record := range bytes.Lines(s.Records) {
			if n >= from && (to == 0 || n < to) {
				if err := each(n, bytes.TrimSuffix(record, []byte("\n"))); err != nil {
					return err
				}
			}
			n++
		}
		return nil
	})
}

// ErrNoRecord is that the log does not have a record of a number: it was pruned, or is yet
// to come.
var ErrNoRecord = errors.New("the audit log does not have the record")

// Record returns one record.
func (r *Reader) Record(ctx context.Context, n int64) (record []byte, err error) {
	err = r.Read(ctx, n, n+1, func(_ int64, text []byte) error {
		record = text
		return nil
	})
	if err == nil && record == nil {
		err = fmt.Errorf("%w: %d", ErrNoRecord, n)
	}
	return record, err
}

// Checkpoints calls each with the checkpoints of more than after records, the smallest first.
// It stops with the first error of each, and returns it.
func (r *Reader) Checkpoints(ctx context.Context, after int64, each func(size int64, msg []byte) error) error {
	for {
		var msg []byte
		err := r.q().QueryRowContext(ctx, "SELECT size, note FROM checkpoint WHERE size > ? ORDER BY size LIMIT 1", after).Scan(&after, &msg)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return r.f.explain(err)
		}
		if err := each(after, msg); err != nil {
			return err
		}
	}
}

// LastCheckpoint returns the newest checkpoint; nil if there is none.
func (r *Reader) LastCheckpoint(ctx context.Context) ([]byte, error) {
	_, msg, err := lastCheckpoint(ctx, r.q())
	return msg, r.f.explain(err)
}

// Tiles returns the stored hashes. They are not checked.
func (r *Reader) Tiles(ctx context.Context) merkle.Tiles { return tilesOf(ctx, r.q()) }

// TileCount returns how many tiles are stored.
func (r *Reader) TileCount(ctx context.Context) (n int64, err error) {
	err = r.q().QueryRowContext(ctx, "SELECT count(*) FROM tile").Scan(&n)
	return n, r.f.explain(err)
}

// Prove returns the proof of a record for the newest checkpoint.
func (r *Reader) Prove(ctx context.Context, n int64) (*merkle.Proof, error) {
	record, err := r.Record(ctx, n)
	if err != nil {
		return nil, err
	}
	msg, err := r.LastCheckpoint(ctx)
	if err != nil {
		return nil, err
	}
	p, err := merkle.Prove(record, n, msg, r.Tiles(ctx))
	return p, r.f.explain(err)
}

// Stat is how a log is.
type Stat struct {
	// Bytes is the size of its files, Size the number of records that were ever added,
	// Oldest the number of the first that is still there.
	Bytes, Size, Oldest int64
	// Signed is how many of them the last checkpoint covers.
	Signed int64
	// Newest is when the newest record was made; zero if there is none.
	Newest time.Time
}

// Stat returns how the log is.
func (r *Reader) Stat(ctx context.Context) (s Stat, err error) {
	for _, end := range []string{"", "-wal", "-shm"} {
		if info, err := os.Stat(r.f.path + end); err == nil { // those may be missing
			s.Bytes += info.Size()
		}
	}
	var newest string
	err = r.q().QueryRowContext(ctx, `SELECT
		coalesce((SELECT first + count FROM segment ORDER BY first DESC LIMIT 1), 0),
		coalesce((SELECT min(first) FROM segment), 0),
		coalesce((SELECT max(size) FROM checkpoint), 0),
		coalesce((SELECT t1 FROM segment ORDER BY first DESC LIMIT 1), '')`).Scan(&s.Size, &s.Oldest, &s.Signed, &newest)
	if err == nil && newest != "" {
		s.Newest, err = time.Parse(time.RFC3339Nano, newest)
	}
	return s, r.f.explain(err)
}

// Body returns what is kept of the arguments of a record, or of its result; nil if nothing
// is. The member Record is not set.
func (r *Reader) Body(ctx context.Context, record int64, result bool) (*audit.Body, error) {
	b := audit.Body{Result: result}
	err := r.q().QueryRowContext(ctx, "SELECT digest, cut, data FROM body WHERE record = ? AND result = ?", record, result).Scan(&b.Digest, &b.Cut, &b.Data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &b, r.f.explain(err)
}

// State returns the State of the last batch of a run; nil for none.
func (r *Reader) State(ctx context.Context, run string) (state []byte, err error) {
	err = r.q().QueryRowContext(ctx, "SELECT state FROM run WHERE id = ?", run).Scan(&state)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return state, r.f.explain(err)
}
