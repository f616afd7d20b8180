package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
)

// maxPages bounds a list with endless cursors, and maxListBytes its total size.
const (
	maxPages     = 1000
	maxListBytes = 64 << 20
)

// ListPages calls a list method until there is no nextCursor and returns each
// page's raw result. A repeated cursor is an error: the list would never end. An
// empty string is a cursor like any other (specification, Pagination).
func (c *Client) ListPages(ctx context.Context, method string) ([]json.RawMessage, error) {
	var pages []json.RawMessage
	for page, err := range c.pages(ctx, method) {
		if err != nil {
			return nil, err
		}
		pages = append(pages, page)
	}
	return pages, nil
}

// pages requests each page when it is reached. An error is the last item.
func (c *Client) pages(ctx context.Context, method string) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		var params json.RawMessage
		seen, size := map[string]bool{}, 0
		for range maxPages {
			raw, err := c.Call(ctx, method, params, nil)
			if err != nil {
				yield(nil, err)
				return
			}
			if size += len(raw); size > maxListBytes {
				yield(nil, &ProtocolError{Reason: fmt.Sprintf("%s: more than %d MiB", method, maxListBytes>>20)})
				return
			}
			var page struct {
				NextCursor *string `json:"nextCursor"`
			}
			if err := json.Unmarshal(raw, &page); err != nil {
				yield(nil, &ProtocolError{Reason: method + ": the result is not an object"})
				return
			}
			if !yield(raw, nil) || page.NextCursor == nil {
				return
			}
			if seen[*page.NextCursor] {
				yield(nil, &ProtocolError{Reason: method + ": the server repeats a cursor", Sample: *page.NextCursor})
				return
			}
			seen[*page.NextCursor] = true
			if params, err = json.Marshal(map[string]string{"cursor": *page.NextCursor}); err != nil {
				yield(nil, err)
				return
			}
		}
		yield(nil, &ProtocolError{Reason: fmt.Sprintf("%s: more than %d pages", method, maxPages)})
	}
}

// entries decodes the member key of every page of a list method.
func entries[T any](ctx context.Context, c *Client, method, key string, keep func(*T, json.RawMessage)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		for page, err := range c.pages(ctx, method) {
			if err != nil {
				yield(none, err)
				return
			}
			var members map[string]json.RawMessage
			var items []json.RawMessage
			if err := errors.Join(json.Unmarshal(page, &members), unmarshalOptional(members[key], &items)); err != nil {
				yield(none, &ProtocolError{Reason: method + ": " + err.Error()})
				return
			}
			for _, raw := range items {
				var v T
				if err := json.Unmarshal(raw, &v); err != nil {
					yield(none, &ProtocolError{Reason: method + ": " + err.Error()})
					return
				}
				keep(&v, raw)
				if !yield(v, nil) {
					return
				}
			}
		}
	}
}

func unmarshalOptional(raw json.RawMessage, v any) error {
	if raw == nil {
		return nil
	}
	return json.Unmarshal(raw, v)
}

// all returns every entry, or the error that ends the list.
func all[T any](list iter.Seq2[T, error]) ([]T, error) {
	var out []T
	for v, err := range list {
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// Tools implements [ToolLister].
func (c *Client) Tools(ctx context.Context) iter.Seq2[Tool, error] {
	return entries(ctx, c, "tools/list", "tools", func(t *Tool, raw json.RawMessage) { t.Raw = raw })
}

// Resources implements [ResourceLister].
func (c *Client) Resources(ctx context.Context) iter.Seq2[Resource, error] {
	return entries(ctx, c, "resources/list", "resources", func(r *Resource, raw json.RawMessage) { r.Raw = raw })
}

// ResourceTemplates implements [ResourceTemplateLister].
func (c *Client) ResourceTemplates(ctx context.Context) iter.Seq2[ResourceTemplate, error] {
	return entries(ctx, c, "resources/templates/list", "resourceTemplates", func(r *ResourceTemplate, raw json.RawMessage) { r.Raw = raw })
}

// Prompts implements [PromptLister].
func (c *Client) Prompts(ctx context.Context) iter.Seq2[Prompt, error] {
	return entries(ctx, c, "prompts/list", "prompts", func(p *Prompt, raw json.RawMessage) { p.Raw = raw })
}

// ToolsVersion returns how often the server has announced changed tools
// (notifications/tools/list_changed). The client's Handler counts in a method of
// the same name, as that of package dial does; without one, and on a connection
// without these notifications, it is 0.
func (c *Client) ToolsVersion() uint64 {
	if h, ok := c.o.Handler.(interface{ ToolsVersion() uint64 }); ok {
		return h.ToolsVersion()
	}
	return 0
}

// ListTools returns all tools, pages followed, in the server's order.
func (c *Client) ListTools(ctx context.Context) ([]Tool, error) { return all(c.Tools(ctx)) }

// ListResources returns all resources, pages followed.
func (c *Client) ListResources(ctx context.Context) ([]Resource, error) { return all(c.Resources(ctx)) }

// ListResourceTemplates returns all resource templates, pages followed.
func (c *Client) ListResourceTemplates(ctx context.Context) ([]ResourceTemplate, error) {
	return all(c.ResourceTemplates(ctx))
}

// ListPrompts returns all prompts, pages followed.
func (c *Client) ListPrompts(ctx context.Context) ([]Prompt, error) { return all(c.Prompts(ctx)) }
