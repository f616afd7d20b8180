package router

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/parking"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

const (
	// maxComeBacks bounds how often a result that holds a state and no question
	// is taken up at once, after comeBackPause, doubled each time: such a server
	// sheds load. Then the client decides.
	maxComeBacks  = 3
	comeBackPause = 250 * time.Millisecond
)

// interact serves a request that the backend may answer with questions
// (tools/call, prompts/get, resources/read). A modern backend puts them into its
// result. One with a handshake asks while the call goes on, so the call does not
// live in this request but beside it: see parking.Lot.
func (rt *Router) interact(ctx context.Context, k inventory.Kind, r Request) ([]byte, error) {
	at, what := r.Msg.Name, "name"
	if k == inventory.Resources {
		at, what = r.Msg.URI, "uri"
	}
	target, ok := rawjson.String(r.Line, at)
	if !ok {
		return nil, upstream.Invalid("params.%s is missing or no string", what)
	}
	answers, err := r.inputResponses()
	if err != nil {
		return nil, err
	}
	s, err := rt.unseal(r, target)
	if err != nil {
		return nil, err
	}
	if b := rt.backendOf(r); s != nil && b != nil {
		if why := s.strange(b, what); why != "" {
			return nil, upstream.Invalid("params.requestState %s", why)
		}
	}
	if s == nil {
		s = &state{Method: r.Method, Target: target}
	}
	var call *parking.Call
	if s.Ticket != nil {
		if call, err = rt.resumeParked(k, r, s, answers); err != nil {
			return nil, err
		}
	} else {
		call = rt.Parking.Start(rt.Set.Lifetime, r.reports(), func(ctx context.Context, call *parking.Call) (json.RawMessage, error) {
			return rt.converse(ctx, call, k, r, s, nil)
		})
	}
	return rt.awaitParked(ctx, call, r, s)
}

// awaitParked waits for a call that may ask: its result, or what asks the client.
func (rt *Router) awaitParked(ctx context.Context, call *parking.Call, r Request, s *state) ([]byte, error) {
	out, err := call.Wait(ctx)
	switch {
	case err != nil:
		return nil, err
	case out.Inputs != nil:
		keep := state{Method: s.Method, Target: s.Target, Ticket: &out.Ticket}
		return rt.ask(out.Inputs, r, &keep), nil
	}
	return out.Result, nil
}

// inputResponses gives the answers that a retry brings, by key. Each must be an
// object, as the results of all questions are: servers should not have to deal
// with what can be none.
func (r Request) inputResponses() (map[string]json.RawMessage, error) {
	raw := r.Msg.InputResponses.Of(r.Line)
	if raw == nil {
		return nil, nil
	}
	entries, err := rawjson.Entries(raw)
	if err != nil {
		return nil, upstream.Invalid("params.inputResponses is no object")
	}
	answers := make(map[string]json.RawMessage, len(entries))
	for _, e := range entries {
		if answers[e.Name] = e.Value.Of(raw); !rawjson.IsObject(answers[e.Name]) {
			return nil, upstream.Invalid("params.inputResponses: %q is no object", e.Name)
		}
	}
	return answers, nil
}

// reports gives the way for what a call sends while the request waits for it.
// Progress goes under the request's own token: each request of an interaction
// has another, or none.
func (r Request) reports() func(method string, params []byte) {
	token, rising := r.Msg.MetaToken.Of(r.Line), progressGate{}
	return func(method string, params []byte) {
		if method == revision.NotificationProgress {
			if params = rising.restore(params, token); params == nil {
				return
			}
		}
		r.From.Emit(method, params)
	}
}

// wantProgress asks a server of the handshake era for progress though the client
// has not: the request that comes back with answers may, and then the call is
// on its way.
func (e *Relay) wantProgress(req *runtime.Request) error {
	req.Token = mintToken()
	params, err := rawjson.SetNested(req.Params, "_meta", []rawjson.Member{{Name: "progressToken", Value: req.Token}})
	if err != nil {
		return upstream.Invalid("params: %v", err)
	}
	e.token, req.Params = []byte("0"), params // reports knows whose token it becomes
	return nil
}

// resumeParked takes up the call that waits for the answers of a retry.
func (rt *Router) resumeParked(k inventory.Kind, r Request, s *state, answers map[string]json.RawMessage) (*parking.Call, error) {
	call, err := rt.Parking.Resume(*s.Ticket, r.reports(), answers)
	switch {
	case errors.Is(err, parking.ErrLost):
		return nil, rt.lost(k, s.Target)
	case err != nil:
		return nil, upstream.Invalid("params.requestState: %v", err)
	}
	return call, nil
}

// converse runs one call to the backend and, as long as there is nothing to
// ask the client, what follows from its results. first makes the first of the
// calls; nil: like the others.
func (rt *Router) converse(
	ctx context.Context, call *parking.Call, k inventory.Kind, r Request, s *state, first func(context.Context, Request) ([]byte, error),
) ([]byte, error) {
	r.From.Emit, r.From.Ask = call.Emit, call.Ask
	r.returns = len(r.From.Capabilities) > len(`{}`)
	next := *s
	for round := 0; ; round++ {
		again, err := r.again(&next)
		if err != nil {
			return nil, upstream.Invalid("params: %v", err)
		}
		var result []byte
		if first != nil {
			result, err = first(ctx, again)
			first = nil
		} else {
			result, err = rt.once(ctx, k, again)
		}
		if pages := pagesOf(err); pages != nil {
			return rt.openPages(pages, again, s)
		}
		if err != nil {
			return nil, err
		}
		a, is := parseInputRequest(result)
		if !is {
			return result, nil
		}
		if b := rt.backendOf(again); b != nil {
			b.KeepForAnswers() // it may keep something for the answers
		}
		out, waits, err := rt.relayInputs(result, a, again, s, &next)
		if err != nil || waits || round == maxComeBacks {
			return out, err
		}
		pause := comeBackPause << round
		if len(next.Given) > 0 {
			pause = 0 // there is something new to tell
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// once makes one call.
func (rt *Router) once(ctx context.Context, k inventory.Kind, r Request) ([]byte, error) {
	if k == inventory.Resources {
		return rt.read(ctx, r)
	}
	return rt.named(ctx, k, r)
}

// givesRoots tells whether a question is the configuration's to answer: the
// client has not declared roots.
func (rt *Router) givesRoots(method string, from *upstream.Origin) bool {
	return method == revision.MethodRootsList && rt.Set.HasRoots() && revision.MissingFor(method, nil, from.Capabilities) != nil
}

// relayInputs gives a backend's questions as the client gets them: those that
// the configuration answers left out, the backend's state sealed. It reports
// whether the client has to come back with something; where it has not, next is
// what to come back with in its place.
func (rt *Router) relayInputs(result []byte, a inputRequest, r Request, s, next *state) (out []byte, waits bool, err error) {
	*next = state{Method: s.Method, Target: s.Target}
	if inner := a.state.Of(result); string(inner) != "null" {
		next.Inner = inner
	}
	if b := rt.backendOf(r); b != nil {
		next.of(b)
	}
	var edits []rawjson.Edit
	if rawjson.IsObject(a.inputs.Of(result)) {
		o, err := rawjson.ObjectAt(result, a.inputs)
		if err != nil {
			return nil, false, err
		}
		for _, e := range o.Entries {
			if rt.givesRoots(questionMethod(e.Value.Of(result)), &r.From) {
				if next.Given == nil {
					next.Given = map[string]json.RawMessage{}
				}
				next.Given[e.Name] = rt.Set.Roots()
				o.Remove(e.Name)
				continue
			}
			edit, err := rt.passQuestion(e.Value.Of(result), r)
			if err != nil {
				return nil, false, err
			}
			if edit.New != nil {
				edits = append(edits, rawjson.Within(e.Value.Start, []rawjson.Edit{edit})...)
			}
		}
		waits = o.Kept() > 0
		edits = append(edits, o.Edits()...)
	}
	out, err = rawjson.Set(rawjson.Apply(result, edits), []rawjson.Member{{Name: "requestState", Value: rt.seal(next)}})
	return out, waits, err
}

// questionMethod is that of an embedded request, "" where it has none.
func questionMethod(entry []byte) string {
	at, err := rawjson.Field(entry, "method")
	if err != nil {
		return ""
	}
	method, _ := rawjson.String(entry, at)
	return method
}

// passQuestion gives the edit of one embedded request of a modern backend.
func (rt *Router) passQuestion(entry []byte, r Request) (rawjson.Edit, error) {
	var at [2]rawjson.Span
	if err := rawjson.Fields(entry, at[:], "method", "params"); err != nil {
		return rawjson.Edit{}, &runtime.ProtocolError{Reason: "an entry of inputRequests is no object"}
	}
	method, _ := rawjson.String(entry, at[0])
	if !revision.IsQuestion(method) {
		return rawjson.Edit{}, &runtime.ProtocolError{Reason: fmt.Sprintf("the server asks the client for %q, which servers must not", method)}
	}
	q := revision.Question{From: revision.Modern, To: revision.Modern, Method: method, Capabilities: r.From.Capabilities, Name: rt.asker(r)}
	params, err := q.Params(at[1].Of(entry))
	if err != nil || !at[1].Present() {
		return rawjson.Edit{}, err
	}
	return rawjson.Edit{Span: at[1], New: params}, nil
}

// asker is the name of the server that a question of a request comes from, ""
// where there is only one: clients show nobody but the proxy.
func (rt *Router) asker(r Request) string {
	if len(rt.Set.All()) < 2 {
		return ""
	}
	if b := rt.backendOf(r); b != nil {
		return b.Name
	}
	return ""
}

// backendOf tells where a request leads, nil where that is not known.
func (rt *Router) backendOf(r Request) *upstream.Backend {
	s, k, at := rt.Catalog.Current.Load(), inventory.Tools, r.Msg.Name
	switch r.Method {
	case revision.MethodPromptsGet:
		k = inventory.Prompts
	case revision.MethodResourcesRead:
		k, at = inventory.Resources, r.Msg.URI
	case revision.MethodTasksGet:
		id, _ := rawjson.String(r.Line, r.Msg.TaskID)
		b, _ := rt.taskOf(id)
		return b
	}
	target, _ := rawjson.String(r.Line, at)
	if to := s.Routes[k][target]; to != nil {
		return to.Backend
	}
	return nil
}

// ask gives the result that asks for input.
func (rt *Router) ask(inputs []parking.Input, r Request, s *state) []byte {
	if b := rt.backendOf(r); b != nil {
		s.of(b)
	}
	out := []byte(`{"resultType":"input_required","inputRequests":{`)
	for i, in := range inputs {
		if i > 0 {
			out = append(out, ',')
		}
		q := revision.Question{Method: in.Method}
		out = append(append(rawjson.Quote(out, in.Key), ':'), q.Embedded(in.Params)...)
	}
	out = append(append(out, `},"requestState":`...), rt.seal(s)...)
	if rt.o.Catalog.Info != nil {
		out = fmt.Appendf(out, `,"_meta":{%q:%s}`, metaServerInfo, rt.o.Catalog.Info)
	}
	return append(out, '}')
}

// pagesOf gives the pages that a person is to open before the same request is
// made again: a server of 2025-11-25 names them in the error -32042 (Elicitation,
// URL mode). Nil for any other error.
func pagesOf(err error) []json.RawMessage {
	if rpc, ok := errors.AsType[*runtime.Error](err); ok {
		return revision.URLElicitations(rpc)
	}
	return nil
}

// openPages turns a backend's -32042 into a result that asks the client to have
// pages opened, and to make the same request again.
func (rt *Router) openPages(pages []json.RawMessage, r Request, s *state) ([]byte, error) {
	if b := rt.backendOf(r); b != nil {
		b.KeepForAnswers()
	}
	var inputs []parking.Input
	for i, page := range pages {
		q := revision.Question{From: revision.Latest, To: revision.Modern, Method: revision.MethodElicitationCreate, Capabilities: r.From.Capabilities, Name: rt.asker(r)}
		params, err := q.Params(page)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, parking.Input{Key: "u" + strconv.Itoa(i+1), Method: q.Method, Params: params})
	}
	return rt.ask(inputs, r, &state{Method: s.Method, Target: s.Target, Again: true}), nil
}
