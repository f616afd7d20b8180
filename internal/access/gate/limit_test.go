package gate_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/test/require"
)

// noon is a time of the tests' clock.
var limitNoon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func rate(key string, n int, every time.Duration, burst int) gate.Want {
	return gate.Want{Key: key, N: n, Every: every, Burst: burst}
}

func quota(key string, n int) gate.Want { return rate(key, n, gate.Day, n) }

// passes reports how many of 1,000 requests pass at a time.
func passes(l *gate.Limiter, at time.Time, wants ...gate.Want) (n int) {
	for range 1000 {
		if refused, _ := l.Take(at, wants); refused < 0 {
			n++
		}
	}
	return n
}

func TestRate(t *testing.T) {
	t.Parallel()
	l := gate.NewLimiter()
	minute := rate("a", 60, time.Minute, 5)
	for _, step := range []struct {
		after time.Duration
		want  int
	}{{0, 5}, {999 * time.Millisecond, 0}, {time.Second, 1}, {4 * time.Second, 3}, {time.Hour, 5}, {time.Hour, 0}} {
		if got := passes(l, limitNoon.Add(step.after), minute); got != step.want {
			t.Errorf("after %v: %d pass, want %d", step.after, got, step.want)
		}
	}
	if got := passes(l, limitNoon, rate("b", 60, time.Minute, 5)); got != 5 {
		t.Errorf("another key: %d pass", got)
	}
	refused, again := l.Take(limitNoon.Add(time.Hour+200*time.Millisecond), []gate.Want{minute})
	if refused != 0 || again != 800*time.Millisecond {
		t.Errorf("got %d, again in %v", refused, again)
	}
}

// TestTogether: what is not used up is not touched where another limit is.
func TestTogether(t *testing.T) {
	t.Parallel()
	l := gate.NewLimiter()
	wide, narrow := rate("wide", 10, time.Hour, 10), rate("narrow", 1, time.Hour, 1)
	if got := passes(l, limitNoon, wide, narrow); got != 1 {
		t.Fatalf("%d pass", got)
	}
	if refused, again := l.Take(limitNoon, []gate.Want{wide, narrow}); refused != 1 || again != time.Hour {
		t.Errorf("got %d, again in %v", refused, again)
	}
	if got := passes(l, limitNoon, wide); got != 9 {
		t.Errorf("%d pass of the wide one, want 9", got)
	}
}

// TestTwice: one key twice counts twice, and its lock is taken once.
func TestTwice(t *testing.T) {
	t.Parallel()
	l := gate.NewLimiter()
	w := rate("a", 4, time.Hour, 4)
	if got := passes(l, limitNoon, w, w); got != 2 {
		t.Errorf("%d pass, want 2", got)
	}
}

func TestLimiterParallel(t *testing.T) {
	t.Parallel()
	l := gate.NewLimiter()
	var passed atomic.Int64
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 500 {
				mine := rate(fmt.Sprint(i), 1000, time.Hour, 1000)
				wants := []gate.Want{rate("all", 100, time.Hour, 100), mine}
				if j%2 == 0 { // in another order
					wants[0], wants[1] = wants[1], wants[0]
				}
				if refused, _ := l.Take(limitNoon, wants); refused < 0 {
					passed.Add(1)
				}
			}
		})
	}
	all.Wait()
	if passed.Load() != 100 {
		t.Errorf("%d pass, want 100", passed.Load())
	}
}

// TestForgotten: a key that had to go comes back with what it has earned since, no more.
func TestForgotten(t *testing.T) {
	t.Parallel()
	l := gate.NewLimiter()
	w := rate("first", 3600, time.Hour, 10)
	if got := passes(l, limitNoon, w); got != 10 {
		t.Fatalf("%d pass", got)
	}
	for i := range 260_000 {
		l.Take(limitNoon.Add(time.Millisecond), []gate.Want{rate(fmt.Sprint(i), 1, time.Hour, 1)})
	}
	if got := passes(l, limitNoon.Add(2*time.Millisecond), w); got != 0 {
		t.Errorf("%d pass after it was forgotten, want 0", got)
	}
	if got := passes(l, limitNoon.Add(3100*time.Millisecond), w); got != 3 {
		t.Errorf("%d pass 3 s later, want 3", got)
	}
	if got := passes(l, limitNoon.Add(time.Hour), rate("new", 3600, time.Hour, 10)); got != 10 {
		t.Errorf("%d pass of a new one an hour later, want 10", got)
	}
}

// TestForgottenOfOne: who counts for ever more keys loses what it could have had, and nobody
// else does.
func TestForgottenOfOne(t *testing.T) {
	t.Parallel()
	l := gate.NewLimiter()
	of := func(owner, key string) gate.Want {
		w := rate(key, 3600, time.Hour, 10)
		w.Owner = owner
		return w
	}
	if got := passes(l, limitNoon, of("alice", "a")); got != 10 {
		t.Fatalf("%d pass", got)
	}
	if got := passes(l, limitNoon, of("bob", "b")); got != 10 {
		t.Fatalf("%d pass", got)
	}
	for i := range 260_000 {
		l.Take(limitNoon.Add(time.Millisecond), []gate.Want{of("bob", fmt.Sprint(i))})
	}
	for _, c := range []struct {
		owner, key string
		want       int
	}{{"alice", "a", 0}, {"alice", "new", 10}, {"", "new of nobody", 10}, {"bob", "b", 0}, {"bob", "new of bob", 0}} {
		if got := passes(l, limitNoon.Add(2*time.Millisecond), of(c.owner, c.key)); got != c.want {
			t.Errorf("%d of %s pass for %q, want %d", got, c.key, c.owner, c.want)
		}
	}
}

// store keeps counts as a database does.
type store struct {
	mu     sync.Mutex // guards what follows
	counts map[int64]map[string]int64
	broken error
}

func (k *store) Counts(_ context.Context, day int64) (map[string]int64, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return maps.Clone(k.counts[day]), k.broken
}

func (k *store) Add(_ context.Context, day int64, counts map[string]int64) (map[string]int64, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.broken != nil {
		return nil, k.broken
	}
	if k.counts[day] == nil {
		k.counts = map[int64]map[string]int64{day: {}}
	}
	sums := map[string]int64{}
	for key, n := range counts {
		k.counts[day][key] += n
		sums[key] = k.counts[day][key]
	}
	return sums, nil
}

func TestQuota(t *testing.T) {
	t.Parallel()
	l := gate.NewLimiter()
	if got := passes(l, limitNoon, quota("a", 20)); got != 20 {
		t.Errorf("%d pass, want 20", got)
	}
	refused, again := l.Take(limitNoon.Add(time.Hour), []gate.Want{quota("a", 20)})
	if refused != 0 || again != 11*time.Hour {
		t.Errorf("got %d, again in %v; it is 11 hours to midnight", refused, again)
	}
	if got := passes(l, limitNoon.Add(12*time.Hour), quota("a", 20)); got != 20 {
		t.Errorf("%d pass on the next day, want 20", got)
	}
}

// TestQuotaKept: a restart forgets nothing that was told, and processes share a quota.
func TestQuotaStored(t *testing.T) {
	t.Parallel()
	ctx, k := t.Context(), &store{counts: map[int64]map[string]int64{}}
	one, two := gate.NewLimiter(), gate.NewLimiter()
	w := quota("a", 10)
	take := func(l *gate.Limiter, n, want int) {
		t.Helper()
		got := 0
		for range n {
			if refused, _ := l.Take(limitNoon, []gate.Want{w}); refused < 0 {
				got++
			}
		}
		if got != want {
			t.Errorf("%d pass, want %d", got, want)
		}
	}
	take(one, 4, 4)
	take(two, 3, 3)
	require.NoError(t, one.Sync(ctx, limitNoon, k))
	require.NoError(t, two.Sync(ctx, limitNoon, k)) // now knows of 7
	take(two, 5, 3)
	k.broken = errors.New("disk full")
	if err := two.Sync(ctx, limitNoon, k); !errors.Is(err, k.broken) {
		t.Errorf("got %v", err)
	}
	k.broken = nil
	require.NoError(t, two.Sync(ctx, limitNoon, k))
	require.NoError(t, two.Sync(ctx, limitNoon, k)) // tells nothing twice
	three := gate.NewLimiter()
	require.NoError(t, three.Restore(ctx, limitNoon, k))
	take(three, 1, 0)
	if got := k.counts[limitNoon.Unix()/86400]["a"]; got != 10 {
		t.Errorf("%d are kept, want 10", got)
	}
	require.NoError(t, one.Sync(ctx, limitNoon, k))
	take(one, 1, 0)
}

// TestQuotaForgotten: a quota that had to go is asked for before it counts again.
func TestQuotaForgotten(t *testing.T) {
	t.Parallel()
	ctx, l, k := t.Context(), gate.NewLimiter(), &store{counts: map[int64]map[string]int64{}}
	w := quota("first", 10)
	for range 4 {
		l.Take(limitNoon, []gate.Want{w})
	}
	for i := range 260_000 {
		l.Take(limitNoon.Add(time.Millisecond), []gate.Want{rate(fmt.Sprint(i), 1, time.Hour, 1)})
	}
	if refused, again := l.Take(limitNoon.Add(time.Second), []gate.Want{w}); refused != 0 || again != gate.SyncInterval {
		t.Errorf("got %d, again in %v", refused, again)
	}
	require.NoError(t, l.Sync(ctx, limitNoon.Add(time.Second), k))
	if got := passes(l, limitNoon.Add(2*time.Second), w); got != 6 {
		t.Errorf("%d pass, want 6", got)
	}
}

func BenchmarkTake(b *testing.B) {
	l, now := gate.NewLimiter(), time.Now()
	wants := []gate.Want{rate("alice", 1e9, time.Second, 1e6), quota("alice/day", 1<<62)}
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Microsecond)
		if refused, _ := l.Take(now, wants); refused >= 0 {
			b.Fatal("refused")
		}
	}
}
