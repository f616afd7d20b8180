// Package store holds mcpctl's state on disk: a database of what was learned about
// servers ([DB]), and the way files are written and read ([WriteFile],
// [ReadFile]).
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime/internal/atomicfile"
)

// Options are settings of a database. The zero value is useful.
type Options struct {
	// Scope keeps servers apart that have one name in several configurations: the
	// path of the configuration.
	Scope string
	// Logger; nil discards.
	Logger *slog.Logger
}

// DB is mcpctl's database: one SQLite file, readable by its owner only, which
// any number of processes may use at once. All methods may be called
// concurrently; they run one at a time.
//
// The file is opened on first use and created with the first record, and closed after a while without
// use. A damaged file is renamed, which is logged, and a new one is created; one
// that a newer mcpctl has written is left alone. Methods return errors of reading
// and writing, and the next call tries again.
type DB struct {
	path string
	o    Options
	log  *slog.Logger

	// turn is a lock of the fields below, held during I/O: a channel, so that
	// waiting for it can be cancelled.
	turn   chan struct{}
	open   *sql.DB     // nil for closed
	file   os.FileInfo // of the open file
	newer  error       // a newer mcpctl has written the file
	closed bool

	mu    sync.Mutex // guards what follows
	idle  *time.Timer
	names map[string]bool // of the servers in the scope; nil: unknown, or unchanged
}

const (
	// idleTime is how long an unused file stays open: it costs memory.
	idleTime = 5 * time.Second
	// busyTime is how long another process may hold the file.
	busyTime = 500 * time.Millisecond
)

// ErrClosed is the error of a database that was closed.
var ErrClosed = errors.New("store: closed")

// Open returns the database at a path, without touching the file yet.
func Open(path string, o Options) *DB {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	db := &DB{path: path, o: o, log: o.Logger, turn: make(chan struct{}, 1)}
	db.turn <- struct{}{}
	return db
}

// Close closes the file after a method that is running.
func (db *DB) Close() error {
	<-db.turn
	defer func() { db.turn <- struct{}{} }()
	db.closed = true
	db.mu.Lock()
	if db.idle != nil {
		db.idle.Stop()
	}
	db.mu.Unlock()
	return db.closeFile()
}

// closeFile closes the file. The caller has the turn.
func (db *DB) closeFile() error {
	if db.open == nil {
		return nil
	}
	err := db.open.Close()
	db.open = nil
	return err
}

// withFile calls f with the open file, and again with a new one if it is damaged. Without
// create it does nothing where there is no file: to make one takes several syncs, which
// the first list need not wait for.
func (db *DB) withFile(ctx context.Context, create bool, f func(*sql.DB) error) error {
	select {
	case <-db.turn:
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", db.path, context.Cause(ctx))
	}
	defer func() { db.turn <- struct{}{} }()
	if db.closed {
		return ErrClosed
	}
	if _, err := os.Stat(db.path); !create && db.open == nil && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := db.try(ctx, f)
	if damaged(err) && db.renameDamaged(err) {
		err = db.try(ctx, f)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", db.path, err)
	}
	return nil
}

func (db *DB) try(ctx context.Context, f func(*sql.DB) error) error {
	if db.newer != nil {
		return db.newer
	}
	if db.open == nil {
		if err := db.openFile(ctx); err != nil {
			_ = db.closeFile()
			return err
		}
	}
	db.scheduleClose()
	return f(db.open)
}

// scheduleClose closes the file after a while without use. The caller has the turn.
func (db *DB) scheduleClose() {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.idle != nil {
		db.idle.Reset(idleTime)
		return
	}
	db.idle = time.AfterFunc(idleTime, func() {
		select {
		case <-db.turn:
		default:
			db.scheduleClose() // it is in use
			return
		}
		_ = db.closeFile() // nothing is running, and every write is on disk
		db.turn <- struct{}{}
	})
}

// openFile opens or creates the file and migrates it. The caller has the turn.
func (db *DB) openFile(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(db.path), 0o700); err != nil {
		return err
	}
	// SQLite would make it readable by all; its other files get the mode of this one.
	made, err := os.OpenFile(db.path, os.O_RDWR|os.O_CREATE|atomicfile.NoWait, 0o600)
	if err != nil {
		return err
	}
	db.file, err = made.Stat()
	if err == nil {
		err = atomicfile.Regular(db.path, db.file)
	}
	if closing := made.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	db.open, err = sql.Open("sqlite", address(db.path))
	if err != nil {
		return err
	}
	db.open.SetMaxOpenConns(1)
	return db.migrate(ctx)
}

// address returns the data source name of a file.
func address(path string) string {
	path = filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" {
		path = "/" + path
	}
	path = strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
	// The cache is small: everything is read once.
	return fmt.Sprintf("file:%s?_pragma=busy_timeout(%d)&_pragma=journal_mode(wal)&_pragma=synchronous(normal)&_pragma=cache_size(-256)&_txlock=immediate",
		path, busyTime.Milliseconds())
}

// renameDamaged renames a damaged file, to keep it for inspection, and reports whether
// this or another process has done so. The caller has the turn.
func (db *DB) renameDamaged(why error) bool {
	_ = db.closeFile()
	now, err := os.Stat(db.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true
	case err != nil:
		return false
	case db.file == nil || !os.SameFile(now, db.file):
		return true // another process has begun a new one
	}
	aside := db.path + ".damaged" // one is enough
	if err := os.Rename(db.path, aside); err != nil {
		db.log.Warn("database is damaged and cannot be put aside", "path", db.path, "err", err)
		return false
	}
	for _, end := range []string{"-wal", "-shm"} {
		_ = os.Rename(db.path+end, aside+end) // may be missing
	}
	db.log.Warn("database is damaged: put aside, a new one is begun", "path", db.path, "aside", aside, "err", why)
	return true
}
