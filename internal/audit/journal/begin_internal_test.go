package journal

import (
	"errors"
	"testing"
)

// TestBegin: a run that cannot begin leaves no ring that looks like one that goes on.
func TestBegin(t *testing.T) {
	dir := t.TempDir()
	r, err := CreateRing(t.Context(), dir, "full", fileSlots, memorySlots)
	if err != nil {
		t.Fatal(err)
	}
	for e, ok := r.Claim(1, 0); ok; e, ok = r.Claim(1, 0) {
		e.Publish(false)
	}
	if _, err := begin(t.Context(), Options{Dir: dir}, "full", r); !errors.Is(err, ErrUnwritten) {
		t.Fatal(err)
	}
	r, err = CreateRing(t.Context(), dir, "full", fileSlots, memorySlots)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(true); err != nil {
		t.Error(err)
	}
}
