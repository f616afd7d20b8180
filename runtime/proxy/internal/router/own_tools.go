package router

import (
	"context"

	"github.com/mcpctl/mcpctl/internal/audit"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/authorize"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/finder"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
)

// ownTools answers what is for tools and resources of the proxy's own, and returns nil for other
// requests. Where such a call has another inside, the request is that one from now on.
func ownTools(ctx context.Context, rt *Router, r *Request) ([]byte, error) {
	if rt.Finder == nil || r.Method != revision.MethodToolsCall && r.Method != revision.MethodResourcesRead {
		return nil, nil
	}
	call, ok, err := rt.Finder.Take(ctx, &r.From, r.Method, r.Line, r.Msg)
	switch {
	case !ok || err != nil:
		return nil, err
	case call.Of != nil, call.Gone != nil:
		if err := recordReading(ctx, rt, r, &call); err != nil {
			return nil, err
		}
	case call.Result == nil:
		// The headers of HTTP repeat the arguments of the call outside.
		r.Line, r.Msg, r.Header = call.Line, call.Msg, nil
		r.parent = finder.Call{ReadOnly: call.ReadOnly, Via: call.Via, Fields: call.Fields}
		return nil, nil
	default:
		rt.Authorizer.Listed(&r.From, inventory.Tools)
	}
	if r.From.Modern() {
		return rt.ownResult(r.Method, call.Result)
	}
	return call.Result, nil
}

// recordReading records that the result of an earlier call is read, or is gone. Policies decide
// again: about the call, and about the delivery of its result. The error is what the client gets instead.
func recordReading(ctx context.Context, rt *Router, r *Request, call *finder.Call) (err error) {
	q := r.query()
	q.Through = call.Via
	if call.Gone == nil {
		call.Result, err = authorize.DeliverStored(ctx, rt.Authorizer, q, call.Of.To, call.Of.Use, call.Result)
		return err
	}
	uri, _ := rawjson.FieldString(call.Gone.Data, "uri")
	_, refused := rt.Authorizer.Refuse(ctx, &authorize.Asked{
		Kind: audit.KindRead, From: r.From, Meta: authorize.MetaOf(r.Line, r.Msg), K: inventory.Resources, Item: uri, Through: call.Via,
	}, call.Gone)
	if call.Result != nil {
		return nil
	}
	return refused
}
