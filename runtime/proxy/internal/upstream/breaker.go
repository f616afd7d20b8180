package upstream

import (
	"fmt"
	"time"
)

// Backoff is how long something that fails is left alone before it is tried again:
// first after the first failure, doubled with each further one in a row, at most
// most. A client's call waits for none.
type Backoff struct{ first, most time.Duration }

// Connecting is how long the proxy waits before it reconnects a server on its own:
// one that stays connected, or that somebody has subscribed over.
func Connecting() Backoff { return Backoff{500 * time.Millisecond, 4 * time.Second} }

// Discovering is how long lists leave a server alone that could not be
// connected: 30, 60, 120, 240 s, then 300 s.
func Discovering() Backoff { return Backoff{30 * time.Second, 300 * time.Second} }

// After returns how long to wait after a number of failures in a row, 0 after
// none. random, at least 0 and less than 1, shortens it by up to a quarter, so
// that what has failed together is not tried together.
func (b Backoff) After(failures int, random float64) time.Duration {
	if failures <= 0 {
		return 0
	}
	d := b.most
	if doubled := failures - 1; doubled < 20 && b.first<<doubled < b.most {
		d = b.first << doubled
	}
	return d - time.Duration(random*float64(d/4))
}

// A server that ends, or cannot be connected, TripFailures times within tripWindow
// is not connected for TripPause, whoever asks; then there is one try. A connection
// that does not last for tripWindow after that is one failure too many.
const (
	TripFailures = 5
	tripWindow   = 30 * time.Second
	TripPause    = 30 * time.Second
)

// Breaker keeps a server that ends again and again from being started without
// end. The zero value lets through. It has no clock and no lock: its user passes the time,
// and guards it.
type Breaker struct {
	ends  []time.Time // the latest, at most TripFailures, oldest first
	until time.Time   // nobody connects before
	// halfOpen says that it was open and the server has not lasted since; provenAt
	// is when it will have, zero where it is not connected.
	halfOpen bool
	provenAt time.Time
}

// Failed notes that the server has ended on its own or could not be connected.
// It reports whether that has opened the breaker.
func (k *Breaker) Failed(now time.Time) (opened bool) {
	if k.halfOpen && !k.provenAt.IsZero() && !now.Before(k.provenAt) {
		*k = Breaker{} // it has lasted: what was before is forgotten
	}
	k.provenAt = time.Time{}
	if len(k.ends) == TripFailures {
		k.ends = append(k.ends[:0], k.ends[1:]...)
	}
	k.ends = append(k.ends, now)
	if !k.halfOpen && (len(k.ends) < TripFailures || now.Sub(k.ends[0]) > tripWindow) {
		return false
	}
	k.until, k.halfOpen = now.Add(TripPause), true
	return true
}

// Connected notes that the server is connected.
func (k *Breaker) Connected(now time.Time) { k.provenAt = now.Add(tripWindow) }

// Opened returns until when nobody connects; the zero Time where anybody may.
func (k *Breaker) Opened(now time.Time) time.Time {
	if now.Before(k.until) {
		return k.until
	}
	return time.Time{}
}

// TrippedError refuses to connect a server whose breaker is open.
type TrippedError struct {
	Err error // the last failure
	In  time.Duration
}

// Error says why, and when it is tried again.
func (e *TrippedError) Error() string {
	return fmt.Sprintf("it has failed %d times within %d s and is paused; next try in %d s; last failure: %v",
		TripFailures, int(tripWindow.Seconds()), int((e.In+time.Second-1)/time.Second), e.Err)
}

func (e *TrippedError) Unwrap() error { return e.Err }
