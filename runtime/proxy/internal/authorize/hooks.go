package authorize

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/hooks"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// ofHook begins what stands in the place of a policy's id where a hook has decided.
const ofHook = "hook."

// hooked is what hooks have said of one request: once, whatever attempts it takes.
type hooked struct {
	chain     *hooks.Chain
	call      *hooks.Call // nil as long as none was asked
	arguments []byte      // that take the place of the client's, nil for none
	found     []string    // that is to be recorded of the request
	err       error
}

// Request asks the hooks of a tool about a call that policies let pass, and policies again
// where that has changed something they read. It returns the call as the server gets it: Line
// and Msg are those of q where nothing has changed.
func (c *Request) Request(ctx context.Context, q Query, to *catalog.Route) (Query, error) {
	h := &c.hooks
	if h.call == nil {
		h.chain, h.call = to.Hooks, newCall(q, to.Hooks)
		h.err = c.asks(ctx, q)
	}
	if h.err != nil || h.arguments == nil {
		return q, h.err
	}
	return q.with(h.arguments)
}

func (c *Request) asks(ctx context.Context, q Query) error {
	h := &c.hooks
	before := h.call.Params
	err := h.chain.Request(ctx, h.call)
	labels, noted := h.call.Found()
	h.found = append(noted, labels...)
	if err == nil && !bytes.Equal(before, h.call.Params) {
		h.arguments, err = argumentsOf(before, h.call.Params)
	}
	if err == nil && h.arguments != nil {
		q, err = q.with(h.arguments)
	}
	if err != nil {
		return ended(ctx, c.authorizer, h.chain, err)
	}
	if h.arguments == nil && labels == nil {
		return nil
	}
	c.use.Labels, c.use.Arguments = labels, q.Msg.Arguments.Of(q.Line)
	return c.authorizer.Decide(ctx, q.From, c.rules.Use, c.use, inventory.Tools)
}

// Response returns what the hooks that were asked about a request let pass of what has come of
// it. That they let nothing pass has a record of its own.
func (c *Request) Response(ctx context.Context, q Query, to *catalog.Route, result []byte, err error) ([]byte, error) {
	h := &c.hooks
	_, login := errors.AsType[*runtime.AuthError](err)
	_, denied := errors.AsType[*Denied](err)
	if !h.chain.Responds() || h.call == nil || login || denied || errors.Is(err, upstream.ErrReplaced) {
		return result, err // it has no response, or not yet
	}
	h.call.Result, h.call.Err = result, err
	refused := h.chain.Response(ctx, h.call)
	labels, noted := h.call.Found()
	c.use.Labels = labels
	if refused == nil && (noted == nil || !c.records()) {
		return h.call.Result, h.call.Err
	}
	if failed := c.settle(ctx, q, result, err); failed != nil {
		return nil, failed
	}
	a := c.asked(q, inventory.Tools, "", to)
	a.Kind, a.Arguments, a.Found = audit.KindDeliver, nil, append(noted, labels...)
	if refused != nil {
		return nil, c.authorizer.refuse(ctx, &a, ended(ctx, c.authorizer, h.chain, refused))
	}
	t, refused := c.authorizer.BeginPatiently(ctx, &a)
	if refused == nil {
		refused = c.authorizer.EndPatiently(ctx, t, h.call.Result, h.call.Err)
	}
	if refused != nil {
		return nil, refused
	}
	return h.call.Result, h.call.Err
}

// hooksOfTask gives the hooks the outcome of a task: a result, or the error failed. It
// returns what they let pass as it stands in the task, and the labels of that.
func (j *Authorizer) hooksOfTask(ctx context.Context, q Query, chain *hooks.Chain, sent []byte, failed error) (out []byte, labels, noted []string, err error) {
	if !chain.Responds() {
		return sent, nil, nil, nil
	}
	call := newCall(q, chain)
	call.Params, call.Err = nil, failed
	if failed == nil {
		call.Result = sent
	}
	err = chain.Response(ctx, call)
	labels, noted = call.Found()
	switch rpc, ok := errors.AsType[*runtime.Error](call.Err); {
	case err != nil:
		return nil, labels, noted, ended(ctx, j, chain, err)
	case failed == nil:
		return call.Result, labels, noted, nil
	case !ok:
		return jsonrpc.ErrorObject(runtime.CodeInternalError, call.Err.Error(), nil), labels, noted, nil
	case rpc.Raw == nil:
		return jsonrpc.ErrorObject(rpc.Code, rpc.Message, rpc.Data), labels, noted, nil
	default:
		return rpc.Raw, labels, noted, nil
	}
}

// Passed returns what hooks let pass of the answer to a request that the proxy has passed on to
// the server that it stands for. They look at what a task of the handshake era has come to.
func (j *Authorizer) Passed(ctx context.Context, q Query, server string, result []byte, err error) ([]byte, error) {
	if err != nil || q.Method != revision.MethodTasksResult {
		return result, err
	}
	a := Asked{Kind: audit.KindDeliver, From: *q.From, Meta: MetaOf(q.Line, q.Msg), Server: server}
	out, labels, noted, refused := j.hooksOfTask(ctx, q, j.Hooks.Now().OfTask(server, ""), result, nil)
	if a.Found = append(noted, labels...); refused != nil {
		return nil, j.refuse(ctx, &a, refused)
	}
	return out, nil
}

// ended returns why a call ends at a hook, as the client gets it. The cause of a fault is
// logged alone.
func ended(ctx context.Context, j *Authorizer, of *hooks.Chain, err error) error {
	if refused, ok := errors.AsType[*hooks.Refused](err); ok {
		denied := &Denied{Denied: &access.Denied{Code: access.CodeDenied, Server: of.Target.Server, Item: of.Target.Tool}, member: "tool"}
		if !j.Gate.Quiet() {
			denied.Reason, denied.Policy = refused.Reason, ofHook+refused.Hook
		}
		return denied
	}
	if fault, ok := errors.AsType[*hooks.Fault](err); ok {
		j.Logger.Warn("a hook has failed", "hook", fault.Hook, "server", of.Target.Server, "tool", of.Target.Tool, "err", fault.Cause)
		return fault
	}
	if ctx.Err() != nil {
		return deadline.Cause(ctx)
	}
	return err
}

// newCall returns a call as hooks see it first.
func newCall(q Query, of *hooks.Chain) *hooks.Call {
	c := &hooks.Call{ID: newID(), Target: of.Target, Client: programOf(q), Start: time.Now()}
	c.Target.View = q.From.View
	if q.From.Who != nil {
		c.Principal = q.From.Who.ID
	}
	if meta := q.Msg.Meta.Of(q.Line); meta != nil {
		c.Traceparent, _ = rawjson.FieldString(meta, "traceparent")
	}
	params := q.Msg.Params.Of(q.Line)
	c.Params = params
	if !q.Msg.Meta.Present() && !q.Msg.RequestState.Present() {
		return c
	}
	// What the protocol owns is no hook's: metadata, and what a client keeps for us.
	if rest, err := rawjson.Without(params, func(name string) bool { return name == "_meta" || name == "requestState" }); err == nil {
		c.Params = rest
	}
	return c
}

// newID returns a random UUID (RFC 9562, 5.4).
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	text := make([]byte, 0, 36)
	for i, n := range [...]int{0, 4, 6, 8, 10} {
		if i > 0 {
			text = append(text, '-')
		}
		text = hex.AppendEncode(text, b[n:[...]int{4, 6, 8, 10, 16}[i]])
	}
	return string(text)
}

// programOf returns the program that a client says it is, "" for not known.
func programOf(q Query) string {
	if q.From.Client != nil {
		return q.From.Client.Status("").Name
	}
	meta := q.Msg.Meta.Of(q.Line)
	at, err := rawjson.Field(meta, revision.MetaClient)
	if err != nil || !at.Present() {
		return ""
	}
	name, _ := rawjson.FieldString(at.Of(meta), "name")
	return name
}

// argumentsOf returns those of changed params, nil where they are as before.
func argumentsOf(before, after []byte) ([]byte, error) {
	was, err := rawjson.Field(before, "arguments")
	now, failed := rawjson.Field(after, "arguments")
	switch arguments := now.Of(after); {
	case err != nil || failed != nil:
		return nil, cmp.Or(err, failed)
	case bytes.Equal(arguments, was.Of(before)):
		return nil, nil
	case arguments == nil:
		return []byte(`{}`), nil
	default:
		return slices.Clone(arguments), nil
	}
}

// with returns the request with other arguments.
func (q Query) with(arguments []byte) (Query, error) {
	edit := rawjson.Edit{Span: q.Msg.Arguments, New: arguments}
	if !q.Msg.Arguments.Present() {
		edit = rawjson.Insertion(q.Line, q.Msg.Params, "arguments", arguments)
	}
	q.Line, q.Msg = rawjson.Splice(nil, q.Line, edit), new(rawjson.Message)
	return q, rawjson.Scan(q.Line, q.Msg)
}
