package store

import (
	"context"
	"database/sql"
)

// maxQuotas bounds the counts of a day that are read at once: of more the greatest.
const maxQuotas = 10_000

// Quotas are what was counted on each day in the scope of a database, by keys, for all
// processes that use it. It is a limit.Keeper.
type Quotas struct{ db *DB }

// Quotas returns the counts in the database.
func (db *DB) Quotas() Quotas { return Quotas{db} }

// Counts returns what was counted on a day.
func (q Quotas) Counts(ctx context.Context, day int64) (map[string]int64, error) {
	counts := map[string]int64{}
	err := q.db.withFile(ctx, false, func(open *sql.DB) error {
		clear(counts)
		rows, err := open.QueryContext(ctx, "SELECT key, used FROM quotas WHERE scope = ? AND day = ? ORDER BY used DESC LIMIT ?", q.db.o.Scope, day, maxQuotas)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var key string
			var used int64
			if err := rows.Scan(&key, &used); err != nil {
				return err
			}
			counts[key] = used
		}
		return rows.Err()
	})
	return counts, err
}

// Add adds to the counts of a day, and returns the new ones of the same keys. It deletes
// those of days before the last.
func (q Quotas) Add(ctx context.Context, day int64, counts map[string]int64) (map[string]int64, error) {
	sums := make(map[string]int64, len(counts))
	err := q.db.withFile(ctx, true, func(open *sql.DB) error {
		tx, err := open.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // no effect once committed
		if _, err := tx.ExecContext(ctx, "DELETE FROM quotas WHERE day < ?", day-1); err != nil {
			return err
		}
		add, err := tx.PrepareContext(ctx, `INSERT INTO quotas (scope, day, key, used) VALUES (?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET used = used + excluded.used RETURNING used`)
		if err != nil {
			return err
		}
		defer func() { _ = add.Close() }()
		for key, n := range counts {
			var sum int64
			if err := add.QueryRowContext(ctx, q.db.o.Scope, day, key, n).Scan(&sum); err != nil {
				return err
			}
			sums[key] = sum
		}
		return tx.Commit()
	})
	if err != nil {
		return nil, err
	}
	return sums, nil
}
