// Package store holds mcpctl's state on disk: a database of what was learned about
// servers ([DB]), other SQLite files ([File]), and the way files are written and read
// ([WriteFile], [ReadFile]).
package store

import (
	"context"
	"database/sql"
	"log/slog"
	"sync"
)

// Options are settings of a database. The zero value is useful.
type Options struct {
	// Scope keeps servers apart that have one name in several configurations: the
	// path of the configuration.
	Scope string
	// Logger; nil discards.
	Logger *slog.Logger
}

// DB is mcpctl's database of servers, in a [File]. All methods may be called
// concurrently; they run one at a time. The file is created with the first record.
type DB struct {
	file *File
	o    Options

	mu    sync.Mutex      // guards what follows
	names map[string]bool // of the servers in the scope; nil: unknown, or unchanged
}

// Open returns the database at a path, without touching the file yet.
func Open(path string, o Options) *DB {
	return &DB{file: OpenFile(path, FileOptions{Migrations: migrations(), Logger: o.Logger}), o: o}
}

// Close closes the file after a method that is running.
func (db *DB) Close() error { return db.file.Close() }

// withFile is [File.Do].
func (db *DB) withFile(ctx context.Context, create bool, f func(*sql.DB) error) error {
	return db.file.Do(ctx, create, f)
}
