package store_test

import (
	"crypto/sha256"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/store"
	"github.com/mcpctl/mcpctl/test/require"
)

func TestVectors(t *testing.T) {
	t.Parallel()
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "mcpctl.db")
	db, _ := open(t, path, "a")
	a, b := sha256.Sum256([]byte("a")), sha256.Sum256([]byte("b"))
	keys := [][sha256.Size]byte{a, b}
	v := db.Vectors()
	now := time.Date(2026, 11, 23, 23, 0, 0, 0, time.UTC)
	v.Now = func() time.Time { return now }
	want := func(v store.Vectors, want map[[sha256.Size]byte][]float32) {
		t.Helper()
		if got, err := v.Vectors(ctx, keys); err != nil || !maps.EqualFunc(got, want, slices.Equal) {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
	want(v, nil) // no file yet
	require.NoError(t, v.Keep(ctx, map[[sha256.Size]byte][]float32{a: {1, -0.5, 3e-9}, b: {2}}))
	other, _ := open(t, path, "b") // a vector is of a text, not of a configuration
	want(other.Vectors(), map[[sha256.Size]byte][]float32{a: {1, -0.5, 3e-9}, b: {2}})
	require.NoError(t, v.Keep(ctx, map[[sha256.Size]byte][]float32{b: {4}}))
	want(v, map[[sha256.Size]byte][]float32{a: {1, -0.5, 3e-9}, b: {4}})

	now = now.AddDate(0, 0, 20)
	if got, err := v.Vectors(ctx, keys[:1]); err != nil || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	now = now.AddDate(0, 0, 20)
	require.NoError(t, v.Keep(ctx, nil))
	want(v, map[[sha256.Size]byte][]float32{a: {1, -0.5, 3e-9}}) // b was used 40 days ago
}
