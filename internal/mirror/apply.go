package mirror

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/mcpctl/mcpctl/registry"
)

// batch writes records of one registry in a transaction.
type batch struct {
	ctx      context.Context //nolint:containedctx // of one transaction
	tx       *sql.Tx
	registry int64
	walk     walk
	packer   *packer
}

// write calls f in a transaction.
func (s *syncer) write(ctx context.Context, f func(*batch) error) error {
	return s.m.file.Do(ctx, true, func(db *sql.DB) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // no effect once committed
		if err := f(&batch{ctx, tx, s.row.id, s.walk, &s.packer}); err != nil {
			return err
		}
		return tx.Commit()
	})
}

func (b *batch) exec(query string, args ...any) error {
	_, err := b.tx.ExecContext(b.ctx, query, args...)
	return err
}

// copied is the row of a server.
type copied struct {
	id      int64 // 0: there is none
	version string
	seen    bool // by this walk
	record  []byte
}

func (b *batch) find(name string) (c copied, err error) {
	var walk int64
	err = b.tx.QueryRowContext(b.ctx, `SELECT id, version, walk, record FROM servers WHERE registry = ? AND name = ?`, b.registry, name).
		Scan(&c.id, &c.version, &walk, &c.record)
	if errors.Is(err, sql.ErrNoRows) {
		return copied{}, nil
	}
	c.seen = walk == b.walk.number
	return c, err
}

// take puts a record of a list into the copy, if it is the newest of its server, and
// reports whether this walk has seen none of the server before.
func (b *batch) take(r *registry.Record) (first bool, err error) {
	old, err := b.find(r.Server.Name)
	if err != nil {
		return false, err
	}
	gone := r.Meta.Status == registry.Deleted || r.Meta.Marked && !r.Meta.Latest
	switch {
	case gone && old.id != 0 && r.Meta.Status == registry.Active && b.walk.isDelta() && old.version != r.Server.Version:
		// It may be the release that is preferred to a prerelease.
		return false, b.exec(`UPDATE servers SET release = NULL WHERE id = ?`, old.id)
	case gone && old.id != 0 && old.version == r.Server.Version && b.walk.isDelta():
		// The newer one may be on another page, or not have changed.
		return false, b.exec(`UPDATE servers SET stale = 1 WHERE id = ?`, old.id)
	case gone:
		return false, nil
	case old.id != 0 && !r.Meta.Marked && (old.seen || b.walk.isDelta()) && registry.CompareVersions(r.Server.Version, old.version) < 0:
		// The registry lists all versions and marks none.
		return false, nil
	}
	return !old.seen, b.put(r, old)
}

// put writes a record over the one that is there.
func (b *batch) put(r *registry.Record, old copied) error {
	record, err := b.packer.pack(r)
	switch {
	case err != nil || record == nil:
		return err
	case bytes.Equal(record, old.record):
		return b.exec(`UPDATE servers SET walk = ?, stale = 0 WHERE id = ?`, b.walk.number, old.id)
	}
	if old.id == 0 {
		least, most := b.registry<<registryBits, (b.registry+1)<<registryBits-1
		err := b.tx.QueryRowContext(b.ctx, `SELECT coalesce(max(id), ?) + 1 FROM servers WHERE id BETWEEN ? AND ?`, least, least, most).Scan(&old.id)
		if err != nil {
			return err
		}
	}
	s := &r.Server
	if err := b.exec(`INSERT OR REPLACE INTO servers (id, registry, name, version, title, types, walk, record) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		old.id, b.registry, s.Name, s.Version, cut(s.Title), types(s), b.walk.number, record); err != nil {
		return err
	}
	return index.Put(b.ctx, b.tx, old.id, doc(s))
}

// remove removes a server.
func (b *batch) remove(id int64) error {
	if err := index.Remove(b.ctx, b.tx, id); err != nil {
		return err
	}
	return b.exec(`DELETE FROM servers WHERE id = ?`, id)
}

// sweep removes the servers that the walk has not seen, and returns how many are left.
// It removes nothing if the walk has seen none.
func (b *batch) sweep() (left int, err error) {
	err = b.tx.QueryRowContext(b.ctx, `SELECT count(*) FROM servers WHERE registry = ? AND walk = ?`, b.registry, b.walk.number).Scan(&left)
	if err != nil || left == 0 {
		return 0, err
	}
	if err := b.exec(`DELETE FROM words WHERE rowid IN (SELECT id FROM servers WHERE registry = ? AND walk <> ?)`, b.registry, b.walk.number); err != nil {
		return 0, err
	}
	return left, b.exec(`DELETE FROM servers WHERE registry = ? AND walk <> ?`, b.registry, b.walk.number)
}

// unusedFor is how long copies are kept that no Sync has asked for.
const unusedFor = 90 * 24 * time.Hour

// prune removes the copies of registries that are no longer used.
func (b *batch) prune(now time.Time) error {
	const unused = `SELECT id FROM registries WHERE id <> ?1 AND used < ?2`
	before := toNanos(now.Add(-unusedFor))
	for _, statement := range []string{
		`DELETE FROM words WHERE rowid IN (SELECT id FROM servers WHERE registry IN (` + unused + `))`,
		`DELETE FROM servers WHERE registry IN (` + unused + `)`,
		`DELETE FROM registries WHERE id IN (` + unused + `)`,
	} {
		if err := b.exec(statement, b.registry, before); err != nil {
			return err
		}
	}
	return nil
}

// keepWalk stores how far the walk is.
func (b *batch) keepWalk() error {
	w := b.walk
	return b.exec(`UPDATE registries SET number = ?, started = ?, walk_since = ?, walk_next = ?, cursor = ?, pages = ?, failed = 0 WHERE id = ?`,
		w.number, toNanos(w.started), toNanos(w.since), toNanos(w.next), w.cursor, w.pages, b.registry)
}
