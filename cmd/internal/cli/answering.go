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
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
)

// answerOptions are what answers depend on.
type answerOptions struct {
	UI     *ui.UI
	Asker  ui.Asker // the user
	Getenv func(string) string
	// Log gets the server's messages; nil: they are dropped.
	Log    *slog.Logger
	Server string
	Policy elicit.Policy
	Roots  []string
}

// answerHandler answers the requests of one server.
type answerHandler struct {
	o    answerOptions
	turn chan struct{} // a lock: the user answers one question at a time

	mu         sync.Mutex // guards unanswered
	unanswered error      // of the first question that nobody answered
}

// newAnswers returns a handler.
func newAnswers(o answerOptions) *answerHandler {
	return &answerHandler{o: o, turn: make(chan struct{}, 1)}
}

// Check refuses --elicit ask without a terminal.
func (h *answerHandler) Check() error {
	if h.o.Policy.Mode == elicit.Ask && !h.canAsk() {
		return ui.Usage("--elicit ask: there is no terminal to ask on").WithHint("--elicit defaults, decline or a JSON object answers without one")
	}
	return nil
}

func (h *answerHandler) canAsk() bool {
	_, nobody := h.o.Asker.(*ui.NonInteractive)
	return !nobody
}

// Capabilities returns only what can be answered, so that a server with an
// alternative uses it. Sampling is not among them: there is no model.
func (h *answerHandler) Capabilities() json.RawMessage {
	var members []string
	if c := h.o.Policy.Capability(h.canAsk()); c != nil {
		members = append(members, `"elicitation":`+string(c))
	}
	if len(h.o.Roots) > 0 {
		members = append(members, `"roots":{}`)
	}
	return json.RawMessage("{" + strings.Join(members, ",") + "}")
}

// Notification implements [runtime.Handler].
func (h *answerHandler) Notification(ctx context.Context, _ *runtime.Request, method string, params json.RawMessage) {
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
	attrs := []slog.Attr{slog.String("server", h.o.Server), slog.String("level", ui.CleanLine(m.Level)), slog.String("data", ui.CleanLine(text))}
	if m.Logger != "" {
		attrs = append(attrs, slog.String("logger", ui.CleanLine(m.Logger)))
	}
	if h.o.Log == nil {
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
	h.o.Log.LogAttrs(ctx, level, "server log", attrs...)
}

// Request implements [runtime.Handler].
func (h *answerHandler) Request(ctx context.Context, call *runtime.Request, method string, params json.RawMessage) (json.RawMessage, error) {
	switch method {
	case revision.MethodElicitationCreate:
		return h.elicit(ctx, params)
	case revision.MethodRootsList:
		if len(h.o.Roots) == 0 {
			return nil, &runtime.Error{Code: runtime.CodeMethodNotFound, Message: "no roots were offered"}
		}
		return append(append([]byte(`{"roots":`), answerRoots(h.o.Roots)...), '}'), nil
	case revision.MethodSamplingCreateMessage:
		return nil, &runtime.Error{Code: runtime.CodeMethodNotFound, Message: "sampling was not offered: mcpctl has no model"}
	}
	return runtime.NopHandler{}.Request(ctx, call, method, params)
}

// Closed implements [runtime.Handler].
func (*answerHandler) Closed(error) {}

// elicit answers a question by the policy, one at a time.
func (h *answerHandler) elicit(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
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
	defer h.o.UI.Hold()()
	answerer := elicit.Answerer{
		Policy: h.o.Policy, Server: h.o.Server, Asker: h.o.Asker, Say: h.o.UI.Say,
		Open: func(ctx context.Context, page string) error { return ui.OpenBrowser(ctx, h.o.Getenv, page) },
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

// Unanswered returns the error of the first question that nobody answered, nil for none.
func (h *answerHandler) Unanswered() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.unanswered
}

// explainQuestion adds a remedy to the error of a missing client capability (-32021,
// 2026-07-28) or of a revision that the server does not speak (-32022).
func explainQuestion(err error) error {
	var rpc *runtime.Error
	if !errors.As(err, &rpc) {
		return err
	}
	switch rpc.Code {
	case runtime.CodeMissingCapability:
	case runtime.CodeUnsupportedVersion:
		return &ui.Error{Err: err, Remedy: "--protocol-version auto finds out what the server speaks"}
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
		return &ui.Error{Kind: "usage", Err: err, Remedy: "the server wants a page opened: run it on a terminal; --elicit decline says no"}
	case data.Required["elicitation"] != nil:
		return &ui.Error{Kind: "usage", Err: err, Remedy: "the server has a question: run it on a terminal, or answer with --elicit"}
	case data.Required["roots"] != nil:
		return &ui.Error{Kind: "usage", Err: err, Remedy: "the server wants to know where to work: --roots DIR"}
	}
	return err
}

// answerRoots returns the list of a result of roots/list (2025-11-25, Roots).
func answerRoots(dirs []string) json.RawMessage {
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
		panic("answering: roots have no JSON form: " + err.Error())
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
