package hooks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime"
)

// What is here speaks the interceptors of SEP-2624, a draft, as its working group had it in
// September 2026: interceptors/list and interceptor/invoke. An interceptor names its events in
// "hooks", a list, or in "hook", as the draft had it before. A mode that is not "audit" enforces:
// the draft says "active" now, and said "enforce" before.

const (
	methodListInterceptors  = "interceptors/list"
	methodInvokeInterceptor = "interceptor/invoke"
	eventToolsCall          = "tools/call"
)

const (
	// maxInvocations bounds the invocations of a hook that are under way. Further ones wait,
	// within their timeout.
	maxInvocations = 256
	// maxInterceptors bounds those of a server. With more, the hook has failed.
	maxInterceptors = 64
	// maxLabels bounds the labels of one answer; further ones do not count.
	maxLabels = 16
	// listInterceptorsEvery is for how long a list of interceptors counts.
	listInterceptorsEvery = time.Minute
)

// Caller sends a request to a server and returns its answer.
type Caller func(ctx context.Context, server, method string, params json.RawMessage) (json.RawMessage, error)

// External is a hook that is a server with interceptors.
type External struct {
	// Server is the name of the server.
	Server string
	// Tools are those of a [Rule].
	Tools []string
	// Mode is ModeEnforce, ModeAudit, or "" for what each interceptor says of itself.
	Mode Mode
	// Timeout is that of each invocation, and of asking for the list; 0 is no bound.
	Timeout time.Duration
	// FailOpen lets calls pass where an interceptor has failed that does not forbid it.
	FailOpen bool
}

// Mode is what follows from what an interceptor says.
type Mode string

// Modes: it counts, or it is recorded alone.
const (
	ModeEnforce Mode = "enforce"
	ModeAudit   Mode = "audit"
)

// interceptor is one as its server describes it.
type interceptor struct {
	Name     string          `json:"name"`
	Type     string          `json:"type"`
	Hooks    []interceptorOn `json:"hooks"`
	Hook     *interceptorOn  `json:"hook"`
	Mode     Mode            `json:"mode"`
	FailOpen *bool           `json:"failOpen"`
	Priority json.RawMessage `json:"priorityHint"`
}

// interceptorInfo is what an interceptor says besides: labels, which policies read as
// context.found.
type interceptorInfo struct {
	Labels []string `json:"dev.mcpctl/labels"`
}

// label adds the labels that an interceptor has found to a call.
func (n *interceptorInfo) label(c *Call) {
	for _, name := range n.Labels[:min(len(n.Labels), maxLabels)] {
		if IsName(name) {
			c.Label(name)
		}
	}
}

// interceptorOn is when an interceptor is invoked.
type interceptorOn struct {
	Events []string `json:"events"`
	Phase  string   `json:"phase"`
}

// Phases of the draft.
const (
	draftRequest  = "request"
	draftResponse = "response"
	draftBoth     = "both"
)

// in reports whether an interceptor looks into calls of tools in a phase.
func (i *interceptor) in(phase string) bool {
	all := i.Hooks
	if i.Hook != nil {
		all = append(slices.Clip(all), *i.Hook)
	}
	return slices.ContainsFunc(all, func(on interceptorOn) bool {
		return (on.Phase == phase || on.Phase == draftBoth || on.Phase == "") && slices.ContainsFunc(on.Events, func(event string) bool {
			return event == "*" || event == "*/"+phase || event == "tools/*" || event == eventToolsCall
		})
	})
}

// priority is its place among those that change things: the lower come first.
func (i *interceptor) priority(phase string) int {
	var n int
	if json.Unmarshal(i.Priority, &n) == nil {
		return n
	}
	var of map[string]int
	_ = json.Unmarshal(i.Priority, &of) // what is no number is no hint
	return of[phase]
}

// external is an External as a hook.
type external struct {
	External
	call  Caller
	queue chan struct{} // has one for each invocation

	listing chan struct{} // has one while the list is asked for
	list    atomic.Pointer[interceptors]
}

// interceptors are those of a server, and when they were had.
type interceptors struct {
	all []interceptor
	at  time.Time
}

// NewExternal returns the hook of a server that call reaches.
func NewExternal(o External, call Caller) (Hook, error) {
	if o.Mode != "" && o.Mode != ModeEnforce && o.Mode != ModeAudit {
		return nil, fmt.Errorf("mode: %q is neither enforce nor audit", o.Mode)
	}
	return &external{External: o, call: call, queue: make(chan struct{}, maxInvocations), listing: make(chan struct{}, 1)}, nil
}

func (e *external) Wants(t Target) Phases {
	if !selection(e.Tools).wants(t) {
		return 0
	}
	return PhaseRequest | PhaseResponse
}

func (e *external) Request(ctx context.Context, c *Call) error {
	out, err := e.consult(ctx, c, draftRequest, c.Params)
	if err == nil {
		c.Params = out
	}
	return err
}

func (e *external) Response(ctx context.Context, c *Call) error {
	if c.Err != nil {
		return nil //nolint:nilerr // the draft has no event for it
	}
	out, err := e.consult(ctx, c, draftResponse, c.Result)
	if err == nil {
		c.Result = out
	}
	return err
}

// consult sends a payload to the interceptors of a phase, and returns what they have made of
// it. On the way to a server changes come first, on the way back checks, so that these see
// what crosses.
func (e *external) consult(ctx context.Context, c *Call, phase string, payload []byte) ([]byte, error) {
	all, err := e.interceptors(ctx)
	if err != nil {
		if e.FailOpen && ctx.Err() == nil {
			c.note(e.Server + ".failed")
			return payload, nil
		}
		return nil, err
	}
	var mutations, validations []*interceptor
	for i := range all {
		switch one := &all[i]; {
		case !one.in(phase):
		case one.Type == "mutation":
			mutations = append(mutations, one)
		default:
			validations = append(validations, one)
		}
	}
	slices.SortStableFunc(mutations, func(a, b *interceptor) int {
		return cmp.Or(cmp.Compare(a.priority(phase), b.priority(phase)), strings.Compare(a.Name, b.Name))
	})
	out := payload
	steps := []func() error{
		func() error { out, err = e.mutate(ctx, c, phase, out, mutations); return err },
		func() error { return e.validate(ctx, c, phase, out, validations) },
	}
	if phase == draftResponse {
		slices.Reverse(steps)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// mutate has interceptors change a payload, one after another: all of it, or nothing.
func (e *external) mutate(ctx context.Context, c *Call, phase string, payload []byte, all []*interceptor) ([]byte, error) {
	for _, i := range all {
		var said struct {
			Modified *bool           `json:"modified"`
			Payload  json.RawMessage `json:"payload"`
			Info     interceptorInfo `json:"info"`
		}
		err := e.invoke(ctx, c, i, phase, payload, &said)
		if err == nil && (said.Modified == nil || *said.Modified && !rawjson.IsObject(said.Payload)) {
			err = fmt.Errorf("interceptor %q: its answer is no result of a mutation", i.Name)
		}
		switch {
		case err != nil:
			if err := e.failed(ctx, c, i, err); err != nil {
				return nil, err
			}
		case e.audits(i):
			if *said.Modified {
				c.note(e.Server)
			}
		default:
			said.Info.label(c)
			if !*said.Modified {
				continue
			}
			if payload, err = keepMembers(payload, said.Payload); err != nil {
				return nil, err
			}
		}
	}
	return payload, nil
}

// keepMembers returns a changed payload with what the hook has not been shown.
func keepMembers(before, after []byte) ([]byte, error) {
	var at [2]rawjson.Span
	names := []string{"_meta", "resultType"}
	if err := rawjson.Fields(before, at[:], names...); err != nil {
		return nil, err
	}
	var members []rawjson.Member
	for i, span := range at {
		if member, err := rawjson.Field(after, names[i]); err == nil && !member.Present() && span.Present() {
			members = append(members, rawjson.Member{Name: names[i], Value: span.Of(before)})
		}
	}
	if members == nil {
		return after, nil
	}
	return rawjson.Set(after, members)
}

// validate has interceptors check a payload, side by side.
func (e *external) validate(ctx context.Context, c *Call, phase string, payload []byte, all []*interceptor) error {
	type outcome struct {
		Valid    *bool  `json:"valid"`
		Severity string `json:"severity"`

		Info interceptorInfo `json:"info"`
		err  error
	}
	said := make([]outcome, len(all))
	var wg sync.WaitGroup
	for n, i := range all {
		ask := func() {
			o := &said[n]
			if o.err = e.invoke(ctx, c, i, phase, payload, o); o.err == nil && o.Valid == nil {
				o.err = fmt.Errorf("interceptor %q: its answer is no result of a validation", i.Name)
			}
		}
		if len(all) == 1 {
			ask()
			break
		}
		wg.Go(ask)
	}
	wg.Wait()
	for n, i := range all {
		o := &said[n]
		if o.err == nil && !e.audits(i) {
			o.Info.label(c)
		}
		switch {
		case o.err != nil:
			if err := e.failed(ctx, c, i, o.err); err != nil {
				return err
			}
		case *o.Valid:
		case o.Severity != "" && o.Severity != "error", e.audits(i):
			c.note(e.Server)
		default:
			return &Refusal{}
		}
	}
	return nil
}

// audits reports whether what an interceptor says is recorded alone.
func (e *external) audits(i *interceptor) bool { return cmp.Or(e.Mode, i.Mode) == ModeAudit }

// failed returns why a call ends at an interceptor that has failed, nil where it goes on. What
// is forbidden to fail open by itself or by the configuration does not.
func (e *external) failed(ctx context.Context, c *Call, i *interceptor, err error) error {
	if rpc, ok := errors.AsType[*runtime.Error](err); ok && rpc.Code == runtime.CodeInvalidParams {
		e.list.Store(nil) // it may have others now
	}
	opens := e.FailOpen && (i.FailOpen == nil || *i.FailOpen)
	if ctx.Err() != nil || !opens && !e.audits(i) {
		return err
	}
	c.note(e.Server + ".failed")
	return nil
}

// interceptors returns those of the server. They are asked for once a minute; where that has
// failed, again with the next call.
func (e *external) interceptors(ctx context.Context) ([]interceptor, error) {
	if known := e.list.Load(); known != nil && time.Since(known.at) < listInterceptorsEvery {
		return known.all, nil
	}
	ctx, cancel := e.bound(ctx)
	defer cancel()
	select {
	case e.listing <- struct{}{}:
		defer func() { <-e.listing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if known := e.list.Load(); known != nil && time.Since(known.at) < listInterceptorsEvery {
		return known.all, nil // another call has asked
	}
	var said struct {
		Interceptors []interceptor `json:"interceptors"`
	}
	if err := e.ask(ctx, methodListInterceptors, []byte(`{"event":"`+eventToolsCall+`"}`), &said); err != nil {
		return nil, err
	}
	if said.Interceptors == nil || len(said.Interceptors) > maxInterceptors {
		return nil, fmt.Errorf("its list has no interceptors, or more than %d", maxInterceptors)
	}
	for _, i := range said.Interceptors {
		if i.Name == "" || i.Type != "mutation" && i.Type != "validation" {
			return nil, errors.New("an interceptor has no name, or a type that is neither mutation nor validation")
		}
	}
	e.list.Store(&interceptors{said.Interceptors, time.Now()})
	return said.Interceptors, nil
}

// invoke sends a payload to one interceptor.
func (e *external) invoke(ctx context.Context, c *Call, i *interceptor, phase string, payload []byte, said any) error {
	meta, err := rawjson.Field(payload, "_meta")
	if err == nil && meta.Present() {
		payload, err = rawjson.Without(payload, func(name string) bool { return name == "_meta" })
	}
	if err != nil {
		return err
	}
	params := append(make([]byte, 0, len(payload)+512), `{"name":`...)
	params = rawjson.Quote(params, i.Name)
	params = append(params, `,"event":"`+eventToolsCall+`","phase":"`...)
	params = append(append(params, phase...), `","payload":`...)
	params = append(append(params, payload...), `,"context":{"principal":{"type":`...)
	if c.Principal == "" {
		params = append(params, `"anonymous"}`...)
	} else {
		params = append(rawjson.Quote(append(params, `"user","id":`...), c.Principal), '}')
	}
	for _, m := range [...][2]string{{`,"client":`, c.Client}, {`,"view":`, c.Target.View}, {`,"requestId":`, c.ID}, {`,"traceparent":`, c.Traceparent}} {
		if m[1] != "" {
			params = rawjson.Quote(append(params, m[0]...), m[1])
		}
	}
	return e.ask(ctx, methodInvokeInterceptor, append(params, "}}"...), said)
}

// ask sends the server a request of ours, within the bounds of the hook.
func (e *external) ask(ctx context.Context, method string, params []byte, said any) error {
	ctx, cancel := e.bound(ctx)
	defer cancel()
	select {
	case e.queue <- struct{}{}:
		defer func() { <-e.queue }()
	case <-ctx.Done():
		return ctx.Err()
	}
	raw, err := e.call(ctx, e.Server, method, params)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, said)
}

// bound returns a context that ends with the timeout of the hook.
func (e *external) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if e.Timeout > 0 {
		return context.WithTimeout(ctx, e.Timeout)
	}
	return context.WithCancel(ctx)
}
