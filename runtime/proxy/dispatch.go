package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// Request is one request of a client on a goroutine of its own.
type Request struct {
	line   []byte
	msg    *rawjson.Message
	method string
	from   Origin
	// to is where the tool, prompt or resource that it names leads, nil where it
	// names none.
	to *route
	// header is that of an HTTP request of the stateless era, whose headers
	// repeat parts of the body; nil otherwise.
	header http.Header
	// returns tells that the client can be asked, and comes back with the
	// answers in another request for the same call.
	returns bool
}

// malformed tells why a message is no JSON-RPC message, "" where it is one. "The
// ID MUST NOT be null", nor anything but a string or a number (2025-11-25,
// Base Protocol, Requests).
func malformed(line []byte, m *rawjson.Message) string {
	switch {
	case !m.Method.Present() && !m.Result.Present() && !m.Error.Present():
		return "neither a request nor an answer to one"
	case m.Method.Present() && m.ID.Present() && usableID(m.ID.Of(line)) == nil:
		return "id is neither a string nor a number"
	}
	return ""
}

// usableID gives an id that an answer can carry, nil for any other value.
func usableID(id []byte) []byte {
	if len(id) > 0 && (id[0] == '"' || id[0] == '-' || '0' <= id[0] && id[0] <= '9') {
		return id
	}
	return nil
}

// duplicateID gives the id to refuse a message with that has a member twice.
func duplicateID(line []byte, m *rawjson.Message, dup *rawjson.DuplicateError) []byte {
	if dup.Member == "id" {
		return nil
	}
	return usableID(m.ID.Of(line))
}

// serve answers a request. It waits for whatever it needs.
func (rt *Router) serve(ctx context.Context, r Request) Answer {
	if v, ok := rawjson.String(r.line, r.msg.MetaVersion); ok && !slices.Contains(revision.LegacyVersions(), v) {
		return unsupported(v)
	}
	result, err := rt.answer(ctx, r)
	if err != nil {
		return failed(r.method, err)
	}
	return Answer{result: result}
}

// unsupported refuses a request that names a revision which has no handshake,
// or none we know (2026-07-28, Versioning).
func unsupported(version string) Answer {
	data, err := json.Marshal(map[string]any{"supported": revision.LegacyVersions(), "requested": version})
	if err != nil {
		panic("proxy: a list of strings has no JSON form: " + err.Error())
	}
	return failed("", &runtime.Error{Code: runtime.CodeUnsupportedVersion, Message: "Unsupported protocol version", Data: data})
}

func (rt *Router) answer(ctx context.Context, r Request) ([]byte, error) {
	switch r.method {
	case "initialize":
		return rt.initialize(r)
	case "ping":
		return []byte(`{}`), nil
	case revision.MethodToolsList:
		return rt.catalog.list(ctx, tools, r.params(), r.from.modern())
	case revision.MethodPromptsList:
		return rt.catalog.list(ctx, prompts, r.params(), r.from.modern())
	case revision.MethodResourcesList:
		return rt.catalog.list(ctx, resources, r.params(), r.from.modern())
	case revision.MethodResourceTemplatesList:
		return rt.catalog.list(ctx, templates, r.params(), r.from.modern())
	case revision.MethodToolsCall:
		return rt.named(ctx, tools, r)
	case revision.MethodPromptsGet:
		return rt.named(ctx, prompts, r)
	case revision.MethodResourcesRead:
		return rt.read(ctx, r)
	case revision.MethodComplete:
		return rt.complete(ctx, r)
	case revision.MethodSetLevel:
		return rt.desk.setLevel(ctx, r.from.client, r.params())
	case revision.MethodResourcesSubscribe:
		return rt.subscribe(ctx, r)
	case revision.MethodResourcesUnsubscribe:
		return rt.unsubscribe(r)
	}
	return nil, &runtime.Error{Code: runtime.CodeMethodNotFound, Message: "method not found: " + r.method}
}

func (r Request) params() []byte {
	if !r.msg.Params.Present() {
		return []byte(`{}`)
	}
	return r.msg.Params.Of(r.line)
}

// named serves tools/call and prompts/get.
func (rt *Router) named(ctx context.Context, k kind, r Request) ([]byte, error) {
	name, ok := rawjson.String(r.line, r.msg.Name)
	if !ok {
		return nil, invalid("params.name is missing or no string")
	}
	return retryReplaced(func() ([]byte, error) {
		to, err := rt.catalog.resolve(ctx, k, name)
		if err != nil {
			return nil, err
		}
		r.to = to
		s, err := rt.forward(ctx, to.b, r, within(r.msg.Params, r.msg.Name, to.quoted))
		return s.result, err
	})
}

func (rt *Router) read(ctx context.Context, r Request) ([]byte, error) {
	uri, ok := rawjson.String(r.line, r.msg.URI)
	if !ok {
		return nil, errNoURI
	}
	return retryReplaced(func() ([]byte, error) {
		to, err := rt.catalog.resolveURI(ctx, uri)
		if err != nil {
			return nil, err
		}
		r.to = to
		var edits []rawjson.Edit
		if to.bare != uri {
			edits = append(edits, within(r.msg.Params, r.msg.URI, to.quoted))
		}
		s, err := rt.forward(ctx, to.b, r, edits...)
		return s.result, err
	})
}

var errNoURI = invalid("params.uri is missing or no string")

// complete serves completion/complete, whose reference names a prompt or a
// resource template.
func (rt *Router) complete(ctx context.Context, r Request) ([]byte, error) {
	ref := r.msg.Ref
	var at [2]rawjson.Span
	if !ref.Present() || rawjson.Fields(ref.Of(r.line), at[:], "name", "uri") != nil {
		return nil, invalid("params.ref is missing or no object")
	}
	place, k := at[0], prompts
	if at[1].Present() {
		place, k = at[1], templates
	}
	key, ok := rawjson.String(ref.Of(r.line), place)
	if !ok {
		return nil, invalid("params.ref names neither a prompt nor a resource")
	}
	s, err := retryReplaced(func() (reply, error) {
		var to *route
		var err error
		if k == prompts {
			to, err = rt.catalog.resolve(ctx, k, key)
		} else if to = rt.catalog.template(ctx, key); to == nil {
			to, err = rt.catalog.resolveURI(ctx, key)
		}
		if err != nil {
			return reply{}, err
		}
		abs := rawjson.Span{Start: ref.Start + place.Start, End: ref.Start + place.End}
		return rt.forward(ctx, to.b, r, within(r.msg.Params, abs, to.quoted))
	})
	if rpc, ok := errors.AsType[*runtime.Error](err); ok && rpc.Code == runtime.CodeMethodNotFound {
		none := []byte(`{"completion":{"values":[]}}`) // we have declared it for all
		if r.from.modern() {
			return rt.complete2026(r.method, none)
		}
		return none, nil
	}
	return s.result, err
}

// subscribe serves resources/subscribe.
func (rt *Router) subscribe(ctx context.Context, r Request) ([]byte, error) {
	uri, ok := rawjson.String(r.line, r.msg.URI)
	if !ok {
		return nil, errNoURI
	}
	if err := rt.hub.subscribeClient(ctx, &r.from, uri); err != nil {
		return nil, err
	}
	return []byte(`{}`), nil
}

// unsubscribe serves resources/unsubscribe.
func (rt *Router) unsubscribe(r Request) ([]byte, error) {
	uri, ok := rawjson.String(r.line, r.msg.URI)
	if !ok {
		return nil, errNoURI
	}
	if who := r.from.client; who != nil {
		rt.hub.unsubscribeClient(who, uri)
	}
	return []byte(`{}`), nil
}
