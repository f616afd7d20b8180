package cli

import (
	"context"
	"encoding/json"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
)

// ListPages is [locking.Client.ListPages] and warns of servers missing from a
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
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range missing {
		name := ui.CleanLine(m.Server)
		if s.missing[name] || name == "" {
			continue
		}
		if s.missing == nil {
			s.missing = map[string]bool{}
		}
		s.missing[name] = true
		s.a.ui.Info("warning: %s is missing: %s (mcpctl doctor %s)", name, m.Kind, shellWord(name))
	}
}
