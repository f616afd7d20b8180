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
		if len(words) > 0 || a.adhoc.given() {
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
		others := slices.DeleteFunc(a.serverCompletions(begun), func(name string) bool { return slices.Contains(words, name) })
		return others, cobra.ShellCompDirectiveNoFileComp
	}
}

// serverCompletions returns the configured names; none if the file cannot be read,
// since a shell cannot show an error.
func (a *app) serverCompletions(begun string) []cobra.Completion {
	names, err := a.serverNames(a.settings.ConfigPath)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, begun) })
}

// serverFlag completes a flag of servers separated by commas.
func (a *app) serverFlag(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	a.setupCompletion(cmd)
	before, last := "", begun
	if i := strings.LastIndexByte(begun, ','); i >= 0 {
		before, last = begun[:i+1], begun[i+1:]
	}
	names := a.serverCompletions(last)
	for i := range names {
		names[i] = before + names[i]
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeFlag completes the values of a flag.
func completeFlag(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic("cli: completion of --" + flag + ": " + err.Error())
	}
}

// completeWords is completeFlag for a flag of fixed values.
func completeWords(cmd *cobra.Command, flag string, words ...string) {
	completeFlag(cmd, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}
