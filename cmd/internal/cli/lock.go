package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/locking"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/packages"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
)

func newLock(a *app) *cobra.Command {
	lock := &cobra.Command{Use: "lock [ALIAS...]", Short: "Lock what servers offer", Long: locking.LockLong, Example: locking.LockExample, Args: cobra.ArbitraryArgs}
	lock.RunE = func(cmd *cobra.Command, names []string) error { return a.lockProgram().Lock(cmd.Context(), names) }
	diff := &cobra.Command{Use: "diff [ALIAS...]", Short: "Show how servers differ from the lock", Long: locking.DiffLong, Example: "  mcpctl lock diff\n  mcpctl lock diff fs"}
	diff.RunE = func(cmd *cobra.Command, names []string) error { return a.lockProgram().Diff(cmd.Context(), names) }
	offline, yes := false, false
	verify := &cobra.Command{Use: "verify [ALIAS...]", Short: "Check that servers are as they are locked", Long: locking.VerifyLong, Example: "  mcpctl lock verify\n  mcpctl lock verify --offline"}
	verify.RunE = func(cmd *cobra.Command, names []string) error {
		return a.lockProgram().Verify(cmd.Context(), names, offline)
	}
	verify.Flags().BoolVar(&offline, "offline", false, "start no server: check the entries and the lock file")
	approve := &cobra.Command{Use: "approve ALIAS[/NAME]", Short: "Take over what a server says now", Long: locking.ApproveLong, Example: "  mcpctl lock approve fs\n  mcpctl lock approve fs/read_file --yes", Args: cobra.ExactArgs(1)}
	approve.RunE = func(cmd *cobra.Command, words []string) error {
		return a.lockProgram().Approve(cmd.Context(), words[0], yes)
	}
	approve.Flags().BoolVarP(&yes, "yes", "y", false, "ask for no confirmation")
	for _, cmd := range []*cobra.Command{lock, diff, verify, approve} {
		a.completeServers(cmd)
	}
	lock.AddCommand(diff, verify, approve)
	return lock
}

// lockProgram returns what the commands about the lock need.
func (a *app) lockProgram() *locking.Command {
	return &locking.Command{
		UI: a.ui, Load: a.loadConfig, ConfigPath: a.settings.ConfigPath, Kind: func(err error) string { return kinds[exitCode(err)] }, Hint: ui.HintOf, Keep: a.known().Keep,
		Packages: &packages.Tools{Hurry: a.Hurry},
		Dial: func(entry config.Entry) dial.Options {
			o := a.dialOptions(entry)
			o.Grace, o.ShutdownTimeout, o.Lookup = callGrace, callShutdown, os.LookupEnv
			return o
		},
	}
}
