package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/sqlite"
	"github.com/mcpctl/mcpctl/test/require"
)

func open(t *testing.T, path string, busy time.Duration) *sql.Conn {
	t.Helper()
	db, err := sql.Open("sqlite", sqlite.Address(path, busy))
	require.NoError(t, err)
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = conn.Close(), db.Close() })
	return conn
}

// TestUseWAL: while another connection writes, the file is waited for.
func TestUseWAL(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a?b#c%.db")
	other, conn := open(t, path, time.Minute), open(t, path, time.Minute)
	do := func(statement string) {
		t.Helper()
		_, err := other.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	do("CREATE TABLE a (b)")
	do("BEGIN IMMEDIATE")
	if err := sqlite.UseWAL(t.Context(), conn, 20*time.Millisecond); !sqlite.IsBusy(err) {
		t.Errorf("while another writes: got %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := sqlite.UseWAL(ended, conn, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: got %v", err)
	}
	done := make(chan error, 1)
	go func() { done <- sqlite.UseWAL(t.Context(), conn, time.Hour) }()
	select {
	case err := <-done:
		t.Errorf("it did not wait: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	do("COMMIT")
	require.NoError(t, <-done)
	var mode string
	require.NoError(t, open(t, path, 0).QueryRowContext(t.Context(), "PRAGMA journal_mode").Scan(&mode))
	if mode != "wal" {
		t.Errorf("the mode is %s", mode)
	}
}
