package cli

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"
	"sync"

	"github.com/mcpctl/mcpctl/cmd/internal/elicit"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// host is the client side of a command's connection: it answers the server's
// requests and prints its log messages.
type host struct {
	a      *app
	server string
	entry  config.Entry // that it is connected to
	policy elicit.Policy
	asker  ui.Asker

	turn chan struct{} // a lock: the user answers one question at a time

	mu         sync.Mutex // guards unanswered
	unanswered error      // of the first question that nobody answered
}

func (a *app) newHost(server string) *host {
	policy, err := elicit.ParsePolicy(a.settings.Elicit)
	if err != nil {
		panic("cli: --elicit was not checked: " + err.Error())
	}
	h := &host{a: a, server: server, policy: policy, asker: a.asker, turn: make(chan struct{}, 1)}
	if h.asker == nil {
		h.asker = a.ui.Asker()
	}
	return h
}

// check refuses --elicit ask without a terminal.
func (h *host) check() error {
	if h.policy.Mode == elicit.Ask && !h.canAsk() {
		return usagef("--elicit ask: there is no terminal to ask on").withHint("--elicit defaults, decline or a JSON object answers without one")
	}
	return nil
}

func (h *host) canAsk() bool {
	_, nobody := h.asker.(*ui.NonInteractive)
	return !nobody
}

// capabilities returns only what can be answered, so that a server with an
// alternative uses it. Sampling is not among them: there is no model.
func (h *host) capabilities() json.RawMessage {
	var members []string
	if c := h.policy.Capability(h.canAsk()); c != nil {
		members = append(members, `"elicitation":`+string(c))
	}
	if len(h.a.settings.Roots) > 0 {
		members = append(members, `"roots":{}`)
	}
	return json.RawMessage("{" + strings.Join(members, ",") + "}")
}

// Notification implements [runtime.Handler].
func (h *host) Notification(ctx context.Context, _ *runtime.Request, method string, params json.RawMessage) {
	if method != revision.NotificationMessage {
		return
	}
	var m struct {
		Level  string          `json:"level"`
		Logger string          `json:"logger"`
		Data   json.RawMessage `json:"data"`
	}
	if json.Unmarshal(params, &m) != nil {
		return
	}
	text := string(m.Data)
	var s string
	if json.Unmarshal(m.Data, &s) == nil {
		text = s
	}
	attrs := []slog.Attr{slog.String("server", h.server), slog.String("level", ui.CleanLine(m.Level)), slog.String("data", ui.CleanLine(text))}
	if m.Logger != "" {
		attrs = append(attrs, slog.String("logger", ui.CleanLine(m.Logger)))
	}
	if h.a.settings.Verbose == 0 {
		return // some servers log without being asked
	}
	level := slog.LevelInfo
	switch m.Level {
	case "debug":
		level = slog.LevelDebug
	case "warning":
		level = slog.LevelWarn
	case "error", "critical", "alert", "emergency":
		level = slog.LevelError
	}
	h.a.log.LogAttrs(ctx, level, "server log", attrs...)
}

// Request implements [runtime.Handler].
func (h *host) Request(ctx context.Context, call *runtime.Request, method string, params json.RawMessage) (json.RawMessage, error) {
	switch method {
	case revision.MethodElicitationCreate:
		return h.elicit(ctx, params)
	case revision.MethodRootsList:
		if len(h.a.settings.Roots) == 0 {
			return nil, &runtime.Error{Code: runtime.CodeMethodNotFound, Message: "no roots were offered"}
		}
		return append(append([]byte(`{"roots":`), roots(h.a.settings.Roots)...), '}'), nil
	case revision.MethodSamplingCreateMessage:
		return nil, &runtime.Error{Code: runtime.CodeMethodNotFound, Message: "sampling was not offered: mcpctl has no model"}
	}
	return runtime.NopHandler{}.Request(ctx, call, method, params)
}

// Closed implements [runtime.Handler].
func (*host) Closed(error) {}

// elicit answers a question by the policy, one at a time.
func (h *host) elicit(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	q, err := elicit.ParseQuestion(params)
	if err != nil {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "elicitation/create: " + err.Error()}
	}
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer h.a.ui.Hold()()
	answerer := elicit.Answerer{
		Policy: h.policy, Server: h.server, Asker: h.asker, Say: h.a.ui.Say,
		Open: func(ctx context.Context, page string) error { return ui.OpenBrowser(ctx, h.a.getenv, page) },
	}
	answer, err := answerer.Answer(ctx, q)
	if none, ok := errors.AsType[*elicit.UnansweredError](err); ok {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.unanswered == nil {
			h.unanswered = none
		}
		return answer, nil
	}
	if err != nil && ctx.Err() == nil {
		err = &runtime.Error{Code: runtime.CodeInvalidParams, Message: "elicitation/create: " + err.Error()}
	}
	return answer, err
}

// outcome returns the error of an unanswered question, which explains the server's,
// otherwise err.
func (h *host) outcome(err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.unanswered == nil || err != nil && exitCode(err) == exitInterrupted {
		return withCapabilityRemedy(err)
	}
	return h.unanswered
}

// withCapabilityRemedy adds a remedy to the error of a missing client capability (-32021,
// 2026-07-28) or of a revision that the server does not speak (-32022).
func withCapabilityRemedy(err error) error {
	var rpc *runtime.Error
	if !errors.As(err, &rpc) {
		return err
	}
	switch rpc.Code {
	case runtime.CodeMissingCapability:
	case runtime.CodeUnsupportedVersion:
		return &Error{Err: err, Remedy: "--protocol-version auto finds out what the server speaks"}
	default:
		return err
	}
	var data struct {
		Required map[string]json.RawMessage `json:"requiredCapabilities"`
	}
	if json.Unmarshal(rpc.Data, &data) != nil {
		return err
	}
	switch {
	case strings.Contains(string(data.Required["elicitation"]), `"url"`):
		return &Error{Code: exitUsage, Err: err, Remedy: "the server wants a page opened: run it on a terminal; --elicit decline says no"}
	case data.Required["elicitation"] != nil:
		return &Error{Code: exitUsage, Err: err, Remedy: "the server has a question: run it on a terminal, or answer with --elicit"}
	case data.Required["roots"] != nil:
		return &Error{Code: exitUsage, Err: err, Remedy: "the server wants to know where to work: --roots DIR"}
	}
	return err
}

// roots returns the list of a result of roots/list (2025-11-25, Roots).
func roots(dirs []string) json.RawMessage {
	type root struct {
		URI  string `json:"uri"`
		Name string `json:"name"`
	}
	list := make([]root, len(dirs))
	for i, dir := range dirs {
		list[i] = root{fileURI(dir), filepath.Base(dir)}
	}
	b, err := json.Marshal(list)
	if err != nil {
		panic("cli: roots have no JSON form: " + err.Error())
	}
	return b
}

// fileURI returns the file: URI of an absolute path. A drive of Windows gets a
// slash before it, a share becomes the host (RFC 8089).
func fileURI(path string) string {
	path = filepath.ToSlash(path)
	u := url.URL{Scheme: "file", Path: path}
	if share, ok := strings.CutPrefix(path, "//"); ok {
		u.Host, u.Path, _ = strings.Cut(share, "/")
		u.Path = "/" + u.Path
	} else if !strings.HasPrefix(path, "/") {
		u.Path = "/" + path
	}
	return u.String()
}

// explain adds to a failure of the server which of our variables it may miss. Where
// the failure is a result, which has been printed, that is a note.
func (h *host) explain(c *runtime.Client, err error) error {
	switch exitCode(err) {
	case exitTool, exitProtocol, exitTimeout, exitConnect:
	default:
		if !errors.Is(err, runtime.ErrClosed) {
			return err
		}
	}
	explained := dial.ExplainCall(h.entry, c, err)
	why, more := errors.AsType[interface {
		error
		Missed() string
	}](explained)
	own, ok := errors.AsType[*Error](err)
	if !more || !ok || !own.Silent {
		return explained
	}
	if !h.a.ui.JSON {
		h.a.ui.Note("warning: %s: %s", h.entry.Name, why.Missed())
		h.a.ui.Note("hint: %s", hintOf(explained))
	}
	return err
}
