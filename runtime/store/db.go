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
// concurrently; they take turns.
//
// The file is opened when it is first needed, made where it is missing, and
// closed when it has not been needed for a while. One that is damaged is put
// aside, which is logged, and a new one is begun; one that a newer mcpctl has
// written is left alone. What cannot be read or written is an error of the
// method, and the next call tries again.
type DB struct {
	path string
	o    Options
	log  *slog.Logger

	// turn is held by whoever uses what follows; I/O is done meanwhile, so it is
	// waited for under a context.
	turn   chan struct{}
	open   *sql.DB     // nil for closed
	file   os.FileInfo // which file that is
	newer  error       // the file is a newer mcpctl's, nil where it is not
	closed bool

	mu    sync.Mutex // guards what follows
	idle  *time.Timer
	names map[string]bool // of the servers in the scope; nil: not told, or no news
}

const (
	// idleTime is how long the file stays open that nobody uses: it costs memory.
	idleTime = 5 * time.Second
	// busyTime is how long another process may hold the file.
	busyTime = 500 * time.Millisecond
)

// ErrClosed is the error of a database that was closed.
var ErrClosed = errors.New("store: closed")

// Open gives the database at a path. It does not touch the file yet.
func Open(path string, o Options) *DB {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	db := &DB{path: path, o: o, log: o.Logger, turn: make(chan struct{}, 1)}
	db.turn <- struct{}{}
	return db
}

// Close closes the file. It waits for a method that is under way.
func (db *DB) Close() error {
	<-db.turn
	defer func() { db.turn <- struct{}{} }()
	db.closed = true
	db.mu.Lock()
	if db.idle != nil {
		db.idle.Stop()
	}
	db.mu.Unlock()
	return db.shut()
}

// shut closes the file. The caller has the turn.
func (db *DB) shut() error {
	if db.open == nil {
		return nil
	}
	err := db.open.Close()
	db.open = nil
	return err
}

// use has f use the open file, and again where it shows to be damaged: the
// second time it is a new one.
func (db *DB) use(ctx context.Context, f func(*sql.DB) error) error {
	select {
	case <-db.turn:
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", db.path, context.Cause(ctx))
	}
	defer func() { db.turn <- struct{}{} }()
	if db.closed {
		return ErrClosed
	}
	err := db.try(ctx, f)
	if damaged(err) && db.putAside(err) {
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
		if err := db.begin(ctx); err != nil {
			_ = db.shut()
			return err
		}
	}
	db.later()
	return f(db.open)
}

// later has the file closed once it is not used for a while. The caller has the
// turn.
func (db *DB) later() {
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
			db.later() // it is in use
			return
		}
		_ = db.shut() // nothing is under way; what was written is on disk
		db.turn <- struct{}{}
	})
}

// begin opens the file, makes it where it is missing, and brings it up to date.
// The caller has the turn.
func (db *DB) begin(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(db.path), 0o700); err != nil {
		return err
	}
	// SQLite would make it readable by all, and gives its other files the mode
	// that this one has.
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

// address gives the data source name of a file.
func address(path string) string {
	path = filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" {
		path = "/" + path
	}
	path = strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
	// The cache is small: what is read is read once.
	return fmt.Sprintf("file:%s?_pragma=busy_timeout(%d)&_pragma=journal_mode(wal)&_pragma=synchronous(normal)&_pragma=cache_size(-256)&_txlock=immediate",
		path, busyTime.Milliseconds())
}

// putAside renames a damaged file, for whoever wants to look at it, and tells
// whether that was done, or somebody else has done it. The caller has the turn.
func (db *DB) putAside(why error) bool {
	_ = db.shut()
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
		_ = os.Rename(db.path+end, aside+end) // they belong to it, where they are there
	}
	db.log.Warn("database is damaged: put aside, a new one is begun", "path", db.path, "aside", aside, "err", why)
	return true
}
