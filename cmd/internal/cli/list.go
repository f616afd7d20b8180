package cli

import (
	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/config"
)

func newList(a *app) *cobra.Command {
	return a.watched(&cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the configured servers",
		Long: "List the configured servers: name, transport, what is started or called, and the registry record that an\n" +
			"entry was made of. Nothing is started.",
		Example: "  mcpctl list\n  mcpctl list --json",
		Args:    cobra.NoArgs, Annotations: map[string]string{brokenFiles: noted},
		RunE: func(*cobra.Command, []string) error { return a.list() },
	}, nil)
}

// listed is one server of the list; values are unexpanded and redacted.
type listed struct {
	Name      string         `json:"name"`
	Transport string         `json:"transport"`
	Command   string         `json:"command,omitempty"`
	Args      []string       `json:"args,omitempty"`
	URL       string         `json:"url,omitempty"`
	Disabled  bool           `json:"disabled,omitempty"`
	Origin    *config.Origin `json:"origin,omitempty"`
	// Layer and File say where the entry is, if there are several layers.
	Layer string `json:"layer,omitempty"`
	File  string `json:"file,omitempty"`
}

// list prints the usable entries and notes the others.
func (a *app) list() error {
	set, err := a.loadLayers()
	if err != nil {
		return err
	}
	f := set.File()
	servers := []listed{}
	var rows [][]string
	disabled := len(f.Enabled()) < len(f.Entries()) // else everybody's state is the same
	for _, e := range f.Entries() {
		if e.Fault != nil {
			continue
		}
		one := listed{Name: e.Name, Transport: e.Transport(), Command: e.Command, Args: config.MaskArgs(e.Args), URL: config.DisplayURL(e.URL), Disabled: e.Disabled, Origin: e.Origin}
		if set.Several() {
			one.Layer, one.File = set.Of(e), e.File
		}
		servers = append(servers, one)
		origin := ""
		if e.Origin != nil {
			origin = e.Origin.Name
			if e.Origin.Version != "" {
				origin += "@" + e.Origin.Version
			}
		}
		state := ""
		if disabled {
			state = map[bool]string{true: "disabled", false: "enabled"}[e.Disabled]
		}
		rows = append(rows, []string{e.Name, state, one.Layer, e.Transport(), e.Target(), origin})
	}
	a.noteFaults(f)
	if a.ui.WantJSON() {
		return a.ui.EncodeJSON(map[string]any{"servers": servers})
	}
	if len(rows) == 0 {
		a.ui.Info("no servers in %s; mcpctl search finds some, mcpctl add adds one", f.Path())
		return nil
	}
	return a.ui.Table(ui.Table{
		Headers: []string{"NAME", "STATE", "LAYER", "TRANSPORT", "TARGET", "ORIGIN"}, Rows: rows, Keep: []int{4, 5},
		Paint: map[int]func(string) string{1: a.ui.Palette().State},
	})
}
