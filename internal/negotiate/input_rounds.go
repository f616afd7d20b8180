package negotiate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
)

const (
	// maxRounds bounds how often a server may ask before it answers, roundTime
	// how long one round may take: people answer.
	maxRounds = 8
	roundTime = 10 * time.Minute
	// maxQuestions bounds what one result may ask.
	maxQuestions = 64
	// maxReasks bounds results in a row that ask for nothing but to come back,
	// reaskPause is how long the first is waited for; it doubles.
	maxReasks  = 3
	reaskPause = 250 * time.Millisecond
)

// InputError reports that what a server has asked for could not be given, so
// that its request has no result.
type InputError struct {
	// Method is what was asked, such as "elicitation/create".
	Method string
	// Err is why there is no answer. It is not unwrapped: an error of whoever
	// was asked does not concern the server.
	Err error
}

// Error names the question and why there is no answer.
func (e *InputError) Error() string {
	return "the server asks for " + e.Method + ", which could not be answered: " + e.Err.Error()
}

// canAskInput reports whether results of a method may ask for input.
func canAskInput(method string) bool {
	return method == revision.MethodToolsCall || method == revision.MethodPromptsGet || method == revision.MethodResourcesRead
}

// interim is the part of a result that says whether it asks for input.
type interim struct {
	kind      string // resultType, "" where there is none
	questions json.RawMessage
	state     json.RawMessage // raw, nil for none
}

func readInterim(raw json.RawMessage) (interim, error) {
	var at [3]rawjson.Span
	if err := rawjson.Fields(raw, at[:], revision.MemberResultType, revision.MemberInputRequests, revision.MemberRequestState); err != nil {
		return interim{}, err
	}
	r := interim{questions: nonNull(raw, at[1]), state: nonNull(raw, at[2])}
	if at[0].Present() {
		kind, ok := rawjson.String(raw, at[0])
		if !ok {
			kind = string(at[0].Of(raw)) // no string: unknown whatever it says
		}
		r.kind = kind
	}
	return r, nil
}

// nonNull returns the value at a span, nil where it is absent or null.
func nonNull(raw []byte, at rawjson.Span) json.RawMessage {
	if v := at.Of(raw); string(v) != "null" {
		return v
	}
	return nil
}

// sender sends one request and returns its result.
type sender func(context.Context, *runtime.Request) (json.RawMessage, error)

// inputRounds is a call whose results may ask for input.
type inputRounds struct {
	send sender
	// interim reports whether a result asks for input, and what.
	interim func(raw json.RawMessage) (interim, bool, error)
	handler runtime.Handler // gets questions where the request has no Events
	// finish turns the last result, which asks for nothing, into that of the
	// call; nil returns it as it is.
	finish func(ctx context.Context, req *runtime.Request, raw json.RawMessage, events *progress) (json.RawMessage, error)
	// first is the answer to the request where it has been sent already; nil
	// sends it.
	first json.RawMessage
}

// run sends a request, answers what its results ask for and sends it again,
// with a new id and otherwise unchanged params, until a result asks for nothing
// (2026-07-28, Multi round-trip requests).
func (l *inputRounds) run(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	r := *req
	events := &progress{Handler: req.Events, token: req.Token}
	switch {
	case events.Handler == nil:
		events.Handler = l.handler
	case req.Token != nil && canAskInput(req.Method):
		r.Events = events
	}
	for round, reasks := 0, 0; ; round++ {
		raw, err := l.first, error(nil)
		if raw == nil || round > 0 {
			if raw, err = l.send(ctx, &r); err != nil {
				return nil, err
			}
		}
		in, asks, err := l.interim(raw)
		if err == nil && !asks && l.finish != nil {
			return l.finish(ctx, &r, raw, events)
		}
		if err != nil || !asks {
			return raw, err
		}
		if !canAskInput(req.Method) {
			return nil, &runtime.ProtocolError{Reason: req.Method + ": the server asks for input, which this method does not allow"}
		}
		var answers json.RawMessage
		switch none := emptyObject(in.questions); {
		case none && in.state == nil:
			return nil, &runtime.ProtocolError{Reason: req.Method + ": the server asks for input, but says neither which nor for what state"}
		case none:
			if reasks++; reasks > maxReasks {
				return nil, &runtime.ProtocolError{Reason: fmt.Sprintf("%s: the server has asked %d times to come back later", req.Method, reasks)}
			}
			if err := deadline.Pause(ctx, reaskPause<<(reasks-1)); err != nil {
				return nil, err
			}
		case round-reasks >= maxRounds:
			return nil, &runtime.ProtocolError{Reason: fmt.Sprintf("%s: the server has asked %d times and has not answered", req.Method, maxRounds)}
		default:
			if answers, err = askAll(ctx, &r, in.questions, events); err != nil {
				return nil, err
			}
		}
		if r.Params, err = nextParams(req.Params, answers, in.state); err != nil {
			return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "params: " + err.Error()}
		}
		r.ID = nil
		events.resent()
	}
}

func emptyObject(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) < 2 || raw[0] == '{' && len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0 || string(raw) == "null"
}

// nextParams returns the params of the next round: those of the first, with
// answers and state of the last result alone; nil adds none.
func nextParams(params, answers, state json.RawMessage) (json.RawMessage, error) {
	if params == nil {
		params = json.RawMessage("{}")
	}
	out, err := rawjson.Without(params, func(name string) bool {
		return name == revision.MemberInputResponses || name == revision.MemberRequestState
	})
	if err != nil {
		return nil, err
	}
	var add []rawjson.Member
	if answers != nil {
		add = append(add, rawjson.Member{Name: revision.MemberInputResponses, Value: answers})
	}
	if state != nil {
		add = append(add, rawjson.Member{Name: revision.MemberRequestState, Value: state})
	}
	return rawjson.Set(out, add)
}

// askAll puts the questions of a result to events, all at once, and returns the
// object of answers. When one fails the others are cancelled.
func askAll(ctx context.Context, req *runtime.Request, questions json.RawMessage, events *progress) (json.RawMessage, error) {
	var asked map[string]struct {
		Method string
		Params json.RawMessage
	}
	switch err := json.Unmarshal(questions, &asked); {
	case err != nil:
		return nil, &runtime.ProtocolError{Reason: req.Method + ": what the server asks for is malformed: " + err.Error()}
	case len(asked) > maxQuestions:
		return nil, &runtime.ProtocolError{Reason: fmt.Sprintf("%s: the server asks %d questions at once", req.Method, len(asked))}
	}
	asking, stop := context.WithTimeout(ctx, roundTime)
	defer stop()
	type outcome struct {
		key    string
		answer json.RawMessage
		err    error
	}
	done := make(chan outcome, len(asked))
	for key, q := range asked {
		go func() { // all are waited for below
			answer, err := events.Request(asking, req, q.Method, q.Params)
			if err != nil {
				err = &InputError{Method: q.Method, Err: err}
			}
			done <- outcome{key, answer, err}
		}()
	}
	ticker := time.NewTicker(keepAliveEvery)
	defer ticker.Stop()
	var failed error
	answers := map[string]json.RawMessage{}
	for len(answers) < len(asked) {
		select {
		case <-ticker.C:
			events.keepAlive(ctx, req, "waiting for an answer to the server's question")
		case o := <-done:
			if o.err != nil && failed == nil {
				if failed = o.err; asking.Err() != nil && ctx.Err() == nil {
					failed = &InputError{Method: asked[o.key].Method, Err: fmt.Errorf("no answer within %s", roundTime)}
				}
				stop()
			}
			if o.answer == nil {
				o.answer = json.RawMessage(`{}`)
			}
			answers[o.key] = o.answer
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case failed != nil:
		return nil, failed
	}
	var out rawjson.Builder
	for _, key := range slices.Sorted(maps.Keys(answers)) {
		out.Add(key, answers[key])
	}
	return out.Object(), nil
}

// unknownKind is the error for a result of a type that nobody has agreed on: it
// is to be treated as invalid (2026-07-28, Versioning, Extensions).
func unknownKind(method, kind string) error {
	return &runtime.ProtocolError{Reason: fmt.Sprintf("%s: the server answered with a result of the unknown type %q", method, kind)}
}

const (
	// keepAliveEvery is how often a caller gets progress while a question waits
	// for its answer: well below the minute after which clients commonly give
	// up.
	keepAliveEvery = 15 * time.Second
	keepAliveStep  = 0.001
)

// progress is the progress of a call that takes several requests, made to
// increase only (2025-11-25, Utilities, Progress).
type progress struct {
	runtime.Handler
	token json.RawMessage // the caller's, nil where it wants no progress

	mu         sync.Mutex // guards what follows
	last       float64
	increasing bool // only more than last is passed on
}

func (s *progress) Notification(ctx context.Context, call *runtime.Request, method string, params json.RawMessage) {
	if method == revision.NotificationProgress && !s.advance(params) {
		return
	}
	s.Handler.Notification(ctx, call, method, params)
}

func (s *progress) advance(params json.RawMessage) bool {
	at, _ := rawjson.Field(params, "progress") // absent on error, and no number then
	n, err := strconv.ParseFloat(string(at.Of(params)), 64)
	if err != nil {
		return true // whatever it is, it is not ours to judge
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.increasing && n <= s.last {
		return false
	}
	s.last = n
	return true
}

// resent records that the call is sent again, whose progress may start over.
func (s *progress) resent() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.increasing = true
}

// keepAlive sends progress, to a caller that wants it, for a call that waits.
func (s *progress) keepAlive(ctx context.Context, call *runtime.Request, message string) {
	if s.token == nil {
		return
	}
	s.mu.Lock()
	s.increasing = true
	next := math.Round((s.last+keepAliveStep)*1000) / 1000
	if next <= s.last { // so large that the step is lost
		next = math.Nextafter(s.last, math.Inf(1))
	}
	s.last = next
	s.mu.Unlock()
	params := append([]byte(`{"progressToken":`), s.token...)
	params = strconv.AppendFloat(append(params, `,"progress":`...), next, 'f', -1, 64)
	s.Handler.Notification(ctx, call, revision.NotificationProgress, append(rawjson.Quote(append(params, `,"message":`...), message), '}'))
}
