package logfile

import (
	"context"
	"fmt"
)

// Limit bounds the file, in pages: it is as if the disk were full. Zero is the usual bound.
func (l *Log) Limit(ctx context.Context, pages int64) error {
	if pages == 0 {
		pages = 1 << 30
	}
	_, err := l.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", pages))
	return err
}
