package router

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/mcpctl/mcpctl/runtime/access"
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
func useOf(from *upstream.Origin, line []byte, m *rawjson.Message, to *catalog.Route) *gate.Use {
	u := &gate.Use{Server: to.Backend.Name, Item: to.Bare}
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
	case from.Client != nil:
		return "session\x00" + from.Client.ID
	case from.Peer.Front == upstream.FrontStdio:
		return "stdio"
	}
	id := "alone\x00" + from.Who.Key()
	if from.Who != nil {
		id += "\x00" + from.Who.Client
	}
	if at, err := rawjson.Field(m.Meta.Of(line), metaFlow); err == nil && at.Present() {
		if named, ok := rawjson.String(m.Meta.Of(line), at); ok {
			id += "\x00" + named
		}
	}
	return id
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
	use := useOf(&r.From, r.Line, r.Msg, to)
	use.Flow = flowOf(&r.From, r.Line, r.Msg)
	if err := r.rt.decide(ctx, rules.Use, use, memberOf(k)); err != nil {
		return err
	}
	if r.verdict == nil {
		r.verdict = new(verdict)
	}
	r.verdict.use, r.verdict.of = use, rules
	return nil
}

// decide asks the gate, and a person where the gate wants that.
func (rt *Router) decide(ctx context.Context, c *policy.Conditions, use *gate.Use, member string) error {
	if c == nil {
		return nil
	}
	q, err := rt.o.Catalog.Gate.Decide(c, use)
	if err == nil && q != nil {
		err = rt.approve(ctx, q, use)
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
	return true, rt.decide(nil, r.Rules.Use, useOf(&from, line, m, r), memberOf(inventory.Tools)) //nolint:staticcheck // nobody is asked
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

// admitSubscription has policies decide about a subscription to a resource.
func (rt *Router) admitSubscription(ctx context.Context, from *upstream.Origin, to *catalog.Route) error {
	if to.Rules == nil {
		return nil
	}
	none := new(rawjson.Message)
	use := useOf(from, nil, none, to)
	use.Flow = flowOf(from, nil, none)
	return rt.decide(ctx, to.Rules.Use, use, memberOf(inventory.Resources))
}

// may refuses what a principal would do with a server itself, where it may not.
func (rt *Router) may(ctx context.Context, from *upstream.Origin, action policy.Action, server string) error {
	possible, c := rt.Catalog.On(from.Who, action, server)
	if !possible {
		return &deniedError{&access.Denied{Code: access.CodeDenied, Reason: "policies do not allow " + string(action) + " of this server", Server: server}, ""}
	}
	if c == nil {
		return nil
	}
	use := &gate.Use{Server: server}
	use.Principal, use.Now, use.Front = from.Who, time.Now(), from.Peer.Front
	return rt.decide(ctx, c, use, "")
}

// deniedData describes a denial for programs: {"kind","policy","server","tool" or "prompt"
// or "uri","retryAfter","scopes"}, with seconds.
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
	return marshal(f)
}
