package negotiate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mcpctl/mcpctl/internal/ability"
	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
)

// handshake is the result of initialize.
type handshake struct {
	ProtocolVersion string                 `json:"protocolVersion"`
	Capabilities    json.RawMessage        `json:"capabilities"`
	ServerInfo      runtime.Implementation `json:"serverInfo"`
	Instructions    string                 `json:"instructions"`
}

// initialize connects with a handshake that offers one revision (2025-11-25,
// Lifecycle).
func (o *Options) initialize(ctx context.Context, t runtime.Transport, offer string) (*Connected, error) {
	h, err := o.initializeOnce(ctx, t, offer)
	if rpc, ok := errors.AsType[*runtime.Error](err); ok {
		// Some servers refuse a revision with an error that lists theirs
		// instead of answering with one.
		if v := revision.Mutual(supportedVersions(rpc)); v != "" && v != offer && o.Version == "" {
			h, err = o.initializeOnce(ctx, t, v)
		}
	}
	if err != nil {
		return nil, err
	}
	l := o.legacy(t, h)
	l.tasks.readCapabilities(h.Capabilities)
	return &Connected{
		Transport: l,
		Info: runtime.ServerInfo{
			Version: h.ProtocolVersion, Implementation: h.ServerInfo, Instructions: h.Instructions, Capabilities: h.Capabilities,
		},
	}, nil
}

func (o *Options) initializeOnce(ctx context.Context, t runtime.Transport, offer string) (*handshake, error) {
	client, err := json.Marshal(o.Client)
	if err != nil {
		return nil, fmt.Errorf("client info: %w", err)
	}
	params := fmt.Appendf(nil, `{"protocolVersion":%q,"capabilities":%s,"clientInfo":%s}`, offer, o.Capabilities, client)
	raw, err := t.Call(ctx, &runtime.Request{Method: revision.MethodInitialize, Params: params})
	if err != nil {
		return nil, o.noHandshake(err)
	}
	var h handshake
	if err := json.Unmarshal(raw, &h); err != nil || h.ProtocolVersion == "" {
		return nil, &runtime.ProtocolError{Reason: "the answer to initialize is none", Sample: string(raw[:min(len(raw), 120)])}
	}
	if !slices.Contains(revision.LegacyVersions(), h.ProtocolVersion) {
		return nil, noMutual([]string{h.ProtocolVersion})
	}
	if o.Version != "" && h.ProtocolVersion != o.Version {
		return nil, &runtime.ProtocolError{Reason: fmt.Sprintf("the server does not speak %s but %s", o.Version, h.ProtocolVersion)}
	}
	return &h, t.Notify(ctx, &runtime.Request{Method: revision.NotificationInitialized, Version: h.ProtocolVersion})
}

// noHandshake returns the error of a server that does not know initialize, which speaks
// 2026-07-28 alone or is none of MCP; others as they are.
func (o *Options) noHandshake(err error) error {
	rpc, ok := errors.AsType[*runtime.Error](err)
	if !ok || rpc.Code != runtime.CodeMethodNotFound {
		return err
	}
	if o.Version != "" {
		return &handshakeError{"the server does not know initialize, which opens a session of " + o.Version, "--protocol-version auto, or no protocolVersion in its entry, finds out what it speaks", err}
	}
	return &handshakeError{"the server knows neither server/discover nor initialize", "it speaks JSON-RPC, but not MCP: check the URL or the command", err}
}

// handshakeError is the refusal of initialize by a server that has no such method.
type handshakeError struct {
	text, hint string
	cause      error
}

func (e *handshakeError) Error() string { return e.text + ": " + e.cause.Error() }
func (e *handshakeError) Unwrap() error { return e.cause }

// Hint returns the remedy.
func (e *handshakeError) Hint() string { return e.hint }

// legacyTransport stamps requests with the negotiated revision, and initializes
// again when an HTTP server has forgotten the session.
type legacyTransport struct {
	connection
	version string
	tools   toolHeaders
	tasks   legacyTasks

	capabilities json.RawMessage // the server's
	session      legacySession
}

var (
	_ ability.Pipeline = (*legacyTransport)(nil)
	_ ability.Resume   = (*legacyTransport)(nil)
	_ ability.Remote   = (*legacyTransport)(nil)
	_ ability.PID      = (*legacyTransport)(nil)
	_ ability.TaskOf   = (*legacyTransport)(nil)
	_ ability.Unwrap   = (*legacyTransport)(nil)
)

func (l *legacyTransport) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	switch req.Method {
	case revision.MethodToolsList:
		raw, err := l.send(ctx, req)
		if err == nil {
			raw = l.tools.learn(req.Params, raw, false, l.o.Logger)
			l.tasks.learn(req.Params, raw)
		}
		return raw, err
	case revision.MethodResourcesSubscribe, revision.MethodResourcesUnsubscribe, revision.MethodSetLevel:
		raw, err := l.send(ctx, req)
		if err == nil {
			l.session.remember(req)
		}
		return raw, err
	case revision.MethodTasksGet, revision.MethodTasksUpdate, revision.MethodTasksCancel:
		if req.Tasks {
			return l.serveTasksExtension(ctx, req)
		}
	}
	if !canAskInput(req.Method) {
		return l.send(ctx, req)
	}
	var first json.RawMessage
	if req.Token == nil && !req.Inputs && !req.Tasks && !l.tasks.calls {
		// Nearly all calls: nothing of what follows is made for them.
		raw, err := l.send(ctx, req)
		if err != nil {
			return nil, err
		}
		if _, asks, err := legacyInterim(raw); err == nil && !asks {
			return raw, nil
		}
		first = raw
	}
	return l.inRounds(ctx, req, first)
}

// Resume implements [ability.Resume]. A tool that can only be called as a task is
// called again, as one: the server has not acted on the call that it refused.
func (l *legacyTransport) Resume(ctx context.Context, req *runtime.Request, result json.RawMessage, err error) (json.RawMessage, error) {
	sent := *req
	sent.Version = l.version
	logCall(l.o.Logger, &sent, time.Now(), result, err)
	if refusesVersion(err) {
		return nil, l.o.eraChanged(err)
	}
	if req.Method == revision.MethodToolsCall {
		result, err = l.retryAsTask(ctx, req, result, err)
	}
	if err != nil || result == nil {
		return nil, err
	}
	return l.inRounds(ctx, req, result)
}

// inRounds sends a request whose results may ask for input, or be tasks; first
// is the answer to it, nil where it was not sent.
func (l *legacyTransport) inRounds(ctx context.Context, req *runtime.Request, first json.RawMessage) (json.RawMessage, error) {
	r := inputRounds{send: l.send, handler: l.o.Handler, interim: legacyInterim, first: first}
	if req.Method == revision.MethodToolsCall {
		r.send, r.finish = l.callAsTask, l.awaitTask
		if req.Tasks {
			r.finish = convertCreated
		}
	}
	if !req.Inputs {
		return r.run(ctx, req)
	}
	r.interim = func(json.RawMessage) (interim, bool, error) { return interim{}, false, nil }
	raw, err := r.run(ctx, req)
	if err != nil {
		return nil, err
	}
	return withResultType(raw)
}

// legacyInterim reports whether a result asks for input as results of 2026-07-28
// do: SDKs of both eras let such results of a tool through to older clients,
// without the type that the older revision does not know.
func legacyInterim(raw json.RawMessage) (interim, bool, error) {
	if !bytes.Contains(raw, []byte(`"`+revision.MemberInputRequests+`"`)) && !bytes.Contains(raw, []byte(`"`+revision.MemberRequestState+`"`)) {
		return interim{}, false, nil // most results: not worth a look
	}
	in, err := readInterim(raw)
	if err != nil || in.kind != "" && in.kind != revision.ResultInputRequired {
		return in, false, nil //nolint:nilerr // no object: whoever wants one will complain
	}
	return in, in.kind != "" || rawjson.IsObject(in.questions) || rawjson.IsString(in.state), nil
}

// withResultType adds the type to a result that asks for input without saying
// so.
func withResultType(raw json.RawMessage) (json.RawMessage, error) {
	in, asks, err := legacyInterim(raw)
	if err != nil || !asks || in.kind != "" {
		return raw, err
	}
	return rawjson.Set(raw, []rawjson.Member{{Name: revision.MemberResultType, Value: []byte(`"` + revision.ResultInputRequired + `"`)}})
}

// send sends one request, and again in a new session where the server has
// forgotten the old one.
func (l *legacyTransport) send(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	var raw json.RawMessage
	err := l.inSession(ctx, func() (err error) {
		r := *req
		r.Version, r.Params = l.version, revision.RemoveMeta(req.Params)
		start := time.Now()
		raw, err = l.Transport.Call(ctx, &r)
		logCall(l.o.Logger, &r, start, raw, err)
		return err
	})
	return raw, err
}

func (l *legacyTransport) Notify(ctx context.Context, req *runtime.Request) error {
	r := *req
	r.Version, r.Params = l.version, revision.RemoveMeta(req.Params)
	return l.inSession(ctx, func() error { return l.Transport.Notify(ctx, &r) })
}

// Close cancels what is done for tasks and ends the connection.
func (l *legacyTransport) Close() error {
	l.tasks.cancels.close(cancelGrace)
	l.tasks.questions.close()
	l.session.work.close(0)
	return l.Transport.Close()
}

// Pipeline returns the asynchronous connection underneath, nil where there is
// none: a legacy stdio call needs nothing that this wrapper adds.
func (l *legacyTransport) Pipeline() *jsonrpc.Conn {
	if p, ok := l.Transport.(ability.Pipeline); ok {
		return p.Pipeline()
	}
	return nil
}

func (l *legacyTransport) Unwrap() runtime.Transport { return l.Transport }
