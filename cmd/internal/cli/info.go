package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/records"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/scaffold"
)

func newInfo(a *app) *cobra.Command {
	var pre bool
	cmd := &cobra.Command{
		Use:   "info NAME[@VERSION] | ./server.json",
		Short: "Show a registry record, and the entry that add would write",
		Long: "Show a registry record, the entry that add would write, and the values that you must supply.\n" +
			"Nothing is written. The default VERSION is the latest.",
		Example: "  mcpctl info io.github.acme/thing\n  mcpctl info io.github.acme/thing@1.2.0\n  mcpctl info ./server.json",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.info(cmd.Context(), args[0], pre) },

		ValidArgsFunction: cobra.FixedCompletions([]cobra.Completion{"json"}, cobra.ShellCompDirectiveFilterFileExt),
	}
	cmd.Flags().BoolVar(&pre, "pre", false, "allow a prerelease if the registry calls it the latest version")
	return cmd
}

// infoResult is the JSON of info. Entry is null for a record that add refuses; the
// first warning says why.
type infoResult struct {
	Server   json.RawMessage        `json:"server"`
	Meta     json.RawMessage        `json:"_meta"`
	Entry    json.RawMessage        `json:"entry"`
	Required []scaffold.Requirement `json:"required"`
	Optional []scaffold.Option      `json:"optional"`
	Warnings []string               `json:"warnings"`
}

func (a *app) info(ctx context.Context, arg string, pre bool) error {
	rec, err := registryCommands{a}.find(ctx, arg, pre)
	if err != nil {
		return err
	}
	plan, refused := rec.Plan(scaffold.Options{})
	if refused != nil {
		text := refused.Error()
		if hint := hintOf(refused); hint != "" {
			text += " (" + hint + ")"
		}
		plan = &scaffold.Plan{Warnings: append([]string{text}, rec.Notes...)}
	}
	if a.ui.WantJSON() {
		return a.ui.EncodeJSON(infoResult{
			rec.Record.Server.Raw, rec.Record.Meta.Raw, plan.Entry, records.NonNil(plan.Required), records.NonNil(plan.Optional), records.NonNil(plan.Warnings),
		})
	}
	shown := plan
	if refused != nil {
		shown = nil
	}
	var b strings.Builder
	b.WriteString(records.Describe(rec, shown))
	for _, w := range plan.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", ui.CleanLine(w))
	}
	_, err = io.WriteString(a.ui.Out, b.String())
	return err
}
