package logfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/internal/sqlite"
)

// file is the SQLite file of a log.
type file struct {
	path string
	busy time.Duration
	read *sql.DB

	write *sql.DB // nil for a log that is only read

	mu     sync.Mutex // has the connection that writes
	conn   *sql.Conn
	opened os.FileInfo // of the file that it writes
}

func (f *file) openReading(ctx context.Context) error {
	info, err := os.Stat(f.path)
	if err == nil {
		err = atomicfile.Regular(f.path, info)
	}
	if err != nil {
		return err
	}
	err = f.tryReading(ctx, "mode=ro")
	if code := sqlite.Code(err); code != sqlite3.SQLITE_CANTOPEN && code != sqlite3.SQLITE_READONLY {
		return err
	}
	// SQLite wants to make its files beside it, and may not. Without them nobody writes.
	if wal, statErr := os.Stat(f.path + "-wal"); statErr == nil && wal.Size() > 0 {
		return fmt.Errorf("its -wal file can only be read where its folder can be written: copy %[1]s and %[1]s-wal into one: %[2]w", f.path, err)
	}
	return f.tryReading(ctx, "mode=ro&immutable=1")
}

func (f *file) tryReading(ctx context.Context, how string) (err error) {
	if f.read != nil {
		_ = f.read.Close() // the attempt before has failed
	}
	if f.read, err = f.reading(how); err != nil {
		return err
	}
	found, err := versionOf(ctx, f.read)
	switch {
	case err != nil:
		return err
	case found == 0:
		return fmt.Errorf("%w: it has no tables of an audit log", ErrDamaged)
	case found > version:
		return ErrNewer
	}
	return nil
}

// reading returns connections that read, which are made when they are needed.
func (f *file) reading(how string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", sqlite.Address(f.path, f.busy, how, "_pragma=query_only(1)", "_pragma=cache_size(-1024)"))
	if err == nil {
		db.SetMaxIdleConns(1)
	}
	return db, err
}

// Path returns where the file is.
func (f *file) Path() string { return f.path }

// Close closes the log; what was written stays.
func (f *file) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	if f.read != nil {
		errs = append(errs, f.read.Close())
	}
	if f.conn != nil {
		errs = append(errs, f.conn.Close())
		f.conn = nil
	}
	if f.write != nil {
		errs = append(errs, f.write.Close())
		f.write = nil
	}
	return errors.Join(errs...)
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func versionOf(ctx context.Context, q querier) (found int, err error) {
	err = q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&found)
	return found, err
}

// begin begins a transaction that writes. The caller has the connection, and calls end.
func (f *file) begin(ctx context.Context) error {
	if f.conn == nil {
		return ErrReadOnly
	}
	// SQLite would go on with a file that nobody finds any more.
	if now, err := os.Stat(f.path); err != nil || !os.SameFile(f.opened, now) {
		return ErrMoved
	}
	_, err := f.conn.ExecContext(ctx, "BEGIN IMMEDIATE")
	return err
}

// end commits, or takes all back if err is one.
func (f *file) end(ctx context.Context, err error) error {
	if err == nil {
		_, err = f.conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		// A full disk has taken it back already.
		_, _ = f.conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	}
	return err
}

// writing calls do in a transaction; one that has begun is not cancelled.
func (f *file) writing(ctx context.Context, do func(ctx context.Context) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.writingLocked(ctx, do)
}

func (f *file) writingLocked(ctx context.Context, do func(ctx context.Context) error) error {
	if err := f.begin(ctx); err != nil {
		return f.explain(err)
	}
	ctx = context.WithoutCancel(ctx)
	return f.explain(f.end(ctx, do(ctx)))
}

// remove runs a statement that deletes, so that nothing of it stays in the file.
func (f *file) remove(ctx context.Context, statement string, args ...any) (gone int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.conn == nil {
		return 0, f.explain(ErrReadOnly)
	}
	if _, err := f.conn.ExecContext(ctx, "PRAGMA secure_delete=on"); err != nil {
		return 0, f.explain(err)
	}
	defer func() {
		_, _ = f.conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA secure_delete=off") // costs writers time, no more
	}()
	err = f.writingLocked(ctx, func(ctx context.Context) error {
		result, err := f.conn.ExecContext(ctx, statement, args...)
		if err == nil {
			gone, err = result.RowsAffected()
		}
		return err
	})
	return gone, err
}

// shrink returns free pages to the system, some at a time.
func (f *file) shrink(ctx context.Context) error {
	const pages = 2048
	for before := int64(-1); ; {
		var free int64
		f.mu.Lock()
		err := f.conn.QueryRowContext(ctx, "PRAGMA freelist_count").Scan(&free)
		if err == nil && free > 0 {
			_, err = f.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", pages))
		}
		f.mu.Unlock()
		if err != nil || free == 0 || free == before {
			return f.explain(err)
		}
		before = free
	}
}
