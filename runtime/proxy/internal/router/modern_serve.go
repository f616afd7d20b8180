package router

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

const metaServerInfo = "io.modelcontextprotocol/serverInfo"

// ModernCaller returns who a self-contained request comes from: what it says of
// itself holds for it alone. emit reaches the client while the request lasts.
func (r *Request) ModernCaller(emit func(method string, params []byte)) upstream.Caller {
	return upstream.Caller{Version: revision.Modern, Capabilities: r.Msg.MetaCapabilities.Of(r.Line), Level: revision.LevelNone, Emit: emit}
}

// ServeModern answers a request that endpoint has admitted, other than
// subscriptions/listen. It waits for whatever it needs.
func (rt *Router) ServeModern(ctx context.Context, r *Request) Answer {
	result, err := rt.AnswerModern(ctx, r)
	if err != nil {
		return rt.FailedModern(r.Method, err)
	}
	return Answer{Result: result}
}

// AnswerModern returns the result of such a request.
func (rt *Router) AnswerModern(ctx context.Context, r *Request) ([]byte, error) {
	r.rt = rt
	r.authorizeOnce(rt)
	if _, err := r.askedLevel(); err != nil {
		return nil, err
	}
	if result, err := ownTools(ctx, rt, r); err != nil || result != nil {
		return result, err
	}
	switch r.Method {
	case revision.MethodDiscover:
		if _, err := rt.only(ctx, r.From.Audience); err != nil {
			return nil, err
		}
		return rt.discovery(r.From.Audience), nil
	case revision.MethodToolsCall:
		if err := r.checkParamHeaders(ctx); err != nil {
			return r.judged.Finish(ctx, r.query(), nil, err)
		}
		return r.interact(ctx, inventory.Tools)
	case revision.MethodPromptsGet:
		return r.interact(ctx, inventory.Prompts)
	case revision.MethodResourcesRead:
		return r.interact(ctx, inventory.Resources)
	case revision.MethodTasksGet, revision.MethodTasksUpdate, revision.MethodTasksCancel:
		return r.task(ctx)
	}
	result, err := rt.Answer(ctx, r)
	return r.judged.Finish(ctx, r.query(), result, err)
}

// checkParamHeaders compares the Mcp-Param headers of a tools/call with its
// arguments, by the schema that the client has seen.
func (r *Request) checkParamHeaders(ctx context.Context) error {
	name, ok := rawjson.String(r.Line, r.Msg.Name)
	if r.Header == nil || !ok {
		return nil
	}
	sent := r.Msg.Arguments.Of(r.Line)
	line, m, rewritten := r.Line, r.Msg, r.rewritten
	defer func() { r.Line, r.Msg, r.rewritten = line, m, rewritten }() // it is routed again when it is sent
	to, err := upstream.RetryReplaced(func() (*catalog.Route, error) {
		to, err := r.rt.Catalog.Resolve(ctx, r.From.Audience, inventory.Tools, name)
		if err != nil || to.Rules != nil && !to.Rules.Static() {
			return to, err // a person may have to be asked before anything else: see interact
		}
		return route(ctx, r, inventory.Tools, name)
	})
	if err != nil {
		_, login := errors.AsType[*runtime.AuthError](err)
		if login || r.Msg.RequestState.Present() {
			return nil // a login may mend it; a call that waits goes on where it was, see interact
		}
		return r.judged.Refused(ctx, r.query(), inventory.Tools, name, to, err)
	}
	if err := revision.CheckMirrors(to.Mirrors, sent, r.Header); err != nil {
		return &runtime.Error{Code: runtime.CodeHeaderMismatch, Message: err.Error()}
	}
	return nil
}

// FailedModern returns the answer for a failure to a modern client: some codes of
// the era before are not for it.
func (rt *Router) FailedModern(method string, err error) Answer {
	if rpc, ok := errors.AsType[*runtime.Error](err); ok && rpc.Code == runtime.CodeResourceNotFound {
		err = &runtime.Error{Code: runtime.CodeInvalidParams, Message: rpc.Message, Data: rpc.Data}
	}
	a := Failed(method, err)
	if a.Result != nil {
		if result, err := rt.ownResult(method, a.Result); err == nil {
			a.Result = result
		}
	}
	return a
}

// ownResult returns a result of the proxy's own with what every result of the
// stateless era carries (2026-07-28, Overview and Caching). Those of backends,
// and lists, have it already.
func (rt *Router) ownResult(method string, result []byte) ([]byte, error) {
	if at, err := rawjson.Field(result, "resultType"); err == nil && at.Present() {
		return result, nil
	}
	c := revision.Conversion{From: revision.Latest, To: revision.Modern, Method: method, Server: rt.o.Catalog.Info}
	return c.Result(result)
}

// discoveryTTL is for how long a client may keep what server/discover says, in
// milliseconds: what is offered, and instructions, change as backends become
// known.
const discoveryTTL = 60_000

// Discovery answers server/discover at once, false where it has to wait for the server.
func (rt *Router) Discovery(audience upstream.Audience) (Answer, bool) {
	if rt.Catalog.Only(audience) != nil {
		return Answer{}, false
	}
	return Answer{Result: rt.discovery(audience)}, true
}

// discovery returns the result of server/discover, by what is known.
func (rt *Router) discovery(audience upstream.Audience) []byte {
	return marshal(struct {
		ResultType        string                     `json:"resultType"`
		SupportedVersions []string                   `json:"supportedVersions"`
		Capabilities      catalog.Capabilities       `json:"capabilities"`
		Instructions      string                     `json:"instructions,omitempty"`
		TTL               int                        `json:"ttlMs"`
		CacheScope        string                     `json:"cacheScope"`
		Meta              map[string]json.RawMessage `json:"_meta"`
	}{
		"complete", revision.Versions(), rt.Catalog.WithTasks(rt.Catalog.Capabilities(audience), audience), rt.Catalog.Instructions(audience), discoveryTTL, "private",
		map[string]json.RawMessage{metaServerInfo: rt.o.Catalog.Info},
	})
}

// askedLevel returns the level that a modern request asks for, LevelNone without
// one: "the server MUST NOT emit" lines for it (2026-07-28, Logging).
func (r *Request) askedLevel() (revision.Level, error) {
	if !r.Msg.MetaLevel.Present() {
		return revision.LevelNone, nil
	}
	name, _ := rawjson.String(r.Line, r.Msg.MetaLevel)
	l, ok := revision.ParseLevel(name)
	if !ok {
		return revision.LevelNone, upstream.Invalid("unknown log level: %s", r.Msg.MetaLevel.Of(r.Line))
	}
	return l, nil
}
