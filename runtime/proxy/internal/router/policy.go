package router

import (
	"context"
	"strings"

	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/authorize"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// authorizeOnce makes the authorization that all attempts of the request share.
func (r *Request) authorizeOnce(rt *Router) {
	if r.judged == nil {
		r.judged = rt.Authorizer.NewCase(r.Begun)
	}
}

// query returns a request as policies and records have it.
func (r *Request) query() authorize.Query {
	return authorize.Query{From: &r.From, Line: r.Line, Msg: r.Msg, Method: r.Method, Through: r.parent.Via}
}

// use returns a call as policies have read it, or would have.
func (r *Request) use(to *catalog.Route) *gate.Use {
	if u := r.judged.Use(); u != nil {
		return u
	}
	return authorize.UseOf(&r.From, r.Line, r.Msg, to.Backend.Name, to.Bare)
}

// lead is route for a request that is to be sent: hooks look into it, and what is decided is
// recorded.
func lead(ctx context.Context, r *Request, k inventory.Kind, key string) (*catalog.Route, error) {
	to, err := route(ctx, r, k, key)
	if err == nil && k == inventory.Tools && to.Hooks != nil && r.judged != nil {
		q := r.query()
		if q, err = r.judged.Request(ctx, q, to); q.Msg != r.Msg {
			r.Line, r.Msg, r.Header = q.Line, q.Msg, nil // headers repeat arguments as they were
		}
	}
	return to, r.judged.Lead(ctx, r.query(), k, key, to, err)
}

// admitFast decides about a call whose answer depends on the request alone, and has that
// recorded. It reports false for others, and for those that have to wait for that: they are
// served otherwise.
func (rt *Router) admitFast(line []byte, m *rawjson.Message, r *catalog.Route, to ReplyTo) (t journal.Ticket, now bool, err error) {
	var use *gate.Use
	if r.Rules != nil {
		if !r.Rules.Static() {
			return t, false, nil
		}
		from := to.Caller()
		use = authorize.UseOf(&from, line, m, r.Backend.Name, r.Bare)
		if err := rt.Authorizer.DecideNow(r.Rules.Use, use, inventory.Tools); err != nil {
			return t, rt.Authorizer.Journal == nil, err
		}
	}
	if rt.Authorizer.Journal == nil {
		return t, true, nil
	}
	from := upstream.Caller{Version: to.Revision(), Audience: to.Audience(), Client: to.Client(), Peer: to.Peer()}
	t, err = rt.Authorizer.Begin(&authorize.Asked{
		Kind: audit.KindCall, From: from, Meta: authorize.MetaOf(line, m), To: r, K: inventory.Tools, Arguments: m.Arguments.Of(line), Use: use, Verdict: rt.Authorizer.Allowed(),
	})
	return t, err == nil, nil
}

// delivered returns what policies let pass of the result of a use, or of the error that its
// server has sent, before the client gets any of it. What asks the client, or says that
// there will be a result, is none.
func delivered(ctx context.Context, r *Request, k inventory.Kind, to *catalog.Route, result []byte, err error) ([]byte, error) {
	if r.judged == nil {
		return result, err
	}
	if err == nil && isTask(r.Method, result) && r.From.Modern() { // others are told of none
		if at, err := rawjson.Field(result, "content"); err == nil && !at.Present() {
			return result, nil
		}
	}
	if _, asks := revision.ParseInputRequest(result); err == nil && asks {
		return result, nil
	}
	if to.Hooks != nil {
		result, err = r.judged.Response(ctx, r.query(), to, result, err)
	}
	if err != nil {
		return nil, r.judged.DeliverError(ctx, r.query(), k, to, err)
	}
	return r.judged.Deliver(ctx, r.query(), k, to, result)
}

// mayBeAsked refuses a question of the server of a call, whose answer it is.
func (c *FastCall) mayBeAsked() error {
	if c.rt.Authorizer.Gate.Set() == nil && c.rt.Authorizer.Journal == nil {
		return nil
	}
	from := c.replyTo.Caller()
	return c.rt.Authorizer.MayNow(&from, c.backend.Name, revision.MethodElicitationCreate)
}

// mayBeAsked refuses a question of the server that a request leads to, and that is part of
// its answer. Of a task it is asked for as often as somebody looks: only that it is refused
// is recorded.
func (r *Request) mayBeAsked(question string) error {
	b := r.backend()
	if b == nil || r.rt.Authorizer.Gate.Set() == nil && r.rt.Authorizer.Journal == nil {
		return nil
	}
	ctx, a := r.rt.Set.Lifetime, &authorize.Asked{Kind: audit.KindQuestion, From: r.From, Server: b.Name, Item: question}
	if r.Method == revision.MethodTasksGet {
		return r.rt.Authorizer.May(ctx, a)
	}
	done, err := r.rt.Authorizer.MayDo(ctx, a)
	if err != nil {
		return err
	}
	return done(nil)
}

// mayPass refuses a request that is passed on to the server that the proxy stands for, and
// that no policy knows: who may operate the server may make it. Those for tasks are about
// what was allowed before.
func mayPass(ctx context.Context, r *Request, b *upstream.Backend) error {
	if strings.HasPrefix(r.Method, "tasks/") {
		return nil
	}
	return r.judged.Pass(ctx, r.query(), b.Name)
}
