package generating

import (
	"context"
	"encoding/json"

	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
)

// Server is a server that a package is generated for.
type Server struct {
	*runtime.Client
	// Pages returns the pages of a list.
	Pages func(ctx context.Context, method string) ([]json.RawMessage, error)
}

// listAll decodes all entries of a list; raw sets the bytes of each.
func listAll[T any](ctx context.Context, s *Server, method, key string, raw func(*T, json.RawMessage)) ([]T, error) {
	pages, err := s.Pages(ctx, method)
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

// The lists are complete or an error: a missing entry would be a missing
// function.

func (s *Server) listTools(ctx context.Context) ([]runtime.Tool, error) {
	return listAll(ctx, s, revision.MethodToolsList, "tools", func(t *runtime.Tool, raw json.RawMessage) { t.Raw = raw })
}

func (s *Server) listPrompts(ctx context.Context) ([]runtime.Prompt, error) {
	return listAll(ctx, s, revision.MethodPromptsList, "prompts", func(p *runtime.Prompt, raw json.RawMessage) { p.Raw = raw })
}

func (s *Server) listResources(ctx context.Context) ([]runtime.Resource, error) {
	return listAll(ctx, s, revision.MethodResourcesList, "resources", func(r *runtime.Resource, raw json.RawMessage) { r.Raw = raw })
}

func (s *Server) listResourceTemplates(ctx context.Context) ([]runtime.ResourceTemplate, error) {
	return listAll(ctx, s, revision.MethodResourceTemplatesList, "resourceTemplates", func(t *runtime.ResourceTemplate, raw json.RawMessage) { t.Raw = raw })
}
