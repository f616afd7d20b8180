package logfile

import (
	"context"
	"time"

	"github.com/mcpctl/mcpctl/internal/audit"
)

// Prune removes segments whose records are all older than before, and the oldest ones of a
// log that is larger than maxBytes; zero is no bound. The hashes stay, so that the rest can
// be verified, and so does the last segment; bodies go with their records. note is called
// first, with the number of the first record that stays, and returns when the log has the
// record that tells so; with its error, or if nothing is to go, nothing is removed. The
// result is how many records are gone.
func (l *Log) Prune(ctx context.Context, before time.Time, maxBytes int64, note func(first int64) error) (int64, error) {
	oldest, err := l.Oldest(ctx)
	if err != nil {
		return 0, err
	}
	first, err := l.prunable(ctx, before, maxBytes)
	if err != nil || first <= oldest {
		return 0, l.explain(err)
	}
	if err := note(first); err != nil {
		return 0, err
	}
	// A transaction each, so that others can write between.
	for {
		n, err := l.remove(ctx, "DELETE FROM segment WHERE first IN (SELECT first FROM segment WHERE first + count <= ? ORDER BY first LIMIT 64)", first)
		if err != nil {
			return 0, err
		}
		if n == 0 {
			break
		}
	}
	if _, err := l.remove(ctx, "DELETE FROM body WHERE record < ?", first); err != nil {
		return 0, err
	}
	return first - oldest, l.shrink(ctx)
}

// prunable returns the number of the first record that stays.
func (l *Log) prunable(ctx context.Context, before time.Time, maxBytes int64) (int64, error) {
	var first int64
	// The first segment that has a record to stay, or else the last one.
	const keep = "SELECT coalesce((SELECT first FROM segment WHERE t1 >= ? ORDER BY first LIMIT 1), (SELECT max(first) FROM segment), 0)"
	if !before.IsZero() {
		if err := l.read.QueryRowContext(ctx, keep, audit.StampOf(before)).Scan(&first); err != nil {
			return 0, err
		}
	}
	if maxBytes <= 0 {
		return first, nil
	}
	var used int64
	const size = "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
	if err := l.read.QueryRowContext(ctx, size).Scan(&used); err != nil || used <= maxBytes {
		return first, err
	}
	rows, err := l.read.QueryContext(ctx, "SELECT first, length(records) FROM segment ORDER BY first")
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var at, length int64
		if err := rows.Scan(&at, &length); err != nil {
			return 0, err
		}
		first = max(first, at)
		if used <= maxBytes {
			break
		}
		used -= length
	}
	return first, rows.Err()
}

// DeleteBody removes the body of a record, if it is kept.
func (l *Log) DeleteBody(ctx context.Context, record int64, result bool) (found bool, err error) {
	n, err := l.remove(ctx, "DELETE FROM body WHERE record = ? AND result = ?", record, result)
	return n > 0, err
}

// PruneBodies removes the bodies of records of before a time, and returns how many.
func (l *Log) PruneBodies(ctx context.Context, before time.Time) (int64, error) {
	n, err := l.remove(ctx, "DELETE FROM body WHERE t < ?", audit.StampOf(before))
	if err != nil || n == 0 {
		return n, err
	}
	return n, l.shrink(ctx)
}
