package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// The introduction of mcpctl --help.
const (
	rootLong = `mcpctl finds MCP servers, calls their tools, generates typed Go clients for them and
puts many of them behind one endpoint. The servers are listed in one file, servers.json.

  mcpctl SERVER                  short for mcpctl tools SERVER
  mcpctl SERVER TOOL [ARGS...]   short for mcpctl call SERVER TOOL [ARGS...]

A server that is in no file is given by --url URL, or by its command at the end:

  mcpctl --url URL TOOL [ARGS...]
  mcpctl TOOL [ARGS...] -- COMMAND [ARGS...]

Results go to standard output: text on a terminal, JSON into a pipe or with --json.
Everything else goes to standard error.

Exit codes: 0 ok, 1 another failure, 2 wrong usage or arguments, 3 the tool reported an
error, 4 authorisation, 5 configuration, 6 cannot connect, 7 timeout, 8 protocol error,
9 denied by a policy, 10 drift (lock, policy test, --check), 130 interrupted.

Global flags and those of serve have twins in the environment, such as MCPCTL_NO_INPUT
for --no-input, and most a setting in config.yaml beside servers.json. --url has neither.`

	rootExample = `  mcpctl search github issues
  mcpctl add notes -- mcpctl demo-server
  mcpctl notes
  mcpctl notes search_items text=board
  mcpctl generate notes
  mcpctl serve --http`
)

// addHelp makes an unknown word after help or completion an error: cobra's own
// commands print their help and exit with 0.
func addHelp(root *cobra.Command) {
	// Added before the command is looked up, so that --help may come first.
	root.InitDefaultHelpFlag()
	addVersionFlag(root)
	root.SetHelpCommand(&cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Describe a command",
		Example: "  mcpctl help add\n  mcpctl help config validate",
		GroupID: restGroup,
		ValidArgsFunction: func(_ *cobra.Command, words []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			cmd, rest, err := root.Find(words)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var out []cobra.Completion
			for _, c := range cmd.Commands() {
				if c.IsAvailableCommand() && strings.HasPrefix(c.Name(), begun) {
					out = append(out, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, words []string) error {
			cmd := root
			for _, word := range words {
				sub := subcommand(cmd, word)
				if sub == nil {
					return unknownCommand(cmd, word)
				}
				cmd = sub
			}
			cmd.InitDefaultHelpFlag() // for the help text
			return cmd.Help()
		},
	})
	root.InitDefaultCompletionCmd()
	if cmd := subcommand(root, "completion"); cmd != nil {
		cmd.Args = cobra.ArbitraryArgs
		cmd.Example = "  mcpctl completion bash >mcpctl.bash\n  mcpctl help completion bash"
		cmd.RunE = func(cmd *cobra.Command, words []string) error {
			if len(words) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, words[0])
		}
		if bash := subcommand(cmd, "bash"); bash != nil {
			script := bash.RunE
			bash.RunE = func(cmd *cobra.Command, words []string) error {
				if err := script(cmd, words); err != nil {
					return err
				}
				_, err := io.WriteString(cmd.Root().OutOrStdout(), Bash)
				return err
			}
		}
	}
}

func unknownCommand(parent *cobra.Command, word string) error {
	return unknownName("unknown command", word, commandNames(parent), parent.CommandPath()+" --help")
}
