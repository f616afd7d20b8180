package negotiate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/ability"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
)

// maxRestored bounds the subscriptions that are taken up again in a new session;
// restoreTime how long that, or a new session for a lost stream, may take.
const (
	maxRestored = 1000
	restoreTime = time.Minute
)

// legacySession is the session of a connection and what has been set up in it.
type legacySession struct {
	generation atomic.Int64  // counts sessions
	absent     atomic.Bool   // there is no session now, nor until a handshake succeeds
	handshakes chan struct{} // one place: a lock held across a handshake

	work background // new sessions, and what is set up in them

	mu    sync.Mutex      // guards what follows
	uris  []string        // subscribed, in order
	level json.RawMessage // params of the latest logging/setLevel, nil for none
}

func (o *Options) legacy(t runtime.Transport, h *handshake) *legacyTransport {
	l := &legacyTransport{connection: connection{t, o}, version: h.ProtocolVersion, capabilities: h.Capabilities}
	l.session.handshakes = make(chan struct{}, 1)
	if n, ok := t.(ability.OnSessionLost); ok {
		n.OnSessionLost(l.streamLost)
	}
	return l
}

// run runs f until it ends or the connection is closed.
func (s *legacySession) run(f func(context.Context)) {
	s.work.run(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, restoreTime)
		defer cancel()
		f(ctx)
	})
}

// remember records what a request has set up in the session.
func (s *legacySession) remember(req *runtime.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if req.Method == revision.MethodSetLevel {
		s.level = slices.Clone(req.Params)
		return
	}
	uri, ok := rawjson.FieldString(req.Params, "uri")
	if !ok {
		return
	}
	s.uris = slices.DeleteFunc(s.uris, func(u string) bool { return u == uri })
	if req.Method == revision.MethodResourcesSubscribe && len(s.uris) < maxRestored {
		s.uris = append(s.uris, uri)
	}
}

// SessionError reports that the server has forgotten the connection's session
// and that no other like it could be started, or that it no longer speaks the
// revision agreed on. The server has not acted on the call. A new connection
// may find that it has changed.
type SessionError struct{ Err error }

// Error returns the reason.
func (e *SessionError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *SessionError) Unwrap() error { return e.Err }

// inSession sends something, and again in a new session where the server has
// forgotten the old one: with 404 to a session id "the client MUST start a new
// session by sending a new InitializeRequest without a session ID" (2025-11-25,
// Session Management). The server has not acted on it.
func (l *legacyTransport) inSession(ctx context.Context, send func() error) error {
	s := &l.session
	gen := s.generation.Load()
	if s.absent.Load() {
		// Without a session the server would refuse the call for a reason of
		// its own. Whoever was to start one may have given up.
		if err := l.reconnect(ctx, gen); err != nil {
			return err
		}
		gen = s.generation.Load()
	}
	err := send()
	if err == nil {
		return nil
	}
	var lost ability.SessionExpired
	if refusesVersion(err) {
		return l.o.eraChanged(err)
	}
	if !errors.As(err, &lost) || !lost.SessionExpired() {
		return err
	}
	if err := l.reconnect(ctx, gen); err != nil {
		return err
	}
	return send()
}

// streamLost starts a new session after the server has said, on the stream for
// what belongs to no call, that it does not know the old one.
func (l *legacyTransport) streamLost() {
	gen := l.session.generation.Load()
	l.session.run(func(ctx context.Context) {
		if err := l.reconnect(ctx, gen); err != nil {
			l.o.Logger.Warn("no new session after the server has lost one", "err", err)
		}
	})
}

// reconnect starts a new session, unless another call has done so since gen.
func (l *legacyTransport) reconnect(ctx context.Context, gen int64) error {
	s := &l.session
	select {
	case s.handshakes <- struct{}{}:
		defer func() { <-s.handshakes }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if s.generation.Load() != gen {
		return nil
	}
	s.absent.Store(true)
	if r, ok := l.Transport.(ability.ResetSession); ok {
		r.ResetSession()
	}
	h, err := l.o.initializeOnce(ctx, l.Transport, l.version)
	switch {
	case err != nil && ctx.Err() == nil && isAnswer(err):
		return l.o.eraChanged(fmt.Errorf("start a new session: %w", err))
	case err != nil:
		return &SessionError{fmt.Errorf("start a new session: %w", err)}
	case h.ProtocolVersion != l.version:
		return l.o.eraChanged(&runtime.ProtocolError{Reason: fmt.Sprintf("the server spoke %s and now speaks %s", l.version, h.ProtocolVersion)})
	}
	s.generation.Add(1)
	s.absent.Store(false)
	l.o.Logger.Info("the server has lost the session: a new one is started")
	s.run(l.restore)
	return nil
}

// restore sets up in a new session what the old one had, and notifies the
// handler of what it may have missed meanwhile.
func (l *legacyTransport) restore(ctx context.Context) {
	l.session.mu.Lock()
	level, uris := l.session.level, slices.Clone(l.session.uris)
	l.session.mu.Unlock()
	call := func(method string, params json.RawMessage) bool {
		_, err := l.Transport.Call(ctx, &runtime.Request{Method: method, Params: params, Version: l.version})
		if err != nil {
			l.o.Logger.Warn("new session lacks what the old one had", "method", method, "err", err)
		}
		return err == nil
	}
	if level != nil {
		call(revision.MethodSetLevel, level)
	}
	h := l.o.Handler
	for _, uri := range uris {
		params := fmt.Appendf(nil, `{"uri":%s}`, rawjson.Quote(nil, uri))
		if call(revision.MethodResourcesSubscribe, params) {
			h.Notification(ctx, nil, revision.NotificationResourceUpdated, params)
		}
	}
	for _, list := range []string{"tools", "prompts", "resources"} {
		if (runtime.ServerInfo{Capabilities: l.capabilities}).Has(list) {
			h.Notification(ctx, nil, "notifications/"+list+"/list_changed", nil)
		}
	}
}
