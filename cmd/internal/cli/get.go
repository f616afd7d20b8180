package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/runtime/config"
)

func newGet(a *app) *cobra.Command {
	var reveal bool
	cmd := &cobra.Command{
		Use:     "get ALIAS",
		Aliases: []string{"show"},
		Short:   "Print the entry of a configured server, with its placeholders",
		Long: "Print the entry of a configured server, with its placeholders. Literal secrets are shown as " + secret.Redacted + ":\n" +
			"user and query of the URL, values of headers, and variables and arguments that look secret. As JSON: {\"name\",\"entry\"}.",
		Example: "  mcpctl get fs\n  mcpctl get fs --reveal",
		Args:    cobra.ExactArgs(1), Annotations: map[string]string{brokenFiles: noted},
		RunE: func(_ *cobra.Command, args []string) error { return a.get(args[0], reveal) },
	}
	cmd.Flags().BoolVar(&reveal, "reveal", false, "print the entry as it is in the file, with its secrets")
	a.completeServer(cmd)
	return cmd
}

// get prints an entry, also one with a fault.
func (a *app) get(alias string, reveal bool) error {
	set, err := a.loadLayers()
	if err != nil {
		return err
	}
	f := set.File()
	e, ok := f.Entry(alias)
	if !ok || f.Withheld(alias) != nil {
		_, err := f.Use(alias)
		return err
	}
	layer, file := "", ""
	if set.Several() {
		layer, file = set.Of(e), e.File
	}
	if e.Fault != nil {
		a.ui.Info("warning: %s", e.Fault.Error())
	}
	entry := e.Raw
	if !reveal {
		entry = config.MaskEntry(entry)
	}
	if a.ui.WantJSON() {
		return a.ui.EncodeJSON(struct {
			Name  string          `json:"name"`
			Entry json.RawMessage `json:"entry"`
			Layer string          `json:"layer,omitempty"`
			File  string          `json:"file,omitempty"`
		}{e.Name, entry, layer, file})
	}
	if layer != "" {
		a.ui.Info("in the file of the %s, %s", layer, file)
	}
	_, err = fmt.Fprintln(a.ui.Out, ui.Clean(config.Format(entry)))
	return err
}
