package transport

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/http1client"
	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
)

// Header names in their canonical form, which is what maps of headers need.
const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
	headerMethod  = "Mcp-Method"
	headerLastID  = "Last-Event-Id"

	headerAuthServer = "Mcp-Auth-Server"
)

// firstVersionHeader is the revision from which on requests after initialize
// name theirs in a header.
const firstVersionHeader = "2025-06-18"

const (
	cancelTime = 5 * time.Second  // for telling the server of a cancelled call
	replyTime  = 30 * time.Second // for posting the answer to a server's request
	byeTime    = time.Second      // for ending the session on Close
)

// HTTP is a server reached over Streamable HTTP (specification, Transports,
// revisions 2025-03-26 to 2026-07-28; the version of each request decides).
// Every call is a POST of its own, so calls do not wait for each other.
//
// A POST is never repeated, but once after a challenge. A session that the
// server has forgotten shows as [ErrSessionExpired]; see [HTTP.ResetSession].
type HTTP struct {
	w    *wire
	url  *url.URL
	in   *inbox
	life *lifetime
	h    runtime.Handler

	mu        sync.Mutex // guards the rest
	session   string
	forgotten bool            // by the server, and no handshake has succeeded since
	version   string          // of the latest legacy message after initialize
	listener  *listener       // the stream of Listen; nil for none
	listening context.Context //nolint:containedctx // of the latest Listen: a new session has a stream again
	onLost    func()          // told when the stream of Listen finds the session gone; nil for nobody
	renewed   bool            // it has been told, and no stream has opened since
	shared    sharedHeaders
}

// sharedHeaders are those that a request was sent with and that others of the
// same revision and session can be sent with, too. They are never changed.
type sharedHeaders struct {
	version, session string
	header           http.Header // nil for none
}

var _ runtime.Transport = (*HTTP)(nil)

// NewHTTP returns the transport; nothing is sent before the first call.
func NewHTTP(rawURL string, o HTTPOptions) (*HTTP, error) {
	w, u, err := newWire(rawURL, &o)
	if err != nil {
		return nil, err
	}
	t := &HTTP{w: w, url: u, h: o.Handler, life: newLifetime()}
	t.in = newInbox(t.life.ctx, o.Handler, w, t.life.spawn)
	return t, nil
}

// exchange is one call on its way.
type exchange struct {
	t       *HTTP
	req     *runtime.Request
	id      []byte
	session string // the session it was sent in, "" for none
	sent    bool   // a connection was there to write to
	idSpace [22]byte
	note    http1client.Note
	one     [1]message // nearly all answers

	// Scope ends with the caller's context, the transport, or the call; its cause is
	// errAnswered where the call had its answer first, and an otherAnswer where that came on
	// another stream.
	deadline.Scope
}

var errAnswered = errors.New("answered")

// Call implements [runtime.Transport]. A JSON-RPC error that came with a
// status of 4xx or 5xx is a [*StatusError] around the [*runtime.Error].
func (t *HTTP) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	if t.life.over() {
		return nil, notSent{runtime.ErrClosed}
	}
	if err := ctx.Err(); err != nil {
		return nil, notSent{err}
	}
	x := &exchange{t: t, req: req, id: req.ID}
	if x.id == nil {
		x.id = t.w.ids.appendNext(x.idSpace[:0])
	}
	// The exchange may outlive the call: what follows an answer is read to the
	// end so that the connection can be used again.
	x.Start(ctx)
	t.life.track(x)
	defer t.in.tokens.add(req)()

	result, rest, err := t.exchange(x)
	x.Detach()
	if rest != nil && t.life.spawn(func() { rest(); t.life.forget(x); x.End(errAnswered) }) {
		return result, err
	}
	t.life.forget(x)
	ended := x.Err() != nil
	x.End(errAnswered)
	if err == nil || !ended { // the server's own answer, or a failure on the way
		return result, err
	}
	if other, ok := errors.AsType[*otherAnswer](deadline.Cause(x)); ok {
		return other.result, other.err
	}
	if ctx.Err() != nil {
		t.abandon(ctx, x)
		return nil, markUnsent(ctx.Err(), x.sent)
	}
	return nil, markUnsent(runtime.ErrClosed, x.sent)
}

// exchange posts the request and reads its answer. Rest, where there is one,
// reads what follows the answer; it may be run after the call has returned.
func (t *HTTP) exchange(x *exchange) (result json.RawMessage, rest func(), err error) {
	modern := revision.IsModern(x.req.Version)
	compressed := t.w.wantsGzip(x.req.Method)
	var header http.Header
	var session string
	if !compressed {
		header, session = t.sentBefore(x.req)
	}
	complete := header != nil
	if !complete {
		if header, session, err = t.headers(x.req); err != nil {
			return nil, nil, err
		}
	}
	x.session = session
	if modern {
		header[headerMethod] = []string{x.req.Method} // required on every request
		mirror(header, x.req.Mirror)
	}
	resp, sent, err := t.w.do(x, outgoing{
		method: http.MethodPost, url: t.url, accept: acceptBoth, header: header, complete: complete,
		gzip: compressed, body: requestBody(x.id, x.req.Method, x.req.Params), note: &x.note,
	})
	x.sent = sent
	if err != nil {
		return nil, nil, err
	}
	if !complete && !compressed && !modern && x.req.Method != revision.MethodInitialize && t.w.shares() {
		t.mu.Lock()
		t.shared = sharedHeaders{x.req.Version, session, header}
		t.mu.Unlock()
	}
	t.noteSession(x, resp)
	return x.answer(resp)
}

// sentBefore returns the headers of a request of the handshake era in a session
// in which another was sent before, nil where they are to be made.
func (t *HTTP) sentBefore(req *runtime.Request) (_ http.Header, session string) {
	if req.Method == revision.MethodInitialize {
		return nil, ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := &t.shared; c.version == req.Version && c.session == t.session && t.version == req.Version {
		return c.header, c.session
	}
	return nil, ""
}

// headers returns those of a message of ours in the session in use, in a map of
// its own, and the session among them, "" for none. Between ResetSession and the
// end of the next handshake a message of the handshake era has no session: it
// gets [errSessionForgotten], and must not be sent.
func (t *HTTP) headers(req *runtime.Request) (_ http.Header, session string, err error) {
	if req.Method == revision.MethodInitialize || revision.IsModern(req.Version) {
		return sessionHeaders(req, ""), "", nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.forgotten && req.Method != revision.NotificationInitialized {
		return nil, "", errSessionForgotten{}
	}
	if req.Version != "" {
		t.version = req.Version
	}
	return sessionHeaders(req, t.session), t.session, nil
}

// sessionHeaders returns the headers of a message in a session, "" for none.
func sessionHeaders(req *runtime.Request, session string) http.Header {
	h := make(http.Header, ownHeaders+len(req.Mirror))
	if req.Method != revision.MethodInitialize && req.Version >= firstVersionHeader {
		h[headerVersion] = []string{req.Version}
	}
	if session != "" {
		h[headerSession] = []string{session}
	}
	return h
}

// noteSession keeps the session that initialize was answered with, and ends
// the one that an older server may open for a probe.
func (t *HTTP) noteSession(x *exchange, resp *http.Response) {
	session := resp.Header.Get(headerSession)
	if session == "" || resp.StatusCode >= 300 {
		return
	}
	switch x.req.Method {
	case revision.MethodInitialize:
		x.session = session
		t.mu.Lock()
		t.session = session
		t.mu.Unlock()
	case revision.MethodDiscover:
		t.life.notice(byeTime, func(ctx context.Context) { t.endSession(ctx, session, "") })
	}
}

// abandon informs the server that nobody waits for a call any more. Under
// 2026-07-28 closing the stream has said so already; before, a lost stream
// means nothing. Initialize must not be cancelled.
func (t *HTTP) abandon(caller context.Context, x *exchange) {
	if !x.sent || revision.IsModern(x.req.Version) || x.req.Method == revision.MethodInitialize {
		return
	}
	params := cancelParams(caller, x.id)
	t.life.notice(cancelTime, func(ctx context.Context) {
		req := &runtime.Request{Method: revision.NotificationCancelled, Params: params, Version: x.req.Version}
		if err := t.notify(ctx, req); err != nil {
			t.w.log.Debug("cancel notice not delivered", "err", err)
		}
	})
}

func cancelParams(caller context.Context, id []byte) []byte {
	b := append([]byte(`{"requestId":`), id...)
	return append(rawjson.Quote(append(b, `,"reason":`...), jsonrpc.Reason(caller)), '}')
}

// Notify implements [runtime.Transport]. It returns once the server has taken
// the notification.
func (t *HTTP) Notify(ctx context.Context, req *runtime.Request) error {
	if t.life.over() {
		return notSent{runtime.ErrClosed}
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.life.ctx, cancel)()
	err := t.notify(inner, req)
	switch {
	case err == nil:
		if req.Method == revision.NotificationInitialized {
			t.mu.Lock()
			t.forgotten = false
			t.mu.Unlock()
			t.listenAgain()
		}
		return nil
	case ctx.Err() != nil:
		return markUnsent(ctx.Err(), !errors.Is(err, runtime.ErrNotSent))
	case t.life.over():
		return markUnsent(runtime.ErrClosed, !errors.Is(err, runtime.ErrNotSent))
	}
	return err
}

// notify posts a notification in the session in use.
func (t *HTTP) notify(ctx context.Context, req *runtime.Request) error {
	header, session, err := t.headers(req)
	if err != nil {
		return err
	}
	if revision.IsModern(req.Version) {
		mirror(header, req.Mirror)
	}
	return t.post(ctx, header, session, notificationBody(req.Method, req.Params))
}

// post sends what has no answer: a notification, or an answer of ours.
func (t *HTTP) post(ctx context.Context, header http.Header, session string, body []byte) error {
	resp, _, err := t.w.do(ctx, outgoing{method: http.MethodPost, url: t.url, accept: acceptBoth, header: header, body: body})
	if err != nil {
		return err
	}
	if resp.StatusCode < 300 {
		// Some servers open a stream here and leave it open.
		if mediaType(resp) == mediaStream {
			return resp.Body.Close()
		}
		discard(resp.Body)
		return nil
	}
	return t.w.refused(resp, session != "")
}

// SessionID is the session in use, "" for none.
func (t *HTTP) SessionID() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.session
}

// ResetSession forgets the session, and ends the stream of [HTTP.Listen] with
// it, before initialize is sent again. Until notifications/initialized is sent,
// other requests of the handshake era fail with [ErrSessionExpired] and
// [runtime.ErrNotSent]: the server would refuse them for want of a session. Then
// the stream is opened for the new session. The server is not told: it is the
// one that forgot it first.
func (t *HTTP) ResetSession() {
	t.mu.Lock()
	t.session, t.version, t.forgotten = "", "", true
	l := t.listener
	t.listener = nil
	t.mu.Unlock()
	if l != nil {
		l.cancel()
	}
}

// OnSessionLost calls f when the server, asked for the stream of
// [HTTP.Listen], says that it does not know the session: a new one is to be
// started. It is called once, and again only after a stream has opened: the
// server may have no such stream, and no better way to say so. F must not wait.
func (t *HTTP) OnSessionLost(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.onLost = f
}

// Close implements [runtime.Transport]. Within one second it delivers cancel
// notices that are on their way and ends the session.
func (t *HTTP) Close() error {
	if !t.life.shut() {
		return nil
	}
	t.life.cancel()
	t.mu.Lock()
	session, version := t.session, t.version
	t.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), byeTime)
	defer cancel()
	t.life.waitNotices(ctx)
	if session != "" {
		t.endSession(ctx, session, version)
	}
	t.life.end()
	t.w.closeIdle()
	t.h.Closed(runtime.ErrClosed)
	return nil
}

// endSession informs the server that a session is over. A server may refuse
// (405); then it ends it when it likes.
func (t *HTTP) endSession(ctx context.Context, session, version string) {
	header := sessionHeaders(&runtime.Request{Version: version}, session)
	resp, _, err := t.w.do(ctx, outgoing{method: http.MethodDelete, url: t.url, header: header}) //nolint:bodyclose // discard closes it
	if err != nil {
		t.w.log.Debug("session not ended", "err", err)
		return
	}
	discard(resp.Body)
}

// mirror adds the headers that repeat parts of a request. Names that are none,
// and those that do not begin with Mcp-, are left out, and so are values that
// would end the header: the body is what counts, and they must not replace
// anything else.
func mirror(h http.Header, values map[string]string) {
	for name, value := range values {
		name = textproto.CanonicalMIMEHeaderKey(name)
		if strings.HasPrefix(name, "Mcp-") && revision.IsToken(name) && name != headerSession && name != headerVersion && isValue(value) {
			h[name] = []string{value}
		}
	}
}

// isValue reports whether a text can be the value of a header: it holds no
// control characters but the tab (RFC 9110, 5.5).
func isValue(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}
