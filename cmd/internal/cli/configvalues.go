package cli

import (
	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
)

const pathHelp = "PATH is a setting of config.yaml, such as timeout or serve.listGrace, or leads from a server on, as in\n" +
	"gh.env.TOKEN, gh.args[0] or mcpServers.gh.url. A name with a dot is quoted: '[\"my.server\"].url'."

// newConfigValues returns the commands about single values.
func newConfigValues(a *app) []*cobra.Command {
	var o ValueOptions
	run := func(do func(*ConfigCommand, []string) error) func(*cobra.Command, []string) error {
		return func(cmd *cobra.Command, words []string) error {
			p := a.configuring()
			p.Sources = settings.Options{Getenv: a.getenv, Flags: cmd.Flags()}
			return do(p, words)
		}
	}
	get := &cobra.Command{
		Use: "get PATH", Short: "Print one value of servers.json or config.yaml", Args: cobra.ExactArgs(1),
		Long: "Print one value. A text is printed as it is, also into a pipe, and anything else as JSON. A setting is printed as it\n" +
			"counts, whatever it comes from. Literal secrets are hidden as in mcpctl get.\n\n" + pathHelp,
		Example: "  mcpctl config get gh.url\n  mcpctl config get serve.listGrace",
		RunE:    run(func(p *ConfigCommand, words []string) error { return p.Get(words[0], o) }),
	}
	get.Flags().BoolVar(&o.Reveal, "reveal", false, "print literal secrets")
	set := &cobra.Command{
		Use: "set PATH VALUE | PATH:=JSON", Short: "Change one value of servers.json or config.yaml", Args: cobra.RangeArgs(1, 2),
		Annotations: map[string]string{brokenFiles: edited},
		Long: "Change one value. VALUE is text where the schema says so, and JSON elsewhere; PATH:=JSON is always JSON. PATH[] adds\n" +
			"to an array. Every other byte of the file stays. A value that would make the file invalid is refused.\n\n" + pathHelp,
		Example: "  mcpctl config set gh.env.TOKEN '${GITHUB_TOKEN}'\n  mcpctl config set 'fs.args[]' /srv\n" +
			"  mcpctl config set gh:='{\"url\":\"https://api.example.com/mcp\"}'\n  mcpctl config set timeout 2m",
		RunE: run(func(p *ConfigCommand, words []string) error { return p.Set(words, o) }),
	}
	unset := &cobra.Command{
		Use: "unset PATH", Short: "Remove one value of servers.json or config.yaml", Args: cobra.ExactArgs(1),
		Annotations: map[string]string{brokenFiles: edited},
		Long: "Remove one value, with the comments that belong to it. Every other byte of the file stays. A key of config.yaml that is\n" +
			"no setting is removed, too.\n\n" + pathHelp,
		Example: "  mcpctl config unset gh.env.TOKEN\n  mcpctl config unset timeout",
		RunE:    run(func(p *ConfigCommand, words []string) error { return p.Unset(words[0], o) }),
	}
	sources := &cobra.Command{
		Use: "sources", Short: "Show where each server and setting comes from", Args: cobra.NoArgs,
		Long: "Show where each server and each setting comes from: the layer and the file of a server, and for a setting the flag, the\n" +
			"variable, config.yaml or the default. As JSON: {\"servers\",\"settings\"}.",
		Example: "  mcpctl config sources\n  mcpctl config sources --json",
		RunE:    run(func(p *ConfigCommand, _ []string) error { return p.PrintSources() }),
	}
	for _, cmd := range []*cobra.Command{get, set, unset} {
		cmd.Flags().BoolVar(&o.Project, "project", false, "only the file of this project")
	}
	return []*cobra.Command{get, set, unset, sources}
}
