package logfile

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/merkle"
)

// Bounds of a segment: it is read as a whole.
const (
	maxSegment      = 512
	maxSegmentBytes = 1 << 20
)

// Append adds a batch in one transaction, all of it or nothing, and returns the number of
// its first record in the log. What was added outlives the process. It waits while another
// process writes.
func (l *Log) Append(ctx context.Context, b *audit.Batch) (first int64, err error) {
	for _, r := range b.Records {
		if audit.Stamp(r) == "" || bytes.IndexByte(r, '\n') >= 0 {
			return 0, fmt.Errorf("append to the audit log: %w", audit.ErrNoRecord)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil {
		return 0, l.explain(ErrReadOnly)
	}
	if b.Sync != l.synced {
		mode := map[bool]string{true: "full", false: "normal"}[b.Sync]
		if _, err := l.conn.ExecContext(ctx, "PRAGMA synchronous="+mode); err != nil {
			return 0, l.explain(err)
		}
		l.synced = b.Sync
	}
	err = l.writingLocked(ctx, func(ctx context.Context) error {
		if first, err = sizeOf(ctx, l.conn); err != nil {
			return err
		}
		if err := l.addRecords(ctx, first, b.Records); err != nil {
			return err
		}
		if err := l.addAlso(ctx, first, b); err != nil {
			return err
		}
		if b.Sign {
			_, err := l.checkpoint(ctx)
			b.Signed = err == nil
		}
		return nil
	})
	return first, err
}

func (l *Log) addRecords(ctx context.Context, first int64, records [][]byte) error {
	edge := tileEdge{log: l, ctx: ctx}
	for at, rest := first, records; len(rest) > 0; {
		n, err := l.addSegment(ctx, at, rest)
		if err != nil {
			return err
		}
		for i, r := range rest[:n] {
			if err := edge.add(0, at+int64(i), tlog.RecordHash(r)); err != nil {
				return err
			}
		}
		at, rest = at+int64(n), rest[n:]
	}
	return edge.flush()
}

// addAlso adds what a batch has beside its records.
func (l *Log) addAlso(ctx context.Context, first int64, b *audit.Batch) error {
	for _, body := range b.Bodies {
		const add = "INSERT INTO body (record, result, digest, t, cut, data) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
		t := audit.Stamp(b.Records[body.Record])
		if _, err := l.conn.ExecContext(ctx, add, first+int64(body.Record), body.Result, body.Digest, t, body.Cut, append([]byte{}, body.Data...)); err != nil {
			return err
		}
	}
	if b.State == nil {
		_, err := l.conn.ExecContext(ctx, "DELETE FROM run WHERE id = ?", b.Run)
		return err
	}
	_, err := l.conn.ExecContext(ctx, "INSERT INTO run (id, state) VALUES (?, ?) ON CONFLICT DO UPDATE SET state = excluded.state", b.Run, b.State)
	return err
}

// addSegment adds as many of the records as one segment may have, and returns how many.
func (l *Log) addSegment(ctx context.Context, first int64, records [][]byte) (n int, err error) {
	length := 0
	for n < min(len(records), maxSegment) && (n == 0 || length+len(records[n]) < maxSegmentBytes) {
		length += len(records[n]) + 1
		n++
	}
	text := slices.Grow(l.text[:0], length)
	earliest, latest := 0, 0
	for i, r := range records[:n] {
		if audit.Stamp(r) < audit.Stamp(records[earliest]) {
			earliest = i
		}
		if audit.Stamp(r) > audit.Stamp(records[latest]) {
			latest = i
		}
		text = append(append(text, r...), '\n')
	}
	l.text = text
	const add = "INSERT INTO segment (first, count, t0, t1, records) VALUES (?, ?, ?, ?, ?)"
	_, err = l.conn.ExecContext(ctx, add, first, n, audit.Stamp(records[earliest]), audit.Stamp(records[latest]), text)
	return n, err
}

// sizeOf returns how many records the log has: prune leaves the last segment.
func sizeOf(ctx context.Context, q querier) (size int64, err error) {
	err = q.QueryRowContext(ctx, "SELECT first + count FROM segment ORDER BY first DESC LIMIT 1").Scan(&size)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return size, err
}

// tileEdge are the last tiles of each level, while records are added.
type tileEdge struct {
	log    *Log
	ctx    context.Context //nolint:containedctx // of one transaction
	levels []edgeTile
}

type edgeTile struct {
	n      int64
	hashes []byte
	dirty  bool
}

// add adds hash number n of a level.
func (e *tileEdge) add(level int, n int64, h tlog.Hash) error {
	for len(e.levels) <= level {
		e.levels = append(e.levels, edgeTile{n: -1})
	}
	t := &e.levels[level]
	if number := n >> merkle.TileHeight; number != t.n {
		*t = edgeTile{n: number, hashes: make([]byte, 0, merkle.TileWidth*tlog.HashSize)}
		if have := n % merkle.TileWidth; have > 0 {
			stored, err := tileOf(e.ctx, e.log.conn, level, number)
			if err != nil {
				return err
			}
			if int64(len(stored)) != have*tlog.HashSize {
				return fmt.Errorf("%w: %w: level %d, number %d", ErrDamaged, merkle.ErrTile, level, number)
			}
			t.hashes = append(t.hashes, stored...)
		}
	}
	t.hashes, t.dirty = append(t.hashes, h[:]...), true
	if len(t.hashes) < merkle.TileWidth*tlog.HashSize {
		return nil
	}
	if err := e.store(level); err != nil {
		return err
	}
	return e.add(level+1, t.n, merkle.TileRoot(t.hashes))
}

func (e *tileEdge) store(level int) error {
	t := &e.levels[level]
	t.dirty = false
	_, err := e.log.conn.ExecContext(e.ctx, "INSERT INTO tile (level, n, hashes) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET hashes = excluded.hashes", level, t.n, t.hashes)
	return err
}

func (e *tileEdge) flush() error {
	for level := range e.levels {
		if e.levels[level].dirty {
			if err := e.store(level); err != nil {
				return err
			}
		}
	}
	return nil
}

// tileOf returns the hashes of a tile, nil for one that is not there.
func tileOf(ctx context.Context, q querier, level int, n int64) (hashes []byte, err error) {
	err = q.QueryRowContext(ctx, "SELECT hashes FROM tile WHERE level = ? AND n = ?", level, n).Scan(&hashes)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return hashes, err
}

// Checkpoint signs the log as it is, and keeps and returns the signed note. If nothing was
// added since the last checkpoint, it returns that. A log that does not begin with what the
// last one has signed is not signed: the error is ErrInconsistent.
func (l *Log) Checkpoint(ctx context.Context) (msg []byte, err error) {
	err = l.writing(ctx, func(ctx context.Context) error {
		msg, err = l.checkpoint(ctx)
		return err
	})
	return msg, err
}

// checkpoint is Checkpoint in a transaction. The caller has the connection. More signers
// sign beside the key's own.
func (l *Log) checkpoint(ctx context.Context, more ...note.Signer) ([]byte, error) {
	signer, err := l.o.Key.signer()
	if err != nil {
		return nil, err
	}
	size, err := sizeOf(ctx, l.conn)
	if err != nil {
		return nil, err
	}
	before, last, err := lastCheckpoint(ctx, l.conn)
	if err != nil {
		return nil, err
	}
	if last != nil && before.Origin != signer.Name() {
		return nil, fmt.Errorf("%w: %s, not %s", ErrOtherKey, signer.Name(), before.Origin)
	}
	if last != nil && before.Size == size && len(more) == 0 {
		return last, nil
	}
	tiles := tilesOf(ctx, l.conn)
	root, err := tlog.TreeHash(size, tiles)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	c := merkle.Checkpoint{Origin: signer.Name(), Size: size, Root: root}
	if last != nil {
		if _, err := merkle.Extends(before, c, tiles); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrInconsistent, err)
		}
	}
	msg, err := c.Sign(append(more, signer)...)
	if err != nil {
		return nil, err
	}
	if _, err := l.conn.ExecContext(ctx, "INSERT INTO checkpoint (size, note) VALUES (?, ?) ON CONFLICT DO UPDATE SET note = excluded.note", size, string(msg)); err != nil {
		return nil, err
	}
	return msg, nil
}

// lastCheckpoint returns the checkpoint of the greatest size; msg is nil if there is none.
func lastCheckpoint(ctx context.Context, q querier) (c merkle.Checkpoint, msg []byte, err error) {
	err = q.QueryRowContext(ctx, "SELECT note FROM checkpoint ORDER BY size DESC LIMIT 1").Scan(&msg)
	if errors.Is(err, sql.ErrNoRows) {
		return c, nil, nil
	}
	if err != nil {
		return c, nil, err
	}
	if c, err = merkle.Unsigned(msg); err != nil {
		return c, nil, fmt.Errorf("%w: its last checkpoint: %w", ErrDamaged, err)
	}
	return c, msg, nil
}

func tilesOf(ctx context.Context, q querier) merkle.Tiles {
	return func(level int, n int64) ([]byte, error) { return tileOf(ctx, q, level, n) }
}

// Rotate has another key sign from here on, and the old one never again. record is given
// what the text of the record says that tells so; it returns when the record is in the log.
// The checkpoint that follows is signed by both keys.
func (l *Log) Rotate(ctx context.Context, record func(text string) error) (msg []byte, err error) {
	k := l.o.Key
	if _, err := k.signer(); err != nil { // the newest key is the one to be replaced
		return nil, err
	}
	seed, id := random(), k.current().ID
	if err := record(k.Verifier() + " " + verifierOf(id, seed)); err != nil {
		return nil, err
	}
	err = l.writing(ctx, func(ctx context.Context) error {
		next, err := signerOf(id, seed)
		if err != nil {
			return err
		}
		if msg, err = l.checkpoint(ctx, next); err != nil {
			return err
		}
		return k.replace(seed)
	})
	return msg, err
}
