package flow_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/access/flow"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func wantSeen(t *testing.T, table *flow.Table, at time.Time, key string, want ...string) {
	t.Helper()
	if got := table.Seen(at, "o", key); !slices.Equal(got, want) {
		t.Errorf("%s has seen %q, want %q", key, got, want)
	}
}

func TestSeen(t *testing.T) {
	t.Parallel()
	table := flow.New(0)
	wantSeen(t, table, noon, "a")
	table.Add(noon, "o", "a", nil)
	table.Add(noon, "o", "a", []string{"untrusted", "private"})
	before := table.Seen(noon, "o", "a")
	table.Add(noon, "o", "a", []string{"secret", "private"})
	wantSeen(t, table, noon, "a", "private", "secret", "untrusted")
	wantSeen(t, table, noon, "b")
	if !slices.Equal(before, []string{"private", "untrusted"}) {
		t.Errorf("what was read before has changed: %q", before)
	}
}

func TestForget(t *testing.T) {
	t.Parallel()
	table := flow.New(time.Minute)
	table.Add(noon, "o", "a", []string{"x"})
	table.Add(noon, "o", "b", []string{"x"})
	table.Agree(noon, "o", "a", "send?")
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
	table.Add(later, "o", "a", []string{"x"})
	table.SetForget(time.Second)
	wantSeen(t, table, later.Add(time.Second), "a")
}

// TestFull: what cannot be remembered has all labels.
func TestFull(t *testing.T) {
	t.Parallel()
	table := flow.New(time.Hour)
	for i := range 10_000 {
		table.Add(noon, "o", fmt.Sprint(i), []string{"x"})
	}
	if got := table.Seen(noon, "other", "new"); got != nil {
		t.Errorf("another owner's conversation has seen %q", got)
	}
	wantSeen(t, table, noon, "new", "x")
	table.Add(noon, "o", "new", []string{"y"})
	wantSeen(t, table, noon, "new", "x", "y")
	wantSeen(t, table, noon, "newer", "x", "y")
	wantSeen(t, table, noon, "7", "x")
	table.Agree(noon, "o", "new", "send?")
	if table.Agreed(noon, "new", "send?") {
		t.Error("a yes is remembered where there is no room")
	}
	later := noon.Add(30 * time.Minute)
	table.Add(later, "o", "new", []string{"z"})
	later = noon.Add(time.Hour) // there is room again: the others are forgotten
	wantSeen(t, table, later, "new", "x", "y", "z")
	later = later.Add(45 * time.Minute)
	wantSeen(t, table, later, "new", "x", "y", "z")
	wantSeen(t, table, later, "newest")
	wantSeen(t, table, later.Add(time.Hour), "new")
}

// TestFullForAll: where the shares of many fill the table, new conversations of all have all
// labels; nothing that is known is forgotten.
func TestFullForAll(t *testing.T) {
	t.Parallel()
	table := flow.New(time.Hour)
	for i := range 200_000 {
		table.Add(noon, fmt.Sprint("o", i/10_000), fmt.Sprint(i), []string{"x"})
	}
	for i := range 21 {
		if got := table.Seen(noon, fmt.Sprint("o", i), "new"); !slices.Equal(got, []string{"x"}) {
			t.Errorf("a new conversation of o%d has seen %q", i, got)
		}
	}
	for _, i := range []int{0, 9_999, 10_000, 199_999} {
		if got := table.Seen(noon, fmt.Sprint("o", i/10_000), fmt.Sprint(i)); !slices.Equal(got, []string{"x"}) {
			t.Errorf("conversation %d has seen %q", i, got)
		}
	}
	if got := table.Seen(noon.Add(time.Hour), "o21", "new"); got != nil {
		t.Errorf("after all are forgotten: %q", got)
	}
}

// TestMany: one with more labels than are remembered has all.
func TestMany(t *testing.T) {
	t.Parallel()
	table := flow.New(time.Hour)
	table.Add(noon, "o", "b", []string{"x", "y"})
	var many []string
	for i := range 20 {
		many = append(many, fmt.Sprintf("l%02d", i))
	}
	table.Add(noon, "o", "a", many[:16])
	wantSeen(t, table, noon, "a", many[:16]...)
	table.Add(noon, "o", "a", many[16:])
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
				table.Add(at, "o", key, []string{fmt.Sprint(i % 3)})
				if table.Seen(at, "o", key) == nil && j == 0 {
					t.Error("nothing was seen")
				}
				table.Agree(at, "o", key, "q")
			}
		})
	}
	all.Wait()
}

func BenchmarkSeen(b *testing.B) {
	table := flow.New(0)
	table.Add(noon, "o", "a", []string{"x", "y"})
	b.ReportAllocs()
	for b.Loop() {
		if len(table.Seen(noon, "o", "a")) != 2 {
			b.Fatal("labels are gone")
		}
	}
}
