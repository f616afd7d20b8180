package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/policies"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/internal/configedit"
	"github.com/mcpctl/mcpctl/runtime/config"
)

func newAccess(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "access",
		Short: "Say who may reach mcpctl serve, and what they may use",
		Long: `Say who may reach mcpctl serve over HTTP, and who may use which tools. serve asks for a token if config.yaml says so:

  serve:
    auth:
      - token: {}`,
		Example: "  mcpctl access token add alice --expires 90d\n  mcpctl access allow alice gh fs/read_file",
	}
	cmd.AddCommand(newAccessRule(a, "allow"), newAccessRule(a, "deny"), newAccessDefault(a), newAccessToken(a))
	return parent(cmd)
}

// newAccessRule returns access allow, or access deny.
func newAccessRule(a *app, effect string) *cobra.Command {
	var r policies.NewRule
	var force bool
	short, long := "Let somebody use servers and tools", "Let somebody use servers and tools: a rule is added to access.rules of config.yaml."
	example := "  mcpctl access allow alice gh\n  mcpctl access allow crew fs/read_file 'fs/list_*' --only read-only\n  mcpctl access allow alice,bob '*'"
	if effect == "deny" {
		short, long = "Keep somebody from servers and tools", "Keep somebody from servers and tools: a rule is added to access.rules of config.yaml. Deny always wins."
		example = "  mcpctl access deny '*' gh/delete_repository --reason 'ask the admins'\n  mcpctl access deny ci fs"
	}
	cmd := &cobra.Command{
		Use: effect + " WHO TARGET...", Short: short, Example: example, Args: cobra.MinimumNArgs(2),
		Long: long + `
WHO is a token's name, a mail address, a group, local for this machine's user, or * for everybody; several are
separated by commas. TARGET is a server, SERVER/TOOL, prompt:SERVER/NAME, resource:SERVER/URI, a label, or *; names
may have a *. The rule holds at once in a running serve. mcpctl policy has more: conditions, tests, explanations.`,
		RunE: func(cmd *cobra.Command, words []string) error {
			if r.Only != "" && r.Only != "read-only" {
				return usagef("--only is %q, want read-only", r.Only)
			}
			who := policies.Words(a.principals(strings.Split(words[0], ",")))
			if r.To = words[1:]; effect == "deny" {
				r.Deny = who
			} else {
				r.Allow = who
			}
			r.MayMatchNothing = force
			return a.policyProgram().Add(cmd.Context(), &r, a.configuring().editSettings)
		},
		ValidArgsFunction: a.accessWords,
	}
	f := cmd.Flags()
	f.StringVar(&r.Only, "only", "", "only what `KIND` says: read-only")
	f.StringVar(&r.Reason, "reason", "", "tell who is denied this `TEXT`")
	f.StringVar(&r.ID, "id", "", "call the rule `NAME`; without it, it is rule-1 and so on")
	f.BoolVar(&force, "force", false, "also if it names what does not exist")
	completeWords(cmd, "only", "read-only")
	return cmd
}

// principals returns who is meant by names: that of a token, unless a group has it, means the
// token.
func (a *app) principals(names []string) []string {
	tokens, groups := a.knownPrincipals()
	for i, name := range names {
		if slices.Contains(tokens, name) && !slices.Contains(groups, name) {
			names[i] = "token|" + name
		}
	}
	return names
}

// knownPrincipals returns the names of tokens, and the groups of policies and of tokens.
func (a *app) knownPrincipals() (tokens, groups []string) {
	for _, t := range a.settings.StaticTokens(config.StateDir(a.getenv)) {
		tokens = append(tokens, t.Name)
		groups = append(groups, t.Groups...)
	}
	if p, err := settings.ReadPolicies(a.settings.File(), false); err == nil { // else editing says what is wrong
		groups = slices.AppendSeq(groups, maps.Keys(p.Config.Groups))
	}
	return tokens, groups
}

// accessWords completes who and what a rule is about.
func (a *app) accessWords(cmd *cobra.Command, words []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	a.setupCompletion(cmd)
	var out []cobra.Completion
	if len(words) == 0 {
		tokens, groups := a.knownPrincipals()
		names := slices.Concat([]string{"*", "local"}, tokens, groups)
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			if strings.HasPrefix(name, begun) {
				out = append(out, name)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
	f, err := a.loadConfig()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, e := range f.Enabled() {
		if strings.HasPrefix(e.Name, begun) {
			out = append(out, e.Name)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

func newAccessDefault(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "default allow|deny|read-only", Short: "Say what counts where no rule does", Args: cobra.ExactArgs(1),
		ValidArgs: []string{"allow", "deny", "read-only"},
		Long: `Say what counts for what no rule allows or denies: access.default of config.yaml. read-only allows what only reads.
Without it, everything is allowed where serve asks for no credentials, and nothing where it does.`,
		Example: "  mcpctl access default deny",
		RunE: func(_ *cobra.Command, words []string) error {
			if !slices.Contains([]string{"allow", "deny", "read-only"}, words[0]) {
				return usagef("%s is no default", words[0]).withHint("write allow, deny or read-only")
			}
			err := a.configuring().changeSettings("access.default", "set", ValueOptions{}, func(before []byte) ([]byte, error) {
				return configedit.SetYAML(before, words[0], "access", "default")
			})
			if err == nil && words[0] != "allow" {
				a.ui.Info("note: this holds for your own commands, too; mcpctl access allow local '*' lets them do everything")
			}
			return err
		},
	}
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
		Use: "add NAME", Aliases: []string{"create"}, Short: "Create a token and print it, this once",
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
