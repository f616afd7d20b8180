package cli

import (
	"context"
	"encoding/json"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

// ListPages is [runtime.Client.ListPages] and warns of servers missing from a
// gateway's list.
func (s *session) ListPages(ctx context.Context, method string) ([]json.RawMessage, error) {
	pages, err := s.Client.ListPages(ctx, method)
	for _, page := range pages {
		s.warnPartial(page)
	}
	return pages, err
}

// warnPartial names the servers that mcpctl serve reports as missing from a page of
// a list (docs/serve.md, "How it starts"), each once per session.
func (s *session) warnPartial(page json.RawMessage) {
	var list struct {
		Meta struct {
			Partial json.RawMessage `json:"dev.mcpctl/partial"`
		} `json:"_meta"`
	}
	var missing []struct{ Server, Kind string }
	if json.Unmarshal(page, &list) != nil || json.Unmarshal(list.Meta.Partial, &missing) != nil {
		return
	}
	for _, m := range missing {
		name := ui.CleanLine(m.Server)
		if s.missing[name] || name == "" {
			continue
		}
		if s.missing == nil {
			s.missing = map[string]bool{}
		}
		s.missing[name] = true
		s.a.ui.Note("warning: %s is missing: %s (mcpctl doctor %s)", name, m.Kind, shellWord(name))
	}
}

// listAll decodes all entries of a list; raw sets the bytes of each.
func listAll[T any](ctx context.Context, s *session, method, key string, raw func(*T, json.RawMessage)) ([]T, error) {
	pages, err := s.ListPages(ctx, method)
	if err != nil {
		return nil, err
	}
	var out []T
	for _, page := range pages {
		var members map[string]json.RawMessage
		var items []json.RawMessage
		err := json.Unmarshal(page, &members)
		if err == nil && members[key] != nil {
			err = json.Unmarshal(members[key], &items)
		}
		for i := 0; err == nil && i < len(items); i++ {
			var v T
			if err = json.Unmarshal(items[i], &v); err == nil {
				raw(&v, items[i])
				out = append(out, v)
			}
		}
		if err != nil {
			return nil, &runtime.ProtocolError{Reason: method + ": " + err.Error()}
		}
	}
	return out, nil
}

// The lists of generate are complete or an error: a missing entry would be a missing
// function.

func (s *session) ListTools(ctx context.Context) ([]runtime.Tool, error) {
	return listAll(ctx, s, revision.MethodToolsList, "tools", func(t *runtime.Tool, raw json.RawMessage) { t.Raw = raw })
}

func (s *session) ListPrompts(ctx context.Context) ([]runtime.Prompt, error) {
	return listAll(ctx, s, revision.MethodPromptsList, "prompts", func(p *runtime.Prompt, raw json.RawMessage) { p.Raw = raw })
}

func (s *session) ListResources(ctx context.Context) ([]runtime.Resource, error) {
	return listAll(ctx, s, revision.MethodResourcesList, "resources", func(r *runtime.Resource, raw json.RawMessage) { r.Raw = raw })
}

func (s *session) ListResourceTemplates(ctx context.Context) ([]runtime.ResourceTemplate, error) {
	return listAll(ctx, s, revision.MethodResourceTemplatesList, "resourceTemplates", func(t *runtime.ResourceTemplate, raw json.RawMessage) { t.Raw = raw })
}
