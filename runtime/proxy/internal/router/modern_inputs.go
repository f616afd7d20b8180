package router

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/interaction"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

const (
	// maxComeBacks bounds how often a result that holds a state and no question
	// is taken up at once, after comeBackPause, doubled each time: such a server
	// sheds load. Then the client decides.
	maxComeBacks  = 3
	comeBackPause = 250 * time.Millisecond
)

// conversation is a request that the backend may answer with questions, and what
// the client keeps of it between rounds.
type conversation struct {
	*Request
	kind   inventory.Kind
	stored *state
}

// interact serves a request that the backend may answer with questions
// (tools/call, prompts/get, resources/read). A modern backend puts them into its
// result. One with a handshake asks while the call goes on, so the call does not
// live in this request but beside it: see interaction.SuspendedCalls.
func (r *Request) interact(ctx context.Context, k inventory.Kind) ([]byte, error) {
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
	s, err := r.unseal(target)
	if err != nil {
		return nil, err
	}
	if b := r.backend(); s != nil && b != nil {
		if why := s.strange(b, what); why != "" {
			return nil, upstream.Invalid("params.requestState %s", why)
		}
	}
	if s == nil {
		s = &state{Method: r.Method, Target: target}
	}
	v := &conversation{r, k, s}
	if s.Ticket == nil {
		return v.await(ctx, v.start(nil))
	}
	call, err := r.rt.Suspended.Resume(*s.Ticket, r.reports(), answers)
	switch {
	case errors.Is(err, interaction.ErrLost):
		return nil, v.lost()
	case err != nil:
		return nil, upstream.Invalid("params.requestState: %v", err)
	}
	return v.await(ctx, call)
}

// start starts the call to the backend beside the request. first makes the first
// round; nil: like the others.
func (v *conversation) start(first func(context.Context, *Request) ([]byte, error)) *interaction.Call {
	return v.rt.Suspended.Start(v.rt.Set.Lifetime, v.From.Who, v.reports(), func(ctx context.Context, call *interaction.Call) (json.RawMessage, error) {
		result, err := v.run(ctx, call, first)
		return v.judged.Finish(ctx, v.query(), result, err)
	})
}

// await waits for a call that may ask: its result, or what asks the client.
func (v *conversation) await(ctx context.Context, call *interaction.Call) ([]byte, error) {
	out, err := call.Wait(ctx)
	switch {
	case err != nil:
		return nil, err
	case out.Inputs != nil:
		return v.ask(out.Inputs, &state{Method: v.stored.Method, Target: v.stored.Target, Ticket: &out.Ticket}), nil
	}
	return out.Result, nil
}

// inputResponses returns the answers that a retry brings, by key. Each must be
// an object, as the results of all questions are: servers should not have to
// deal with anything else.
func (r *Request) inputResponses() (map[string]json.RawMessage, error) {
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

// reports returns the way for what a call sends while the request waits for it.
// Progress goes under the request's own token: each request of an interaction
// has another, or none.
func (r *Request) reports() func(method string, params []byte) {
	token, gate := r.Msg.MetaToken.Of(r.Line), progressGate{}
	return func(method string, params []byte) {
		if method == revision.NotificationProgress {
			if params = gate.Restore(params, token); params == nil {
				return
			}
		}
		r.From.Emit(method, params)
	}
}

// wantProgress asks a server of the handshake era for progress though the client
// has not: the request that comes back with answers may, when the call is
// already on its way.
func (e *Relay) wantProgress(req *runtime.Request) error {
	req.Token = mintToken()
	e.token = []byte("0") // reports replaces it by the client's
	return setMeta(req, "progressToken", req.Token)
}

// run makes one call to the backend and, as long as there is nothing to ask the
// client, the calls that follow from its results.
func (v *conversation) run(ctx context.Context, call *interaction.Call, first func(context.Context, *Request) ([]byte, error)) ([]byte, error) {
	r := *v.Request
	r.From.Emit, r.From.Ask = call.Emit, call.Ask
	r.returns = len(r.From.Capabilities) > len(`{}`)
	next := *v.stored
	for round := 0; ; round++ {
		again, err := r.again(&next)
		if err != nil {
			return nil, upstream.Invalid("params: %v", err)
		}
		var result []byte
		if first != nil && round == 0 {
			result, err = first(ctx, again)
		} else {
			result, err = v.send(ctx, again)
		}
		if err != nil {
			result, err = v.rt.logins.after(ctx, err, again, func() ([]byte, error) { return v.send(ctx, again) })
		}
		if rpc, ok := errors.AsType[*runtime.Error](err); ok {
			if pages := revision.URLElicitations(rpc); pages != nil {
				return v.openPages(pages)
			}
		}
		if err != nil {
			return nil, err
		}
		a, isRequest := revision.ParseInputRequest(result)
		if !isRequest {
			return result, nil
		}
		if b := v.backend(); b != nil {
			b.Pool.KeepForAnswers() // it may keep something for the answers
		}
		out, waits, err := v.relayInputs(result, a, &next)
		if err != nil || waits || round == maxComeBacks {
			return out, err
		}
		pause := comeBackPause << round
		if len(next.Given) > 0 {
			pause = 0 // there is an answer to bring
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, deadline.Cause(ctx)
		}
	}
}

// send sends one round to the backend.
func (v *conversation) send(ctx context.Context, r *Request) ([]byte, error) {
	if v.kind == inventory.Resources {
		return r.read(ctx)
	}
	return r.callNamed(ctx, v.kind)
}

// relayInputs returns a backend's result with its questions as the client gets
// them: without those that the configuration answers, the backend's state
// sealed. It reports whether the client has to come back with something; if
// not, next is what to come back with in its place.
func (v *conversation) relayInputs(result []byte, a revision.InputRequest, next *state) (out []byte, waits bool, err error) {
	*next = state{Method: v.stored.Method, Target: v.stored.Target}
	if inner := a.State.Of(result); string(inner) != "null" {
		next.Inner = inner
	}
	next.of(v.backend())
	var edits []rawjson.Edit
	if rawjson.IsObject(a.Inputs.Of(result)) {
		o, err := rawjson.ObjectAt(result, a.Inputs)
		if err != nil {
			return nil, false, err
		}
		for _, e := range o.Entries {
			method := questionMethod(e.Value.Of(result))
			if method == revision.MethodRootsList && v.rt.Set.HasRoots() && revision.MissingFor(method, nil, v.From.Capabilities) != nil {
				// The client has declared no roots, the configuration has.
				if next.Given == nil {
					next.Given = map[string]json.RawMessage{}
				}
				next.Given[e.Name] = v.rt.Set.Roots()
				o.Remove(e.Name)
				continue
			}
			if edits, err = v.passQuestion(edits, result, e.Value); err != nil {
				return nil, false, err
			}
		}
		waits = o.Len() > 0
		edits = append(edits, o.Edits()...)
	}
	out, err = rawjson.Set(rawjson.Apply(result, edits), []rawjson.Member{{Name: "requestState", Value: next.sealed(v.rt.o.Catalog.Ring, v.From.Key())}})
	return out, waits, err
}

// questionMethod returns that of an embedded request, "" if it has none.
func questionMethod(entry []byte) string {
	at, err := rawjson.Field(entry, "method")
	if err != nil {
		return ""
	}
	method, _ := rawjson.String(entry, at)
	return method
}

// passQuestion adds the edit of one embedded request of a modern backend, which
// lies at a span of its result.
func (r *Request) passQuestion(edits []rawjson.Edit, result []byte, span rawjson.Span) ([]rawjson.Edit, error) {
	entry := span.Of(result)
	var at [2]rawjson.Span
	if err := rawjson.Fields(entry, at[:], "method", "params"); err != nil {
		return nil, &runtime.ProtocolError{Reason: "an entry of inputRequests is no object"}
	}
	method, _ := rawjson.String(entry, at[0])
	if err := r.mayBeAsked(method); err != nil {
		return nil, err
	}
	if !revision.IsQuestion(method) {
		return nil, &runtime.ProtocolError{Reason: fmt.Sprintf("the server asks the client for %q, which servers must not", method)}
	}
	q := revision.Question{From: revision.Modern, To: revision.Modern, Method: method, Capabilities: r.From.Capabilities, Name: r.asker()}
	params, err := q.Params(at[1].Of(entry))
	if err != nil || !at[1].Present() || params == nil {
		return edits, err
	}
	return append(edits, rawjson.Within(span.Start, []rawjson.Edit{{Span: at[1], New: params}})...), nil
}

// asker returns the name of the server that a question of the request comes
// from, "" if there is only one: clients show the proxy alone.
func (r *Request) asker() string {
	if b := r.backend(); b != nil && len(r.rt.Set.All()) > 1 {
		return b.Name
	}
	return ""
}

// backend returns where the request leads, nil if that is not known.
func (r *Request) backend() *upstream.Backend {
	k, at := inventory.Tools, r.Msg.Name
	switch r.Method {
	case revision.MethodPromptsGet:
		k = inventory.Prompts
	case revision.MethodResourcesRead:
		k, at = inventory.Resources, r.Msg.URI
	case revision.MethodTasksGet:
		id, _ := rawjson.String(r.Line, r.Msg.TaskID)
		b, _ := r.rt.task(id, r.From.Who.Key())
		return b
	}
	target, _ := rawjson.String(r.Line, at)
	if to := r.rt.Catalog.Of(r.From.Audience).Routes[k][target]; to != nil {
		return to.Backend
	}
	return nil
}

// ask returns the result that asks for input, with s sealed.
func (v *conversation) ask(inputs []interaction.Input, s *state) []byte {
	s.of(v.backend())
	out := []byte(`{"resultType":"input_required","inputRequests":{`)
	for i, in := range inputs {
		if i > 0 {
			out = append(out, ',')
		}
		q := revision.Question{Method: in.Method}
		out = append(append(rawjson.Quote(out, in.Key), ':'), q.Embedded(in.Params)...)
	}
	out = append(append(out, `},"requestState":`...), s.sealed(v.rt.o.Catalog.Ring, v.From.Key())...)
	if info := v.rt.o.Catalog.Info; info != nil {
		out = fmt.Appendf(out, `,"_meta":{%q:%s}`, metaServerInfo, info)
	}
	return append(out, '}')
}

// openPages returns a result that asks the client to have pages opened and to
// make the same request again, in place of the error -32042 in which a server
// of 2025-11-25 names them (Elicitation, URL mode).
func (v *conversation) openPages(pages []json.RawMessage) ([]byte, error) {
	if err := v.mayBeAsked(revision.MethodElicitationCreate); err != nil {
		return nil, err
	}
	if b := v.backend(); b != nil {
		b.Pool.KeepForAnswers()
	}
	var inputs []interaction.Input
	for i, page := range pages {
		q := revision.Question{From: revision.Latest, To: revision.Modern, Method: revision.MethodElicitationCreate, Capabilities: v.From.Capabilities, Name: v.asker()}
		params, err := q.Params(page)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, interaction.Input{Key: "u" + strconv.Itoa(i+1), Method: q.Method, Params: params})
	}
	return v.ask(inputs, &state{Method: v.stored.Method, Target: v.stored.Target, Again: true}), nil
}
