package jwt

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// minInterval is the least time between the starts of two fetches.
	minInterval = 30 * time.Second
	// usualInterval is the time between two fetches if the issuer says nothing.
	usualInterval = 10 * time.Minute
	// minAge and maxAge bound what the issuer may say.
	minAge, maxAge = time.Minute, time.Hour
	// maxStale is how long keys count that cannot be fetched again.
	maxStale = 24 * time.Hour
	// fetchTime bounds a fetch.
	fetchTime = 15 * time.Second
	// maxWaiting bounds those who wait for a fetch; others are told to come again.
	maxWaiting = 128
)

// errBusy is that too many wait for the keys.
var errBusy = errors.New("too many tokens with unknown keys")

// KeyDocument is a set of keys as an issuer has published it.
type KeyDocument struct {
	Body []byte
	// MaxAge is how long it may be kept, zero if the issuer does not say.
	MaxAge time.Duration
}

// KeySource has the keys of one issuer. It implements [Keys], and is safe for
// concurrent use.
type KeySource struct {
	issuer string
	fetch  func(context.Context) (KeyDocument, error)
	log    *slog.Logger
	asked  chan struct{}
	state  atomic.Pointer[state]

	mu      sync.Mutex    // guards what follows
	round   chan struct{} // closed when the fetch ends that runs or was asked for; nil for none
	started time.Time     // when the last fetch began
	waiting int
}

// state is what is known of the keys. It is immutable.
type state struct {
	set  *KeySet   // nil for none
	good time.Time // when they were fetched
	err  error     // of the last fetch
}

// errNever is that no fetch has ended yet.
var errNever = errors.New("the keys have not been fetched yet")

// NewKeySource returns the keys of an issuer, which Run fetches.
func NewKeySource(issuer string, fetch func(context.Context) (KeyDocument, error), log *slog.Logger) *KeySource {
	s := &KeySource{issuer: issuer, fetch: fetch, log: log, asked: make(chan struct{}, 1)}
	s.state.Store(&state{err: errNever})
	return s
}

// Set implements [Keys].
func (s *KeySource) Set() *KeySet { return s.state.Load().set }

// Failure returns why the last fetch has failed, nil where it has not.
func (s *KeySource) Failure() error { return s.state.Load().err }

// Renew implements [Keys].
func (s *KeySource) Renew(ctx context.Context) (*KeySet, error) {
	round, err := s.ask()
	if round != nil {
		select {
		case <-round:
		case <-ctx.Done():
			err = ctx.Err()
		}
		s.mu.Lock()
		s.waiting--
		s.mu.Unlock()
	}
	now := s.state.Load()
	if err == nil {
		err = now.err
	}
	return now.set, err
}

// ask asks for a fetch, and returns what to wait for: nil where it is not time for one.
func (s *KeySource) ask() (<-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.round == nil {
		if !s.started.IsZero() && time.Since(s.started) < minInterval {
			return nil, nil
		}
		s.round = make(chan struct{})
		select {
		case s.asked <- struct{}{}:
		default: // Run has yet to take the one before
		}
	}
	if s.waiting >= maxWaiting {
		return nil, errBusy
	}
	s.waiting++
	return s.round, nil
}

// Run fetches the keys until ctx ends.
func (s *KeySource) Run(ctx context.Context) {
	failures := 0
	for ctx.Err() == nil {
		wait := s.turn(ctx)
		if wait > 0 {
			failures = 0
		} else {
			wait = min(minInterval<<min(failures, 10), usualInterval)
			failures++
		}
		s.pause(ctx, wait)
	}
}

// pause waits until the next fetch: for some time, or until it is asked for. Keys that
// are too old meanwhile stop counting.
func (s *KeySource) pause(ctx context.Context, wait time.Duration) {
	next := time.NewTimer(wait)
	defer next.Stop()
	stale := time.NewTimer(time.Until(s.state.Load().good.Add(maxStale)))
	defer stale.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
			return
		case <-stale.C:
			s.drop()
		case <-s.asked:
			s.mu.Lock()
			due := s.round != nil
			s.mu.Unlock()
			if due {
				return
			}
		}
	}
}

// drop removes keys.
func (s *KeySource) drop() {
	if now := s.state.Load(); now.set != nil {
		s.log.Warn("keys of an issuer are too old: its tokens are refused", "issuer", s.issuer, "err", now.err)
		s.state.Store(&state{err: now.err})
	}
}

// turn fetches once. It returns how long the keys may be kept, 0 where it has failed.
func (s *KeySource) turn(ctx context.Context) (wait time.Duration) {
	s.mu.Lock()
	if s.round == nil {
		s.round = make(chan struct{})
	}
	s.started = time.Now()
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		close(s.round)
		s.round = nil
	}()
	bounded, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	doc, err := s.fetch(bounded)
	var set *KeySet
	if err == nil {
		set, _, err = ParseKeys(doc.Body)
	}
	before := s.state.Load()
	if err != nil {
		if ctx.Err() == nil && (before.err == nil || before.err == errNever) { //nolint:errorlint // it is never wrapped
			s.log.Warn("keys of an issuer cannot be fetched", "issuer", s.issuer, "err", err)
		}
		s.state.Store(&state{set: before.set, good: before.good, err: err})
		return 0
	}
	s.take(set, before)
	if doc.MaxAge > 0 {
		return min(max(doc.MaxAge, minAge), maxAge)
	}
	return usualInterval
}

// take takes over keys that were fetched. Those that are the same stay the same set, so
// that what was verified with them need not be verified again.
func (s *KeySource) take(set *KeySet, before *state) {
	switch {
	case before.set != nil && before.set.Equal(set):
		set = before.set
	case set.Len() == 0:
		s.log.Warn("an issuer has no key that can be used: its tokens are refused", "issuer", s.issuer)
	default:
		s.log.Info("keys of an issuer fetched", "issuer", s.issuer, "keys", set.Len())
	}
	s.state.Store(&state{set: set, good: time.Now()})
}
