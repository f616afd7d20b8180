package store_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/internal/store"
	"github.com/mcpctl/mcpctl/test/require"
)

func TestQuotas(t *testing.T) {
	t.Parallel()
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "mcpctl.db")
	db, log := open(t, path, "a")
	q := db.Quotas()
	want := func(q store.Quotas, day int64, want map[string]int64) {
		t.Helper()
		if got, err := q.Counts(ctx, day); err != nil || !maps.Equal(got, want) {
			t.Errorf("day %d: got %v, %v, want %v", day, got, err, want)
		}
	}
	want(q, 7, nil) // no file yet
	if sums, err := q.Add(ctx, 7, map[string]int64{"x": 2, "y": 0}); err != nil || !maps.Equal(sums, map[string]int64{"x": 2, "y": 0}) {
		t.Errorf("got %v, %v", sums, err)
	}
	again, _ := open(t, path, "a")
	if sums, err := again.Quotas().Add(ctx, 7, map[string]int64{"x": 3}); err != nil || !maps.Equal(sums, map[string]int64{"x": 5}) {
		t.Errorf("got %v, %v", sums, err)
	}
	other, _ := open(t, path, "b")
	want(other.Quotas(), 7, nil)
	want(q, 7, map[string]int64{"x": 5, "y": 0})
	_, err := q.Add(ctx, 8, map[string]int64{"x": 1})
	require.NoError(t, err)
	want(q, 7, map[string]int64{"x": 5, "y": 0}) // it may have just begun
	_, err = q.Add(ctx, 9, map[string]int64{"x": 1})
	require.NoError(t, err)
	want(q, 7, nil)
	want(q, 8, map[string]int64{"x": 1})
	require.NoError(t, db.Close())
	if _, err := q.Add(ctx, 9, map[string]int64{"x": 1}); err == nil {
		t.Error("added to a closed database")
	}
	if log.Len() > 0 {
		t.Errorf("log: %s", log)
	}
}

// TestQuotasShared: what several add at once is all there.
func TestQuotasShared(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mcpctl.db")
	var all sync.WaitGroup
	for range 4 {
		db, _ := open(t, path, "a")
		all.Go(func() {
			for i := range 25 {
				turn(t, func() error {
					_, err := db.Quotas().Add(t.Context(), 7, map[string]int64{"all": 1, fmt.Sprint(i): 1})
					return err
				})
			}
		})
	}
	all.Wait()
	db, _ := open(t, path, "a")
	counts, err := db.Quotas().Counts(t.Context(), 7)
	if err != nil || counts["all"] != 100 || counts["3"] != 4 {
		t.Errorf("got %v, %v", counts, err)
	}
}

// TestQuotasMany: of more than are kept in memory the greatest are read.
func TestQuotasMany(t *testing.T) {
	t.Parallel()
	db, _ := open(t, filepath.Join(t.TempDir(), "mcpctl.db"), "a")
	counts := map[string]int64{}
	for i := range 12_000 {
		counts[fmt.Sprint(i)] = int64(i)
	}
	_, err := db.Quotas().Add(t.Context(), 7, counts)
	require.NoError(t, err)
	got, err := db.Quotas().Counts(t.Context(), 7)
	if err != nil || len(got) != 10_000 || got["11999"] != 11999 {
		t.Errorf("got %d, %v", len(got), err)
	}
}
