package gate_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/access/gate"
)

var flowNoon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func wantSeen(t *testing.T, table *gate.Flows, at time.Time, key string, want ...string) {
	t.Helper()
	if got := table.Seen(at, "o", key); !slices.Equal(got, want) {
		t.Errorf("%s has seen %q, want %q", key, got, want)
	}
}

func TestSeen(t *testing.T) {
	t.Parallel()
	table := gate.NewFlows(0)
	wantSeen(t, table, flowNoon, "a")
	table.Add(flowNoon, "o", "a", nil)
	table.Add(flowNoon, "o", "a", []string{"untrusted", "private"})
	before := table.Seen(flowNoon, "o", "a")
	table.Add(flowNoon, "o", "a", []string{"secret", "private"})
	wantSeen(t, table, flowNoon, "a", "private", "secret", "untrusted")
	wantSeen(t, table, flowNoon, "b")
	if !slices.Equal(before, []string{"private", "untrusted"}) {
		t.Errorf("what was read before has changed: %q", before)
	}
}

func TestForget(t *testing.T) {
	t.Parallel()
	table := gate.NewFlows(time.Minute)
	table.Add(flowNoon, "o", "a", []string{"x"})
	table.Add(flowNoon, "o", "b", []string{"x"})
	table.Agree(flowNoon, "o", "a", "send?")
	later := flowNoon.Add(59 * time.Second)
	wantSeen(t, table, later, "a", "x")                // a request: it counts from now on
	wantSeen(t, table, flowNoon.Add(time.Minute), "b") // no request since
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
	table := gate.NewFlows(time.Hour)
	for i := range 10_000 {
		table.Add(flowNoon, "o", fmt.Sprint(i), []string{"x"})
	}
	if got := table.Seen(flowNoon, "other", "new"); got != nil {
		t.Errorf("another owner's conversation has seen %q", got)
	}
	wantSeen(t, table, flowNoon, "new", "x")
	table.Add(flowNoon, "o", "new", []string{"y"})
	wantSeen(t, table, flowNoon, "new", "x", "y")
	wantSeen(t, table, flowNoon, "newer", "x", "y")
	wantSeen(t, table, flowNoon, "7", "x")
	table.Agree(flowNoon, "o", "new", "send?")
	if table.Agreed(flowNoon, "new", "send?") {
		t.Error("a yes is remembered where there is no room")
	}
	later := flowNoon.Add(30 * time.Minute)
	table.Add(later, "o", "new", []string{"z"})
	later = flowNoon.Add(time.Hour) // there is room again: the others are forgotten
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
	table := gate.NewFlows(time.Hour)
	for i := range 200_000 {
		table.Add(flowNoon, fmt.Sprint("o", i/10_000), fmt.Sprint(i), []string{"x"})
	}
	for i := range 21 {
		if got := table.Seen(flowNoon, fmt.Sprint("o", i), "new"); !slices.Equal(got, []string{"x"}) {
			t.Errorf("a new conversation of o%d has seen %q", i, got)
		}
	}
	for _, i := range []int{0, 9_999, 10_000, 199_999} {
		if got := table.Seen(flowNoon, fmt.Sprint("o", i/10_000), fmt.Sprint(i)); !slices.Equal(got, []string{"x"}) {
			t.Errorf("conversation %d has seen %q", i, got)
		}
	}
	if got := table.Seen(flowNoon.Add(time.Hour), "o21", "new"); got != nil {
		t.Errorf("after all are forgotten: %q", got)
	}
}

// TestMany: one with more labels than are remembered has all.
func TestMany(t *testing.T) {
	t.Parallel()
	table := gate.NewFlows(time.Hour)
	table.Add(flowNoon, "o", "b", []string{"x", "y"})
	var many []string
	for i := range 20 {
		many = append(many, fmt.Sprintf("l%02d", i))
	}
	table.Add(flowNoon, "o", "a", many[:16])
	wantSeen(t, table, flowNoon, "a", many[:16]...)
	table.Add(flowNoon, "o", "a", many[16:])
	wantSeen(t, table, flowNoon, "a", append(slices.Clone(many), "x", "y")...)
}

func TestKey(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200)
	seen := map[string][]string{}
	for _, parts := range [][]string{{}, {""}, {"a"}, {"a", ""}, {"", "a"}, {"a", "b"}, {"ab"}, {"a1:b"}, {"1:a"}, {long}, {long, ""}, {long + "x"}} {
		key := gate.FlowKey(parts...)
		if other, ok := seen[key]; ok {
			t.Errorf("%q and %q are one conversation", parts, other)
		}
		if seen[key] = parts; len(key) > 128 {
			t.Errorf("a key of %d bytes", len(key))
		}
	}
}

func TestFlowsParallel(t *testing.T) {
	t.Parallel()
	table := gate.NewFlows(time.Millisecond)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 1000 {
				at, key := flowNoon.Add(time.Duration(j)*10*time.Microsecond), fmt.Sprint(j%50)
				table.Add(at, "o", key, []string{fmt.Sprint(i % 3)})
				table.Seen(at, "o", key) // may be nil: another goroutine can be at a later time, and forgets
				table.Agree(at, "o", key, "q")
			}
		})
	}
	all.Wait()
	later := flowNoon.Add(time.Hour)
	if got := table.Seen(later, "o", "0"); got != nil {
		t.Errorf("got %v, which should be forgotten", got)
	}
	table.Add(later, "o", "0", []string{"x"})
	if got := table.Seen(later, "o", "0"); !slices.Equal(got, []string{"x"}) {
		t.Errorf("got %v", got)
	}
}

func BenchmarkSeen(b *testing.B) {
	table := gate.NewFlows(0)
	table.Add(flowNoon, "o", "a", []string{"x", "y"})
	b.ReportAllocs()
	for b.Loop() {
		if len(table.Seen(flowNoon, "o", "a")) != 2 {
			b.Fatal("labels are gone")
		}
	}
}
