package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/mcpctl/mcpctl/internal/origin"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/internal/sse"
	"github.com/mcpctl/mcpctl/runtime"
)

// SSE is a server reached over the HTTP+SSE transport of revision 2024-11-05:
// one stream on which it sends everything, and an address it names there that
// takes our messages. Losing the stream is losing the session: pending calls
// fail with [runtime.ErrClosed] and nothing can be sent any more.
type SSE struct {
	w    *wire
	post *url.URL
	in   *inbox
	life *lifetime
	h    runtime.Handler

	mu      sync.Mutex // guards the rest
	version string
	pending map[string]*waiting // by the id's text
	gone    error               // why the stream ended, nil while it runs
}

var _ runtime.Transport = (*SSE)(nil)

// waiting is a call that has no answer yet. Its channel takes one outcome.
type waiting struct {
	req *runtime.Request
	out chan outcome
}

type outcome struct {
	result json.RawMessage
	err    error
}

// OpenSSE opens the stream and waits for its first event, which names the
// address for messages. The context bounds that; the stream lives until Close.
// An answer that is no event stream is a [*StatusError] or a
// [*runtime.ProtocolError].
func OpenSSE(ctx context.Context, rawURL string, o HTTPOptions) (*SSE, error) {
	w, u, err := newWire(rawURL, &o)
	if err != nil {
		return nil, err
	}
	t := &SSE{w: w, h: o.Handler, life: newLifetime(), pending: map[string]*waiting{}}
	t.in = newInbox(t.life.ctx, o.Handler, w, t.life.spawn)
	stop := context.AfterFunc(ctx, t.life.cancel)
	resp, rd, err := t.open(u)
	if !stop() && err == nil {
		_ = resp.Body.Close()
		err = ctx.Err()
	}
	if err != nil {
		t.life.shut()
		t.life.end()
		t.w.closeIdle()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, err
	}
	t.life.spawn(func() { t.read(resp, rd) })
	return t, nil
}

// open sends the GET and reads up to the endpoint event.
func (t *SSE) open(u *url.URL) (*http.Response, *sse.Reader, error) {
	resp, _, err := t.w.do(t.life.ctx, outgoing{method: http.MethodGet, url: u, accept: acceptStream})
	if err != nil {
		return nil, nil, err
	}
	if resp.StatusCode != http.StatusOK || mediaType(resp) != mediaStream {
		if resp.StatusCode >= 300 {
			return nil, nil, t.w.refused(resp, false)
		}
		defer resp.Body.Close()
		body, _, _ := t.w.readBody(resp) // what there is of it, for the message
		return nil, nil, t.w.protocolError(fmt.Sprintf("the server answered HTTP %d and no event stream", resp.StatusCode), body)
	}
	rd := sse.NewReader(resp.Body, t.w.max)
	if t.post, err = t.endpoint(resp.Request.URL, rd); err != nil {
		_ = resp.Body.Close()
		return nil, nil, err
	}
	return resp, rd, nil
}

// endpoint waits for the event of that name. Its URL must be of the stream's
// own origin, else a server could have our credentials sent elsewhere.
func (t *SSE) endpoint(stream *url.URL, rd *sse.Reader) (*url.URL, error) {
	for {
		ev, err := rd.Next()
		if err != nil {
			if t.life.over() {
				return nil, t.life.ctx.Err()
			}
			return nil, t.w.protocolError("the event stream ended before its endpoint event: "+err.Error(), nil)
		}
		if ev.Name != "endpoint" {
			if ev.Name == "message" && len(ev.Data) == 0 {
				continue
			}
			return nil, t.w.protocolError("the event stream does not begin with an endpoint event", ev.Data)
		}
		ref, err := url.Parse(strings.TrimSpace(string(ev.Data)))
		if err != nil || len(ev.Data) == 0 {
			return nil, t.w.protocolError("the endpoint event holds no URL", ev.Data)
		}
		u := stream.ResolveReference(ref)
		u.Fragment = ""
		if !origin.Same(u, stream) {
			return nil, t.w.protocolError("the endpoint event names another origin, "+origin.Of(u)+"; refused, since credentials would go there", nil)
		}
		return u, nil
	}
}

// read delivers events until the stream ends.
func (t *SSE) read(resp *http.Response, rd *sse.Reader) {
	defer resp.Body.Close()
	for {
		ev, err := rd.Next()
		if err != nil {
			t.streamEnded(err)
			return
		}
		messages := t.w.messages(ev)
		for i := range messages {
			t.receive(&messages[i])
		}
	}
}

func (t *SSE) receive(m *message) {
	switch {
	case m.isAnswer():
		t.deliver(m)
	case m.isRequest():
		t.in.request(t.life.ctx, nil, m, t.reply)
	default:
		t.in.notification(t.life.ctx, nil, m)
	}
}

// deliver hands an answer to its call.
func (t *SSE) deliver(m *message) {
	switch c := t.forget(m.id); {
	case c == nil:
		t.w.log.Debug("late answer dropped")
	case m.object != nil:
		c.out <- outcome{err: t.w.refusal(m.object)}
	default:
		c.out <- outcome{result: m.result}
	}
}

// forget takes a call out of the table; only who gets it may end it.
func (t *SSE) forget(id []byte) *waiting {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.pending[string(id)]
	delete(t.pending, string(id))
	return c
}

// streamEnded ends everything that hangs on the stream.
func (t *SSE) streamEnded(cause error) {
	err := fmt.Errorf("%w: the server ended the event stream", runtime.ErrClosed)
	if errors.Is(cause, sse.ErrTooLarge) {
		err = fmt.Errorf("%w: %w", runtime.ErrClosed, &runtime.ProtocolError{Reason: fmt.Sprintf("a message is larger than %d bytes", t.w.max)})
	}
	if !t.life.over() {
		t.w.log.Info("event stream lost", "err", cause)
	}
	t.h.Closed(t.fail(err))
}

// fail lets nothing new begin and ends the pending calls. It returns the
// reason of the first time.
func (t *SSE) fail(err error) error {
	t.mu.Lock()
	if t.gone == nil {
		t.gone = err
	}
	err = t.gone
	pending := t.pending
	t.pending = nil
	t.mu.Unlock()
	for _, c := range pending {
		c.out <- outcome{err: err}
	}
	return err
}

// Call implements [runtime.Transport].
func (t *SSE) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	if err := ctx.Err(); err != nil {
		return nil, notSent{err}
	}
	id := req.ID
	if id == nil {
		id = t.w.ids.appendNext(nil)
	}
	c := &waiting{req: req, out: make(chan outcome, 1)}
	t.mu.Lock()
	if t.gone != nil {
		defer t.mu.Unlock()
		return nil, notSent{t.gone}
	}
	if t.pending[string(id)] != nil {
		t.mu.Unlock()
		return nil, notSent{fmt.Errorf("%s: a call with id %s is pending", req.Method, id)}
	}
	t.pending[string(id)] = c
	t.mu.Unlock()
	defer t.in.tokens.add(req)()

	// The answer may come before the POST is done with, or the other way
	// round, so neither waits for the other.
	posting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(t.life.ctx, cancel)
	ok := t.life.spawn(func() {
		defer cancel()
		defer stop()
		t.postCall(posting, c, id)
	})
	if !ok {
		stop()
		cancel()
		t.forget(id)
		return nil, notSent{runtime.ErrClosed}
	}
	select {
	case out := <-c.out:
		return out.result, out.err
	case <-ctx.Done():
	}
	if t.forget(id) == nil { // answered in this very moment
		out := <-c.out
		return out.result, out.err
	}
	cancel()
	t.abandon(ctx, req, id)
	return nil, ctx.Err()
}

// postCall sends a call, and ends it when that fails.
func (t *SSE) postCall(ctx context.Context, c *waiting, id []byte) {
	body, err := t.send(ctx, c.req, requestBody(id, c.req.Method, c.req.Params))
	if err != nil {
		if own := t.forget(id); own != nil {
			own.out <- outcome{err: err}
		}
		return
	}
	// Some servers answer in the POST's own body.
	if messages, err := readMessages(nil, body); err == nil {
		for i := range messages {
			if m := &messages[i]; m.isAnswer() && sameID(m.id, id) {
				t.deliver(m)
			}
		}
	}
}

// send posts a message and returns the answer's body where it is JSON.
func (t *SSE) send(ctx context.Context, req *runtime.Request, body []byte) ([]byte, error) {
	resp, sent, err := t.w.do(ctx, outgoing{method: http.MethodPost, url: t.post, accept: acceptBoth, body: body, header: t.headers(req)})
	if err != nil {
		if t.life.over() {
			return nil, markUnsent(runtime.ErrClosed, sent)
		}
		return nil, err
	}
	if resp.StatusCode >= 300 {
		return nil, t.w.refused(resp, false)
	}
	if mediaType(resp) == mediaStream {
		return nil, resp.Body.Close()
	}
	defer resp.Body.Close()
	text, whole, err := t.w.readBody(resp)
	if err != nil || !whole || !looksLikeJSON(text) {
		return nil, nil // the server has taken it: the stream brings the rest
	}
	return text, nil
}

func (t *SSE) headers(req *runtime.Request) http.Header {
	if req.Method == revision.MethodInitialize || req.Version < firstVersionHeader {
		return nil
	}
	t.mu.Lock()
	t.version = req.Version
	t.mu.Unlock()
	return http.Header{headerVersion: {req.Version}}
}

// reply posts the answer to a request of the server.
func (t *SSE) reply(body []byte) {
	t.mu.Lock()
	req := &runtime.Request{Version: t.version}
	t.mu.Unlock()
	ctx, cancel := context.WithTimeout(t.life.ctx, replyTime)
	defer cancel()
	if _, err := t.send(ctx, req, body); err != nil {
		t.w.log.Warn("answer to the server not delivered", "err", err)
	}
}

// abandon informs the server that nobody waits for a call any more.
func (t *SSE) abandon(caller context.Context, req *runtime.Request, id []byte) {
	if req.Method == revision.MethodInitialize {
		return
	}
	notice := &runtime.Request{Method: revision.NotificationCancelled, Params: cancelParams(caller, bytes.Clone(id)), Version: req.Version}
	t.life.notice(cancelTime, func(ctx context.Context) {
		if _, err := t.send(ctx, notice, notificationBody(notice.Method, notice.Params)); err != nil {
			t.w.log.Debug("cancel notice not delivered", "err", err)
		}
	})
}

// Notify implements [runtime.Transport].
func (t *SSE) Notify(ctx context.Context, req *runtime.Request) error {
	t.mu.Lock()
	gone := t.gone
	t.mu.Unlock()
	if gone != nil {
		return notSent{gone}
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.life.ctx, cancel)()
	_, err := t.send(inner, req, notificationBody(req.Method, req.Params))
	if err != nil && ctx.Err() != nil {
		return markUnsent(ctx.Err(), !errors.Is(err, runtime.ErrNotSent))
	}
	return err
}

// Close implements [runtime.Transport]. Cancel notices that are on their way
// get up to a second; the stream, which carries the session, outlives them.
func (t *SSE) Close() error {
	if !t.life.shut() {
		return nil
	}
	_ = t.fail(runtime.ErrClosed) // the error comes back as it is
	ctx, cancel := context.WithTimeout(context.Background(), byeTime)
	defer cancel()
	t.life.waitNotices(ctx)
	t.life.end()
	t.w.closeIdle()
	return nil
}
