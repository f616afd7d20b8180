package transport

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/mcpctl/mcpctl/internal/ability"
	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/internal/sse"
	"github.com/mcpctl/mcpctl/runtime"
)

const (
	// restEvents and restTime bound what is read after an answer so that its
	// connection can be used again; beyond, the connection is closed.
	restEvents = 1000
	restTime   = 2 * time.Second
	// maxResumes bounds attempts in a row to take up a stream again; maxEmpty
	// how often in a row it may come without anything new, which servers do
	// that want to be polled.
	maxResumes = 10
	maxEmpty   = 100
)

// answer reads the answer to a call, JSON or stream. The body decides; the
// status is a hint.
func (x *exchange) answer(resp *http.Response) (json.RawMessage, func(), error) {
	if mediaType(resp) == mediaStream {
		return x.stream(resp)
	}
	defer resp.Body.Close()
	body, whole, err := x.t.w.readBody(resp)
	switch {
	case errors.Is(err, errTooLarge):
		return nil, nil, x.tooLarge()
	case err != nil && resp.StatusCode < 300:
		return nil, nil, x.t.w.broken(err)
	}
	var messages []message
	malformed := errNotMessage
	if whole && looksLikeJSON(body) {
		messages, malformed = readMessages(x.one[:0], body)
	}
	for i := range messages {
		m := &messages[i]
		if !m.isAnswer() {
			x.take(m)
			continue
		}
		// An error without a usable id can only be about this request.
		if m.object != nil {
			rpc := x.t.w.refusal(m.object)
			if resp.StatusCode < 300 {
				return nil, nil, rpc
			}
			return nil, nil, x.t.w.statusError(resp, body, rpc, x.session != "")
		}
		if sameAnswer(m.id, x.id) {
			return m.result, nil, nil
		}
		malformed = errors.New("it answers a different request")
	}
	if resp.StatusCode >= 300 {
		return nil, nil, x.t.w.statusError(resp, body, nil, x.session != "")
	}
	return nil, nil, x.t.w.protocolError(x.whyNot(resp, body, malformed), body)
}

// eventMessages returns the messages of an event, none for other events.
func eventMessages(ev sse.Event) ([]message, error) {
	if ev.Name != "message" || len(ev.Data) == 0 {
		return nil, nil
	}
	return readMessages(nil, ev.Data)
}

// messages is eventMessages with what is none logged, with more attributes.
func (w *wire) messages(ev sse.Event, more ...any) []message {
	messages, err := eventMessages(ev)
	if err != nil {
		w.log.Warn("server sent an event that is not a message", append(more, "sample", w.printable(ev.Data), "err", err)...)
	}
	return messages
}

// sameAnswer compares the id of the one answer in a body with the request's,
// and forgives a number that comes back as a string: some servers do that.
func sameAnswer(got, want []byte) bool {
	return sameID(got, want) || len(got) == len(want)+2 && string(got) == `"`+string(want)+`"`
}

// whyNot says in a sentence why a success is no answer.
func (x *exchange) whyNot(resp *http.Response, body []byte, malformed error) string {
	media := mediaType(resp)
	switch {
	case len(body) == 0:
		return fmt.Sprintf("%s: %s answered HTTP %d with an empty body", x.req.Method, x.t.w.target, resp.StatusCode)
	case resp.Header.Get("Content-Encoding") != "":
		return fmt.Sprintf("%s: the server compressed its answer (%s) without being asked", x.req.Method, resp.Header.Get("Content-Encoding"))
	case !isJSON(media) && !looksLikeJSON(body):
		return fmt.Sprintf("%s: the server answered %s instead of MCP", x.req.Method, cmp.Or(media, "something"))
	}
	return fmt.Sprintf("%s: the server's answer is malformed: %v", x.req.Method, malformed)
}

func (x *exchange) tooLarge() error {
	return &runtime.ProtocolError{Reason: fmt.Sprintf("%s: the answer is larger than %d bytes", x.req.Method, x.t.w.max)}
}

// broken is the error of a connection that broke before the answer was whole.
func (w *wire) broken(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errConnectionLost
	}
	return &runtime.ConnectError{Target: w.target, Err: w.redact.Error(err)}
}

// take delivers a message that is not an answer.
func (x *exchange) take(m *message) {
	if !m.isRequest() {
		x.t.in.notification(x, x.req, m)
		return
	}
	if revision.IsModern(x.req.Version) {
		// 2026-07-28, Streamable HTTP: servers send no requests, clients
		// post no responses.
		x.t.w.log.Warn("server sent a request, which its revision forbids", "method", m.method)
		return
	}
	aborted, stop := context.WithCancel(context.Background())
	undo := context.AfterFunc(x, func() {
		if !errors.Is(deadline.Cause(x), errAnswered) {
			stop()
		}
	})
	x.t.in.request(aborted, x.req, m, func(body []byte) {
		undo()
		stop()
		x.t.reply(x.req, x.session, body)
	})
}

// reply posts the answer to a request of the server, in the session that it was
// asked in: in a later one its id may be another question's.
func (t *HTTP) reply(call *runtime.Request, session string, body []byte) {
	req := &runtime.Request{Method: call.Method, Version: call.Version}
	if call.Method == revision.MethodInitialize {
		req.Version = "" // in its session, though not under a version yet
	}
	ctx, cancel := context.WithTimeout(t.life.ctx, replyTime)
	defer cancel()
	if err := t.post(ctx, sessionHeaders(req, session), session, body); err != nil {
		t.w.log.Warn("answer to the server not delivered", "err", err)
	}
}

// stream reads events up to the answer, and takes the stream up again where it
// ends early and can be.
func (x *exchange) stream(resp *http.Response) (json.RawMessage, func(), error) {
	first, lastID, empty := resp, "", 0
	var wait time.Duration
	for {
		rd := sse.NewReader(resp.Body, x.t.w.max)
		m, received, err := x.untilAnswer(rd)
		if m != nil {
			body := resp.Body
			rest := func() { x.rest(rd, body) }
			if m.object == nil {
				return m.result, rest, nil
			}
			rpc := x.t.w.refusal(m.object)
			if first.StatusCode >= 300 {
				return nil, rest, x.t.w.statusError(first, nil, rpc, x.session != "")
			}
			return nil, rest, rpc
		}
		_ = resp.Body.Close()
		switch {
		case errors.Is(err, sse.ErrTooLarge):
			return nil, nil, x.tooLarge()
		case first.StatusCode >= 300:
			return nil, nil, x.t.w.statusError(first, nil, nil, x.session != "")
		}
		if id := rd.LastID(); id != "" {
			received = received || id != lastID
			lastID = id
		}
		if empty++; received {
			empty = 0
		}
		if revision.IsModern(x.req.Version) || lastID == "" || empty > maxEmpty {
			return nil, nil, x.unanswered(err)
		}
		if retry, ok := rd.Retry(); ok {
			wait = retry
			if p, ok := x.req.Events.(ability.Paused); ok && errors.Is(err, io.EOF) {
				p.Paused(retry)
			}
		} else if wait == 0 {
			wait = backoff(0)
		}
		if resp, err = x.resume(lastID, wait, err); err != nil {
			return nil, nil, err
		}
	}
}

// unanswered is the error of a stream that ended without the answer.
func (x *exchange) unanswered(err error) error {
	if errors.Is(err, io.EOF) {
		return &runtime.ProtocolError{Reason: x.req.Method + ": the server ended its answer before the result"}
	}
	return x.t.w.broken(err)
}

// untilAnswer delivers events up to the answer. Received reports whether there was
// any message.
func (x *exchange) untilAnswer(rd *sse.Reader) (answer *message, received bool, err error) {
	for {
		ev, err := rd.Next()
		if err != nil {
			return nil, received, err
		}
		messages := x.t.w.messages(ev, "method", x.req.Method)
		received = received || len(messages) > 0
		for i := range messages {
			switch m := &messages[i]; {
			case !m.isAnswer():
				x.take(m)
			case sameID(m.id, x.id), m.object != nil && (m.id == nil || isNull(m.id)):
				answer = m
			case !x.t.answerOther(x.req.Version, m):
				x.t.w.log.Warn("server answered a request it was not asked here", "method", x.req.Method)
			}
		}
		if answer != nil {
			return answer, true, nil
		}
	}
}

// rest reads what follows an answer, within bounds, and delivers it as
// belonging to no call.
func (x *exchange) rest(rd *sse.Reader, body io.ReadCloser) {
	timer := time.AfterFunc(restTime, func() { x.End(errAnswered) })
	defer timer.Stop()
	defer body.Close()
	for range restEvents {
		ev, err := rd.Next()
		if err != nil {
			return
		}
		messages, _ := eventMessages(ev) // what is none is nobody's
		for i := range messages {
			x.t.takeFree(x.req.Version, x.session, &messages[i])
		}
	}
}

// takeFree delivers a message of a session that belongs to no call.
func (t *HTTP) takeFree(version, session string, m *message) {
	switch {
	case m.isAnswer():
		if !t.answerOther(version, m) {
			t.w.log.Debug("late answer dropped")
		}
	case !m.isRequest():
		t.in.notification(t.life.ctx, nil, m)
	case revision.IsModern(version):
		t.w.log.Warn("server sent a request, which its revision forbids", "method", m.method)
	default:
		t.in.request(t.life.ctx, nil, m, func(body []byte) { t.reply(&runtime.Request{Version: version}, session, body) })
	}
}

// answerOther ends the call that an answer on another stream is for, and reports whether
// one waits for it. The specification has servers of the handshake era answer on the
// call's own stream alone; some use the stream of Listen, and the SDKs of TypeScript and
// Python take answers from any stream.
func (t *HTTP) answerOther(version string, m *message) bool {
	if revision.IsModern(version) {
		return false
	}
	x := t.life.call(m.id)
	if x == nil {
		return false
	}
	a := &otherAnswer{result: bytes.Clone(m.result)}
	if m.object != nil {
		a.result, a.err = nil, t.w.refusal(m.object)
	}
	x.End(a)
	return true
}

// otherAnswer ends a call whose answer has come on another stream than its own.
type otherAnswer struct {
	result json.RawMessage
	err    error // of the server
}

func (*otherAnswer) Error() string { return errAnswered.Error() + " on another stream" }

func (*otherAnswer) Unwrap() error { return errAnswered }

// resume opens the stream of a call again after its last event (2025-11-25,
// Streamable HTTP, Resumability). Wait is how long the server wants to be left
// alone before; cause is why the stream ended.
func (x *exchange) resume(lastID string, wait time.Duration, cause error) (*http.Response, error) {
	for n := range maxResumes {
		if n > 0 {
			wait = max(wait, backoff(n))
		}
		if err := deadline.Pause(x, wait); err != nil {
			return nil, err
		}
		// The call's own session: in a later one, the id is another stream's.
		header := sessionHeaders(&runtime.Request{Version: x.req.Version}, x.session)
		header[headerLastID] = []string{lastID}
		resp, _, err := x.t.w.do(x, outgoing{method: http.MethodGet, url: x.t.url, accept: acceptStream, header: header})
		if err != nil {
			if x.Err() != nil {
				return nil, err
			}
			continue
		}
		if resp.StatusCode < 300 && mediaType(resp) == mediaStream {
			return resp, nil
		}
		discard(resp.Body)
		if resp.StatusCode < 500 && resp.StatusCode != http.StatusTooManyRequests {
			break
		}
	}
	// Never an expired session, whatever the status: the server may have acted
	// on the call, which must not be sent again.
	return nil, x.unanswered(cause)
}
