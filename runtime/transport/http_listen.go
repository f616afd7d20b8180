package transport

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/ability"
	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/internal/sse"
	"github.com/mcpctl/mcpctl/runtime"
)

const (
	backoffFirst = 500 * time.Millisecond
	backoffMax   = 30 * time.Second
	// maxListens bounds attempts in a row to open the stream again. One that
	// brings an event, or lasts for listenWorth, starts over. The pauses start over
	// with one that lasts, or says itself how long they shall be.
	maxListens  = 10
	listenWorth = 30 * time.Second
)

// backoff is how long to wait after n failures, between half and all of 500 ms
// doubled n times, at most 30 s.
func backoff(n int) time.Duration {
	d := min(backoffFirst<<min(n, 6), backoffMax)
	return d/2 + rand.N(d/2+1) //nolint:gosec // jitter is no secret
}

// Listen opens, in the background, the stream on which a server of the
// revisions before 2026-07-28 sends what belongs to no call; it goes to the
// transport's Handler. It is called once notifications/initialized is sent. A
// server without such a stream is left alone; a stream that breaks is opened
// again, at most ten times in a row. It ends with ctx or Close. While one runs,
// further calls do nothing.
func (t *HTTP) Listen(ctx context.Context) {
	t.mu.Lock()
	t.listening = ctx
	t.mu.Unlock()
	t.listenAgain()
}

// listenAgain opens the stream that Listen has asked for, unless it is open.
func (t *HTTP) listenAgain() {
	t.mu.Lock()
	parent := t.listening
	t.mu.Unlock()
	if parent == nil || parent.Err() != nil {
		return
	}
	ctx, cancel := context.WithCancel(parent)
	l := &listener{cancel: cancel, answered: make(chan struct{})}
	t.mu.Lock()
	if t.listener != nil || revision.IsModern(t.version) {
		t.mu.Unlock()
		cancel()
		return
	}
	t.listener = l
	l.session, l.version = t.session, t.version
	t.mu.Unlock()
	stop := context.AfterFunc(t.life.ctx, cancel)
	ok := t.life.spawn(func() {
		defer stop()
		defer cancel()
		t.listen(ctx, l)
		l.once.Do(func() { close(l.answered) })
		t.mu.Lock()
		if t.listener == l {
			t.listener = nil
		}
		t.mu.Unlock()
	})
	if !ok {
		cancel()
	}
}

// listener is the stream of one Listen and the session it belongs to.
type listener struct {
	cancel           context.CancelFunc
	session, version string
	lastID           string // of the latest event, its own goroutine's

	once     sync.Once
	answered chan struct{} // closed by once
}

var (
	_ ability.Listen        = (*HTTP)(nil)
	_ ability.Listening     = (*HTTP)(nil)
	_ ability.OnSessionLost = (*HTTP)(nil)
	_ ability.SessionID     = (*HTTP)(nil)
	_ ability.ResetSession  = (*HTTP)(nil)
)

// Listening returns a channel that is closed once the server has answered the
// first request of the current [HTTP.Listen], or it has failed: some servers
// drop what they want to say while nobody listens. Nil where nothing listens.
func (t *HTTP) Listening() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.listener == nil {
		return nil
	}
	return t.listener.answered
}

func (t *HTTP) listen(ctx context.Context, l *listener) {
	for failures, short := 0, 0; ; {
		came, err := t.listenOnce(ctx, l)
		if ctx.Err() != nil {
			return
		}
		if errors.Is(err, errNoStream) {
			t.w.log.Debug("server has no stream for messages outside of calls", "err", err)
			return
		}
		if came.lasted || came.event {
			failures = 0
		}
		if came.lasted || came.event && came.retry > 0 {
			short = 0
		}
		failures, short = failures+1, short+1
		if failures > maxListens {
			t.w.log.Warn("stream for messages outside of calls given up", "attempts", maxListens, "err", err)
			return
		}
		if deadline.Pause(ctx, max(came.retry, backoff(short-1))) != nil {
			return
		}
	}
}

var errNoStream = errors.New("no stream")

// listened is what came of a stream: whether it had an event, whether it lasted, and how
// long the server wants to be left alone, 0 where it did not say.
type listened struct {
	event, lasted bool
	retry         time.Duration
}

// listenOnce reads the stream until it ends.
func (t *HTTP) listenOnce(ctx context.Context, l *listener) (came listened, err error) {
	header := sessionHeaders(&runtime.Request{Version: l.version}, l.session)
	if l.lastID != "" {
		header[headerLastID] = []string{l.lastID}
	}
	resp, _, err := t.w.do(ctx, outgoing{method: http.MethodGet, url: t.url, accept: acceptStream, header: header})
	l.once.Do(func() { close(l.answered) })
	if err != nil {
		if _, ok := errors.AsType[*redirectError](err); ok {
			return came, fmt.Errorf("%w: %w", errNoStream, err)
		}
		return came, err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests {
		return came, t.w.statusError(resp, nil, nil, false)
	}
	t.mu.Lock()
	lost := t.onLost
	if resp.StatusCode != http.StatusNotFound || l.session == "" || l.session != t.session || t.renewed {
		lost = nil
	}
	t.renewed = lost != nil || t.renewed && resp.StatusCode != http.StatusOK
	t.mu.Unlock()
	if lost != nil {
		lost()
	}
	if resp.StatusCode != http.StatusOK || mediaType(resp) != mediaStream {
		return came, fmt.Errorf("%w: %w", errNoStream, t.w.statusError(resp, nil, nil, false))
	}
	began := time.Now()
	rd := sse.NewReader(resp.Body, t.w.max)
	for {
		ev, err := rd.Next()
		if id := rd.LastID(); id != "" {
			l.lastID = id
		}
		if err != nil {
			came.lasted = time.Since(began) >= listenWorth
			came.retry, _ = rd.Retry()
			return came, err
		}
		messages := t.w.messages(ev)
		came.event = came.event || len(messages) > 0
		for i := range messages {
			t.takeFree(l.version, l.session, &messages[i])
		}
	}
}
