// Package logfile is the audit log on disk: one SQLite file, that any number of processes
// write and read at once, and the file of its keys.
//
// Records lie in segments, one for each commit, as they were given, a line each. The hashes
// of their tree lie in tiles. What is signed are checkpoints. Bodies, where they are kept,
// lie apart, and may go without a trace in the tree. A damaged file is never set aside,
// replaced or deleted here: it is evidence.
package logfile

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/mcpctl/mcpctl/runtime/internal/atomicfile"
)

// Options are settings of a log that is written.
type Options struct {
	// Key signs checkpoints; required.
	Key *Key
	// Now is the clock; nil is [time.Now].
	Now func() time.Time
	// Busy is how long to wait while another process writes; zero is five seconds.
	Busy time.Duration
}

// Log is a log. All methods may be called concurrently.
type Log struct {
	path string
	o    Options
	read *sql.DB

	write *sql.DB // nil for a log that is only read

	mu      sync.Mutex // has the writing connection, and guards what follows
	conn    *sql.Conn
	synced  bool  // the connection waits for the disk at each commit
	size    int64 // of the log after the last Append
	signed  int64 // size of the last checkpoint that this Log knows of
	signedT time.Time
}

// Errors of a log. What Open and the methods return says what mends it.
var (
	// ErrDamaged is that the file is no sound database, or does not have what a log has.
	ErrDamaged = errors.New("the audit log is damaged")
	// ErrInconsistent is that the log does not begin with what its last checkpoint signed.
	ErrInconsistent = errors.New("the audit log is not the one that its last checkpoint has signed")
	// ErrNewer is that a newer mcpctl has written the file.
	ErrNewer = errors.New("the audit log is of a newer mcpctl: update this one")
	// ErrReadOnly is that a log was opened for reading only.
	ErrReadOnly = errors.New("the audit log was opened for reading")
	// ErrOtherKey is that the key is of another log.
	ErrOtherKey = errors.New("the key is that of another log")
)

const version = 1

// schema makes an empty file a log. Numbers of records begin with 0. Times are stamps of
// records.
const schema = `
CREATE TABLE segment (
	first INTEGER PRIMARY KEY, -- number of its first record
	count INTEGER NOT NULL,
	t0 TEXT NOT NULL,          -- least and greatest time of its records
	t1 TEXT NOT NULL,
	records BLOB NOT NULL      -- each ends with a newline
);
CREATE TABLE tile (
	level INTEGER NOT NULL,
	n INTEGER NOT NULL,
	hashes BLOB NOT NULL,      -- up to 256, of 32 bytes each
	PRIMARY KEY (level, n)
) WITHOUT ROWID;
CREATE TABLE checkpoint (
	size INTEGER PRIMARY KEY,  -- of the log
	note TEXT NOT NULL         -- signed
);
CREATE TABLE body (
	digest TEXT PRIMARY KEY,   -- as records have it
	t TEXT NOT NULL,           -- when it was last seen
	data BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX body_t ON body (t);
`

// Open opens the log at a path for writing, and makes it where there is none, readable by
// its owner only.
func Open(ctx context.Context, path string, o Options) (*Log, error) {
	if o.Key == nil {
		return nil, errors.New("audit log: no key")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Busy = cmp.Or(o.Busy, 5*time.Second)
	l := &Log{path: path, o: o}
	if err := l.openWriting(ctx); err != nil {
		_ = l.Close() // says nothing that err does not
		return nil, l.explain(err)
	}
	return l, nil
}

func (l *Log) openWriting(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return err
	}
	// SQLite would make it readable by all; its other files get the mode of this one.
	made, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE|atomicfile.NoWait, 0o600)
	if err != nil {
		return err
	}
	info, err := made.Stat()
	if err == nil {
		err = atomicfile.Regular(l.path, info)
	}
	if err := errors.Join(err, made.Close()); err != nil {
		return err
	}
	// The first pragmas are for the file that is yet to be made.
	const write = "_pragma=auto_vacuum(incremental)&_pragma=journal_mode(wal)&_pragma=synchronous(normal)&_pragma=cache_size(-1024)&_pragma=journal_size_limit(16777216)"
	if l.write, err = sql.Open("sqlite", l.address(write)); err != nil {
		return err
	}
	if l.conn, err = l.write.Conn(ctx); err != nil {
		return err
	}
	if err := l.begin(ctx); err != nil {
		return err
	}
	if err := l.end(ctx, l.prepare(ctx)); err != nil {
		return err
	}
	if err := l.openReading(ctx); err != nil {
		return err
	}
	_, err = l.Checkpoint(ctx)
	if errors.Is(err, ErrInconsistent) {
		err = nil // whoever writes on must not be kept from it: Checkpoint says so each time
	}
	return err
}

// prepare makes an empty file a log, and checks that the key is that of a log.
func (l *Log) prepare(ctx context.Context) error {
	found, err := versionOf(ctx, l.conn)
	switch {
	case err != nil:
		return err
	case found > version:
		return ErrNewer
	case found == 0:
		_, err := l.conn.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA user_version = %d;", version))
		return err
	}
	return nil
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func versionOf(ctx context.Context, q querier) (found int, err error) {
	err = q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&found)
	return found, err
}

// OpenReadOnly opens the log at a path for reading, which needs no key, also while others
// write it. A file that nobody writes is read where nothing may be written, too; the files
// beside it that end in -wal and -shm belong to it.
func OpenReadOnly(ctx context.Context, path string) (*Log, error) {
	l := &Log{path: path, o: Options{Now: time.Now, Busy: 5 * time.Second}}
	if err := l.openReading(ctx); err != nil {
		_ = l.Close() // says nothing that err does not
		return nil, l.explain(err)
	}
	return l, nil
}

func (l *Log) openReading(ctx context.Context) error {
	info, err := os.Stat(l.path)
	if err == nil {
		err = atomicfile.Regular(l.path, info)
	}
	if err != nil {
		return err
	}
	err = l.tryReading(ctx, "mode=ro")
	if code := codeOf(err); code != sqlite3.SQLITE_CANTOPEN && code != sqlite3.SQLITE_READONLY {
		return err
	}
	// SQLite wants to make its files beside it, and may not. Without them nobody writes.
	if wal, statErr := os.Stat(l.path + "-wal"); statErr == nil && wal.Size() > 0 {
		return fmt.Errorf("its -wal file can only be read where its folder can be written: copy %[1]s and %[1]s-wal into one: %[2]w", l.path, err)
	}
	return l.tryReading(ctx, "mode=ro&immutable=1")
}

func (l *Log) tryReading(ctx context.Context, how string) (err error) {
	if l.read != nil {
		_ = l.read.Close() // the attempt before has failed
	}
	if l.read, err = sql.Open("sqlite", l.address(how+"&_pragma=query_only(1)&_pragma=cache_size(-1024)")); err != nil {
		return err
	}
	l.read.SetMaxIdleConns(1)
	found, err := versionOf(ctx, l.read)
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

// address returns the data source name of the file.
func (l *Log) address(how string) string {
	path := filepath.ToSlash(l.path)
	if filepath.VolumeName(path) != "" {
		path = "/" + path
	}
	path = strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
	return fmt.Sprintf("file:%s?_pragma=busy_timeout(%d)&%s", path, l.o.Busy.Milliseconds(), how)
}

// Path returns where the file is.
func (l *Log) Path() string { return l.path }

// Close closes the log; what was written stays.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	if l.read != nil {
		errs = append(errs, l.read.Close())
	}
	if l.conn != nil {
		errs = append(errs, l.conn.Close())
		l.conn = nil
	}
	if l.write != nil {
		errs = append(errs, l.write.Close())
		l.write = nil
	}
	return errors.Join(errs...)
}

// begin begins a transaction that writes. The caller has the connection, and calls end.
func (l *Log) begin(ctx context.Context) error {
	if l.conn == nil {
		return ErrReadOnly
	}
	_, err := l.conn.ExecContext(ctx, "BEGIN IMMEDIATE")
	return err
}

// end commits, or takes all back if err is one.
func (l *Log) end(ctx context.Context, err error) error {
	if err == nil {
		_, err = l.conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		// A full disk has taken it back already.
		_, _ = l.conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	}
	return err
}

// writing calls do in a transaction; one that has begun is not cancelled.
func (l *Log) writing(ctx context.Context, do func(ctx context.Context) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writingLocked(ctx, do)
}

func (l *Log) writingLocked(ctx context.Context, do func(ctx context.Context) error) error {
	if err := l.begin(ctx); err != nil {
		return l.explain(err)
	}
	ctx = context.WithoutCancel(ctx)
	return l.explain(l.end(ctx, do(ctx)))
}

// explain says of an error where it was, and what mends it. Errors that it has explained
// stay.
func (l *Log) explain(err error) error {
	if err == nil || errors.As(err, new(*Error)) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := &Error{Path: l.path, Err: err}
	switch codeOf(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		e.Err = fmt.Errorf("%w: %w", ErrDamaged, err)
	case sqlite3.SQLITE_FULL:
		e.Mends = "make room on its disk"
	case sqlite3.SQLITE_READONLY:
		e.Mends = "run: chmod u+w " + l.path
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		e.Mends = "another process writes it for too long: try again"
	}
	switch {
	case errors.Is(e.Err, ErrDamaged):
		e.Mends = fmt.Sprintf("keep it as evidence: `mcpctl audit verify --db %[1]s` says what can still be read, and `mv %[1]s %[1]s.damaged` begins a new log", l.path)
	case errors.Is(err, ErrInconsistent):
		e.Mends = fmt.Sprintf("keep it as evidence: `mcpctl audit verify --db %s` says what was changed", l.path)
	case errors.Is(err, ErrOtherKey):
		e.Mends = fmt.Sprintf("put the key file that belongs to it in place, or begin a new log: mv %[1]s %[1]s.old", l.path)
	case errors.Is(err, fs.ErrNotExist):
		e.Mends = "there is no audit log yet: it begins with an `audit:` section in config.yaml"
	}
	return e
}

// Error is an error of a log.
type Error struct {
	// Path is where the log is.
	Path string
	// Err is what failed.
	Err error
	// Mends is what mends it; "" if that is unknown.
	Mends string
}

func (e *Error) Error() string {
	if e.Mends == "" {
		return fmt.Sprintf("%s: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("%s: %v: %s", e.Path, e.Err, e.Mends)
}

// Hint returns what mends it.
func (e *Error) Hint() string { return e.Mends }

// Unwrap returns what failed.
func (e *Error) Unwrap() error { return e.Err }

// codeOf returns SQLite's primary code of an error, 0 for another's.
func codeOf(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff // the rest are details
	}
	return 0
}
