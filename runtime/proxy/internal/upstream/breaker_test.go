package upstream

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestBackoff: what the documents promise, and jitter that only shortens.
func TestBackoff(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for name, c := range map[string]struct {
		policy Backoff
		want   []time.Duration
	}{
		"connections": {Connecting(), []time.Duration{0, s / 2, s, 2 * s, 4 * s, 4 * s, 4 * s}},
		"lists":       {Discovering(), []time.Duration{0, 30 * s, 60 * s, 120 * s, 240 * s, 300 * s, 300 * s}},
	} {
		for failures, want := range c.want {
			if got := c.policy.After(failures, 0); got != want {
				t.Errorf("%s: after %d failures got %v, want %v", name, failures, got, want)
			}
			if got := c.policy.After(failures, 0.999999); got > want || got < want*3/4 || want > 0 && got == want {
				t.Errorf("%s: after %d failures got %v at the least, want three quarters of %v", name, failures, got, want)
			}
		}
		for _, failures := range []int{-1, 20, 63, 64, 1000, 1 << 40} {
			if got := c.policy.After(failures, 0); got != 0 && got != c.policy.most {
				t.Errorf("%s: after %d failures got %v", name, failures, got)
			}
		}
	}
}

// TestBreaker: five ends within thirty seconds open it for thirty; then there is
// one try, which has to last.
func TestBreaker(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	type event struct {
		at   int // seconds
		what string
	}
	for name, c := range map[string]struct {
		events []event
		open   []int // when it has opened, in seconds
	}{
		"five at once":               {[]event{{0, "end"}, {0, "end"}, {0, "end"}, {0, "end"}, {0, "end"}}, []int{0}},
		"five in thirty seconds":     {[]event{{0, "end"}, {7, "end"}, {15, "end"}, {22, "end"}, {30, "end"}}, []int{30}},
		"five in more":               {[]event{{0, "end"}, {7, "end"}, {15, "end"}, {22, "end"}, {31, "end"}, {38, "end"}}, nil},
		"four":                       {[]event{{0, "end"}, {1, "end"}, {2, "end"}, {3, "end"}}, nil},
		"connected in between":       {[]event{{0, "end"}, {1, "ok"}, {2, "end"}, {3, "ok"}, {4, "end"}, {5, "ok"}, {6, "end"}, {7, "ok"}, {8, "end"}}, []int{8}},
		"the try fails":              {[]event{{0, "end"}, {0, "end"}, {0, "end"}, {0, "end"}, {0, "end"}, {40, "end"}, {80, "end"}}, []int{0, 40, 80}},
		"the try ends soon":          {[]event{{0, "end"}, {0, "end"}, {0, "end"}, {0, "end"}, {0, "end"}, {40, "ok"}, {69, "end"}}, []int{0, 69}},
		"the try lasts":              {[]event{{0, "end"}, {0, "end"}, {0, "end"}, {0, "end"}, {0, "end"}, {40, "ok"}, {70, "end"}, {71, "end"}, {72, "end"}, {73, "end"}}, []int{0}},
		"the try lasts, and a storm": {[]event{{0, "end"}, {0, "end"}, {0, "end"}, {0, "end"}, {0, "end"}, {40, "ok"}, {70, "end"}, {71, "end"}, {72, "end"}, {73, "end"}, {74, "end"}}, []int{0, 74}},
	} {
		var k Breaker
		var open []int
		for _, e := range c.events {
			now := start.Add(time.Duration(e.at) * time.Second)
			if until := k.Opened(now); e.at > 0 && !until.IsZero() {
				t.Errorf("%s: open at %d until %v", name, e.at, until)
			}
			if e.what == "ok" {
				k.Connected(now)
				continue
			}
			if k.Failed(now) {
				open = append(open, e.at)
				for after, want := range map[time.Duration]time.Time{0: now.Add(TripPause), TripPause - 1: now.Add(TripPause), TripPause: {}} {
					if got := k.Opened(now.Add(after)); !got.Equal(want) {
						t.Errorf("%s: %v after it has opened: open until %v, want %v", name, after, got, want)
					}
				}
			}
		}
		if diff := cmp.Diff(c.open, open); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if len(k.ends) > TripFailures {
			t.Errorf("%s: %d ends are remembered", name, len(k.ends))
		}
	}
}

// TestStormError names the cause and the next try.
func TestStormError(t *testing.T) {
	t.Parallel()
	cause := errors.New("sh ended (exit status 1): no key")
	err := error(&TrippedError{cause, 12*time.Second + 1})
	if got := err.Error(); !strings.Contains(got, "failed 5 times within 30 s") || !strings.Contains(got, "next try in 13 s") || !strings.Contains(got, cause.Error()) || !errors.Is(err, cause) {
		t.Errorf("got %s", got)
	}
}
