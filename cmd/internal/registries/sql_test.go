package registries_test

import (
	"database/sql"
	"testing"

	"github.com/mcpctl/mcpctl/test/require"
)

// openSQL opens a file of copies, to change what no method changes: their age. The
// product registers the driver.
func openSQL(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	require.NoError(t, err)
	return db
}
