package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/config"
)

func newGet(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "get ALIAS",
		Short:   "Print the entry of a configured server, placeholders as they are",
		Long:    "Print the entry of a configured server, placeholders as they are. As JSON: {\"name\",\"entry\"}.",
		Example: "  mcpctl get fs",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return a.get(args[0]) },
	}
	a.completeServer(cmd)
	return cmd
}

// get prints an entry, also one with a fault: that is when one wants to see it.
func (a *app) get(alias string) error {
	f, err := a.loadConfig()
	if err != nil {
		return err
	}
	e, ok := f.Entry(alias)
	if !ok {
		_, err := f.Use(alias)
		return err
	}
	if e.Fault != nil {
		a.ui.Note("warning: %s", e.Fault.Error())
	}
	if a.ui.WantJSON() {
		return a.ui.EncodeJSON(struct {
			Name  string          `json:"name"`
			Entry json.RawMessage `json:"entry"`
		}{e.Name, e.Raw})
	}
	_, err = fmt.Fprintln(a.ui.Out, ui.Clean(config.Format(e.Raw)))
	return err
}
