package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/layers"
	"github.com/mcpctl/mcpctl/schemas"
)

func newConfig(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "config",
		Short:   "Show, edit and check servers.json",
		Example: "  mcpctl config path\n  mcpctl config validate",
	}
	cmd.AddCommand(newConfigPath(a), newConfigEdit(a), newConfigValidate(a), newConfigTrust(a), newConfigSchema(a), newConfigView(a))
	cmd.AddCommand(newConfigValues(a)...)
	return parent(cmd)
}

func newConfigSchema(a *app) *cobra.Command {
	const servers, settings = "servers.json", "config.yaml"
	return &cobra.Command{
		Use: "schema [servers.json|config.yaml]", Short: "Print the JSON Schema of servers.json or config.yaml",
		Args: cobra.MaximumNArgs(1), ValidArgs: []string{servers, settings}, Annotations: map[string]string{anyFiles: "yes"},
		Long:    "Print the JSON Schema of servers.json, or of config.yaml, for editors and other programs.",
		Example: "  mcpctl config schema >servers.schema.json\n  mcpctl config schema config.yaml >config.schema.json",
		RunE: func(_ *cobra.Command, words []string) error {
			switch {
			case len(words) == 0 || words[0] == servers:
				return a.ui.PrintJSON(schemas.Servers())
			case words[0] == settings:
				return a.ui.PrintJSON(schemas.Config())
			}
			return ui.Usage("%q is no file with a schema", words[0]).WithHint("write %s or %s", servers, settings)
		},
	}
}

// configuring returns what the commands about the configuration need.
func (a *app) configuring() *ConfigCommand {
	return &ConfigCommand{
		UI: a.ui, Asker: a.questions(), Getenv: a.getenv, Settings: a.settings, Wanted: a.file.wanted,
		Layers: func() (*layers.Set, error) { return a.loadLayers() },
	}
}

func newConfigPath(a *app) *cobra.Command {
	project := false
	cmd := &cobra.Command{
		Use: "path", Short: "Print where servers.json is", Args: cobra.NoArgs, Annotations: map[string]string{anyFiles: "yes"},
		Long: "Print the path of servers.json, even if the file does not exist. The output is one line, also into a pipe, or an object with --json.",
		RunE: func(*cobra.Command, []string) error { return a.configuring().Path(project) },
	}
	cmd.Flags().BoolVar(&project, "project", false, "the file of this project")
	return cmd
}

func newConfigEdit(a *app) *cobra.Command {
	project := false
	cmd := &cobra.Command{
		Use: "edit", Short: "Open servers.json in $VISUAL or $EDITOR, then check it", Args: cobra.NoArgs, Annotations: map[string]string{anyFiles: "yes"},
		Long: "Open servers.json in $VISUAL or $EDITOR, then check it. A missing file is created.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printed(a.configuring().Edit(cmd.Context(), project))
		},
	}
	cmd.Flags().BoolVar(&project, "project", false, "the file of this project")
	return cmd
}

func newConfigValidate(a *app) *cobra.Command {
	var o ValidateOptions
	live := false
	cmd := &cobra.Command{
		Use: "validate", Short: "Check servers.json and config.yaml", Args: cobra.NoArgs, Annotations: map[string]string{brokenFiles: reported},
		Long: "Check servers.json, in all layers, and config.yaml. Each fault has its line, its column and a fix.\n" +
			"Faults exit with code 5, warnings with 0. As JSON: {\"path\",\"ok\",\"servers\",\"problems\"}, and \"files\" if there are several.\n\n" +
			"--fix fixes the faults of servers.json that have one meaning, and keeps the file as it was in servers.json.bak.\n\n" +
			"The tools and arguments that views name are looked up in the lists that servers sent last. One that is not there is a\n" +
			"warning. --live asks the servers now, and it is a fault. A pattern that matches nothing is a warning, and so are tools\n" +
			"that only: read leaves out because annotations are not trusted.\n\n" +
			"A policy that names what does not exist is a warning. It is a fault if the policy denies or asks and the name is nearly\n" +
			"that of a server, a token or a group that is configured.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Views, o.Doubts = a.missingInViews(cmd.Context(), live)
			o.Stored = !live
			o.Settings = a.broken
			o.Policies = a.unmatched(cmd.Context())
			return printed(a.configuring().Validate(o))
		},
	}
	cmd.Flags().BoolVar(&live, "live", false, "ask all servers, and compare the views with what they offer")
	cmd.Flags().BoolVar(&o.Fix, "fix", false, "fix what is safe to fix")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "with --fix: print what would be fixed and write nothing")
	cmd.Flags().BoolVar(&o.Project, "project", false, "with --fix: the file of this project")
	return cmd
}

// printed is the error of a command that has printed the faults which it has found.
func printed(err error) error {
	if errors.Is(err, ErrFaults) {
		return &Error{Code: exitConfig, Err: err, Silent: true}
	}
	return err
}

func newConfigTrust(a *app) *cobra.Command {
	var o TrustOptions
	cmd := &cobra.Command{
		Use: "trust [PATH]", Short: "Trust the servers.json of a project", Args: cobra.MaximumNArgs(1), Annotations: map[string]string{anyFiles: "yes"},
		Long: "Show what the servers.json of a project has mcpctl run and reach, and trust it. PATH is the project's folder or its\n" +
			"file; without it, it is the project of the working directory.\n\n" +
			"The file is trusted for what it says of servers now. After a change, mcpctl asks again. On a terminal, mcpctl config\n" +
			"trust asks before it trusts; elsewhere the command is the answer.",
		Example: "  mcpctl config trust\n  mcpctl config trust --list\n  mcpctl config trust --revoke ~/src/shop",
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.configuring().Trust(cmd.Context(), words, o)
		},
	}
	cmd.Flags().BoolVar(&o.Revoke, "revoke", false, "trust it no longer")
	cmd.Flags().BoolVar(&o.List, "list", false, "list what is decided about project files")
	return cmd
}
