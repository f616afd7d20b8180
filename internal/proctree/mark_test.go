package proctree

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMarks: a mark is added to those of the guards above, and is found among
// them, whole.
func TestMarks(t *testing.T) {
	t.Parallel()
	env := []string{"A=1", MarkVariable + "=old.1", "B=2", MarkVariable + "=ab.7:cd.12"}
	got := WithMark(env, MarkFor("ef", 3))
	if diff := cmp.Diff([]string{"A=1", "B=2", MarkVariable + "=ab.7:cd.12:ef.3"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if env[1] != MarkVariable+"=old.1" {
		t.Error("the caller's environment was changed")
	}
	if diff := cmp.Diff([]string{MarkVariable + "=ef.3"}, WithMark(nil, "ef.3")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	value, ok := MarkOf([]byte("program\x00-x\x00X" + MarkVariable + "=no\x00" + MarkVariable + "=ab.7:cd.12:ef.3\x00Z=1\x00"))
	if !ok || value != "ab.7:cd.12:ef.3" {
		t.Errorf("got %q %v", value, ok)
	}
	if _, ok := MarkOf([]byte("A=1\x00")); ok {
		t.Error("a mark out of nowhere")
	}
	for mark, want := range map[string]bool{"ab.7": true, "cd.12": true, "ef.3": true, "cd.1": false, "cd": false, "": false, "ab.7:cd.12": false} {
		if HasMark(value, mark) != want {
			t.Errorf("%q: want %v", mark, want)
		}
	}
	for guard, want := range map[string]bool{"ab": true, "cd": true, "ef": true, "a": false, "": false, "ab.7": false} {
		if MarkedBy(value, guard) != want {
			t.Errorf("%q: want %v", guard, want)
		}
	}
}
