// Package authorize is what policies say of requests: what they read of one, who asks the
// gate and the person behind a client, and a denial as an error of the protocol.
package authorize

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/client"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/hooks"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// metaFlow is the member of a request's metadata that names the conversation.
const metaFlow = "dev.mcpctl/flow"

// Authorizer decides by the policies of a gate, and has recorded what is decided about requests
// and what comes of them. All methods may be called concurrently. Errors are a *Denied, or
// those of the request's context.
type Authorizer struct {
	Gate    *gate.Gate
	Catalog *catalog.Publisher
	Journal *journal.Journal // nil: nothing is recorded
	Hooks   *hooks.Registry
	Logger  *slog.Logger

	flows    sync.Map // short names of conversations without a name, by *access.Principal
	numFlows atomic.Int64
	listed   listed
	refused  refusals
}

// UseOf returns what policies read of a request for an item of a server. Line and m are the
// request's, nil and empty where it has none.
func UseOf(from *upstream.Caller, line []byte, m *rawjson.Message, server, item string) *gate.Use {
	u := &gate.Use{Server: server, Item: item, Flow: flowOf(from, m.Meta.Of(line))}
	if u.Owner = from.Who.Key(); from.Who == nil && from.Client != nil {
		u.Owner = u.Flow // of the session, where nobody says who they are
	}
	u.Principal, u.Now, u.Transport = from.Who, time.Now(), from.Peer.Transport
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
func flowOf(from *upstream.Caller, meta []byte) string {
	switch {
	case from.Peer.Transport == client.TransportStdio:
		return gate.FlowKey("stdio")
	case from.Client != nil:
		return gate.FlowKey("session", from.Client.ID)
	}
	var program, named string
	if from.Who != nil {
		program = from.Who.Client
	}
	if at, err := rawjson.Field(meta, metaFlow); err == nil && at.Present() {
		named, _ = rawjson.String(meta, at)
	}
	return gate.FlowKey("alone", from.Who.Key(), program, named)
}

// Decide asks the gate about a use under conditions, nil for none, and a person where the
// gate wants that.
func (j *Authorizer) Decide(ctx context.Context, from *upstream.Caller, c *policy.Conditions, use *gate.Use, k inventory.Kind) error {
	if c == nil {
		return nil
	}
	q, err := j.Gate.Decide(c, use)
	if err == nil && q != nil {
		var answer gate.Answer
		if answer, err = Person(ctx, from, q); err == nil {
			err = j.Gate.Answered(q, answer)
		}
	}
	return Named(err, k)
}

// DecideNow is Decide where nobody can be waited for.
func (j *Authorizer) DecideNow(c *policy.Conditions, use *gate.Use, k inventory.Kind) error {
	if c == nil {
		return nil
	}
	q, err := j.Gate.Decide(c, use)
	if err == nil && q != nil {
		err = j.Gate.Answered(q, gate.Unasked)
	}
	return Named(err, k)
}

// Subscription decides about being told of changes of a resource, which to leads to; nil:
// nobody knows the URI, and failed says that. done is called with what comes of it, and
// returns that, or why it cannot be recorded.
func (j *Authorizer) Subscription(ctx context.Context, from *upstream.Caller, uri string, to *catalog.Route, failed error) (done func(error) error, err error) {
	a := Asked{Kind: audit.KindRead, From: *from, K: inventory.Resources, To: to, Item: uri, Verdict: j.Allowed()}
	switch {
	case failed != nil:
		return nil, j.refuse(ctx, &a, failed)
	case to.Rules != nil:
		a.Use = UseOf(from, nil, new(rawjson.Message), to.Backend.Name, to.Bare)
		if err := j.Decide(ctx, from, to.Rules.Use, a.Use, inventory.Resources); err != nil {
			return nil, j.refuse(ctx, &a, err)
		}
	}
	t, err := j.BeginPatiently(ctx, &a)
	if err != nil {
		return nil, err
	}
	return func(failed error) error {
		if _, denied := errors.AsType[*access.Denied](failed); denied { // what it leads to has changed
			_ = j.End(t, nil, failed)
			return j.refuse(ctx, &a, Named(failed, inventory.Resources))
		}
		return cmp.Or(j.EndPatiently(ctx, t, nil, failed), failed)
	}, nil
}

// May decides about what is done with a server itself: a.Kind is the action, and a.Item says
// what it is.
func (j *Authorizer) May(ctx context.Context, a *Asked) error {
	a.K, a.Verdict = inventory.Kinds, j.Allowed()
	c, err := j.on(a)
	if c != nil {
		a.Use = UseOf(&a.From, nil, new(rawjson.Message), a.Server, "")
		err = j.Decide(ctx, &a.From, c, a.Use, inventory.Kinds)
	}
	if err != nil {
		return j.refuse(ctx, a, err)
	}
	return nil
}

// MayDo is May for what is done now. done is called with what comes of it, and returns that,
// or why it cannot be recorded.
func (j *Authorizer) MayDo(ctx context.Context, a *Asked) (done func(error) error, err error) {
	if err := j.May(ctx, a); err != nil {
		return nil, err
	}
	t, err := j.BeginPatiently(ctx, a)
	if err != nil {
		return nil, err
	}
	return func(failed error) error { return cmp.Or(j.EndPatiently(ctx, t, nil, failed), failed) }, nil
}

// MayNow decides about a question that a server has put into its answer, where nobody can
// be waited for.
func (j *Authorizer) MayNow(from *upstream.Caller, server, item string) error {
	a := Asked{Kind: audit.KindQuestion, From: *from, K: inventory.Kinds, Server: server, Item: item, Verdict: j.Allowed()}
	c, err := j.on(&a)
	if c != nil {
		a.Use = UseOf(from, nil, new(rawjson.Message), server, "")
		err = j.DecideNow(c, a.Use, inventory.Kinds)
	}
	if err != nil {
		return j.refuse(context.Background(), &a, err)
	}
	t, err := j.Begin(&a)
	if err != nil {
		return Unrecorded()
	}
	return j.End(t, nil, nil)
}

// refuse is Refuse for what is known to be a refusal.
func (j *Authorizer) refuse(ctx context.Context, a *Asked, why error) error {
	_, why = j.Refuse(ctx, a, why)
	return why
}

// on returns the conditions of an action on a server, or why it is denied whatever the
// request.
func (j *Authorizer) on(a *Asked) (*policy.Conditions, error) {
	action := policy.Action(a.Kind)
	possible, c := j.Catalog.On(a.From.Audience, action, a.Server)
	if c == nil && j.Journal != nil {
		a.By = j.Catalog.OnBy(a.From.Audience, action, a.Server)
	}
	if !possible {
		return nil, &Denied{Denied: &access.Denied{Code: access.CodeDenied, Server: a.Server}}
	}
	return c, nil
}

// Delivers reports whether results under rules, nil for none, are looked at.
func (j *Authorizer) Delivers(rules *catalog.Rules) bool {
	return rules != nil && rules.Delivers() || j.Gate.Guarded()
}

// Deliver returns what policies let pass of the result of a use, nil rules for none.
func (j *Authorizer) Deliver(rules *catalog.Rules, use *gate.Use, result []byte, k inventory.Kind) ([]byte, error) {
	if !j.Delivers(rules) && len(use.Labels) == 0 {
		return result, nil
	}
	if rules == nil {
		rules = new(catalog.Rules)
	}
	out, err := j.Gate.Deliver(rules.Deliver, rules.Marks, use, result)
	return out, Named(err, k)
}
