package router

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/catalog"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// ModernCaller is who a self-contained request comes from: what it says of
// itself holds for it alone. emit reaches the client while the request lasts.
func ModernCaller(r *Request, emit func(method string, params []byte)) upstream.Origin {
	return upstream.Origin{Version: revision.Modern, Capabilities: r.Msg.MetaCapabilities.Of(r.Line), Level: revision.LevelNone, Emit: emit}
}

// ServeModern answers a request that admit has let through, other than
// server/discover and subscriptions/listen. It waits for whatever it needs.
func (rt *Router) ServeModern(ctx context.Context, r Request) Answer {
	result, err := rt.AnswerModern(ctx, r)
	if err != nil {
		return rt.FailedModern(r.Method, err)
	}
	return Answer{Result: result}
}

func (rt *Router) AnswerModern(ctx context.Context, r Request) ([]byte, error) {
	if _, err := r.askedLevel(); err != nil {
		return nil, err
	}
	switch r.Method {
	case revision.MethodToolsCall:
		if err := rt.checkParams(ctx, r); err != nil {
			return nil, err
		}
		return rt.interact(ctx, inventory.Tools, r)
	case revision.MethodPromptsGet:
		return rt.interact(ctx, inventory.Prompts, r)
	case revision.MethodResourcesRead:
		return rt.interact(ctx, inventory.Resources, r)
	case revision.MethodTasksGet, revision.MethodTasksUpdate, revision.MethodTasksCancel:
		return rt.task(ctx, r)
	}
	return rt.Answer(ctx, r)
}

// checkParams compares the Mcp-Param headers of a tools/call with its arguments,
// by the schema that the client has seen.
func (rt *Router) checkParams(ctx context.Context, r Request) error {
	name, ok := rawjson.String(r.Line, r.Msg.Name)
	if r.Header == nil || !ok {
		return nil
	}
	to, err := upstream.RetryReplaced(func() (*catalog.Route, error) { return rt.Catalog.Resolve(ctx, inventory.Tools, name) })
	if err != nil && r.Msg.RequestState.Present() {
		return nil // a call that waits goes on where it was, see interact
	}
	if err != nil {
		return err
	}
	if err := revision.CheckMirrors(to.Mirrors, r.Msg.Arguments.Of(r.Line), r.Header); err != nil {
		return &runtime.Error{Code: runtime.CodeHeaderMismatch, Message: err.Error()}
	}
	return nil
}

// FailedModern gives the answer for a failure to a modern client: some codes of
// the era before are not for it.
func (rt *Router) FailedModern(method string, err error) Answer {
	if rpc, ok := errors.AsType[*runtime.Error](err); ok && rpc.Code == runtime.CodeResourceNotFound {
		err = &runtime.Error{Code: runtime.CodeInvalidParams, Message: rpc.Message, Data: rpc.Data}
	}
	a := Failed(method, err)
	if a.Result != nil {
		// A tool result in words.
		if result, err := rt.complete2026(method, a.Result); err == nil {
			a.Result = result
		}
	}
	return a
}

// Bounds of what repeated passes on.
const (
	maxRepeated      = 32
	maxRepeatedBytes = 8 << 10
)

// repeated gives the Mcp-Param headers of a request, which its server may know
// more about than we do: "MUST be passed on" by those that do not recognise them
// (2026-07-28, Streamable HTTP, Request Metadata). Nil for none; beyond the
// bounds all are left out.
func repeated(header http.Header) map[string]string {
	var out map[string]string
	size := 0
	for name, lines := range header {
		if !strings.HasPrefix(name, revision.ParamPrefix) || len(lines) != 1 {
			continue
		}
		if size += len(name) + len(lines[0]); size > maxRepeatedBytes || len(out) == maxRepeated {
			return nil
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = lines[0]
	}
	return out
}

// askedLevel reads the level that a modern request asks for, silent for none:
// "the server MUST NOT emit" lines for a request without it (2026-07-28,
// Logging).
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
