package sessions

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestShow(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	a := Info{Server: "a", PID: 7, Started: now.Add(-90 * time.Second), LastUsed: now.Add(-time.Minute), Idle: 1800, Config: "/x"}
	b := Info{Server: "b", PID: 8, Started: now.Add(-time.Minute)}
	_, rows := Rows([]Info{a, b}, now)
	want := [][]string{{"a", "7", "1m30s", "in 29m", "/x"}, {"b", "8", "1m", "never", ""}}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
	if got := a.Line() + "|" + b.Line(); got != "a is running (process 7); it ends after 30m without a call|b is running (process 8)" {
		t.Errorf("got %q", got)
	}
	if chosen, missing := Of(nil, []Info{a, b}); len(chosen) != 2 || missing != "" {
		t.Errorf("all: got %v, %q", chosen, missing)
	}
	if chosen, missing := Of([]string{"b"}, []Info{a, b}); len(chosen) != 1 || chosen[0].PID != 8 || missing != "" {
		t.Errorf("one: got %v, %q", chosen, missing)
	}
	if _, missing := Of([]string{"b", "c"}, []Info{a, b}); missing != "c" {
		t.Errorf("got %q, want c", missing)
	}
}
