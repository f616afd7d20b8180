package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/auditing"
	"github.com/mcpctl/mcpctl/cmd/internal/policies"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/runtime/config"
)

func newPolicy(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "policy",
		Short:   "Say who may do what: check, test and explain it",
		Long:    policies.Long,
		Example: policies.Example,
	}
	cmd.AddCommand(newPolicyShow(a), newPolicyCheck(a), newPolicyTest(a), newPolicyExplain(a), newPolicyLearn(a), newPolicyImport(a))
	return parent(cmd)
}

// unmatched returns what the policies name that does not exist. Nobody is asked anything.
func (a *app) unmatched(ctx context.Context) []settings.Unmatched {
	if a.settings.ConfigPath == "" {
		return nil
	}
	program := a.policyProgram()
	program.Load = func() (*config.File, error) {
		set, err := ReadLayers(a.getenv, a.settings.ConfigPath, a.settings.ConfigAlone)
		if err != nil {
			return nil, err
		}
		return set.File(), nil
	}
	return program.Unmatched(ctx)
}

// policyProgram returns what the commands about policies need.
func (a *app) policyProgram() *policies.Command {
	// The policies are about all that there is.
	return &policies.Command{UI: a.ui, Settings: a.settings, Load: a.loadConfig, Known: a.knownWhole(), StateDir: config.StateDir(a.getenv), Audit: a.auditProgram()}
}

// policyResult is the error of a command that has printed what it has found.
func policyResult(err error) error {
	switch {
	case errors.Is(err, policies.ErrFindings):
		return &Error{Code: exitConfig, Err: err, Silent: true}
	case errors.Is(err, policies.ErrDifferent):
		return &Error{Code: exitDrift, Err: err, Silent: true}
	case errors.Is(err, policies.ErrDenied):
		return &Error{Code: exitDenied, Err: err, Silent: true}
	}
	return err
}

func newPolicyShow(a *app) *cobra.Command {
	cedar := false
	cmd := &cobra.Command{
		Use: "show", Short: "Show the policies that count", Long: policies.ShowLong, Example: "  mcpctl policy show\n  mcpctl policy show --cedar", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.policyProgram().Show(cedar) },
	}
	cmd.Flags().BoolVar(&cedar, "cedar", false, "print their text in Cedar")
	return cmd
}

func newPolicyCheck(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "check", Short: "Find what is wrong with the policies", Long: policies.CheckLong, Example: "  mcpctl policy check", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return policyResult(a.policyProgram().Check(cmd.Context()))
		},
	}
}

func newPolicyTest(a *app) *cobra.Command {
	replay, q := "", auditing.Query{}
	cmd := &cobra.Command{
		Use: "test [FILE...]", Short: "Test how the policies decide", Long: policies.TestLong, Example: "  mcpctl policy test\n  mcpctl policy test policy/merge_test.yaml\n  mcpctl policy test --replay log --since 7d",
		RunE: func(cmd *cobra.Command, files []string) error {
			p := a.policyProgram()
			if replay == "" {
				return policyResult(p.Test(cmd.Context(), files))
			}
			if len(files) > 0 {
				return usagef("--replay %s takes no files of tests", replay)
			}
			return policyResult(p.Replay(cmd.Context(), replay, q))
		},
	}
	cmd.Flags().StringVar(&replay, "replay", "", "decide again what this `FILE` has, an export of the audit log; log is the log itself")
	auditFilters(cmd, &q)
	return cmd
}

func newPolicyLearn(a *app) *cobra.Command {
	from, q := "", auditing.Query{}
	cmd := &cobra.Command{
		Use: "learn", Short: "Propose rules for what the audit log says was used", Long: policies.LearnLong, Example: "  mcpctl policy learn --since 30d", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.policyProgram().Learn(cmd.Context(), from, q) },
	}
	cmd.Flags().StringVar(&from, "from", auditing.Log, "learn from this `FILE`, an export of the audit log; log is the log itself")
	auditFilters(cmd, &q)
	return cmd
}

func newPolicyExplain(a *app) *cobra.Command {
	var o policies.ExplainOptions
	cmd := &cobra.Command{
		Use: "explain ACTION SERVER/NAME", Short: "Say whether a request is allowed, and why", Long: policies.ExplainLong,
		Example: "  mcpctl policy explain call gh/merge --as alice --group eng\n  mcpctl policy explain read fs/file:///data/a.txt\n  mcpctl policy explain --record 3c1f-17",
		RunE: func(cmd *cobra.Command, words []string) error {
			if o.Record != "" {
				if len(words) > 0 || o.As != "" || o.Groups != nil || o.Scopes != nil || o.Seen != nil {
					return usagef("--record says who asked for what: of the other flags, only --args is possible")
				}
			} else {
				if err := a.words(words, 2, 2, "policy explain ACTION SERVER/NAME"); err != nil {
					return err
				}
				o.Action, o.Item = words[0], words[1]
			}
			return policyResult(a.policyProgram().Explain(cmd.Context(), o))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.As, "as", "", "the `PRINCIPAL`: an ID, a mail address, or the name of a token; local without it")
	f.StringArrayVar(&o.Groups, "group", nil, "one more `GROUP` of the principal (repeatable)")
	f.StringArrayVar(&o.Scopes, "scope", nil, "a `SCOPE` of its credential (repeatable)")
	f.StringVar(&o.Arguments, "args", "", "the arguments of the call, a `JSON` object")
	f.StringVar(&o.Record, "record", "", "explain the request of this `RECORD` of the audit log: RUN-N, or its number")
	f.StringArrayVar(&o.Seen, "seen", nil, "a `LABEL` that the conversation has seen (repeatable)")
	return cmd
}

func newPolicyImport(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "import FILE", Short: "Turn the access list of another gateway into rules", Long: policies.ImportLong, Example: "  mcpctl policy import servers.json",
		Args: cobra.ExactArgs(1), Annotations: map[string]string{anyFiles: "yes"},
		RunE: func(_ *cobra.Command, words []string) error { return a.policyProgram().Import(words[0]) },
	}
}
