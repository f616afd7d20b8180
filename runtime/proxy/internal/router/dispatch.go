package router

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// Request is one request of a client on a goroutine of its own.
type Request struct {
	Line   []byte
	Msg    *rawjson.Message
	Method string
	From   upstream.Origin
	// to is where the tool, prompt or resource that it names leads, nil where it
	// names none.
	to *catalog.Route
	// Header is that of an HTTP request of the stateless era, whose headers
	// repeat parts of the body; nil otherwise.
	Header http.Header
	// returns tells that the client can be asked, and comes back with the
	// answers in another request for the same call.
	returns bool
}

// Malformed tells why a message is no JSON-RPC message, "" where it is one. "The
// ID MUST NOT be null", nor anything but a string or a number (2025-11-25,
// Base Protocol, Requests).
func Malformed(line []byte, m *rawjson.Message) string {
	switch {
	case !m.Method.Present() && !m.Result.Present() && !m.Error.Present():
		return "neither a request nor an answer to one"
	case m.Method.Present() && m.ID.Present() && UsableID(m.ID.Of(line)) == nil:
		return "id is neither a string nor a number"
	}
	return ""
}

// UsableID gives an id that an answer can carry, nil for any other value.
func UsableID(id []byte) []byte {
	if len(id) > 0 && (id[0] == '"' || id[0] == '-' || '0' <= id[0] && id[0] <= '9') {
		return id
	}
	return nil
}

// DuplicateID gives the id to refuse a message with that has a member twice.
func DuplicateID(line []byte, m *rawjson.Message, dup *rawjson.DuplicateError) []byte {
	if dup.Member == "id" {
		return nil
	}
	return UsableID(m.ID.Of(line))
}

// Serve answers a request. It waits for whatever it needs.
func (rt *Router) Serve(ctx context.Context, r Request) Answer {
	if v, ok := rawjson.String(r.Line, r.Msg.MetaVersion); ok && !slices.Contains(revision.LegacyVersions(), v) {
		return Unsupported(v)
	}
	result, err := rt.Answer(ctx, r)
	if err != nil {
		return Failed(r.Method, err)
	}
	return Answer{Result: result}
}

// Unsupported refuses a request that names a revision which has no handshake,
// or none we know (2026-07-28, Versioning).
func Unsupported(version string) Answer {
	data, err := json.Marshal(map[string]any{"supported": revision.LegacyVersions(), "requested": version})
	if err != nil {
		panic("proxy: a list of strings has no JSON form: " + err.Error())
	}
	return Failed("", &runtime.Error{Code: runtime.CodeUnsupportedVersion, Message: "Unsupported protocol version", Data: data})
}

func (rt *Router) Answer(ctx context.Context, r Request) ([]byte, error) {
	switch r.Method {
	case "initialize":
		return rt.initialize(r)
	case "ping":
		return []byte(`{}`), nil
	case revision.MethodToolsList:
		return rt.Catalog.List(ctx, inventory.Tools, r.params(), r.From.Modern())
	case revision.MethodPromptsList:
		return rt.Catalog.List(ctx, inventory.Prompts, r.params(), r.From.Modern())
	case revision.MethodResourcesList:
		return rt.Catalog.List(ctx, inventory.Resources, r.params(), r.From.Modern())
	case revision.MethodResourceTemplatesList:
		return rt.Catalog.List(ctx, inventory.Templates, r.params(), r.From.Modern())
	case revision.MethodToolsCall:
		return rt.named(ctx, inventory.Tools, r)
	case revision.MethodPromptsGet:
		return rt.named(ctx, inventory.Prompts, r)
	case revision.MethodResourcesRead:
		return rt.read(ctx, r)
	case revision.MethodComplete:
		return rt.complete(ctx, r)
	case revision.MethodSetLevel:
		return rt.desk.SetLevel(ctx, r.From.Client, r.params())
	case revision.MethodResourcesSubscribe:
		return rt.Subscribe(ctx, r)
	case revision.MethodResourcesUnsubscribe:
		return rt.unsubscribe(r)
	}
	return nil, &runtime.Error{Code: runtime.CodeMethodNotFound, Message: "method not found: " + r.Method}
}

func (r Request) params() []byte {
	if !r.Msg.Params.Present() {
		return []byte(`{}`)
	}
	return r.Msg.Params.Of(r.Line)
}

// named serves tools/call and prompts/get.
func (rt *Router) named(ctx context.Context, k inventory.Kind, r Request) ([]byte, error) {
	name, ok := rawjson.String(r.Line, r.Msg.Name)
	if !ok {
		return nil, upstream.Invalid("params.name is missing or no string")
	}
	return upstream.RetryReplaced(func() ([]byte, error) {
		to, err := rt.Catalog.Resolve(ctx, k, name)
		if err != nil {
			return nil, err
		}
		r.to = to
		s, err := rt.Forward(ctx, to.Backend, r, within(r.Msg.Params, r.Msg.Name, to.Quoted))
		return s.result, err
	})
}

func (rt *Router) read(ctx context.Context, r Request) ([]byte, error) {
	uri, ok := rawjson.String(r.Line, r.Msg.URI)
	if !ok {
		return nil, errNoURI
	}
	return upstream.RetryReplaced(func() ([]byte, error) {
		to, err := rt.Catalog.ResolveURI(ctx, uri)
		if err != nil {
			return nil, err
		}
		r.to = to
		var edits []rawjson.Edit
		if to.Bare != uri {
			edits = append(edits, within(r.Msg.Params, r.Msg.URI, to.Quoted))
		}
		s, err := rt.Forward(ctx, to.Backend, r, edits...)
		return s.result, err
	})
}

var errNoURI = upstream.Invalid("params.uri is missing or no string")

// complete serves completion/complete, whose reference names a prompt or a
// resource template.
func (rt *Router) complete(ctx context.Context, r Request) ([]byte, error) {
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
	s, err := upstream.RetryReplaced(func() (reply, error) {
		var to *catalog.Route
		var err error
		if k == inventory.Prompts {
			to, err = rt.Catalog.Resolve(ctx, k, key)
		} else if to = rt.Catalog.Template(ctx, key); to == nil {
			to, err = rt.Catalog.ResolveURI(ctx, key)
		}
		if err != nil {
			return reply{}, err
		}
		abs := rawjson.Span{Start: ref.Start + place.Start, End: ref.Start + place.End}
		return rt.Forward(ctx, to.Backend, r, within(r.Msg.Params, abs, to.Quoted))
	})
	if rpc, ok := errors.AsType[*runtime.Error](err); ok && rpc.Code == runtime.CodeMethodNotFound {
		none := []byte(`{"completion":{"values":[]}}`) // we have declared it for all
		if r.From.Modern() {
			return rt.complete2026(r.Method, none)
		}
		return none, nil
	}
	return s.result, err
}

// Subscribe serves resources/subscribe.
func (rt *Router) Subscribe(ctx context.Context, r Request) ([]byte, error) {
	uri, ok := rawjson.String(r.Line, r.Msg.URI)
	if !ok {
		return nil, errNoURI
	}
	if err := rt.Hub.SubscribeClient(ctx, &r.From, uri); err != nil {
		return nil, err
	}
	return []byte(`{}`), nil
}

// unsubscribe serves resources/unsubscribe.
func (rt *Router) unsubscribe(r Request) ([]byte, error) {
	uri, ok := rawjson.String(r.Line, r.Msg.URI)
	if !ok {
		return nil, errNoURI
	}
	if who := r.From.Client; who != nil {
		rt.Hub.UnsubscribeClient(who, uri)
	}
	return []byte(`{}`), nil
}
