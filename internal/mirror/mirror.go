// Package mirror keeps copies of registries on this machine, so that they can be
// searched by all words of names, titles and descriptions, at once and without a
// network. The registries' own search knows parts of names alone.
//
// A copy has one record a server, its newest version. [Mirror.Sync] makes and updates
// it, [Mirror.Search] ranks it. All copies are in one SQLite file. One process at a
// time writes a copy; any number read it, also while it is written. A copy that was
// complete once stays usable whatever happens to a later Sync.
package mirror

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/mcpctl/mcpctl/internal/search"
	"github.com/mcpctl/mcpctl/internal/store"
	"github.com/mcpctl/mcpctl/registry"
)

// Mirror is the copies of all registries, in a directory. All methods may be called
// concurrently.
type Mirror struct {
	dir  string
	file *store.File
}

// fileName is the name of the SQLite file. It can be deleted at any time: the next
// Sync makes a new one.
const fileName = "registry.db"

// Open returns the copies in a directory, without touching it yet. log may be nil.
func Open(dir string, log *slog.Logger) *Mirror {
	return &Mirror{dir, store.OpenFile(filepath.Join(dir, fileName), store.FileOptions{
		Migrations: migrations(), Logger: log,
		Busy: 5 * time.Second, // the end of another copy's Sync takes a second or two
	})}
}

// Close closes the file after a method that is running.
func (m *Mirror) Close() error { return m.file.Close() }

// index is what is searched of the servers, by their IDs.
var index = search.Index{Table: "words"} //nolint:gochecknoglobals // a constant name

// migrations are the steps of the schema. Times are in nanoseconds since 1970, zero for
// never.
func migrations() []string {
	return []string{`CREATE TABLE registries (
			id INTEGER PRIMARY KEY,
			url TEXT NOT NULL UNIQUE,
			used INTEGER NOT NULL,               -- when a sync last began
			synced INTEGER NOT NULL DEFAULT 0,   -- when the last complete walk began; 0: the copy is not complete
			whole INTEGER NOT NULL DEFAULT 0,    -- the same of the last walk over the whole list
			failed INTEGER NOT NULL DEFAULT 0,   -- when a sync got nothing, if that was the last one
			since INTEGER NOT NULL DEFAULT 0,    -- from when changes are asked for, by the registry's clock
			etag TEXT NOT NULL DEFAULT '',       -- of a list of one page
			number INTEGER NOT NULL DEFAULT 0,   -- of the last walk
			started INTEGER NOT NULL DEFAULT 0,  -- when the walk under way began; 0: there is none
			walk_since INTEGER NOT NULL DEFAULT 0,
			walk_next INTEGER NOT NULL DEFAULT 0,
			cursor TEXT NOT NULL DEFAULT '',
			pages INTEGER NOT NULL DEFAULT 0
		);
		CREATE TABLE servers (
			id INTEGER PRIMARY KEY,              -- with the registry in its upper bits
			registry INTEGER NOT NULL,
			name TEXT NOT NULL,
			version TEXT NOT NULL,
			title TEXT NOT NULL,
			types TEXT NOT NULL,                 -- of packages, and remote: a space before and after each
			walk INTEGER NOT NULL,               -- the last one that saw it
			stale INTEGER NOT NULL DEFAULT 0,    -- its version is gone: which one is the newest has to be asked
			record BLOB NOT NULL,
			release BLOB,                        -- of a prerelease: what KeepRelease was told
			UNIQUE (registry, name)
		);
		` + index.Schema()}
}

// registryBits is where the registry begins in the ID of a server.
const registryBits = 40

// State is what there is of one registry.
type State struct {
	// Synced is when the copy was true, zero if it is not complete.
	Synced time.Time
	// Failed is when a sync got nothing, zero if the last one got something, or was refused
	// for its credentials.
	Failed time.Time
	// Servers counts the records, also those of a copy that is not complete.
	Servers int
}

// State returns what there is of the registry at a URL, zero for nothing.
func (m *Mirror) State(ctx context.Context, url string) (State, error) {
	var st State
	err := m.file.Do(ctx, false, func(db *sql.DB) error {
		row, err := loadRow(ctx, db, url)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		st = State{Synced: row.synced, Failed: row.failed}
		return db.QueryRowContext(ctx, `SELECT count(*) FROM servers WHERE registry = ?`, row.id).Scan(&st.Servers)
	})
	return st, err
}

// Get returns the record of a server from the copy, nil if it has none. A name without a
// slash is the last part of exactly one name. A copy that is not complete is searched,
// too.
func (m *Mirror) Get(ctx context.Context, url, name string) (*registry.Record, error) {
	var blobs [][]byte
	err := m.file.Do(ctx, false, func(db *sql.DB) error {
		blobs = nil
		// The second condition needs no index: it is for people, who ask once.
		rows, err := db.QueryContext(ctx, `SELECT record FROM servers WHERE registry = (SELECT id FROM registries WHERE url = ?1)
			AND (name = ?2 OR instr(?2, '/') = 0 AND lower(substr(name, instr(name, '/') + 1)) = lower(?2)) LIMIT 2`, url, name)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var blob []byte
			if err := rows.Scan(&blob); err != nil {
				return err
			}
			blobs = append(blobs, blob)
		}
		return rows.Err()
	})
	if err != nil || len(blobs) != 1 {
		return nil, err
	}
	return unpack(blobs[0])
}

// KeepRelease stores which release is preferred to the copied version of a server, until
// another version of it is published.
func (m *Mirror) KeepRelease(ctx context.Context, url string, copied, release *registry.Record) error {
	blob, err := new(packer).pack(release)
	if err != nil || blob == nil {
		return err
	}
	return m.file.Do(ctx, false, func(db *sql.DB) error {
		_, err := db.ExecContext(ctx, `UPDATE servers SET release = ? WHERE name = ? AND version = ? AND registry = (SELECT id FROM registries WHERE url = ?)`,
			blob, copied.Server.Name, copied.Server.Version, url)
		return err
	})
}

// lockPath is the lock file of whoever writes the copy of a registry.
func (m *Mirror) lockPath(url string) string {
	sum := sha256.Sum256([]byte(url))
	return filepath.Join(m.dir, "registry-"+hex.EncodeToString(sum[:4])+".lock")
}

// row is a row of the table of registries.
type row struct {
	id                    int64
	synced, whole, failed time.Time
	since                 time.Time
	etag                  string
	walk                  walk
}

// queryer is a *sql.DB or a *sql.Tx.
type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func loadRow(ctx context.Context, q queryer, url string) (*row, error) {
	var r row
	w := &r.walk
	err := q.QueryRowContext(ctx, `SELECT id, synced, whole, failed, since, etag, number, started, walk_since, walk_next, cursor, pages
		FROM registries WHERE url = ?`, url).Scan(&r.id, (*nanos)(&r.synced), (*nanos)(&r.whole), (*nanos)(&r.failed), (*nanos)(&r.since), &r.etag,
		&w.number, (*nanos)(&w.started), (*nanos)(&w.since), (*nanos)(&w.next), &w.cursor, &w.pages)
	return &r, err
}

// nanos reads a column of nanoseconds into a time.
type nanos time.Time

// Scan takes the value of a column.
func (n *nanos) Scan(value any) error {
	ns, ok := value.(int64)
	if !ok {
		return errors.New("a time is no number")
	}
	if *n = nanos(time.Time{}); ns != 0 {
		*n = nanos(time.Unix(0, ns))
	}
	return nil
}

// toNanos is the column of a time.
func toNanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
