package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/runtime/config"
)

func newAccess(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "access",
		Short: "Say who may reach mcpctl serve over HTTP",
		Long: `Say who may reach mcpctl serve over HTTP. It asks for a token if config.yaml says so:

  serve:
    auth:
      - token: {}`,
		Example: "  mcpctl access token add alice --expires 90d",
	}
	cmd.AddCommand(newAccessToken(a))
	return parent(cmd)
}

func newAccessToken(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "token", Short: "Create, list, replace and revoke tokens",
		Long: `Create, list, replace and revoke the tokens with which clients reach mcpctl serve, as Authorization: Bearer TOKEN. Only
hashes are kept. Changes hold at once in a running serve.`,
		Example: "  mcpctl access token add alice --group staff --expires 90d\n  mcpctl access token revoke alice",
	}
	c := func() *tokenCommand { return newToken(a.ui, config.StateDir(a.getenv), a.settings.Serve) }
	var groups []string
	var expires, grace string
	add := &cobra.Command{
		Use: "add NAME", Short: "Create a token and print it, this once",
		Long:    "Create a token for a person or a program and print it. It is shown this once, since only its hash is kept.",
		Example: "  mcpctl access token add ci --group ci --expires 90d",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			return c().Add(cmd.Context(), words[0], groups, expires)
		},
	}
	add.Flags().StringArrayVar(&groups, "group", nil, "put it into this `GROUP` (repeatable)")
	add.Flags().StringVar(&expires, "expires", "", "end it after this `TIME`, such as 90d or 2030-01-31")
	rotate := &cobra.Command{
		Use: "rotate ID|NAME", Short: "Replace a token by a new one and print that",
		Long:    "Replace a token by a new one of the same name and groups and print that. It lasts as long as the old one did.",
		Example: "  mcpctl access token rotate ci --grace 1h",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			return c().Rotate(cmd.Context(), words[0], grace)
		},
	}
	rotate.Flags().StringVar(&grace, "grace", "0s", "accept the old one for this long (`TIME`)")
	cmd.AddCommand(add, rotate, &cobra.Command{
		Use: "list", Short: "List the tokens, without their secrets", Example: "  mcpctl access token list",
		Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error { return c().List() },
	}, &cobra.Command{
		Use: "revoke ID|NAME...", Short: "Remove tokens: they are refused from now on", Example: "  mcpctl access token revoke ci",
		Args: cobra.MinimumNArgs(1), RunE: func(cmd *cobra.Command, words []string) error { return c().Revoke(cmd.Context(), words) },
	})
	return parent(cmd)
}

// parent returns a command that needs one of those below it.
func parent(cmd *cobra.Command) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		names, path := commandNames(cmd), strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
		if len(words) > 0 {
			return unknownName("unknown command "+path, words[0], names, cmd.CommandPath()+" --help")
		}
		return usagef("%s needs one of %s", path, strings.Join(names, ", ")).withHint("%s --help", cmd.CommandPath())
	}
	return cmd
}
