package dial

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/mcpctl/mcpctl/internal/ability"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// filtered is a connection to a server of which there are some tools only. It cannot be
// called past Call: each request is looked at.
type filtered struct {
	runtime.Transport
	tools config.ToolFilter
}

var (
	_ ability.Remote         = filtered{}
	_ ability.PID            = filtered{}
	_ ability.MalformedLines = filtered{}
	_ ability.TaskOf         = filtered{}
	_ ability.Unwrap         = filtered{}
)

// Call implements [runtime.Transport]. A tool that there is not is answered as by a server
// that lacks it.
func (f filtered) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	if req.Method == revision.MethodToolsCall && !f.shows(req.Params) {
		name, _ := rawjson.FieldString(req.Params, "name")
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: "unknown tool: " + name}
	}
	result, err := f.Transport.Call(ctx, req)
	if err != nil || req.Method != revision.MethodToolsList {
		return result, err
	}
	return f.list(result)
}

// shows reports whether there is the tool that an object names. Where it has several names,
// also in other letter case, the server could take any of them.
func (f filtered) shows(object json.RawMessage) bool {
	shown, named := true, false
	err := rawjson.Walk(object, func(member []byte, at rawjson.Span) {
		if !strings.EqualFold(string(member), "name") {
			return
		}
		name, ok := rawjson.String(object, at)
		shown, named = shown && ok && f.tools.Shows(name), named || string(member) == "name"
	})
	return err == nil && shown && named
}

// list returns a result of tools/list without the tools that there are not.
func (f filtered) list(result json.RawMessage) (json.RawMessage, error) {
	bad := &runtime.ProtocolError{Reason: "tools/list: the result has no list of tools"}
	at, err := rawjson.Field(result, "tools")
	if err != nil || !at.Present() {
		return nil, bad
	}
	list := at.Of(result)
	tools, err := rawjson.Elements(list)
	if err != nil {
		return nil, bad
	}
	shown := []byte{'['}
	for _, tool := range tools {
		if !f.shows(tool.Of(list)) {
			continue
		}
		if len(shown) > 1 {
			shown = append(shown, ',')
		}
		shown = append(shown, tool.Of(list)...)
	}
	return rawjson.Splice(nil, result, rawjson.Edit{Span: at, New: append(shown, ']')}), nil
}

// Remote implements [ability.Remote].
func (f filtered) Remote() bool {
	t, ok := f.Transport.(ability.Remote)
	return ok && t.Remote()
}

// PID implements [ability.PID].
func (f filtered) PID() int {
	if t, ok := f.Transport.(ability.PID); ok {
		return t.PID()
	}
	return 0
}

// MalformedLines implements [ability.MalformedLines].
func (f filtered) MalformedLines() int {
	if t, ok := f.Transport.(ability.MalformedLines); ok {
		return t.MalformedLines()
	}
	return 0
}

// TaskOf implements [ability.TaskOf].
func (f filtered) TaskOf(params json.RawMessage) runtime.Handler {
	if t, ok := f.Transport.(ability.TaskOf); ok {
		return t.TaskOf(params)
	}
	return nil
}

// Unwrap implements [ability.Unwrap].
func (f filtered) Unwrap() runtime.Transport { return f.Transport }
