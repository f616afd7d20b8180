package authorize

import (
	"bytes"
	"cmp"
	"context"
	"errors"

	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Request is what is said of one request, and recorded of it, for all attempts that it takes. A
// nil Case lets all pass. It is used by one goroutine at a time.
type Request struct {
	authorizer *Authorizer
	use        *gate.Use // nil as long as nothing was decided
	rules      *catalog.Rules

	recorded bool // that the request was let through or refused
	ticket   journal.Ticket
	// tried is what it was last about, and what policies have read of it, nil for nothing.
	tried struct {
		k   inventory.Kind
		key string
		to  *catalog.Route // nil: not found
		use *gate.Use
	}
	// answer is the last of the server, failed its error.
	answer []byte
	failed error
	hooks  hooked
}

// Query is a request as it is now.
type Query struct {
	From   *upstream.Caller
	Line   []byte
	Msg    *rawjson.Message
	Method string
	// Through is the tool of the proxy's own inside whose call it was, "" for none.
	Through string
}

// NewCase returns the case of a request, nil where there is nothing to decide or to record.
// begun is its record, where it has one.
func (j *Authorizer) NewCase(begun journal.Ticket) *Request {
	if j.Gate.Set() == nil && !j.Gate.Guarded() && j.Journal == nil && j.Hooks.Now() == nil {
		return nil
	}
	return &Request{authorizer: j, recorded: begun.N != 0, ticket: begun}
}

// Use returns what policies have read of the request, nil where none had to.
func (c *Request) Use() *gate.Use {
	if c == nil {
		return nil
	}
	return c.use
}

// records reports whether something is recorded of the request.
func (c *Request) records() bool { return c != nil && c.authorizer.Journal != nil }

// Admit asks the policies about the use of what a request names, once. It comes before
// anything is connected or sent for that.
func (c *Request) Admit(ctx context.Context, q Query, k inventory.Kind, to *catalog.Route) error {
	if c == nil || c.use != nil {
		return nil
	}
	rules := to.Rules
	if rules == nil {
		if !c.authorizer.Gate.Guarded() && to.Hooks == nil {
			return nil
		}
		rules = new(catalog.Rules) // its result is looked at
	}
	use := UseOf(q.From, q.Line, q.Msg, to.Backend.Name, to.Bare)
	c.tried.use = use
	if err := c.authorizer.Decide(ctx, q.From, rules.Use, use, k); err != nil {
		return err
	}
	c.use, c.rules = use, rules
	return nil
}

// Lead records what is decided about a request that names key, once: that it is let through
// to to, before anything is sent, or why it is refused. It returns that, or why it cannot be
// recorded.
func (c *Request) Lead(ctx context.Context, q Query, k inventory.Kind, key string, to *catalog.Route, why error) error {
	if why = c.Refused(ctx, q, k, key, to, why); why == nil && c.records() && !c.recorded {
		return c.begin(ctx, q)
	}
	return why
}

// Refused is Lead for a request that is not to be sent yet.
func (c *Request) Refused(ctx context.Context, q Query, k inventory.Kind, key string, to *catalog.Route, why error) error {
	if !c.records() || c.recorded {
		return why
	}
	c.tried.k, c.tried.key, c.tried.to = k, key, to
	if why == nil || errors.Is(why, upstream.ErrReplaced) {
		return why
	}
	a := c.asked(q, k, key, to)
	c.recorded, why = c.authorizer.Refuse(ctx, &a, why)
	return why
}

// begin records that the request is let through.
func (c *Request) begin(ctx context.Context, q Query) (err error) {
	a := c.asked(q, c.tried.k, c.tried.key, c.tried.to)
	if c.tried.to == nil { // nobody has decided
		a.Verdict = ""
	}
	c.recorded = true
	c.ticket, err = c.authorizer.BeginPatiently(ctx, &a)
	return err
}

// asked returns the request as it is recorded. to is where it leads, nil for not known.
func (c *Request) asked(q Query, k inventory.Kind, key string, to *catalog.Route) Asked {
	return Asked{
		Kind: ActionOf(k), From: *q.From, Meta: MetaOf(q.Line, q.Msg), To: to, K: k, Item: key, Arguments: q.arguments(), Use: c.tried.use, Found: c.hooks.found, Verdict: c.authorizer.Allowed(), Through: q.Through,
	}
}

// arguments returns those that the server gets, nil for none.
func (q *Query) arguments() []byte {
	if params := q.Msg.Params.Of(q.Line); q.Method == revision.MethodComplete {
		if at, err := rawjson.Field(params, "argument"); err == nil {
			return at.Of(params)
		}
	}
	return q.Msg.Arguments.Of(q.Line)
}

// Answered notes what the server has answered.
func (c *Request) Answered(result []byte, err error) {
	if c != nil {
		c.answer, c.failed = result, err
	}
}

// Finish records what has come of the request, before its client learns that, and returns
// what that gets. Without a record it does nothing.
func (c *Request) Finish(ctx context.Context, q Query, result []byte, err error) ([]byte, error) {
	if !c.records() {
		return result, err
	}
	if !c.recorded && err != nil && c.tried.key != "" { // it was to be sent
		if refused := c.begin(context.WithoutCancel(ctx), q); refused != nil {
			return nil, refused
		}
	}
	t, answer, failed := c.ticket, c.answer, cmp.Or(err, c.failed)
	if answer == nil {
		answer = result
	}
	c.ticket, c.answer, c.failed = journal.Ticket{}, nil, nil
	if refused := c.authorizer.EndPatiently(ctx, t, answer, failed); refused != nil {
		return nil, refused
	}
	return result, err
}

// Deliver returns what policies let pass of the result of a use, before the client gets any
// of it. That it is not delivered has a record of its own.
func (c *Request) Deliver(ctx context.Context, q Query, k inventory.Kind, to *catalog.Route, result []byte) ([]byte, error) {
	return c.deliver(ctx, q, k, to, result, nil)
}

// DeliverError is Deliver for an error: the text of a server's can hold whatever a result
// can. Errors of ours say nothing that it has said.
func (c *Request) DeliverError(ctx context.Context, q Query, k inventory.Kind, to *catalog.Route, err error) error {
	sent, ok := errors.AsType[*runtime.Error](err)
	if !ok || sent.Raw == nil {
		return err
	}
	raw, refused := c.deliver(ctx, q, k, to, sent.Raw, err)
	switch {
	case refused != nil:
		return refused
	case bytes.Equal(raw, sent.Raw):
		return err
	}
	return runtime.ParseError(raw)
}

// deliver is Deliver for what a server has sent, a result or the failure that it is.
func (c *Request) deliver(ctx context.Context, q Query, k inventory.Kind, to *catalog.Route, sent []byte, failure error) ([]byte, error) {
	if c == nil || c.use == nil {
		return sent, nil
	}
	out, err := c.authorizer.Deliver(c.rules, c.use, sent, k)
	if err == nil || !c.records() {
		return out, err
	}
	if refused := c.settle(ctx, q, sent, failure); refused != nil {
		return nil, refused
	}
	a := c.asked(q, k, "", to)
	a.Kind, a.Arguments, a.Found = audit.KindDeliver, nil, nil
	return nil, c.authorizer.refuse(ctx, &a, err)
}

// settle records that the server has answered, or failed, before it is recorded that this is
// not delivered.
func (c *Request) settle(ctx context.Context, q Query, sent []byte, failure error) error {
	if _, err := c.Finish(ctx, q, sent, failure); err != nil && !errors.Is(err, failure) {
		return err
	}
	return nil
}

// DeliverTask is Deliver for the result or error that a task of a server has come to, if it has. bare
// is the tool of its call, "" for not known, and tool its route, nil for none. That it is delivered is
// recorded: its call was over when there was a task.
func (j *Authorizer) DeliverTask(ctx context.Context, q Query, server, bare string, tool *catalog.Route, task []byte) ([]byte, error) {
	var rules *catalog.Rules
	var of, item string
	if tool != nil {
		of, item, rules = tool.Backend.Name, tool.Bare, tool.Rules
	}
	chain := j.Hooks.Now().OfTask(server, bare)
	if !j.Delivers(rules) && j.Journal == nil && !chain.Responds() {
		return task, nil
	}
	var ends [2]rawjson.Span
	if err := rawjson.Fields(task, ends[:], "result", "error"); err != nil {
		return task, nil //nolint:nilerr // it has not come to one
	}
	at, failure := ends[0], error(nil)
	if !at.Present() && ends[1].Present() {
		at = ends[1]
		failure = runtime.ParseError(at.Of(task))
	}
	if !at.Present() {
		return task, nil
	}
	a := Asked{Kind: audit.KindDeliver, From: *q.From, Meta: MetaOf(q.Line, q.Msg), To: tool, Server: server, Verdict: j.Allowed()}
	result, labels, noted, err := j.hooksOfTask(ctx, q, chain, at.Of(task), failure)
	a.Found = append(noted, labels...)
	if err == nil && (j.Delivers(rules) || labels != nil) {
		a.Use = UseOf(q.From, q.Line, q.Msg, of, item)
		a.Use.Task, a.Use.Labels = true, labels
		result, err = j.Deliver(rules, a.Use, result, inventory.Tools)
	}
	if err = deliverLater(ctx, j, &a, at.Of(task), failure, err); err != nil {
		return nil, err
	}
	return rawjson.Apply(task, []rawjson.Edit{{Span: at, New: result}}), nil
}

// DeliverStored is Deliver for what a client reads of the result that an earlier call of a tool had: whoever
// may not make that call any more does not get it. Nil stands for a call that is not known. It is recorded
// as that of a task.
func DeliverStored(ctx context.Context, j *Authorizer, q Query, tool *catalog.Route, call *gate.Use, result []byte) (out []byte, err error) {
	a := Asked{Kind: audit.KindDeliver, From: *q.From, Meta: MetaOf(q.Line, q.Msg), To: tool, Through: q.Through, Verdict: j.Allowed()}
	out = result
	if tool.Rules != nil || j.Delivers(nil) {
		a.Use = UseOf(q.From, q.Line, q.Msg, tool.Backend.Name, tool.Bare)
		a.Use.Arguments, a.Use.Task = nil, call == nil // those of the reading are not the tool's
	}
	if call != nil && tool.Rules != nil {
		a.Use.Follow(call)
		err = j.Decide(ctx, q.From, tool.Rules.Use, a.Use, inventory.Tools)
	}
	if err == nil && j.Delivers(tool.Rules) {
		out, err = j.Deliver(tool.Rules, a.Use, result, inventory.Tools)
	}
	if err = deliverLater(ctx, j, &a, result, nil, err); err != nil {
		return nil, err
	}
	return out, nil
}

// deliverLater records that a result or failure is delivered after its call was over, or why that is refused.
func deliverLater(ctx context.Context, j *Authorizer, a *Asked, result []byte, failure, why error) error {
	if why != nil {
		return j.refuse(ctx, a, why)
	}
	t, err := j.BeginPatiently(ctx, a)
	if err == nil {
		err = j.EndPatiently(ctx, t, result, failure)
	}
	return err
}

// Pass decides about a request that is passed on to the server that the proxy stands for.
func (c *Request) Pass(ctx context.Context, q Query, server string) error {
	if c == nil {
		return nil
	}
	a := Asked{Kind: audit.KindOperate, From: *q.From, Meta: MetaOf(q.Line, q.Msg), Server: server, Item: q.Method, Arguments: q.Msg.Params.Of(q.Line)}
	err := c.authorizer.May(ctx, &a)
	if err == nil && !c.recorded {
		c.ticket, err = c.authorizer.BeginPatiently(ctx, &a)
	}
	c.recorded = true
	return err
}
