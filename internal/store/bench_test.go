package store_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/mcpctl/mcpctl/internal/store"
	"github.com/mcpctl/mcpctl/test/require"
)

// BenchmarkLoad opens a database and reads what 50 servers of 50 KB offer.
func BenchmarkLoad(b *testing.B) {
	path := filepath.Join(b.TempDir(), "mcpctl.db")
	db := store.Open(path, store.Options{})
	var ids []store.ID
	for i := range 50 {
		c := full(fmt.Sprint("s", i))
		c.Catalog.Data = bytes.Repeat([]byte("0123456789"), 5000)
		ids = append(ids, c.ID)
		require.NoError(b, db.Keep(b.Context(), []store.Change{c}))
	}
	require.NoError(b, db.Close())
	b.ReportAllocs()
	for b.Loop() {
		db := store.Open(path, store.Options{})
		if found, err := db.Load(b.Context(), ids); err != nil || len(found) != len(ids) {
			b.Fatal(len(found), err)
		}
		_ = db.Close()
	}
}
