package router

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/runtime/access"
	"github.com/mcpctl/mcpctl/runtime/access/flow"
	"github.com/mcpctl/mcpctl/runtime/access/gate"
	"github.com/mcpctl/mcpctl/runtime/access/policy"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// metaFlow is the member of a request's metadata that names the conversation.
const metaFlow = "dev.mcpctl/flow"

// deniedError is a request that policies refuse.
type deniedError struct {
	*access.Denied
	// member is what Item is called in the data of the error: tool, prompt or uri.
	member string
}

func (e *deniedError) Unwrap() error { return e.Denied }

// memberOf returns what an item of a kind is called in the data of errors.
func memberOf(k inventory.Kind) string {
	return [inventory.Kinds]string{"tool", "prompt", "uri", "uri"}[k]
}

// useOf returns what policies read of a request for an item.
func useOf(from *upstream.Origin, line []byte, m *rawjson.Message, server, item string) *gate.Use {
	u := &gate.Use{Server: server, Item: item, Flow: flowOf(from, line, m)}
	u.Principal, u.Now, u.Front = from.Who, time.Now(), from.Peer.Front
	u.Arguments = m.Arguments.Of(line)
	if at, err := netip.ParseAddrPort(from.Peer.Addr); err == nil {
		u.Addr = at.Addr().Unmap()
	}
	if at, err := rawjson.Field(m.Params.Of(line), "task"); err == nil {
		u.Task = at.Present()
	}
	return u
}

// flowOf returns the conversation that a request belongs to: its session, or the process
// whose client is on standard input and output. Of requests that stand alone it is what
// the client says it is, among those of one program of one principal.
func flowOf(from *upstream.Origin, line []byte, m *rawjson.Message) string {
	switch {
	case from.Peer.Front == upstream.FrontStdio:
		return flow.Key("stdio")
	case from.Client != nil:
		return flow.Key("session", from.Client.ID)
	}
	var client, named string
	if from.Who != nil {
		client = from.Who.Client
	}
	if at, err := rawjson.Field(m.Meta.Of(line), metaFlow); err == nil && at.Present() {
		named, _ = rawjson.String(m.Meta.Of(line), at)
	}
	return flow.Key("alone", from.Who.Key(), client, named)
}

// verdict is what policies have said of one request, for all attempts that it takes.
type verdict struct {
	use *gate.Use // nil as long as nothing was decided
	of  *catalog.Rules
}

// judged has all attempts of a request share what policies say of it.
func (r *Request) judged(rt *Router) {
	if r.verdict == nil && rt.o.Catalog.Gate.Set() != nil {
		r.verdict = new(verdict)
	}
}

// admit has policies decide about the use of what a request names, once. It comes before
// anything is connected or sent for that.
func (r *Request) admit(ctx context.Context, k inventory.Kind, to *catalog.Route) error {
	rules := to.Rules
	switch {
	case r.verdict != nil && r.verdict.use != nil:
		return nil
	case rules != nil:
	case r.rt.o.Catalog.Gate.Guarded(): // which looks at what is delivered
		rules = new(catalog.Rules)
	default:
		return nil
	}
	use := useOf(&r.From, r.Line, r.Msg, to.Backend.Name, to.Bare)
	if err := r.rt.decide(ctx, &r.From, rules.Use, use, memberOf(k)); err != nil {
		return err
	}
	if r.verdict == nil {
		r.verdict = new(verdict)
	}
	r.verdict.use, r.verdict.of = use, rules
	return nil
}

// decide asks the gate, and a person where the gate wants that.
func (rt *Router) decide(ctx context.Context, from *upstream.Origin, c *policy.Conditions, use *gate.Use, member string) error {
	if c == nil {
		return nil
	}
	q, err := rt.o.Catalog.Gate.Decide(c, use)
	if err == nil && q != nil {
		err = rt.approve(ctx, from, q)
	}
	return denied(err, member)
}

// decideNow is decide where nobody can be waited for.
func (rt *Router) decideNow(c *policy.Conditions, use *gate.Use, member string) error {
	if c == nil {
		return nil
	}
	q, err := rt.o.Catalog.Gate.Decide(c, use)
	if err == nil && q != nil {
		err = rt.o.Catalog.Gate.Answered(q, gate.Unasked)
	}
	return denied(err, member)
}

// denied names what was denied as errors do.
func denied(err error, member string) error {
	if d, ok := errors.AsType[*access.Denied](err); ok {
		return &deniedError{d, member}
	}
	return err
}

// admitFast decides about a call whose answer depends on the request alone. It reports
// false for others: they are served otherwise.
func (rt *Router) admitFast(line []byte, m *rawjson.Message, r *catalog.Route, to ReplyTo) (bool, error) {
	if !r.Rules.Static() {
		return false, nil
	}
	from := to.Origin()
	return true, rt.decideNow(r.Rules.Use, useOf(&from, line, m, r.Backend.Name, r.Bare), memberOf(inventory.Tools))
}

// delivered returns what policies let pass of the result of a use, before the client gets
// any of it. What asks the client, or says that there will be a result, is none.
func (r *Request) delivered(k inventory.Kind, result []byte, err error) ([]byte, error) {
	if err != nil || r.verdict == nil || r.verdict.use == nil || isTask(r.Method, result) {
		return result, err
	}
	if _, asks := parseInputRequest(result); asks || !r.verdict.of.Delivers() && !r.rt.o.Catalog.Gate.Guarded() {
		return result, nil
	}
	result, err = r.rt.o.Catalog.Gate.Deliver(r.verdict.of.Deliver, r.verdict.of.Marks, r.verdict.use, result)
	return result, denied(err, memberOf(k))
}

// deliveredTask is delivered for the result that a task has come to. tool is that of its
// call, nil for not known.
func (r *Request) deliveredTask(tool *catalog.Route, task []byte) ([]byte, error) {
	guarded := r.rt.o.Catalog.Gate.Guarded()
	if !guarded && (tool == nil || tool.Rules == nil || !tool.Rules.Delivers()) {
		return task, nil
	}
	at, err := rawjson.Field(task, "result")
	if err != nil || !at.Present() {
		return task, nil //nolint:nilerr // it has not come to one
	}
	rules, use := new(catalog.Rules), useOf(&r.From, r.Line, r.Msg, "", "")
	if tool != nil {
		use.Server, use.Item = tool.Backend.Name, tool.Bare
		if tool.Rules != nil {
			rules = tool.Rules
		}
	}
	use.Task = true
	result, err := r.rt.o.Catalog.Gate.Deliver(rules.Deliver, rules.Marks, use, at.Of(task))
	if err != nil {
		return nil, denied(err, memberOf(inventory.Tools))
	}
	return rawjson.Splice(nil, task, rawjson.Edit{Span: at, New: result}), nil
}

// admitSubscription has policies decide about a subscription to a resource.
func (rt *Router) admitSubscription(ctx context.Context, from *upstream.Origin, to *catalog.Route) error {
	if to.Rules == nil {
		return nil
	}
	use := useOf(from, nil, new(rawjson.Message), to.Backend.Name, to.Bare)
	return rt.decide(ctx, from, to.Rules.Use, use, memberOf(inventory.Resources))
}

// may refuses what a principal would do with a server itself, where it may not.
func (rt *Router) may(ctx context.Context, from *upstream.Origin, action policy.Action, server string) error {
	possible, c := rt.Catalog.On(from.Who, action, server)
	switch {
	case !possible:
		return &deniedError{&access.Denied{Code: access.CodeDenied, Server: server}, ""}
	case c == nil:
		return nil
	}
	return rt.decide(ctx, from, c, useOf(from, nil, new(rawjson.Message), server, ""), "")
}

// mayBeAsked refuses a question of the server of a call, whose answer it is.
func (c *FastCall) mayBeAsked() error {
	if c.rt.o.Catalog.Gate.Set() == nil {
		return nil
	}
	possible, conditions := c.rt.Catalog.On(c.replyTo.Principal(), policy.Question, c.backend.Name)
	if !possible {
		return &deniedError{&access.Denied{Code: access.CodeDenied, Server: c.backend.Name}, ""}
	}
	from := c.replyTo.Origin()
	return c.rt.decideNow(conditions, useOf(&from, nil, new(rawjson.Message), c.backend.Name, ""), "")
}

// mayPass refuses a request that is passed on to the server that the proxy stands for, and
// that no policy knows: who may operate the server may make it. Those for tasks are about
// what was allowed before.
func (r *Request) mayPass(ctx context.Context, b *upstream.Backend) error {
	if strings.HasPrefix(r.Method, "tasks/") {
		return nil
	}
	return r.rt.may(ctx, &r.From, policy.Operate, b.Name)
}

// mayBeAsked refuses a question of the server that the request leads to.
func (r *Request) mayBeAsked() error {
	b := r.backend()
	if b == nil || r.rt.o.Catalog.Gate.Set() == nil {
		return nil
	}
	return r.rt.may(r.rt.Set.Lifetime, &r.From, policy.Question, b.Name)
}

// ScopesIn returns the scopes that a framed error of Failed says the credential would need.
func ScopesIn(frame []byte) []string {
	var m struct {
		Error struct {
			Data struct{ Scopes []string }
		}
	}
	_ = json.Unmarshal(frame, &m) // it is our own
	return m.Error.Data.Scopes
}

// deniedData describes a denial for programs: {"kind","policy","server","tool" or "prompt"
// or "uri","retryAfter","scopes","url"}, with seconds.
func deniedData(d *access.Denied, member string) []byte {
	f := map[string]any{"kind": d.ErrorKind()}
	for name, text := range map[string]string{"policy": d.Policy, "server": d.Server, member: d.Item} {
		if name != "" && text != "" {
			f[name] = text
		}
	}
	if d.RetryAfter > 0 {
		f["retryAfter"] = int64((d.RetryAfter + time.Second - 1) / time.Second)
	}
	if d.Scopes != nil {
		f["scopes"] = d.Scopes
	}
	if d.URL != "" {
		f["url"] = d.URL
	}
	return marshal(f)
}
