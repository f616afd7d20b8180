package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"math"
	"time"
)

// vectorDays is how many days a vector is kept that nobody uses.
const vectorDays = 30

// Vectors are what models make of texts, for all processes that use a database. It is an
// embed.Cache.
type Vectors struct {
	db *DB
	// Now is time.Now or like it; nil is time.Now.
	Now func() time.Time
}

// Vectors returns the vectors in the database.
func (db *DB) Vectors() Vectors { return Vectors{db: db} }

func (v Vectors) day() int64 {
	now := time.Now
	if v.Now != nil {
		now = v.Now
	}
	return now().Unix() / int64((24 * time.Hour).Seconds())
}

// Vectors returns those that are kept of some keys.
func (v Vectors) Vectors(ctx context.Context, keys [][sha256.Size]byte) (map[[sha256.Size]byte][]float32, error) {
	out := map[[sha256.Size]byte][]float32{}
	err := v.db.withFile(ctx, false, func(open *sql.DB) error {
		clear(out)
		return inTx(ctx, open, func(tx *sql.Tx) error {
			get, err := tx.PrepareContext(ctx, "SELECT data, used FROM vectors WHERE key = ?")
			if err != nil {
				return err
			}
			defer func() { _ = get.Close() }()
			for _, key := range keys {
				var data []byte
				var used int64
				switch err := get.QueryRowContext(ctx, key[:]).Scan(&data, &used); {
				case errors.Is(err, sql.ErrNoRows):
					continue
				case err != nil:
					return err
				}
				if today := v.day(); used < today {
					if _, err := tx.ExecContext(ctx, "UPDATE vectors SET used = ? WHERE key = ?", today, key[:]); err != nil {
						return err
					}
				}
				out[key] = floats(data)
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Keep keeps vectors, and deletes those that nobody has used for a month.
func (v Vectors) Keep(ctx context.Context, vectors map[[sha256.Size]byte][]float32) error {
	return v.db.withFile(ctx, true, func(open *sql.DB) error {
		return inTx(ctx, open, func(tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, "DELETE FROM vectors WHERE used < ?", v.day()-vectorDays); err != nil {
				return err
			}
			for key, vector := range vectors {
				if _, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO vectors (key, used, data) VALUES (?, ?, ?)", key[:], v.day(), bytesOf(vector)); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// inTx calls do in a transaction.
func inTx(ctx context.Context, open *sql.DB, do func(*sql.Tx) error) error {
	tx, err := open.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no effect once committed
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}

const floatSize = 4

func bytesOf(v []float32) []byte {
	out := make([]byte, 0, floatSize*len(v))
	for _, f := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(f))
	}
	return out
}

func floats(data []byte) []float32 {
	out := make([]float32, len(data)/floatSize)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[floatSize*i:]))
	}
	return out
}
