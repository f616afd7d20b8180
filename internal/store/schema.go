package store

import (
	"context"
	"database/sql"
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/mcpctl/mcpctl/internal/sqlite"
)

// migrations returns the steps from each version of the schema to the next, from
// the empty file on. A released one is never changed: another is added.
// Times are in nanoseconds since 1970, zero for never; durations in nanoseconds.
func migrations() []string {
	return []string{
		`CREATE TABLE servers (
			id INTEGER PRIMARY KEY,
			scope TEXT NOT NULL,              -- the configuration
			name TEXT NOT NULL,
			digest TEXT NOT NULL,             -- of the entry
			verified INTEGER NOT NULL DEFAULT 0,
			count INTEGER NOT NULL DEFAULT 0, -- of requests
			first INTEGER NOT NULL DEFAULT 0,
			last INTEGER NOT NULL DEFAULT 0,
			interval INTEGER NOT NULL DEFAULT 0,
			asks INTEGER NOT NULL DEFAULT 0,
			untold INTEGER NOT NULL DEFAULT 0,
			kept INTEGER NOT NULL DEFAULT 0,  -- when something was last kept
			UNIQUE (scope, name)
		);
		-- Apart, so that nothing but another catalogue writes it anew.
		CREATE TABLE catalogs (
			server INTEGER PRIMARY KEY REFERENCES servers (id) ON DELETE CASCADE,
			data BLOB NOT NULL
		);`,
		`CREATE TABLE quotas (
			scope TEXT NOT NULL, -- the configuration
			day INTEGER NOT NULL, -- since 1970, in UTC
			key TEXT NOT NULL,
			used INTEGER NOT NULL,
			PRIMARY KEY (scope, day, key)
		) WITHOUT ROWID;`,
		`CREATE TABLE vectors (
			key BLOB PRIMARY KEY,  -- SHA-256 of the model and the text
			used INTEGER NOT NULL, -- the last day, since 1970, in UTC
			data BLOB NOT NULL     -- numbers of 32 bits
		);`,
		`ALTER TABLE servers ADD COLUMN results BLOB NOT NULL DEFAULT x''; -- how many had how many bytes`,
	}
}

// migrate updates the file to the newest schema. The caller has the turn.
func (f *File) migrate(ctx context.Context) error {
	steps := f.o.Migrations
	version, err := version(ctx, f.open)
	if err != nil || version == len(steps) {
		return err
	}
	if version > len(steps) {
		f.newer = fmt.Errorf("schema %d is of a newer mcpctl", version)
		return f.newer
	}
	tx, err := f.open.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect once committed
	// Another process may have done it meanwhile.
	if version, err = versionIn(tx.QueryRowContext(ctx, "PRAGMA user_version")); err != nil || version >= len(steps) {
		return err
	}
	for _, step := range steps[version:] {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(steps))); err != nil {
		return err
	}
	return tx.Commit()
}

func version(ctx context.Context, db *sql.DB) (int, error) {
	return versionIn(db.QueryRowContext(ctx, "PRAGMA user_version"))
}

func versionIn(row *sql.Row) (version int, err error) {
	err = row.Scan(&version)
	return version, err
}

// damaged reports whether an error means that the file is not a sound database.
func damaged(err error) bool {
	switch sqlite.Code(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return true
	}
	return false
}
