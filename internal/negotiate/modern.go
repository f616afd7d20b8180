package negotiate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/ability"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
)

// probeID is the id of server/discover while the era is unknown: no other
// request has it, so a late answer is recognised.
const (
	probeID      = `"mcpctl-discover"`
	probeAgainID = `"mcpctl-discover-2"`
)

// discovered is the answer to server/discover.
type discovered struct {
	versions     []string
	capabilities json.RawMessage
	instructions string
	server       runtime.Implementation
	err          error
}

func (o *Options) discover(ctx context.Context, t runtime.Transport) discovered {
	m := &modernTransport{connection: connection{t, o}, meta: o.requestMeta()}
	raw, err := m.send(ctx, &runtime.Request{Method: revision.MethodDiscover, ID: json.RawMessage(probeID)})
	var listed []string
	if rpc, ok := errors.AsType[*runtime.Error](err); ok && rpc.Code == runtime.CodeUnsupportedVersion {
		// A server that refuses the very revision it lists is modern; it is
		// asked once more (2026-07-28, Versioning: retry with a revision that
		// the error lists).
		if listed = supportedVersions(rpc); slices.Contains(listed, revision.Modern) {
			raw, err = m.send(ctx, &runtime.Request{Method: revision.MethodDiscover, ID: json.RawMessage(probeAgainID)})
		}
	}
	if err != nil {
		return discovered{err: err}
	}
	var r struct {
		SupportedVersions []string        `json:"supportedVersions"`
		Capabilities      json.RawMessage `json:"capabilities"`
		Instructions      string          `json:"instructions"`
		Meta              struct {
			ServerInfo runtime.Implementation `json:"io.modelcontextprotocol/serverInfo"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		// A malformed result is a legacy server's: one that answers anything.
		return discovered{}
	}
	if len(r.SupportedVersions) == 0 {
		r.SupportedVersions = listed
	}
	return discovered{r.SupportedVersions, r.Capabilities, r.Instructions, r.Meta.ServerInfo, nil}
}

func supportedVersions(e *runtime.Error) []string {
	var d struct {
		Supported []string `json:"supported"`
	}
	if json.Unmarshal(e.Data, &d) != nil {
		return nil
	}
	return d.Supported
}

func (o *Options) modern(t runtime.Transport, a discovered) *Connected {
	o.rememberEra(eraModern, false)
	return &Connected{
		Transport: &modernTransport{connection: connection{t, o}, meta: o.requestMeta(), capabilities: a.capabilities},
		Info: runtime.ServerInfo{
			Version: revision.Modern, Versions: a.versions, Implementation: a.server, Instructions: a.instructions, Capabilities: a.capabilities,
		},
	}
}

// requestMeta are the members of _meta that make a request self-contained
// (2026-07-28, Overview, General fields).
func (o *Options) requestMeta() []rawjson.Member {
	info, err := json.Marshal(o.Client)
	if err != nil {
		panic("bridge: client info has no JSON form: " + err.Error())
	}
	return []rawjson.Member{
		{Name: revision.MetaVersion, Value: json.RawMessage(`"` + revision.Modern + `"`)},
		{Name: revision.MetaClient, Value: info},
		{Name: revision.MetaCapabilities, Value: o.Capabilities},
	}
}

// modernTransport makes each request self-contained, and translates requests of
// the handshake era that this one has no equal for.
type modernTransport struct {
	connection
	meta         []rawjson.Member
	capabilities json.RawMessage // the server's
	listening    listening

	level atomic.Pointer[[]byte] // the log level of requests without one, raw
	tools toolHeaders
	tasks modernTasks
	// unencodedNames is set where the server wants Mcp-Name as it is, even
	// where the rules encode it: released SDKs do not know the encoding there.
	unencodedNames atomic.Bool
	reprobes       reprobes
}

var (
	_ ability.Listen = (*modernTransport)(nil)
	_ ability.Remote = (*modernTransport)(nil)
	_ ability.PID    = (*modernTransport)(nil)
)

// Call adds the request's metadata, sets what HTTP transports repeat as
// headers, and answers what results ask for unless the caller does.
func (m *modernTransport) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	switch req.Method {
	case revision.MethodPing: // 2026-07-28 has none; discovering is as cheap
		_, err := m.send(ctx, &runtime.Request{Method: revision.MethodDiscover})
		return json.RawMessage(`{}`), err
	case revision.MethodSetLevel:
		return m.setLevel(req)
	case revision.MethodResourcesSubscribe, revision.MethodResourcesUnsubscribe:
		return m.subscribe(ctx, req)
	}
	if req.Inputs {
		return m.send(ctx, req)
	}
	l := inputRounds{send: m.send, handler: m.o.Handler, interim: func(raw json.RawMessage) (interim, bool, error) {
		return m.interim(req, raw)
	}}
	if req.Method == revision.MethodToolsCall && !req.Tasks {
		l.send, l.finish = m.callDeclaringTasks, m.awaitTask
	}
	return l.run(ctx, req)
}

// setLevel stores a log level for later requests: the connection has none
// (2026-07-28, Utilities, Logging).
func (m *modernTransport) setLevel(req *runtime.Request) (json.RawMessage, error) {
	at, err := rawjson.Field(req.Params, "level")
	name, ok := rawjson.String(req.Params, at)
	if err != nil || !ok || !slices.Contains(revision.LogLevels(), name) {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: req.Method + ": unknown level"}
	}
	level := slices.Clone(at.Of(req.Params))
	m.level.Store(&level)
	return json.RawMessage(`{}`), nil
}

// interim reports whether a result asks for input. One without a type is
// complete (2026-07-28, Overview, Results).
func (m *modernTransport) interim(req *runtime.Request, raw json.RawMessage) (interim, bool, error) {
	in, err := readInterim(raw)
	if err != nil {
		return in, false, nil //nolint:nilerr // no object: whoever wants one will complain
	}
	switch in.kind {
	case "", "complete":
		return in, false, nil
	case revision.ResultInputRequired:
		return in, true, nil
	case revision.ResultTask:
		if req.Method == revision.MethodToolsCall && !req.Tasks {
			return in, false, nil // it is waited for
		}
	}
	if capabilities := cmp.Or(string(req.Capabilities), string(m.o.Capabilities)); len(revision.Extensions(json.RawMessage(capabilities))) > 0 {
		return in, false, nil // the type may be of one of them
	}
	return in, false, unknownKind(req.Method, in.kind)
}

// send makes one request self-contained and sends it.
func (m *modernTransport) send(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	r := *req
	members := m.meta
	if req.Capabilities != nil {
		members = slices.Clone(members)
		members[len(members)-1].Value = req.Capabilities // the last one of requestMeta
	}
	var level []byte
	if p := m.level.Load(); p != nil && req.Method != revision.MethodDiscover && req.Method != revision.MethodSubscriptionsListen {
		level = *p
	}
	params, err := revision.AddMeta(req.Params, members, level)
	if err != nil {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "params: " + err.Error()}
	}
	r.Params, r.Version = params, revision.Modern
	raw, err := m.sendWithHeaders(ctx, &r)
	if err == nil && r.Method == revision.MethodToolsList {
		raw = m.tools.learn(req.Params, raw, m.o.HTTP, m.o.Logger)
	}
	return raw, err
}

// sendOnce sends a request that is ready to be sent.
func (m *modernTransport) sendOnce(ctx context.Context, r *runtime.Request) (json.RawMessage, error) {
	start := time.Now()
	raw, err := m.Transport.Call(ctx, r)
	logCall(m.o.Logger, r, start, raw, err)
	if err != nil {
		err = m.reprobe(ctx, r, err)
	}
	return raw, err
}

// Notify sends a notification under the modern revision, unless that no longer
// has it.
func (m *modernTransport) Notify(ctx context.Context, req *runtime.Request) error {
	switch req.Method {
	case revision.NotificationInitialized, revision.NotificationRootsListChanged, revision.NotificationElicitationComplete,
		revision.NotificationProgress, revision.NotificationMessage, revision.NotificationTaskStatus:
		return nil
	case revision.NotificationCancelled:
		if m.o.HTTP { // there the end of the stream says it
			return nil
		}
	}
	r := *req
	r.Version = revision.Modern
	return m.Transport.Notify(ctx, &r)
}

// reprobePause is how long a server is not probed again after an unexpected
// answer had it probed.
const reprobePause = 10 * time.Second

// reprobes is when a server was last asked whether it is still modern.
type reprobes struct {
	mu   sync.Mutex // guards last
	last time.Time
}

func (d *reprobes) due() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if time.Since(d.last) < reprobePause {
		return false
	}
	d.last = time.Now()
	return true
}

// reprobe returns the error of a request, or another one where it turns out
// that the server is no longer a modern one: released servers get replaced by
// others behind one URL (2026-07-28, Versioning, Caching).
func (m *modernTransport) reprobe(ctx context.Context, r *runtime.Request, err error) error {
	var rpc *runtime.Error
	switch {
	case r.Method == revision.MethodDiscover || ctx.Err() != nil || !m.isUnexpected(r.Method, err):
		return err
	case errors.As(err, &rpc) && unsupported(rpc) && !slices.Contains(supportedVersions(rpc), revision.Modern):
		return m.o.eraChanged(err)
	case !m.reprobes.due():
		return err
	}
	a := m.o.discover(ctx, m.Transport)
	switch {
	case a.err == nil && slices.Contains(a.versions, revision.Modern),
		a.err != nil && !isAnswer(a.err), // nothing is learned from that
		errors.As(a.err, &rpc) && (wantsCapability(rpc) || rpc.Code == runtime.CodeHeaderMismatch):
		return err
	}
	return m.o.eraChanged(err)
}

// isUnexpected reports whether a modern server would not answer a method that
// it offers with this error.
func (m *modernTransport) isUnexpected(method string, err error) bool {
	var rpc *runtime.Error
	isRPC := errors.As(err, &rpc)
	switch status := statusOf(err); {
	case isRPC && unsupported(rpc):
		return true
	case isRPC && rpc.Code == runtime.CodeMethodNotFound:
		return offers(m.capabilities, method)
	case isAuth(err):
		return false
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed, status == http.StatusNotAcceptable:
		return !isRPC
	case status == http.StatusBadRequest: // such as for want of a session
		return !isRPC || rpc.Code >= -32019 && rpc.Code <= -32000
	}
	return false
}

// offers reports whether a server's capabilities promise a method.
func offers(capabilities json.RawMessage, method string) bool {
	var c map[string]json.RawMessage
	return json.Unmarshal(capabilities, &c) == nil && c[revision.CapabilityOf(method)] != nil
}
