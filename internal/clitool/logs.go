package clitool

import (
	"context"
	"encoding/json"

	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
)

// logsMost bounds the log messages of one call.
const logsMost = 1000

// setLevel answers logging/setLevel. Before it, a client gets no log messages.
func (t *Transport) setLevel(params json.RawMessage) (json.RawMessage, error) {
	var p struct{ Level string }
	_ = json.Unmarshal(params, &p) // of another shape: no level
	level, ok := revision.ParseLevel(p.Level)
	if !ok {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "unknown level: " + p.Level}
	}
	t.level.Store(int32(level))
	return json.RawMessage(`{}`), nil
}

// logs returns what reports the lines of a run's standard error to a caller that wants
// log messages, nil for no other. The level of such lines is not known: it is info.
func (t *Transport) logs(ctx context.Context, req *runtime.Request, tool string) func(line string) {
	if revision.Level(t.level.Load()) > revision.LevelInfo { //nolint:gosec // setLevel stores levels
		return nil
	}
	h := req.Events
	if h == nil {
		h = t.o.Handler
	}
	left := logsMost
	return func(line string) {
		if left == 0 || ctx.Err() != nil {
			return
		}
		if left--; left == 0 {
			line = "further lines are not sent"
		}
		var p object
		p.add("level", revision.LevelInfo.String())
		p.add("logger", tool)
		p.add("data", line)
		h.Notification(ctx, req, revision.NotificationMessage, p.raw())
	}
}
