package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// pruneAfter is how long records are kept without use: the server's configuration
// may be gone.
const pruneAfter = 90 * 24 * time.Hour

// Known sets which servers there are in the scope: the next Keep deletes the
// records of others.
func (db *DB) Known(names []string) {
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.names = known
}

// Load returns the records of servers, by name. Those without one, or with one
// under another digest, are absent.
func (db *DB) Load(ctx context.Context, servers []ID) (map[string]Record, error) {
	digests := map[string]string{}
	for _, id := range servers {
		digests[id.Name] = id.Digest
	}
	found := map[string]Record{}
	err := db.withFile(ctx, false, func(open *sql.DB) error {
		clear(found)
		rows, err := open.QueryContext(ctx, `SELECT name, digest, verified, count, first, last, interval, asks, untold, results, data
			FROM servers LEFT JOIN catalogs ON server = id WHERE scope = ?`, db.o.Scope)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var name, digest string
			var verified, first, last int64
			var r Record
			var data sql.RawBytes
			if err := rows.Scan(&name, &digest, &verified, &r.Usage.Count, &first, &last, &r.Usage.Interval, &r.Usage.Asks, &r.Usage.Untold, &r.Usage.Results, &data); err != nil {
				return err
			}
			if digests[name] != digest {
				continue
			}
			r.Usage.First, r.Usage.Last = fromNanos(first), fromNanos(last)
			if len(data) > 0 {
				r.Catalog = Catalog{append([]byte(nil), data...), fromNanos(verified)}
			}
			found[name] = r
		}
		return rows.Err()
	})
	return found, err
}

// Keep stores changes, all of them or none. A server's record under another digest
// is deleted.
func (db *DB) Keep(ctx context.Context, changes []Change) error {
	now := time.Now()
	db.mu.Lock()
	names := db.names
	db.mu.Unlock()
	err := db.withFile(ctx, true, func(open *sql.DB) error {
		tx, err := open.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // no effect once committed
		t := transaction{ctx, tx, db.o.Scope, now}
		for _, c := range changes {
			if err := t.keep(c); err != nil {
				return err
			}
		}
		if err := t.prune(names); err != nil {
			return err
		}
		return tx.Commit()
	})
	if err == nil {
		db.mu.Lock()
		db.names = nil
		db.mu.Unlock()
	}
	return err
}

// transaction is the transaction of one Keep.
type transaction struct {
	ctx   context.Context //nolint:containedctx // of one call of Keep
	tx    *sql.Tx
	scope string
	now   time.Time
}

func (t *transaction) exec(query string, args ...any) error {
	_, err := t.tx.ExecContext(t.ctx, query, args...)
	return err
}

func (t *transaction) keep(c Change) error {
	id, err := t.row(c.ID)
	if err != nil {
		return err
	}
	if u := c.Usage; u != nil {
		if err := t.exec(`UPDATE servers SET count = ?, first = ?, last = ?, interval = ?, asks = ?, untold = ?, results = ? WHERE id = ?`,
			int64(u.Count), toNanos(u.First), toNanos(u.Last), int64(u.Interval), u.Asks, u.Untold, []byte(u.Results), id); err != nil { //nolint:gosec // nobody counts that far
			return err
		}
	}
	verified := c.Verified
	if c.Catalog != nil {
		verified = c.Catalog.Verified
		if err := t.exec(`INSERT INTO catalogs (server, data) VALUES (?, ?) ON CONFLICT (server) DO UPDATE SET data = excluded.data`, id, c.Catalog.Data); err != nil {
			return err
		}
	}
	if verified.IsZero() {
		return nil
	}
	return t.exec(`UPDATE servers SET verified = ? WHERE id = ?`, toNanos(verified), id)
}

// row returns the server's row, a new one if there is none under this digest.
func (t *transaction) row(id ID) (row int64, err error) {
	var digest string
	err = t.tx.QueryRowContext(t.ctx, `SELECT id, digest FROM servers WHERE scope = ? AND name = ?`, t.scope, id.Name).Scan(&row, &digest)
	if err == nil && digest == id.Digest {
		return row, t.exec(`UPDATE servers SET kept = ? WHERE id = ?`, toNanos(t.now), row)
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	if err := t.drop(row); err != nil {
		return 0, err
	}
	added, err := t.tx.ExecContext(t.ctx, `INSERT INTO servers (scope, name, digest, kept) VALUES (?, ?, ?, ?)`, t.scope, id.Name, id.Digest, toNanos(t.now))
	if err != nil {
		return 0, err
	}
	return added.LastInsertId()
}

// drop deletes a row and those that refer to it; there is no row zero.
func (t *transaction) drop(row int64) error {
	if err := t.exec(`DELETE FROM catalogs WHERE server = ?`, row); err != nil {
		return err
	}
	return t.exec(`DELETE FROM servers WHERE id = ?`, row)
}

// prune deletes servers of the scope that are not among names, unless nil, and
// those not used for pruneAfter.
func (t *transaction) prune(names map[string]bool) error {
	rows, err := t.tx.QueryContext(t.ctx, `SELECT id, scope, name, kept FROM servers WHERE scope = ? OR kept < ?`, t.scope, toNanos(t.now.Add(-pruneAfter)))
	if err != nil {
		return err
	}
	var gone []int64
	for rows.Next() {
		var id, stored int64
		var scope, name string
		if err := rows.Scan(&id, &scope, &name, &stored); err != nil {
			_ = rows.Close()
			return err
		}
		if scope != t.scope || names != nil && !names[name] {
			gone = append(gone, id)
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for _, id := range gone {
		if err := t.drop(id); err != nil {
			return err
		}
	}
	return nil
}

// fromNanos and toNanos convert columns to times and back.
func fromNanos(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns)
}

func toNanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
