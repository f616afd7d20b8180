package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"

	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/runtime"
)

// requestBody frames a request, params byte for byte.
func requestBody(id []byte, method string, params []byte) []byte {
	b := make([]byte, 0, len(params)+len(method)+len(id)+64)
	b = append(append(b, `{"jsonrpc":"2.0","id":`...), id...)
	return finishBody(b, method, params)
}

// notificationBody frames a notification, params byte for byte.
func notificationBody(method string, params []byte) []byte {
	b := make([]byte, 0, len(params)+len(method)+64)
	return finishBody(append(b, `{"jsonrpc":"2.0"`...), method, params)
}

func finishBody(b []byte, method string, params []byte) []byte {
	b = rawjson.Quote(append(b, `,"method":`...), method)
	if params != nil {
		b = append(append(b, `,"params":`...), params...)
	}
	return append(b, '}')
}

// answerBody frames the answer to a request of the server.
func answerBody(id, result, object []byte) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	if object != nil {
		return append(append(append(b, `,"error":`...), object...), '}')
	}
	return append(append(append(b, `,"result":`...), result...), '}')
}

// message is one JSON-RPC message of the server; its parts alias the bytes it
// was read from.
type message struct {
	id, params     []byte
	method         string // "" for an answer
	result, object []byte // of an answer; object is the error
	token          []byte // params.progressToken
	requestID      []byte // params.requestId
}

func (m *message) isAnswer() bool  { return m.method == "" }
func (m *message) isRequest() bool { return m.method != "" && m.id != nil }

// readMessages cuts a text into its messages, which it appends to space: one, or those
// of a batch, which revision 2025-03-26 allows.
func readMessages(space []message, text []byte) ([]message, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '[' {
		m, err := readMessage(text)
		if err != nil {
			return nil, err
		}
		return append(space, m), nil
	}
	if err := rawjson.Valid(text); err != nil {
		return nil, err
	}
	spans, err := rawjson.Elements(text)
	if err != nil {
		return nil, err
	}
	out := space
	for _, at := range spans {
		m, err := readMessage(at.Of(text))
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

func readMessage(text []byte) (message, error) {
	var at rawjson.Message
	if err := rawjson.Scan(text, &at); err != nil {
		return message{}, err
	}
	m := message{
		id: at.ID.Of(text), params: at.Params.Of(text), result: at.Result.Of(text), object: at.Error.Of(text),
		token: at.ProgressToken.Of(text), requestID: at.RequestID.Of(text),
	}
	m.method, _ = rawjson.String(text, at.Method)
	if isNull(m.object) {
		m.object = nil // JSON-RPC 1.0 servers send null beside a result
	}
	if m.method == "" && m.result == nil && m.object == nil {
		return message{}, errNotMessage
	}
	return m, nil
}

var errNotMessage = errors.New("not a JSON-RPC message")

func isNull(raw []byte) bool { return string(raw) == "null" }

// sameID compares ids as JSON text; strings also by what they stand for.
func sameID(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	return len(a) > 1 && len(b) > 1 && a[0] == '"' && b[0] == '"' && bytes.Equal(rawjson.Unquote(nil, a), rawjson.Unquote(nil, b))
}

// tokens finds the call that progress belongs to where the wire does not tell.
type tokens struct {
	mu sync.Mutex // guards m
	m  map[string]*runtime.Request
}

// add registers a call with its progress token; the function takes it back.
func (t *tokens) add(req *runtime.Request) func() {
	if req.Token == nil || req.Events == nil {
		return func() {}
	}
	key := string(req.Token)
	t.mu.Lock()
	if t.m == nil {
		t.m = map[string]*runtime.Request{}
	}
	t.m[key] = req
	t.mu.Unlock()
	return func() {
		t.mu.Lock()
		if t.m[key] == req {
			delete(t.m, key)
		}
		t.mu.Unlock()
	}
}

func (t *tokens) of(m *message) *runtime.Request {
	if m.method != revision.NotificationProgress || m.token == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.m[string(m.token)]
}

// inbox takes in what a server sends besides answers.
type inbox struct {
	handler runtime.Handler
	log     *slog.Logger
	life    context.Context //nolint:containedctx // the transport's lifetime, which server requests run under
	spawn   func(func()) bool
	tokens  tokens
	slots   chan struct{} // bounds server requests being answered
	redact  *secret.Redactor

	mu      sync.Mutex // guards running
	running map[string]context.CancelFunc
}

func newInbox(life context.Context, h runtime.Handler, w *wire, spawn func(func()) bool) *inbox {
	return &inbox{handler: h, log: w.log, redact: w.redact, life: life, spawn: spawn, slots: make(chan struct{}, maxServerRequests), running: map[string]context.CancelFunc{}}
}

// to is the call a message belongs to, nil for none, and its handler.
func (b *inbox) to(call *runtime.Request, m *message) (*runtime.Request, runtime.Handler) {
	if call == nil {
		call = b.tokens.of(m)
	}
	if call != nil && call.Events != nil {
		return call, call.Events
	}
	return call, b.handler
}

// notification delivers a notification that came inside a call, or nil.
func (b *inbox) notification(ctx context.Context, call *runtime.Request, m *message) {
	if m.method == revision.NotificationCancelled && m.requestID != nil {
		b.mu.Lock()
		cancel := b.running[string(m.requestID)]
		b.mu.Unlock()
		if cancel != nil {
			cancel()
		}
	}
	call, h := b.to(call, m)
	params := m.params
	if m.method == revision.NotificationMessage {
		params = b.redact.JSON(params)
	}
	h.Notification(ctx, call, m.method, params)
}

// request has a request of the server answered in the background. The end of
// abort ends the work.
func (b *inbox) request(abort context.Context, call *runtime.Request, m *message, reply func(body []byte)) {
	id, params := bytes.Clone(m.id), bytes.Clone(m.params)
	method := strings.Clone(m.method)
	call, h := b.to(call, m)
	select {
	case b.slots <- struct{}{}:
	default:
		// In the reader itself: a server that floods waits for its answers.
		reply(answerBody(id, nil, jsonrpc.ErrorObject(runtime.CodeInternalError, "too many requests are waiting", nil)))
		return
	}
	ctx, cancel := context.WithCancel(b.life)
	stop := context.AfterFunc(abort, cancel)
	key := string(id) // a server does not use an id twice in a session
	b.mu.Lock()
	b.running[key] = cancel
	b.mu.Unlock()
	ok := b.spawn(func() {
		result, err := h.Request(ctx, call, method, params)
		aborted := ctx.Err() != nil
		stop()
		cancel()
		b.mu.Lock()
		delete(b.running, key)
		b.mu.Unlock()
		defer func() { <-b.slots }()
		switch {
		case aborted: // nobody waits for it any more
		case err != nil:
			reply(answerBody(id, nil, errorObject(err)))
		case result == nil:
			reply(answerBody(id, json.RawMessage(`{}`), nil))
		default:
			reply(answerBody(id, result, nil))
		}
	})
	if !ok {
		cancel()
		<-b.slots
	}
}
