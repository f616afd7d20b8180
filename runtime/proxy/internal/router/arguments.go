package router

import (
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// rewriteArguments returns a tools/call with the arguments that the server gets. All other bytes of it
// stay. The error is for the client.
func rewriteArguments(edit *views.ToolEdit, line []byte, m *rawjson.Message) ([]byte, *rawjson.Message, error) {
	out, err := edit.Rewrite(m.Arguments.Of(line))
	if err != nil {
		return line, m, upstream.Invalid("params.arguments: %v", err)
	}
	put := rawjson.Edit{Span: m.Arguments, New: out}
	if !m.Arguments.Present() {
		put = rawjson.Insertion(line, m.Params, "arguments", out)
	}
	line, m = rawjson.Splice(nil, line, put), new(rawjson.Message)
	return line, m, rawjson.Scan(line, m)
}
