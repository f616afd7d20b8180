package negotiate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/ability"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
)

// Options say how to connect.
type Options struct {
	// Open opens the bare transport. It is called again where finding the era
	// has cost the connection its life. Required.
	Open func(context.Context) (runtime.Transport, error)
	// Fallback opens the deprecated HTTP+SSE transport, tried when an HTTP
	// server refuses the handshake with 400, 404 or 405 (2025-11-25,
	// Transports, Backwards Compatibility). Nil: there is none.
	Fallback func(context.Context) (runtime.Transport, error)
	// HTTP is set for bare transports that repeat parts of requests as headers
	// (2026-07-28, Streamable HTTP, Request Metadata).
	HTTP bool
	// Version is a revision to use whatever the server prefers; "" finds out.
	Version string
	// Legacy prefers the handshake where the server speaks both eras. A client that can
	// be asked something also tries it with a server that lists the stateless era alone:
	// some take it all the same, and ask in no other.
	Legacy bool
	// Client is who we say we are; Capabilities what we offer the server, a
	// raw object, nil for nothing.
	Client       runtime.Implementation
	Capabilities json.RawMessage
	// ProbeTimeout is how long server/discover may stay unanswered before a server
	// is taken for legacy, at most half of what ctx leaves; 0 is 5 s, negative does
	// not ask. For a child process the time begins with its first sign of life, or
	// after as much again.
	ProbeTimeout time.Duration
	// Key identifies the server in Eras, "" for not at all. It must differ
	// where the command, its environment, the URL or the credentials do.
	Key string
	// Eras remembers what is found out about eras; nil forgets.
	Eras EraCache
	// Handler gets what the server asks inside calls that have no handler of
	// their own, and that lists may have changed. As a rule it is the bare
	// transport's own handler. Nil is runtime.NopHandler.
	Handler runtime.Handler
	// Logger; nil discards.
	Logger *slog.Logger
}

// Connected is a server whose era is known. Transport hides it.
type Connected struct {
	runtime.Transport
	Info runtime.ServerInfo
}

// connection is the bare transport in a wrapper of either era.
type connection struct {
	runtime.Transport
	o *Options
}

func (c *connection) Remote() bool { return c.o.HTTP }

func (c *connection) PID() int {
	if p, ok := c.Transport.(ability.PID); ok {
		return p.PID()
	}
	return 0
}

// MalformedLines is how many lines of the server were no messages.
func (c *connection) MalformedLines() int {
	if m, ok := c.Transport.(ability.MalformedLines); ok {
		return m.MalformedLines()
	}
	return 0
}

func statusOf(err error) int {
	var s ability.HTTPStatus
	if errors.As(err, &s) {
		return s.HTTPStatus()
	}
	return 0
}

// Connect opens a connection and finds the era of its server. The connection
// lives until it is closed; ctx bounds connecting alone.
func Connect(ctx context.Context, o Options) (*Connected, error) {
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.ProbeTimeout = cmp.Or(o.ProbeTimeout, 5*time.Second)
	if o.Handler == nil {
		o.Handler = runtime.NopHandler{}
	}
	if len(o.Capabilities) == 0 {
		o.Capabilities = json.RawMessage(`{}`)
	}
	t, err := o.Open(ctx)
	if err != nil {
		return nil, err
	}
	c, err := o.connect(ctx, t)
	if err == nil {
		return c, nil
	}
	_ = t.Close() // the connection has failed already
	if status := statusOf(err); o.Fallback != nil && (status == 400 || status == 404 || status == 405) && !isAuth(err) && !isModernError(err) {
		return o.fallback(ctx, err)
	}
	return nil, err
}

// logCall logs one call, whatever the transport. Arguments and results are not
// logged: they are the user's.
func logCall(logger *slog.Logger, req *runtime.Request, start time.Time, result json.RawMessage, err error) {
	if logger.Enabled(context.Background(), slog.LevelDebug) {
		logger.Debug("call", "method", req.Method, "version", req.Version, "elapsed", time.Since(start), "bytes", len(result), "err", err)
	}
}

// isModernError reports whether an error is one that only a server of 2026-07-28
// knows.
func isModernError(err error) bool {
	var rpc *runtime.Error
	return errors.As(err, &rpc) && (wantsCapability(rpc) || unsupported(rpc) || rpc.Code == runtime.CodeHeaderMismatch)
}

func isAuth(err error) bool {
	var a *runtime.AuthError
	return errors.As(err, &a)
}

// fallback tries HTTP+SSE after the error first, and returns first where that
// fails too.
func (o *Options) fallback(ctx context.Context, first error) (*Connected, error) {
	t, err := o.Fallback(ctx)
	if err != nil {
		return nil, first
	}
	c, err := o.initialize(ctx, t, o.offeredVersion())
	if err != nil {
		_ = t.Close() // the connection has failed already
	}
	return c, err
}

func (o *Options) offeredVersion() string { return cmp.Or(o.Version, revision.Latest) }

func (o *Options) connect(ctx context.Context, t runtime.Transport) (*Connected, error) {
	switch {
	case o.Version != "" && revision.IsModern(o.Version):
		a := o.discover(ctx, t)
		if a.err == nil && !slices.Contains(a.versions, o.Version) {
			return nil, &runtime.ProtocolError{Reason: fmt.Sprintf("the server does not speak %s but %s", o.Version, join(a.versions))}
		}
		if a.err != nil {
			return nil, o.discoverError(a.err)
		}
		a.versions = nil // there is nothing to choose from
		return o.modern(t, a), nil
	case o.Version != "" || o.ProbeTimeout < 0:
		return o.initialize(ctx, t, o.offeredVersion())
	}
	switch v := o.knownEra(); {
	case v.ProbeKills, v.Era == eraLegacy:
		c, err := o.initialize(ctx, t, revision.Latest)
		gone := errors.Is(err, runtime.ErrClosed)
		if err == nil || ctx.Err() != nil || !gone && !isAnswer(err) {
			return c, err
		}
		o.forgetEra() // it is no longer what it was
		if gone {
			return o.restart(ctx, t, func(t runtime.Transport) (*Connected, error) { return o.probe(ctx, t) })
		}
	case v.handshake(time.Now()) == handshakeTaken && o.tries(nil):
		if c, err := o.tryHandshake(ctx, t); c != nil || err != nil {
			return c, err
		}
		return o.restart(ctx, t, func(t runtime.Transport) (*Connected, error) { return o.probe(ctx, t) })
	case v.Era == eraModern:
		// Discovering is more than asking for the era, and silence says nothing
		// about a server that is known.
		return o.decide(ctx, t, o.discover(ctx, t))
	}
	return o.probe(ctx, t)
}

// restart closes a connection that is of no more use, opens another one and
// connects over that; it closes it on failure.
func (o *Options) restart(ctx context.Context, dead runtime.Transport, connect func(runtime.Transport) (*Connected, error)) (*Connected, error) {
	_ = dead.Close() // as a rule it has ended on its own
	t, err := o.Open(ctx)
	if err != nil {
		return nil, err
	}
	c, err := connect(t)
	if err != nil {
		_ = t.Close() // the connection has failed already
	}
	return c, err
}

// isAnswer reports whether an error is the server's answer, and not a failure
// to reach it or to be let in.
func isAnswer(err error) bool {
	var rpc *runtime.Error
	if isAuth(err) {
		return false
	}
	status := statusOf(err)
	return errors.As(err, &rpc) || status >= 400 && status < 500 && status != 408 && status != 429
}

// discoverError returns what an error of server/discover means where no other
// revision than the modern one will do.
func (o *Options) discoverError(err error) error {
	rpc, ok := errors.AsType[*runtime.Error](err)
	switch {
	case !ok || rpc.Code == runtime.CodeMissingCapability || rpc.Code == runtime.CodeHeaderMismatch:
		return err
	case len(supportedVersions(rpc)) > 0:
		return &runtime.ProtocolError{Reason: fmt.Sprintf("the server does not speak %s but %s", o.Version, join(supportedVersions(rpc)))}
	}
	return &runtime.ProtocolError{Reason: fmt.Sprintf("the server does not speak %s: server/discover: %v", o.Version, rpc)}
}

// probe finds out the era. Silence counts as legacy, but a late answer still
// wins over a handshake that has not come back: a cold start can take longer
// than any small timeout.
func (o *Options) probe(ctx context.Context, t runtime.Transport) (*Connected, error) {
	answers := make(chan discovered, 1)
	probing, stop := context.WithCancel(ctx)
	defer stop()
	go func() { answers <- o.discover(probing, t) }()
	begun := time.Now()
	if a := o.wait(ctx, t, answers); a != nil {
		return o.decide(ctx, t, *a)
	}
	o.Logger.Info("no answer to server/discover: trying the handshake", "after", time.Since(begun).Round(time.Millisecond))
	type outcome struct {
		c   *Connected
		err error
	}
	shaking, stopShaking := context.WithCancel(ctx)
	defer stopShaking()
	shaken := make(chan outcome, 1)
	go func() {
		c, err := o.initialize(shaking, t, revision.Latest)
		shaken <- outcome{c, err}
	}()
	var failed error
	answered, died := false, false
	for range 2 {
		select {
		case a := <-answers:
			answered = true
			died = errors.Is(a.err, runtime.ErrClosed)
			if a.err != nil || !slices.Contains(a.versions, revision.Modern) {
				continue
			}
			if failed == nil && o.tries(a.versions) {
				if s := <-shaken; s.err == nil {
					return o.dual(s.c, a.versions), nil
				}
				return o.initializeUnlisted(ctx, t, a)
			}
			if !(o.Legacy && revision.Mutual(a.versions) != "") {
				stopShaking()
				if failed == nil {
					<-shaken
				}
				return o.modern(t, a), nil
			}
		case s := <-shaken:
			if s.err == nil {
				if stop(); !answered {
					<-answers
				}
				o.rememberEra(eraLegacy, false)
				return s.c, nil
			}
			failed = s.err
		}
	}
	if died && errors.Is(failed, runtime.ErrClosed) && ctx.Err() == nil {
		return o.respawn(ctx, t, failed) // it read the question late, and ended on it
	}
	return nil, failed
}

// wait returns the answer to the probe, nil when it has not come in time.
func (o *Options) wait(ctx context.Context, t runtime.Transport, answers <-chan discovered) *discovered {
	limit, end := o.ProbeTimeout, time.Now().Add(24*time.Hour)
	if deadline, ok := ctx.Deadline(); ok {
		end = time.Now().Add(time.Until(deadline) / 2) // the handshake needs time, too
	}
	var alive <-chan struct{}
	if a, ok := t.(ability.Alive); ok {
		alive = a.Alive()
	}
	timer := time.NewTimer(min(limit, time.Until(end)))
	defer timer.Stop()
	for {
		select {
		case a := <-answers:
			return &a
		case <-alive:
		case <-timer.C:
			if alive == nil {
				return nil
			}
			// Not a sign of life: a cold start, perhaps.
		}
		alive = nil
		timer.Reset(min(limit, time.Until(end)))
	}
}

// decide connects by the answer to server/discover, by the table of the
// specification's Versioning page: only what a modern server must know proves
// one, every other error means legacy.
func (o *Options) decide(ctx context.Context, t runtime.Transport, a discovered) (*Connected, error) {
	var rpc *runtime.Error
	switch status := statusOf(a.err); {
	case a.err == nil && slices.Contains(a.versions, revision.Modern):
		if o.Legacy && revision.Mutual(a.versions) != "" {
			return o.initializeDual(ctx, t, a.versions)
		}
		if o.tries(a.versions) {
			return o.initializeUnlisted(ctx, t, a)
		}
		return o.modern(t, a), nil
	case a.err == nil && revision.ModernOnly(a.versions):
		return nil, noMutual(a.versions)
	case a.err == nil:
		return o.initializeLegacy(ctx, t, newest(a.versions))
	case ctx.Err() != nil:
		return nil, a.err
	case errors.Is(a.err, runtime.ErrClosed):
		return o.respawn(ctx, t, a.err)
	case isAuth(a.err), status == 408, status == 429, status >= 500, status >= 300 && status < 400:
		return nil, a.err
	case errors.As(a.err, &rpc) && unsupported(rpc):
		supported := supportedVersions(rpc)
		if revision.ModernOnly(supported) {
			return nil, noMutual(supported)
		}
		return o.initializeLegacy(ctx, t, newest(supported))
	case isModernError(a.err):
		return nil, a.err // of a modern server: the handshake would be no answer
	case rpc == nil && status == 0 && notProtocol(a.err):
		return nil, a.err
	}
	return o.initializeLegacy(ctx, t, revision.Latest)
}

// initializeLegacy initializes a server that is legacy, and remembers that it
// is.
func (o *Options) initializeLegacy(ctx context.Context, t runtime.Transport, offer string) (*Connected, error) {
	c, err := o.initialize(ctx, t, offer)
	if err == nil {
		o.rememberEra(eraLegacy, false)
	}
	return c, err
}

// initializeDual initializes a server of both eras.
func (o *Options) initializeDual(ctx context.Context, t runtime.Transport, versions []string) (*Connected, error) {
	c, err := o.initialize(ctx, t, newest(versions))
	if _, ok := errors.AsType[*runtime.Error](err); ok {
		// It speaks both eras, but one on each connection, of which the
		// question has been the first.
		c, err = o.restart(ctx, t, func(t runtime.Transport) (*Connected, error) { return o.initialize(ctx, t, newest(versions)) })
	}
	if err != nil {
		return nil, err
	}
	return o.dual(c, versions), nil
}

// dual returns a connection to a server whose other era was not chosen.
func (o *Options) dual(c *Connected, versions []string) *Connected {
	c.Info.Versions = versions
	o.rememberEra(eraModern, false)
	return c
}

// tries reports whether the handshake is to be tried with a server that lists the
// stateless era alone.
func (o *Options) tries(versions []string) bool {
	return o.Legacy && revision.Mutual(versions) == "" && revision.Asks(o.Capabilities) && o.knownEra().handshake(time.Now()) != handshakeRefused
}

// initializeUnlisted tries the handshake with a server that does not list it, in the
// place of what t has been asked, and connects by the answer a where it is refused. Over
// a process that is a new one: a first message decides the era of the whole connection.
func (o *Options) initializeUnlisted(ctx context.Context, t runtime.Transport, a discovered) (*Connected, error) {
	if o.HTTP {
		c, err := o.tryHandshake(ctx, t)
		if err == nil && c == nil {
			c = o.modern(t, a)
		}
		return c, err
	}
	discover := func(t runtime.Transport) (*Connected, error) {
		again := o.discover(ctx, t)
		if again.err != nil {
			return nil, again.err
		}
		return o.modern(t, again), nil
	}
	return o.restart(ctx, t, func(t runtime.Transport) (*Connected, error) {
		c, err := o.tryHandshake(ctx, t)
		if err != nil || c != nil {
			return c, err
		}
		if c, err = discover(t); err == nil {
			return c, nil
		}
		return o.restart(ctx, t, discover) // the handshake has cost that one its life
	})
}

// tryHandshake connects with a handshake, nil where the server does not take it, and
// remembers which.
func (o *Options) tryHandshake(ctx context.Context, t runtime.Transport) (*Connected, error) {
	limit := 3 * o.ProbeTimeout // a process may have to start first
	if deadline, ok := ctx.Deadline(); ok {
		limit = time.Until(deadline) / 2 // the other era needs time, too
	}
	within, stop := context.WithTimeout(ctx, limit)
	defer stop()
	c, err := o.initialize(within, t, revision.Latest)
	switch {
	case err == nil:
		o.rememberHandshake(handshakeTaken)
		return o.dual(c, []string{revision.Modern}), nil
	case ctx.Err() != nil, isAuth(err):
		return nil, err
	}
	o.Logger.Debug("the server takes no handshake", "err", err)
	if isAnswer(err) || errors.Is(err, runtime.ErrClosed) {
		o.rememberHandshake(handshakeRefused)
	}
	return nil, nil
}

// notProtocol reports whether an error is a failure to reach the server, and
// not an answer that breaks the protocol.
func notProtocol(err error) bool {
	var c *runtime.ConnectError
	var k ability.ExitKind // a redirect that is not followed
	return errors.As(err, &c) || errors.Is(err, runtime.ErrNotSent) || errors.As(err, &k) && k.ExitKind() == "connect"
}

func newest(supported []string) string { return cmp.Or(revision.Mutual(supported), revision.Latest) }

func noMutual(theirs []string) error {
	return &runtime.ProtocolError{Reason: fmt.Sprintf("no protocol revision in common: the server speaks %s, mcpctl %s", join(theirs), join(revision.Versions()))}
}

// respawn starts the server again after the probe has ended it: older servers
// exit on any first message that is not initialize.
func (o *Options) respawn(ctx context.Context, dead runtime.Transport, cause error) (*Connected, error) {
	o.Logger.Info("server ended on server/discover: starting it again for the handshake", "err", cause)
	c, err := o.restart(ctx, dead, func(t runtime.Transport) (*Connected, error) { return o.initialize(ctx, t, revision.Latest) })
	if err == nil {
		o.rememberEra(eraLegacy, true)
	}
	return c, err
}

func join(versions []string) string { return strings.Join(versions, ", ") }
