package store

import (
	"context"
	"database/sql"
	"fmt"
)

// Limit has a database be full at a number of pages.
func Limit(ctx context.Context, db *DB, pages int) {
	err := db.withFile(ctx, true, func(open *sql.DB) error {
		_, err := open.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", pages))
		return err
	})
	if err != nil {
		panic(err)
	}
}

// Hold has the turn until it is released.
func Hold(db *DB) (release func()) {
	<-db.file.turn
	return func() { db.file.turn <- struct{}{} }
}

// Spoil has a database take its open file for damaged.
func Spoil(db *DB) {
	defer Hold(db)()
	db.file.renameDamaged(sql.ErrConnDone)
}
