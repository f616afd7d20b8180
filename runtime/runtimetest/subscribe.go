package runtimetest

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/mcpctl/mcpctl/runtime"
)

// filter is what a subscriptions/listen request asks for (2026-07-28,
// Subscriptions).
type filter struct {
	Tools     bool     `json:"toolsListChanged,omitempty"`
	Prompts   bool     `json:"promptsListChanged,omitempty"`
	Resources bool     `json:"resourcesListChanged,omitempty"`
	URIs      []string `json:"resourceSubscriptions,omitempty"`
}

// listen is one open subscriptions/listen request.
type listen struct {
	id     json.RawMessage
	filter filter
	out    func([]byte)
}

const metaSubscription = "io.modelcontextprotocol/subscriptionId"

// listen serves subscriptions/listen until the client cancels it.
func (n *session) listen(ctx context.Context, c *Call) (json.RawMessage, error) {
	var p struct {
		Notifications *filter `json:"notifications"`
	}
	if json.Unmarshal(c.Params, &p) != nil || p.Notifications == nil {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "params.notifications is required"}
	}
	l := &listen{c.ID, *p.Notifications, c.out}
	n.mu.Lock()
	// The acknowledgement is first: nobody sends while the lock is held.
	l.send(n.s, "notifications/subscriptions/acknowledged", wireObject("notifications", *p.Notifications))
	n.listens[string(l.id)] = l
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		delete(n.listens, string(l.id))
		n.mu.Unlock()
	}()
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func (l *listen) send(s *Server, method string, params json.RawMessage) {
	if params == nil {
		params = wireObject()
	}
	meta := wireObject(metaSubscription, l.id)
	l.out(s.request(nil, method, wireWith(params, `"_meta":`+string(meta))))
}

// tell sends a notification to those who have asked for it: open listens with
// a filter that takes it, and, where plain is set, the client of a session
// that has shaken hands.
func (n *session) tell(method string, params json.RawMessage, takes func(filter) bool, plain bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, l := range n.listens {
		if takes(l.filter) {
			l.send(n.s, method, params)
		}
	}
	if plain && n.terms.ready && n.out != nil {
		n.out(n.s.request(nil, method, params))
	}
}

// request returns the frame of a request, without an id that of a notification,
// with grease where the server adds it.
func (s *Server) request(id json.RawMessage, method string, params json.RawMessage) []byte {
	if !s.Grease {
		return wireRequest(id, method, params)
	}
	if params != nil {
		params = wireGrease(params)
	}
	return wireWith(wireRequest(id, method, params), wireGreaseMember)
}

// subscribe serves resources/subscribe and resources/unsubscribe.
func (n *session) subscribe(c *Call) (json.RawMessage, error) {
	uri := wireField(c.Params, "uri")
	if uri == "" {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "params.uri is required"}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if c.Method == "resources/subscribe" {
		n.watched[uri] = true
	} else {
		delete(n.watched, uri)
	}
	return json.RawMessage(`{}`), nil
}

// levels are those of log messages, least severe first.
func levels() []string {
	return []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
}

// severity is a level's place in levels, -1 for an unknown one.
func severity(level string) int { return slices.Index(levels(), level) }

// setLevel serves logging/setLevel.
func (n *session) setLevel(c *Call) (json.RawMessage, error) {
	level := wireField(c.Params, "level")
	if severity(level) < 0 {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "Invalid log level: " + level}
	}
	n.mu.Lock()
	n.terms.level = level
	n.mu.Unlock()
	n.s.world.count(func(st *Status) { st.Level = level })
	return json.RawMessage(`{}`), nil
}

// Log sends a log message within the call where the client wants it: it has set
// a level on its session, or put one into the request, that this one reaches.
func (c *Call) Log(level string, data json.RawMessage) {
	if c.Level != "" && severity(level) >= severity(c.Level) {
		c.Notify("notifications/message", wireObject("level", level, "logger", "fake", "data", data))
	}
}
