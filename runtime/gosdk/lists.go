package gosdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpctl/mcpctl/runtime"
)

// Tools implements [runtime.ToolLister].
func (c *Caller) Tools(ctx context.Context) iter.Seq2[runtime.Tool, error] {
	return list(ctx, c, "tools/list", "tools", c.session.ListTools,
		func(cursor string) *mcp.ListToolsParams { return &mcp.ListToolsParams{Cursor: cursor} },
		func(v *runtime.Tool, raw json.RawMessage) { v.Raw = raw })
}

// Prompts implements [runtime.PromptLister].
func (c *Caller) Prompts(ctx context.Context) iter.Seq2[runtime.Prompt, error] {
	return list(ctx, c, "prompts/list", "prompts", c.session.ListPrompts,
		func(cursor string) *mcp.ListPromptsParams { return &mcp.ListPromptsParams{Cursor: cursor} },
		func(v *runtime.Prompt, raw json.RawMessage) { v.Raw = raw })
}

// Resources implements [runtime.ResourceLister].
func (c *Caller) Resources(ctx context.Context) iter.Seq2[runtime.Resource, error] {
	return list(ctx, c, "resources/list", "resources", c.session.ListResources,
		func(cursor string) *mcp.ListResourcesParams { return &mcp.ListResourcesParams{Cursor: cursor} },
		func(v *runtime.Resource, raw json.RawMessage) { v.Raw = raw })
}

// ResourceTemplates implements [runtime.ResourceTemplateLister].
func (c *Caller) ResourceTemplates(ctx context.Context) iter.Seq2[runtime.ResourceTemplate, error] {
	return list(ctx, c, "resources/templates/list", "resourceTemplates", c.session.ListResourceTemplates,
		func(cursor string) *mcp.ListResourceTemplatesParams {
			return &mcp.ListResourceTemplatesParams{Cursor: cursor}
		},
		func(v *runtime.ResourceTemplate, raw json.RawMessage) { v.Raw = raw })
}

// maxPages bounds a list with endless cursors, as in package runtime.
const maxPages = 1000

// list requests each page when it is reached. An error is the last item. To the
// SDK, an empty cursor is the end.
func list[P params, R, T any](
	ctx context.Context, c *Caller, method, key string, f func(context.Context, P) (R, error), ask func(cursor string) P, keep func(*T, json.RawMessage),
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		cursor, seen := "", map[string]bool{}
		for range maxPages {
			raw, err := send(ctx, c, method, nil, ask(cursor), f)
			if err != nil {
				yield(none, err)
				return
			}
			var members map[string]json.RawMessage
			var items []json.RawMessage
			var next string
			if err := errors.Join(json.Unmarshal(raw, &members), optional(members[key], &items), optional(members["nextCursor"], &next)); err != nil {
				yield(none, &runtime.ProtocolError{Reason: method + ": " + err.Error()})
				return
			}
			for _, raw := range items {
				var v T
				if err := json.Unmarshal(raw, &v); err != nil {
					yield(none, &runtime.ProtocolError{Reason: method + ": " + err.Error()})
					return
				}
				keep(&v, raw)
				if !yield(v, nil) {
					return
				}
			}
			if next == "" {
				return
			}
			if seen[next] {
				yield(none, &runtime.ProtocolError{Reason: method + ": the server repeats a cursor", Sample: next})
				return
			}
			seen[next], cursor = true, next
		}
		yield(none, &runtime.ProtocolError{Reason: fmt.Sprintf("%s: more than %d pages", method, maxPages)})
	}
}

func optional(raw json.RawMessage, v any) error {
	if raw == nil {
		return nil
	}
	return json.Unmarshal(raw, v)
}
