package journal

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gofrs/flock"
)

// TestLock: the lock of a ring's file has one owner, and who comes second is told so.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit-a.ring")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	other := flock.New(path)
	if ok, err := other.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	want := path + ": cannot be locked: another process has the lock"
	if _, err := lock(path); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
