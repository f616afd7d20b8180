package cli

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
)

// everyList is a list of all servers: what a command shows without a server's name.
type everyList struct {
	// method asks for the list, member is its name in the answer.
	method, member string
	headers        []string
	// row returns the columns behind the server's name, nil for an item that is none.
	row func(item json.RawMessage) []string
}

// orEvery lets a command of one server list what all servers have, if none is named.
func (a *app) orEvery(cmd *cobra.Command, list func() everyList) *cobra.Command {
	one := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		if len(words) > 0 || a.adhoc.given() {
			return one(cmd, words)
		}
		return a.every(cmd.Context(), list())
	}
	return cmd
}

// every asks all servers for a list, and prints it. The failure of a server does not hide the
// others; one without such a list has an empty one.
func (a *app) every(ctx context.Context, l everyList) error {
	if err := a.shareConfig(); err != nil {
		return err
	}
	f, err := a.loadConfig()
	if err != nil {
		return err
	}
	var names []string
	for _, e := range f.Enabled() {
		names = append(names, e.Name)
	}
	all := a.ask(ctx, f, names, l.method, l.member)
	var failed error
	for i := range all {
		if all[i].err != nil && failed == nil {
			failed = all[i].err
		}
	}
	if a.ui.WantJSON() {
		servers := make([]map[string]any, len(all))
		for i, one := range all {
			servers[i] = map[string]any{"name": one.Name, "state": one.State, l.member: one.Tools}
			if one.Error != "" {
				servers[i]["error"] = one.Error
			}
		}
		if err := a.ui.EncodeJSON(map[string]any{"servers": servers}); err != nil {
			return err
		}
		return failed
	}
	var rows [][]string
	for _, one := range all {
		for _, item := range one.Tools {
			if row := l.row(item); row != nil {
				rows = append(rows, append([]string{one.Name}, row...))
			}
		}
		if one.err != nil {
			a.ui.Info("%s: %s", ui.CleanLine(one.Name), ui.CleanLine(one.Error))
		}
	}
	switch {
	case len(rows) > 0:
		if err := a.ui.NameTable(append([]string{"SERVER"}, l.headers...), rows); err != nil {
			return err
		}
	case len(names) == 0:
		a.ui.Info("no servers in %s; mcpctl search finds some, mcpctl add adds one", f.Path())
	case failed == nil:
		a.ui.Info("no server has any")
	}
	return failed
}
