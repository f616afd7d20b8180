package router

import (
	"context"

	"github.com/mcpctl/mcpctl/runtime/proxy/internal/finder"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// inward answers what is for tools and resources of the proxy's own, and returns nil for other
// requests. Where such a call has another inside, the request is that one from now on.
func inward(ctx context.Context, rt *Router, r *Request) ([]byte, error) {
	if rt.Finder == nil || r.Method != revision.MethodToolsCall && r.Method != revision.MethodResourcesRead {
		return nil, nil
	}
	call, is, err := rt.Finder.Take(ctx, &r.From, r.Method, r.Line, r.Msg)
	switch {
	case !is || err != nil:
		return nil, err
	case call.Result == nil:
		// The headers of HTTP repeat the arguments of the call outside.
		r.Line, r.Msg, r.Header = call.Line, call.Msg, nil
		r.outer = finder.Call{ReadOnly: call.ReadOnly, Via: call.Via, Fields: call.Fields}
		return nil, nil
	}
	rt.Judge.Listed(&r.From, inventory.Tools)
	if r.From.Modern() {
		return rt.ownResult(r.Method, call.Result)
	}
	return call.Result, nil
}
