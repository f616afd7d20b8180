package router

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/authorize"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/finder"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// Request is one request of a client on a goroutine of its own.
type Request struct {
	Line   []byte
	Msg    *rawjson.Message
	Method string
	From   upstream.Caller
	// Header is that of an HTTP request of the stateless era, whose headers
	// repeat parts of the body; nil otherwise.
	Header http.Header

	rt *Router // that serves it
	// to is where the tool, prompt or resource that it names leads; nil if it
	// names none.
	to *catalog.Route
	// returns reports whether the client can be asked, and comes back with the
	// answers in another request for the same call.
	returns bool
	// rewritten: the arguments are as the server gets them, not as the client has sent them.
	rewritten bool
	// judged is what policies have said of it, nil as long as none was asked for.
	judged *authorize.Request
	// parent is what the call says in which it was; see ownTools. It is zero for none.
	parent finder.Call
	// Begun is the record that [Router.FastCall] has begun of it.
	Begun journal.Ticket
}

// Serve answers a request, which it takes over. It waits for whatever it needs.
func (rt *Router) Serve(ctx context.Context, r *Request) Answer {
	if v, ok := rawjson.String(r.Line, r.Msg.MetaVersion); ok && !slices.Contains(revision.LegacyVersions(), v) {
		return Unsupported(v)
	}
	r.authorizeOnce(rt)
	switch result, err := ownTools(ctx, rt, r); {
	case err != nil:
		return Failed(r.Method, err)
	case result != nil:
		return Answer{Result: result}
	}
	result, err := rt.Answer(ctx, r)
	if err != nil {
		result, err = rt.logins.after(ctx, err, r, func() ([]byte, error) { return rt.Answer(ctx, r) })
	}
	if result, err = r.judged.Finish(ctx, r.query(), result, err); err != nil {
		return Failed(r.Method, err)
	}
	return Answer{Result: result}
}

// Unsupported refuses a request that names a revision which has no handshake,
// or an unknown one (2026-07-28, Versioning).
func Unsupported(version string) Answer {
	data := marshal(map[string]any{"supported": revision.LegacyVersions(), "requested": version})
	return Failed("", &runtime.Error{Code: runtime.CodeUnsupportedVersion, Message: "Unsupported protocol version", Data: data})
}

// Answer returns the result of a request.
func (rt *Router) Answer(ctx context.Context, r *Request) ([]byte, error) {
	r.rt = rt
	r.authorizeOnce(rt)
	switch r.Method {
	case "initialize":
		return r.initialize(ctx)
	case "ping":
		return []byte(`{}`), nil
	case revision.MethodToolsCall:
		return r.callNamed(ctx, inventory.Tools)
	case revision.MethodPromptsGet:
		return r.callNamed(ctx, inventory.Prompts)
	case revision.MethodResourcesRead:
		return r.read(ctx)
	case revision.MethodComplete:
		return r.complete(ctx)
	case revision.MethodSetLevel:
		return rt.serverRequests.SetLevel(ctx, r.From.Client, r.params())
	case revision.MethodResourcesSubscribe, revision.MethodResourcesUnsubscribe:
		return r.subscribe(ctx)
	}
	for k := range inventory.Kinds {
		if r.Method == k.Listing().Method {
			if err := awaitList(ctx, rt, r.From.Audience, k); err != nil {
				return nil, err
			}
			result, err := rt.Finder.List(ctx, rt.Catalog, &r.From, k, r.params(), r.Msg.Meta.Of(r.Line))
			if err == nil {
				rt.Authorizer.Listed(&r.From, k)
			}
			return result, err
		}
	}
	if b := rt.Catalog.Only(r.From.Audience); b != nil {
		if err := mayPass(ctx, r, b); err != nil {
			return nil, err
		}
		result, err := r.forward(ctx, b)
		return r.rt.Authorizer.Passed(ctx, r.query(), b.Name, result, err)
	}
	return nil, &runtime.Error{Code: runtime.CodeMethodNotFound, Message: "method not found: " + r.Method}
}

func (r *Request) params() []byte {
	if !r.Msg.Params.Present() {
		return []byte(`{}`)
	}
	return r.Msg.Params.Of(r.Line)
}

// callNamed serves tools/call and prompts/get.
func (r *Request) callNamed(ctx context.Context, k inventory.Kind) ([]byte, error) {
	name, ok := rawjson.String(r.Line, r.Msg.Name)
	if !ok {
		return nil, upstream.Invalid("params.name is missing or no string")
	}
	return upstream.RetryReplaced(func() (_ []byte, err error) {
		if r.to, err = lead(ctx, r, k, name); err != nil {
			return nil, err
		}
		result, err := r.forward(ctx, r.to.Backend, within(r.Msg.Params, r.Msg.Name, r.to.Quoted))
		if result, err = delivered(ctx, r, k, r.to, result, err); err == nil && k == inventory.Tools {
			result = r.rt.Finder.Shape(&r.From, &finder.Called{To: r.to, Fields: r.parent.Fields, Use: func() *gate.Use { return r.use(r.to) }}, result)
		}
		return result, err
	})
}

// route finds where what a request names leads, and has policies decide about it, with the
// arguments that the server gets, before it is settled.
func route(ctx context.Context, r *Request, k inventory.Kind, key string) (to *catalog.Route, err error) {
	all, audience := r.rt.Catalog, r.From.Audience
	if k == inventory.Templates {
		if to = all.Template(ctx, audience, key); to == nil {
			k = inventory.Resources
		}
	}
	switch {
	case to != nil:
	case k == inventory.Resources:
		to, err = all.ResolveURI(ctx, audience, key)
	default:
		to, err = all.Resolve(ctx, audience, k, key)
	}
	if err == nil && r.parent.ReadOnly && !all.ReadOnly(to) {
		err = upstream.Invalid("%s is not known to change nothing", key)
	}
	if err == nil && !r.rewritten && to.Edit.Rewrites() {
		r.Line, r.Msg, err = rewriteArguments(to.Edit, r.Line, r.Msg)
		r.rewritten = err == nil
	}
	if err == nil {
		err = r.judged.Admit(ctx, r.query(), k, to)
	}
	if err == nil && k != inventory.Templates {
		to, err = catalog.Confirm(ctx, all, audience, k, key, to)
		err = authorize.Named(err, k)
	}
	return to, err
}

// uri returns the URI that the request names.
func (r *Request) uri() (string, error) {
	uri, ok := rawjson.String(r.Line, r.Msg.URI)
	if !ok {
		return "", upstream.Invalid("params.uri is missing or no string")
	}
	return uri, nil
}

// read serves resources/read.
func (r *Request) read(ctx context.Context) ([]byte, error) {
	uri, err := r.uri()
	if err != nil {
		return nil, err
	}
	return upstream.RetryReplaced(func() (_ []byte, err error) {
		if r.to, err = lead(ctx, r, inventory.Resources, uri); err != nil {
			return nil, err
		}
		var edits []rawjson.Edit
		if r.to.Bare != uri {
			edits = append(edits, within(r.Msg.Params, r.Msg.URI, r.to.Quoted))
		}
		result, err := r.forward(ctx, r.to.Backend, edits...)
		return delivered(ctx, r, inventory.Resources, r.to, result, err)
	})
}

// complete serves completion/complete, whose reference names a prompt or a
// resource template.
func (r *Request) complete(ctx context.Context) ([]byte, error) {
	ref := r.Msg.Ref
	var at [2]rawjson.Span
	if !ref.Present() || rawjson.Fields(ref.Of(r.Line), at[:], "name", "uri") != nil {
		return nil, upstream.Invalid("params.ref is missing or no object")
	}
	place, k := at[0], inventory.Prompts
	if at[1].Present() {
		place, k = at[1], inventory.Templates
	}
	key, ok := rawjson.String(ref.Of(r.Line), place)
	if !ok {
		return nil, upstream.Invalid("params.ref names neither a prompt nor a resource")
	}
	result, err := upstream.RetryReplaced(func() ([]byte, error) {
		to, err := lead(ctx, r, k, key)
		if err != nil {
			return nil, err
		}
		abs := rawjson.Span{Start: ref.Start + place.Start, End: ref.Start + place.End}
		result, err := r.forward(ctx, to.Backend, within(r.Msg.Params, abs, to.Quoted))
		return delivered(ctx, r, k, to, result, err)
	})
	if rpc, ok := errors.AsType[*runtime.Error](err); ok && rpc.Code == runtime.CodeMethodNotFound && r.rt.Catalog.Only(r.From.Audience) == nil {
		none := []byte(`{"completion":{"values":[]}}`) // the proxy has declared it for all
		if r.From.Modern() {
			return r.rt.ownResult(r.Method, none)
		}
		return none, nil
	}
	return result, err
}

// subscribe serves resources/subscribe and resources/unsubscribe.
func (r *Request) subscribe(ctx context.Context) ([]byte, error) {
	uri, err := r.uri()
	switch {
	case err != nil:
	case r.Method == revision.MethodResourcesSubscribe:
		err = r.rt.Hub.SubscribeClient(ctx, &r.From, uri)
	case r.From.Client != nil:
		r.rt.Hub.UnsubscribeClient(r.From.Client, uri)
	}
	if err != nil {
		return nil, err
	}
	return []byte(`{}`), nil
}
