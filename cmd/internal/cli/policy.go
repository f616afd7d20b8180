package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/policies"
	"github.com/mcpctl/mcpctl/runtime/config"
)

func newPolicy(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "policy",
		Short:   "Say who may do what: check, test and explain it",
		Long:    policies.Long,
		Example: policies.Example,
	}
	cmd.AddCommand(newPolicyShow(a), newPolicyCheck(a), newPolicyTest(a), newPolicyExplain(a), newPolicyImport(a))
	return parent(cmd)
}

// policyProgram returns what the commands about policies need.
func policyProgram(a *app) *policies.Program {
	lists := a.known()
	lists.Filter = nil // the policies are about all that there is
	return &policies.Program{UI: a.ui, Settings: a.settings, Load: a.loadConfig, Known: lists, StateDir: config.StateDir(a.getenv)}
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
		RunE: func(*cobra.Command, []string) error { return policyProgram(a).Show(cedar) },
	}
	cmd.Flags().BoolVar(&cedar, "cedar", false, "print their text in Cedar")
	return cmd
}

func newPolicyCheck(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "check", Short: "Find what is wrong with the policies", Long: policies.CheckLong, Example: "  mcpctl policy check", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return policyResult(policyProgram(a).Check(cmd.Context())) },
	}
}

func newPolicyTest(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "test [FILE...]", Short: "Test how the policies decide", Long: policies.TestLong, Example: "  mcpctl policy test\n  mcpctl policy test policy/merge_test.yaml",
		Annotations: map[string]string{anyFiles: "yes"},
		RunE: func(cmd *cobra.Command, files []string) error {
			return policyResult(policyProgram(a).Test(cmd.Context(), files))
		},
	}
}

func newPolicyExplain(a *app) *cobra.Command {
	var o policies.ExplainOptions
	cmd := &cobra.Command{
		Use: "explain ACTION SERVER/NAME", Short: "Say whether a request is allowed, and why", Long: policies.ExplainLong,
		Example: "  mcpctl policy explain call gh/merge --as alice --group eng\n  mcpctl policy explain read fs/file:///data/a.txt",
		Args:    cobra.ExactArgs(2), //nolint:mnd // they are in Use
		RunE: func(cmd *cobra.Command, words []string) error {
			o.Action, o.Item = words[0], words[1]
			return policyResult(policyProgram(a).Explain(cmd.Context(), o))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.As, "as", "", "the `PRINCIPAL`: an ID, a mail address, or the name of a token; local without it")
	f.StringArrayVar(&o.Groups, "group", nil, "one more `GROUP` of the principal (repeatable)")
	f.StringArrayVar(&o.Scopes, "scope", nil, "a `SCOPE` of its credential (repeatable)")
	f.StringVar(&o.Arguments, "args", "", "the arguments of the call, a `JSON` object")
	f.StringArrayVar(&o.Seen, "seen", nil, "a `LABEL` that the conversation has seen (repeatable)")
	return cmd
}

func newPolicyImport(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "import FILE", Short: "Turn the access list of another gateway into rules", Long: policies.ImportLong, Example: "  mcpctl policy import servers.json",
		Args: cobra.ExactArgs(1), Annotations: map[string]string{anyFiles: "yes"},
		RunE: func(_ *cobra.Command, words []string) error { return policyProgram(a).Import(words[0]) },
	}
}
