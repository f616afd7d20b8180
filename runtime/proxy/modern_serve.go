package proxy

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// modernCaller is who a self-contained request comes from: what it says of
// itself holds for it alone. emit reaches the client while the request lasts.
func modernCaller(r *Request, emit func(method string, params []byte)) Origin {
	return Origin{version: revision.Modern, capabilities: r.msg.MetaCapabilities.Of(r.line), level: revision.LevelNone, emit: emit}
}

// serveModern answers a request that admit has let through, other than
// server/discover and subscriptions/listen. It waits for whatever it needs.
func (rt *Router) serveModern(ctx context.Context, r Request) Answer {
	result, err := rt.answerModern(ctx, r)
	if err != nil {
		return rt.failedModern(r.method, err)
	}
	return Answer{result: result}
}

func (rt *Router) answerModern(ctx context.Context, r Request) ([]byte, error) {
	if _, err := r.askedLevel(); err != nil {
		return nil, err
	}
	switch r.method {
	case revision.MethodToolsCall:
		if err := rt.checkParams(ctx, r); err != nil {
			return nil, err
		}
		return rt.interact(ctx, tools, r)
	case revision.MethodPromptsGet:
		return rt.interact(ctx, prompts, r)
	case revision.MethodResourcesRead:
		return rt.interact(ctx, resources, r)
	case revision.MethodTasksGet, revision.MethodTasksUpdate, revision.MethodTasksCancel:
		return rt.task(ctx, r)
	}
	return rt.answer(ctx, r)
}

// checkParams compares the Mcp-Param headers of a tools/call with its arguments,
// by the schema that the client has seen.
func (rt *Router) checkParams(ctx context.Context, r Request) error {
	name, ok := rawjson.String(r.line, r.msg.Name)
	if r.header == nil || !ok {
		return nil
	}
	to, err := retryReplaced(func() (*route, error) { return rt.catalog.resolve(ctx, tools, name) })
	if err != nil && r.msg.RequestState.Present() {
		return nil // a call that waits goes on where it was, see interact
	}
	if err != nil {
		return err
	}
	if err := revision.CheckMirrors(to.mirrors, r.msg.Arguments.Of(r.line), r.header); err != nil {
		return &runtime.Error{Code: runtime.CodeHeaderMismatch, Message: err.Error()}
	}
	return nil
}

// failedModern gives the answer for a failure to a modern client: some codes of
// the era before are not for it.
func (rt *Router) failedModern(method string, err error) Answer {
	if rpc, ok := errors.AsType[*runtime.Error](err); ok && rpc.Code == runtime.CodeResourceNotFound {
		err = &runtime.Error{Code: runtime.CodeInvalidParams, Message: rpc.Message, Data: rpc.Data}
	}
	a := failed(method, err)
	if a.result != nil {
		// A tool result in words.
		if result, err := rt.complete2026(method, a.result); err == nil {
			a.result = result
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
	if !r.msg.MetaLevel.Present() {
		return revision.LevelNone, nil
	}
	name, _ := rawjson.String(r.line, r.msg.MetaLevel)
	l, ok := revision.ParseLevel(name)
	if !ok {
		return revision.LevelNone, invalid("unknown log level: %s", r.msg.MetaLevel.Of(r.line))
	}
	return l, nil
}
