// Package logfile is the audit log on disk: one SQLite file, that any number of processes
// write and read at once, and the file of its keys.
//
// A damaged file is never set aside, replaced or deleted here: it is evidence.
//
// # Format
//
// Whoever verifies a log needs these tables, and the public key; test/audit/reader.py does it
// in another language. Records are numbered from 0.
//
//   - segment has the records, one row for each commit. Its text has count records, a line
//     each, from number first on; t0 and t1 are the least and the greatest of their times.
//     The rows follow each other without a hole. Those before the first were pruned: a later
//     record of the kind "prune" says up to which number.
//   - tile has the hashes of the tree of RFC 6962 over the lines, without their newlines. Row
//     n of level l has up to 256 hashes of 32 bytes, of full subtrees of 256 to the power of
//     l records each, from number 256n on. They are never to be trusted: what can be
//     computed from records is, and of pruned records they must make the root that a
//     checkpoint has signed.
//   - checkpoint has a signed note for some sizes: a C2SP tlog-checkpoint, with Ed25519. The
//     origin is "mcpctl/" and the name of the log, as in the key.
//
// A record of the kind "rotate" has two verifier keys as its text, with a space between. The
// first signs until a checkpoint of a greater size has signatures of both, then the second.
//
// The table body has arguments and results, where they are kept, and run what journals need
// to go on: neither is a part of the tree.
package logfile

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/internal/sqlite"
)

// Options are settings of a log that is written.
type Options struct {
	// Key signs checkpoints; required.
	Key *Key
	// Busy is how long to wait while another process writes; zero is five seconds.
	Busy time.Duration
}

const defaultBusy = 5 * time.Second

// Log is a log. All methods may be called concurrently.
type Log struct {
	*file
	Reader
	o Options

	// The file's mutex guards these: synced is that the connection waits for the disk at each
	// commit, text is room for a segment.
	synced bool
	text   []byte
}

func newLog(path string, o Options) *Log {
	f := &file{path: path, busy: o.Busy}
	return &Log{file: f, Reader: Reader{f: f}, o: o}
}

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
) STRICT;
CREATE TABLE tile (
	level INTEGER NOT NULL,
	n INTEGER NOT NULL,
	hashes BLOB NOT NULL,      -- up to 256, of 32 bytes each
	PRIMARY KEY (level, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE checkpoint (
	size INTEGER PRIMARY KEY,  -- of the log
	note TEXT NOT NULL         -- signed
) STRICT;
CREATE TABLE body (
	record INTEGER NOT NULL,   -- number of the record that has the digest
	result INTEGER NOT NULL,   -- 1 for a result, 0 for arguments
	digest TEXT NOT NULL,
	t TEXT NOT NULL,           -- of the record
	cut INTEGER NOT NULL,      -- 1 if there was more
	data BLOB NOT NULL,
	PRIMARY KEY (record, result)
) STRICT, WITHOUT ROWID;
CREATE INDEX body_t ON body (t);
CREATE TABLE run (
	id TEXT PRIMARY KEY,
	state BLOB NOT NULL        -- what its journal would need to go on
) STRICT, WITHOUT ROWID;
`

// making are settings of a file that is yet to be made, and must come first: large pages save
// system calls, and free ones are given back.
const making = `
PRAGMA page_size = 16384;
PRAGMA auto_vacuum = incremental;
`

// settings are those of a connection that writes.
const settings = `
PRAGMA synchronous = normal;
PRAGMA cache_size = -1024;
PRAGMA journal_size_limit = 16777216;
`

// Open opens the log at a path for writing, and makes it where there is none, readable by
// its owner only.
func Open(ctx context.Context, path string, o Options) (*Log, error) {
	if o.Key == nil {
		return nil, errors.New("audit log: no key")
	}
	o.Busy = cmp.Or(o.Busy, defaultBusy)
	l := newLog(path, o)
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
	l.opened, err = made.Stat()
	if err == nil {
		err = atomicfile.Regular(l.path, l.opened)
	}
	if err := errors.Join(err, made.Close()); err != nil {
		return err
	}
	if l.write, err = sql.Open("sqlite", sqlite.Address(l.path, l.busy)); err != nil {
		return err
	}
	if l.conn, err = l.write.Conn(ctx); err != nil {
		return err
	}
	if l.opened.Size() == 0 {
		if _, err := l.conn.ExecContext(ctx, making); err != nil {
			return err
		}
	}
	if err := sqlite.UseWAL(ctx, l.conn, l.busy); err != nil {
		return err
	}
	if _, err := l.conn.ExecContext(ctx, settings); err != nil {
		return err
	}
	if err := l.begin(ctx); err != nil {
		return err
	}
	if err := l.end(ctx, l.prepare(ctx)); err != nil {
		return err
	}
	l.read, err = l.reading("mode=ro") // connected when it is needed
	return err
}

// prepare makes an empty file a log, checks that the key is that of a log, and signs what is
// not signed yet.
func (l *Log) prepare(ctx context.Context) error {
	found, err := versionOf(ctx, l.conn)
	switch {
	case err != nil:
		return err
	case found > version:
		return ErrNewer
	case found == 0:
		if _, err := l.conn.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA user_version = %d;", version)); err != nil {
			return err
		}
	}
	_, err = l.checkpoint(ctx)
	if errors.Is(err, ErrInconsistent) {
		err = nil // whoever writes on must not be kept from it: Checkpoint says so each time
	}
	return err
}

// OpenReadOnly opens the log at a path for reading, which needs no key, also while others
// write it. A file that nobody writes is read where nothing may be written, too; the files
// beside it that end in -wal and -shm belong to it.
func OpenReadOnly(ctx context.Context, path string) (*Log, error) {
	l := newLog(path, Options{Busy: defaultBusy})
	if err := l.openReading(ctx); err != nil {
		_ = l.Close() // says nothing that err does not
		return nil, l.explain(err)
	}
	return l, nil
}
