package mirror

import (
	"context"
	"database/sql"
	"time"
)

// Age makes all copies that much older.
func (m *Mirror) Age(ctx context.Context, by time.Duration) error {
	return m.file.Do(ctx, false, func(db *sql.DB) error {
		_, err := db.ExecContext(ctx, `UPDATE registries SET used = used - ?1, synced = synced - ?1, whole = whole - ?1`, int64(by))
		return err
	})
}
