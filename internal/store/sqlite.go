package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/internal/sqlite"
)

// FileOptions are settings of a file.
type FileOptions struct {
	// Migrations are the steps from each version of the schema to the next, from the
	// empty file on. A released one is never changed: another is added.
	Migrations []string
	// Busy is how long to wait while another process writes; zero is 500 ms.
	Busy time.Duration
	// Logger; nil discards.
	Logger *slog.Logger
}

// File is one SQLite file, readable by its owner only, which any number of processes
// may use at once. All methods may be called concurrently; they run one at a time.
//
// The file is opened on first use, and closed after a while without use. A damaged
// file is renamed, which is logged, and a new one is created; one that a newer mcpctl
// has written is left alone. Methods return errors of reading and writing, and the next
// call tries again.
type File struct {
	path string
	o    FileOptions
	log  *slog.Logger

	// turn is a lock of the fields below, held during I/O: a channel, so that
	// waiting for it can be cancelled.
	turn   chan struct{}
	open   *sql.DB     // nil for closed
	file   os.FileInfo // of the open file
	newer  error       // a newer mcpctl has written the file
	closed bool

	mu   sync.Mutex // guards idle
	idle *time.Timer
}

// idleTime is how long an unused file stays open: it costs memory.
const idleTime = 5 * time.Second

// ErrClosed is the error of a database that was closed.
var ErrClosed = errors.New("store: closed")

// ErrBusy is the error of a file that another process had to itself for longer than
// [FileOptions.Busy]. Nothing was read or written; it can be tried again.
var ErrBusy = errors.New("another process uses it")

// OpenFile returns the file at a path, without touching it yet.
func OpenFile(path string, o FileOptions) *File {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Busy = cmp.Or(o.Busy, 500*time.Millisecond)
	f := &File{path: path, o: o, log: o.Logger, turn: make(chan struct{}, 1)}
	f.turn <- struct{}{}
	return f
}

// Close closes the file after a method that is running.
func (f *File) Close() error {
	<-f.turn
	defer func() { f.turn <- struct{}{} }()
	f.closed = true
	f.mu.Lock()
	if f.idle != nil {
		f.idle.Stop()
	}
	f.mu.Unlock()
	return f.closeFile()
}

// closeFile closes the file. The caller has the turn.
func (f *File) closeFile() error {
	if f.open == nil {
		return nil
	}
	err := f.open.Close()
	f.open = nil
	return err
}

// Do calls do with the open file, and again with a new one if it is damaged. Without
// create it does nothing where there is no file: to make one takes several syncs, which
// a reader need not wait for.
func (f *File) Do(ctx context.Context, create bool, do func(*sql.DB) error) error {
	select {
	case <-f.turn:
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", f.path, context.Cause(ctx))
	}
	defer func() { f.turn <- struct{}{} }()
	if f.closed {
		return ErrClosed
	}
	if _, err := os.Stat(f.path); !create && f.open == nil && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := f.try(ctx, do)
	if damaged(err) && f.renameDamaged(err) {
		err = f.try(ctx, do)
	}
	switch {
	case sqlite.IsBusy(err):
		return fmt.Errorf("%s: %w: %w", f.path, ErrBusy, err)
	case err != nil:
		return fmt.Errorf("%s: %w", f.path, err)
	}
	return nil
}

func (f *File) try(ctx context.Context, do func(*sql.DB) error) error {
	if f.newer != nil {
		return f.newer
	}
	if f.open == nil {
		if err := f.openFile(ctx); err != nil {
			_ = f.closeFile()
			return err
		}
	}
	f.scheduleClose()
	return do(f.open)
}

// scheduleClose closes the file after a while without use. The caller has the turn.
func (f *File) scheduleClose() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.idle != nil {
		f.idle.Reset(idleTime)
		return
	}
	f.idle = time.AfterFunc(idleTime, func() {
		select {
		case <-f.turn:
		default:
			f.scheduleClose() // it is in use
			return
		}
		_ = f.closeFile() // nothing is running, and every write is on disk
		f.turn <- struct{}{}
	})
}

// openFile opens or creates the file and migrates it. The caller has the turn.
func (f *File) openFile(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	// SQLite would make it readable by all; its other files get the mode of this one.
	made, err := os.OpenFile(f.path, os.O_RDWR|os.O_CREATE|atomicfile.NoWait, 0o600)
	if err != nil {
		return err
	}
	f.file, err = made.Stat()
	if err == nil {
		err = atomicfile.Regular(f.path, f.file)
	}
	if closing := made.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	// The cache is small: most is read once.
	f.open, err = sql.Open("sqlite", sqlite.Address(f.path, f.o.Busy, "_pragma=synchronous(normal)", "_pragma=cache_size(-256)", "_txlock=immediate"))
	if err != nil {
		return err
	}
	f.open.SetMaxOpenConns(1)
	if err := sqlite.UseWAL(ctx, f.open, f.o.Busy); err != nil {
		return err
	}
	return f.migrate(ctx)
}

// renameDamaged renames a damaged file, to keep it for inspection, and reports whether
// this or another process has done so. The caller has the turn.
func (f *File) renameDamaged(why error) bool {
	_ = f.closeFile()
	now, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true
	case err != nil:
		return false
	case f.file == nil || !os.SameFile(now, f.file):
		return true // another process has begun a new one
	}
	aside := f.path + ".damaged" // one is enough
	if err := os.Rename(f.path, aside); err != nil {
		f.log.Warn("database is damaged and cannot be put aside", "path", f.path, "err", err)
		return false
	}
	for _, end := range []string{"-wal", "-shm"} {
		_ = os.Rename(f.path+end, aside+end) // may be missing
	}
	f.log.Warn("database is damaged: put aside, a new one is begun", "path", f.path, "aside", aside, "err", why)
	return true
}
