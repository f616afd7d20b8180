package auth

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"
)

const (
	// obtainTime bounds getting a token without a person, in all its requests.
	obtainTime = 3 * requestTime
	// failedTime is for how long a token that could not be had is not asked for again: a
	// caller that goes on calling is no load for who issues it.
	failedTime = 5 * time.Second
	// maxRetryAfter bounds what an issuer can ask for with Retry-After.
	maxRetryAfter = 5 * time.Minute
)

// failure is that a token could not be had a moment ago.
type failure struct {
	err   error
	about string // what was asked for, and with what
	until time.Time
}

// errGivenUp is a token that nobody waits for any more before it was asked for.
var errGivenUp = errors.New("the call was given up")

// once has one goroutine get a token, for all calls that want it: they take what it has
// got, and its failure, which also holds for a moment. about is what is asked for. obtained
// reports whether the token is there. A call waits as long as its context does; the work,
// whose context goes on, is not wasted then: the next call finds what came of it.
func (a *Authorizer) once(ctx context.Context, about string, obtained func() bool, work func(context.Context) error) error {
	if a.asking.Acquire(ctx, 1) != nil {
		return context.Cause(ctx)
	}
	f := a.failed
	failed := f.err != nil && f.about == about && time.Now().Before(f.until)
	if obtained() || failed {
		a.asking.Release(1)
		if failed {
			return f.err
		}
		return nil
	}
	done := make(chan error, 1)
	go func() { // ended by obtainTime
		defer a.asking.Release(1)
		long, cancel := context.WithTimeout(context.WithoutCancel(ctx), obtainTime)
		defer cancel()
		err := work(long)
		if err != nil && !errors.Is(err, errGivenUp) {
			a.failed = failure{err, about, time.Now().Add(holdTime(err))}
		}
		done <- err
	}()
	select {
	case err := <-done:
		if errors.Is(err, errGivenUp) {
			return context.Cause(ctx)
		}
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// holdTime returns for how long a failure holds: as the issuer says, else a moment.
func holdTime(err error) time.Duration {
	if e, ok := errors.AsType[*OAuthError](err); ok && e.RetryAfter > 0 {
		return min(e.RetryAfter, maxRetryAfter)
	}
	return failedTime
}

// retryAfter reads when to ask again (RFC 9110, 10.2.3), 0 where nothing is said.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
