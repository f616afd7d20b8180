package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// completeServer completes a command's first word with the names of configured
// servers. Further words would need a connection, and a completion must not start
// servers.
func (a *app) completeServer(cmd *cobra.Command) {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, words []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		a.setupCompletion(cmd)
		if len(words) > 0 || a.settings.URL != "" {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.serverCompletions(begun), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeFirst completes servers beside the commands, for mcpctl SERVER, except
// those named like a command.
func (a *app) completeFirst(root *cobra.Command) {
	a.completeServer(root)
	servers := root.ValidArgsFunction
	root.ValidArgsFunction = func(cmd *cobra.Command, words []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		out, directive := servers(cmd, words, begun)
		return slices.DeleteFunc(out, func(name string) bool { return builtin(name) || subcommand(root, name) != nil }), directive
	}
}

// completeServers is completeServer for commands that take any number of them.
func (a *app) completeServers(cmd *cobra.Command) {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, words []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		a.setupCompletion(cmd)
		out := a.serverCompletions(begun)
		for _, w := range words {
			for i, name := range out {
				if name == w {
					out = append(out[:i], out[i+1:]...)
					break
				}
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// serverCompletions returns the configured names; none if the file cannot be read,
// since a shell cannot show an error.
func (a *app) serverCompletions(begun string) []cobra.Completion {
	names, err := a.serverNames()
	if err != nil {
		return nil
	}
	var out []cobra.Completion
	for _, name := range names {
		if strings.HasPrefix(name, begun) {
			out = append(out, name)
		}
	}
	return out
}
