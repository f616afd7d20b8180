package flow_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime/access/flow"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func wantSeen(t *testing.T, table *flow.Table, at time.Time, key string, want ...string) {
	t.Helper()
	if got := table.Seen(at, key); !slices.Equal(got, want) {
		t.Errorf("%s has seen %q, want %q", key, got, want)
	}
}

func TestSeen(t *testing.T) {
	t.Parallel()
	table := flow.New(0)
	wantSeen(t, table, noon, "a")
	table.Add(noon, "a", nil)
	table.Add(noon, "a", []string{"untrusted", "private"})
	before := table.Seen(noon, "a")
	table.Add(noon, "a", []string{"secret", "private"})
	wantSeen(t, table, noon, "a", "private", "secret", "untrusted")
	wantSeen(t, table, noon, "b")
	if !slices.Equal(before, []string{"private", "untrusted"}) {
		t.Errorf("what was read before has changed: %q", before)
	}
}

func TestForget(t *testing.T) {
	t.Parallel()
	table := flow.New(time.Minute)
	table.Add(noon, "a", []string{"x"})
	table.Add(noon, "b", []string{"x"})
	table.Agree(noon, "a", "send?")
	later := noon.Add(59 * time.Second)
	wantSeen(t, table, later, "a", "x")            // a request: it counts from now on
	wantSeen(t, table, noon.Add(time.Minute), "b") // no request since
	later = later.Add(59 * time.Second)
	if !table.Agreed(later, "a", "send?") || table.Agreed(later, "a", "send") || table.Agreed(later, "b", "send?") {
		t.Error("the yes is not that of the conversation and question")
	}
	later = later.Add(time.Minute)
	if table.Agreed(later, "a", "send?") {
		t.Error("a yes outlives its conversation")
	}
	wantSeen(t, table, later, "a")
	table.Add(later, "a", []string{"x"})
	table.SetForget(time.Second)
	wantSeen(t, table, later.Add(time.Second), "a")
}

// TestFull: what cannot be remembered has all labels.
func TestFull(t *testing.T) {
	t.Parallel()
	table := flow.New(time.Hour)
	for i := range 100_000 {
		table.Add(noon, fmt.Sprint(i), []string{"x"})
	}
	wantSeen(t, table, noon, "new", "x")
	table.Add(noon, "new", []string{"y"})
	wantSeen(t, table, noon, "new", "x", "y")
	wantSeen(t, table, noon, "newer", "x", "y")
	wantSeen(t, table, noon, "7", "x")
	table.Agree(noon, "new", "send?")
	if table.Agreed(noon, "new", "send?") {
		t.Error("a yes is remembered where there is no room")
	}
	later := noon.Add(30 * time.Minute)
	table.Add(later, "new", []string{"z"})
	later = noon.Add(time.Hour) // there is room again: the others are forgotten
	wantSeen(t, table, later, "new", "x", "y", "z")
	later = later.Add(45 * time.Minute)
	wantSeen(t, table, later, "new", "x", "y", "z")
	wantSeen(t, table, later, "newest")
	wantSeen(t, table, later.Add(time.Hour), "new")
}

// TestMany: one with more labels than are remembered has all.
func TestMany(t *testing.T) {
	t.Parallel()
	table := flow.New(time.Hour)
	table.Add(noon, "b", []string{"x", "y"})
	var many []string
	for i := range 20 {
		many = append(many, fmt.Sprintf("l%02d", i))
	}
	table.Add(noon, "a", many[:16])
	wantSeen(t, table, noon, "a", many[:16]...)
	table.Add(noon, "a", many[16:])
	wantSeen(t, table, noon, "a", append(slices.Clone(many), "x", "y")...)
}

func TestKey(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200)
	seen := map[string][]string{}
	for _, parts := range [][]string{{}, {""}, {"a"}, {"a", ""}, {"", "a"}, {"a", "b"}, {"ab"}, {"a1:b"}, {"1:a"}, {long}, {long, ""}, {long + "x"}} {
		key := flow.Key(parts...)
		if other, ok := seen[key]; ok {
			t.Errorf("%q and %q are one conversation", parts, other)
		}
		if seen[key] = parts; len(key) > 128 {
			t.Errorf("a key of %d bytes", len(key))
		}
	}
}

func TestParallel(t *testing.T) {
	t.Parallel()
	table := flow.New(time.Millisecond)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 1000 {
				at, key := noon.Add(time.Duration(j)*10*time.Microsecond), fmt.Sprint(j%50)
				table.Add(at, key, []string{fmt.Sprint(i % 3)})
				if table.Seen(at, key) == nil && j == 0 {
					t.Error("nothing was seen")
				}
				table.Agree(at, key, "q")
			}
		})
	}
	all.Wait()
}

func BenchmarkSeen(b *testing.B) {
	table := flow.New(0)
	table.Add(noon, "a", []string{"x", "y"})
	b.ReportAllocs()
	for b.Loop() {
		if len(table.Seen(noon, "a")) != 2 {
			b.Fatal("labels are gone")
		}
	}
}
