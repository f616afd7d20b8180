package cli

import (
	"context"

	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/cmd/internal/viewing"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// missingInViews returns what the views say of tools that do not exist, by what servers were last
// seen to offer; live asks them first. Policies and locks do not count: they are about what a
// principal may use, not about what there is.
func (a *app) missingInViews(ctx context.Context, live bool) []config.Problem {
	all := a.settings.Serve.Views
	if all == nil || a.shareConfig() != nil { // a broken file is a finding of its own
		return nil
	}
	f, err := a.loadConfig()
	if err != nil {
		return nil
	}
	servers := f.Enabled()
	if len(servers) == 0 {
		return nil
	}
	var names []string
	for _, e := range servers {
		names = append(names, e.Name)
	}
	silent := map[string]bool{}
	if live {
		for _, one := range (&toolsCommand{a}).ask(ctx, names) { // it stores what they answer
			if one.err != nil {
				silent[one.Name] = true
				a.ui.Say("warning: %s does not answer: what views say of it is not checked (%s)", one.Name, one.Error)
			}
		}
	}
	known := a.known()
	known.Filter = nil
	stored := find.Load(ctx, known, servers)
	var lists []find.List
	for _, l := range stored.Lists {
		if !silent[l.Server] {
			lists = append(lists, l)
		}
	}
	return viewing.Of(a.settings.Serve, names, lists).Missing(a.settings.File(), all)
}
