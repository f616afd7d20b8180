package verify_test

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// TestOtherReader: a program in another language, written from the formats, comes to the same
// result.
func TestOtherReader(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	read := func(path, key string) (out string, code int) {
		t.Helper()
		ctx := wait.Context(t)
		raw, err := exec.CommandContext(ctx, python, filepath.Join("..", "..", "..", "test", "audit", "reader.py"), path, key).CombinedOutput()
		if e := new(exec.ExitError); errors.As(err, &e) {
			code = e.ExitCode()
		} else {
			require.NoError(t, err)
		}
		return strings.TrimSpace(string(raw)), code
	}
	expect := func(path, key, out string, code int) {
		t.Helper()
		if gotOut, gotCode := read(path, key); !strings.HasSuffix(gotOut, out) || gotCode != code || code == 0 && gotOut != out {
			t.Errorf("exit %d, want %d: %s", gotCode, code, gotOut)
		}
	}
	w := begin(t)
	key := w.key.Verifier()
	w.grow(1300, 37, 10)
	expect(w.path, key, "1300 records, 1110 signed", 0)
	w.checkpoint()
	expect(w.path, begin(t).key.Verifier(), "1300 records, -1 signed", 10)
	r := audit.Record{Time: start, Run: "cli", N: 1, Kind: audit.KindPrune}
	_, err = w.log.Prune(t.Context(), start.Add(600*time.Second), 0, func(first int64) error {
		r.Count = first
		w.add([][]byte{r.Append(nil)})
		return nil
	})
	require.NoError(t, err)
	w.checkpoint()
	w.close()
	expect(w.path, key, "1301 records, 1301 signed", 0)
	m := mutantsOf(t, w.path, key)
	for _, c := range []struct{ statement, undo, want string }{
		{
			"UPDATE segment SET records = CAST(replace(records, 'create_issue_700\"', 'create_issue_007\"') AS BLOB)",
			"UPDATE segment SET records = CAST(replace(records, 'create_issue_007\"', 'create_issue_700\"') AS BLOB)", "records up to",
		},
		{"UPDATE checkpoint SET note = replace(note, 'mcpctl', 'mcpctI') WHERE size = 740", "", "checkpoint of 740 records"},
		{"DELETE FROM segment WHERE first = 740", "", "missing"},
	} {
		m.exec(c.statement)
		if out, code := read(w.path, key); code != 10 || !strings.Contains(out, c.want) {
			t.Errorf("after %s: exit %d: %s", c.statement, code, out)
		}
		if c.undo != "" {
			m.exec(c.undo)
			expect(w.path, key, "1301 records, 1301 signed", 0)
		}
	}
}
