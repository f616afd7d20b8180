package cli

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/find"
	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// missingInViews returns what the views say of tools that do not exist, by what servers were last
// seen to offer, and what of them has no effect; live asks the servers first. Policies and locks do not count: they are about what a
// principal may use, not about what there is.
func (a *app) missingInViews(ctx context.Context, live bool) (missing, doubts []config.Problem) {
	all := a.settings.Serve.Views
	if all == nil || a.shareConfig() != nil { // a broken file is a finding of its own
		return nil, nil
	}
	f, err := a.loadConfig()
	if err != nil {
		return nil, nil
	}
	servers := f.Enabled()
	if len(servers) == 0 {
		return nil, nil
	}
	var names []string
	for _, e := range servers {
		names = append(names, e.Name)
	}
	silent := map[string]bool{}
	if live {
		for _, one := range a.ask(ctx, f, names, revision.MethodToolsList, "tools") { // it stores what they answer
			if one.err != nil {
				silent[one.Name] = true
				a.ui.Say("warning: %s does not answer: what views say of it is not checked (%s)", one.Name, one.Error)
			}
		}
	}
	stored := find.Load(ctx, a.knownWhole(), servers)
	var lists []find.List
	for _, l := range stored.Lists {
		if !silent[l.Server] {
			lists = append(lists, l)
		}
	}
	tools, trusted := find.OfServers(a.settings.Serve, servers, lists)
	for _, name := range all.Names() {
		doubts = append(doubts, tools.Doubts(a.settings.File(), all.View(name), a.believed(f, trusted))...)
	}
	return tools.Missing(a.settings.File(), all), doubts
}

// believed reports whose annotations count: where they are trusted, and where a server is locked.
func (a *app) believed(f *config.File, trusted func(server string) bool) func(server string) bool {
	return func(server string) bool {
		e, _ := f.Entry(server)
		lock, err := lockfile.LoadServer(lockfile.Path(cmp.Or(e.File, a.settings.ConfigPath)), server)
		return trusted(server) || err == nil && lock != nil
	}
}

// viewFlag adds the flag that names a view. An empty name, as of a variable that is not set, is not taken for none.
func (a *app) viewFlag(cmd *cobra.Command, view *string, usage string) {
	cmd.Flags().Func("view", usage, func(name string) error {
		if *view = name; name == "" {
			return errors.New("want the name of a view")
		}
		return nil
	})
	completeFlag(cmd, "view", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return a.settings.Serve.Views.Names(), cobra.ShellCompDirectiveNoFileComp
	})
}

// storedViews are the tools of servers as views show them, by the lists that servers sent last.
type storedViews struct {
	app     *app
	file    *config.File
	stored  find.Stored
	tools   *find.Tools
	trusted func(server string) bool
}

// storedViews reads what is stored of some servers, by default of all.
func (a *app) storedViews(ctx context.Context, servers []string) (*storedViews, error) {
	s := &storedViews{app: a}
	var err error
	if s.stored, err = storedTools(ctx, a, servers); err != nil {
		return nil, err
	}
	if s.file, err = a.loadConfig(); err != nil {
		return nil, err
	}
	s.tools, s.trusted = find.OfServers(a.settings.Serve, s.file.Enabled(), s.stored.Lists)
	return s, nil
}

// in returns the tools that a view shows, and what of the view has no effect.
func (s *storedViews) in(view string) (shown []find.Tool, doubts []config.Problem, err error) {
	v, err := find.ViewNamed(s.app.settings.Serve.Views, view)
	if err != nil {
		return nil, nil, err
	}
	shown, _ = s.tools.In(v, s.trusted)
	return shown, s.tools.Doubts(s.app.settings.File(), v, s.app.believed(s.file, s.trusted)), nil
}

// printView prints the tools of some servers, by default of all, as a view shows them, by the lists
// that servers sent last.
func printView(ctx context.Context, a *app, view string, servers []string, withSchema bool) error {
	all, err := a.storedViews(ctx, servers)
	if err != nil {
		return err
	}
	shown, doubts, err := all.in(view)
	if err != nil {
		return err
	}
	definitions, tools := find.Decoded(shown)
	switch {
	case a.ui.WantJSON():
		err = a.ui.EncodeTools(definitions, withSchema)
	case len(shown) == 0:
		a.ui.Info("the view %s shows no tool", view)
	default:
		err = a.ui.ShowTools(tools, withSchema)
	}
	all.stored.Warn(a.ui)
	for i := range doubts {
		noteProblem(a.ui, &doubts[i])
	}
	return err
}
