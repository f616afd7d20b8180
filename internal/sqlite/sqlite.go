// Package sqlite opens SQLite files that several processes share.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Address returns the data source name of a file, for the driver "sqlite". A statement waits
// for busy at most while another connection has the file locked. Options are parameters of
// the name, as in mode=ro and _pragma=cache_size(-256).
func Address(path string, busy time.Duration, options ...string) string {
	path = filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" {
		path = "/" + path
	}
	path = strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
	return strings.Join(append([]string{fmt.Sprintf("file:%s?_pragma=busy_timeout(%d)", path, busy.Milliseconds())}, options...), "&")
}

// walRetry is how often UseWAL tries again.
const walRetry = 5 * time.Millisecond

// UseWAL gives a file a write-ahead log, for good: readers and one writer do not wait for
// each other. While another connection does the same, SQLite refuses it at once, whatever
// time other statements have to wait (sqlite3BtreeSetVersion reads before it locks, and who
// has read is not made to wait). It is tried again until busy has passed.
func UseWAL(ctx context.Context, db interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}, busy time.Duration,
) error {
	for began := time.Now(); ; {
		_, err := db.ExecContext(ctx, "PRAGMA journal_mode = wal")
		if !IsBusy(err) || time.Since(began) >= busy {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(walRetry):
		}
	}
}

// IsBusy reports whether an error is that another connection has the file locked.
func IsBusy(err error) bool {
	code := Code(err)
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED
}

// Code returns the primary code of an error of SQLite, 0 for another error and nil.
func Code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff // the rest are details
	}
	return 0
}
