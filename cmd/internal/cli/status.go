package cli

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/control"
	"github.com/mcpctl/mcpctl/runtime/config"
)

func newStatus(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status [PID|ADDR]",
		Short: "Show what running mcpctl serve processes do",
		Long: "Show the running mcpctl serve processes of this user: their clients and their servers. For each server it shows the\n" +
			"state, process, calls, latency, memory, last error, what it offers and what comes next. A process id or an address\n" +
			"selects one process. If none runs, the exit code is 1.\n\n" +
			`As JSON: {"serves":[{"pid","version","started","front","listening","config","ready","process","backends","clients","bounds"}]};` + "\n" +
			`one that does not answer is {"pid","error"}. Servers that a person has to log in to again, since the token ends within a` + "\n" +
			`day and cannot be refreshed, are in "logins", as in mcpctl auth status.`,
		Annotations: map[string]string{brokenFiles: noted},
		Example:     "  mcpctl status\n  mcpctl status 127.0.0.1:8080\n  mcpctl status --json",
		RunE: func(cmd *cobra.Command, words []string) error {
			if err := a.words(words, 0, 1, "status [PID|ADDR]"); err != nil {
				return err
			}
			which := ""
			if len(words) > 0 {
				which = words[0]
			}
			return (&serveCommands{UI: a.ui, StateDir: config.StateDir(a.getenv), Logins: authCommands{a}.ending}).Run(cmd.Context(), which)
		},
	}
	cmd.ValidArgsFunction = func(cmd *cobra.Command, words []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		a.setupCompletion(cmd)
		var out []cobra.Completion
		if len(words) == 0 {
			for _, pid := range control.PIDs(cmd.Context(), config.StateDir(a.getenv)) {
				if id := strconv.Itoa(pid); strings.HasPrefix(id, begun) {
					out = append(out, id)
				}
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
	return a.watched(cmd, nil)
}

// ending returns the configured servers that a person has to log in to again.
func (commands authCommands) ending() []Status {
	names, _, err := commands.namesOfTokens(nil)
	if err != nil {
		return nil
	}
	all, err := commands.tokenStore().Tokens("")
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(Statuses(all, names), func(s Status) bool {
		return s.Login == "" || strings.Contains(s.Name, "://")
	})
}
