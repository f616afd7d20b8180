package router

import (
	"context"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/access/gate"
	"github.com/mcpctl/mcpctl/runtime/access/policy"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/verdict"
)

// judged is what policies have said of one request, for all attempts that it takes.
type judged struct {
	use   *gate.Use // nil as long as nothing was decided
	rules *catalog.Rules
}

// once has all attempts of a request share what policies say of it.
func once(r *Request, rt *Router) {
	if r.judged == nil && rt.judge.Gate.Set() != nil {
		r.judged = new(judged)
	}
}

// admit has policies decide about the use of what a request names, once. It comes before
// anything is connected or sent for that.
func admit(ctx context.Context, r *Request, k inventory.Kind, to *catalog.Route) error {
	rules := to.Rules
	switch {
	case r.judged != nil && r.judged.use != nil:
		return nil
	case rules != nil:
	case r.rt.judge.Gate.Guarded(): // which looks at what is delivered
		rules = new(catalog.Rules)
	default:
		return nil
	}
	use := verdict.UseOf(&r.From, r.Line, r.Msg, to.Backend.Name, to.Bare)
	if err := r.rt.judge.Decide(ctx, &r.From, rules.Use, use, k); err != nil {
		return err
	}
	if r.judged == nil {
		r.judged = new(judged)
	}
	r.judged.use, r.judged.rules = use, rules
	return nil
}

// admitFast decides about a call whose answer depends on the request alone. It reports
// false for others: they are served otherwise.
func admitFast(rt *Router, line []byte, m *rawjson.Message, r *catalog.Route, to ReplyTo) (bool, error) {
	if !r.Rules.Static() {
		return false, nil
	}
	from := to.Origin()
	return true, rt.judge.DecideNow(r.Rules.Use, verdict.UseOf(&from, line, m, r.Backend.Name, r.Bare), inventory.Tools)
}

// delivered returns what policies let pass of the result of a use, before the client gets
// any of it. What asks the client, or says that there will be a result, is none.
func delivered(r *Request, k inventory.Kind, result []byte, err error) ([]byte, error) {
	if err != nil || r.judged == nil || r.judged.use == nil {
		return result, err
	}
	if isTask(r.Method, result) && r.From.Modern() { // others are told of none
		if at, err := rawjson.Field(result, "content"); err == nil && !at.Present() {
			return result, nil
		}
	}
	if _, asks := parseInputRequest(result); asks {
		return result, nil
	}
	return r.rt.judge.Deliver(r.judged.rules, r.judged.use, result, k)
}

// deliveredTask is delivered for the result that a task has come to. tool is that of its
// call, nil for not known.
func deliveredTask(r *Request, tool *catalog.Route, task []byte) ([]byte, error) {
	var rules *catalog.Rules
	var server, item string
	if tool != nil {
		server, item, rules = tool.Backend.Name, tool.Bare, tool.Rules
	}
	if !r.rt.judge.Delivers(rules) {
		return task, nil
	}
	at, err := rawjson.Field(task, "result")
	if err != nil || !at.Present() {
		return task, nil //nolint:nilerr // it has not come to one
	}
	use := verdict.UseOf(&r.From, r.Line, r.Msg, server, item)
	use.Task = true
	result, err := r.rt.judge.Deliver(rules, use, at.Of(task), inventory.Tools)
	if err != nil {
		return nil, err
	}
	return rawjson.Apply(task, []rawjson.Edit{{Span: at, New: result}}), nil
}

// mayBeAsked refuses a question of the server of a call, whose answer it is.
func (c *FastCall) mayBeAsked() error {
	if c.rt.judge.Gate.Set() == nil {
		return nil
	}
	from := c.replyTo.Origin()
	return c.rt.judge.MayNow(&from, policy.Question, c.backend.Name)
}

// mayBeAsked refuses a question of the server that a request leads to.
func mayBeAsked(r *Request) error {
	b := r.backend()
	if b == nil || r.rt.judge.Gate.Set() == nil {
		return nil
	}
	return r.rt.judge.May(r.rt.Set.Lifetime, &r.From, policy.Question, b.Name)
}

// mayPass refuses a request that is passed on to the server that the proxy stands for, and
// that no policy knows: who may operate the server may make it. Those for tasks are about
// what was allowed before.
func mayPass(ctx context.Context, r *Request, b *upstream.Backend) error {
	if strings.HasPrefix(r.Method, "tasks/") {
		return nil
	}
	return r.rt.judge.May(ctx, &r.From, policy.Operate, b.Name)
}
