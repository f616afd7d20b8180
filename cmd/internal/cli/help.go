package cli

import (
	_ "embed"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

const (
	rootLong = `mcpctl finds MCP servers, calls their tools, generates typed Go clients for
them, and puts many of them behind one endpoint.`

	rootUsage = `  mcpctl SERVER                  list the tools of a server
  mcpctl SERVER TOOL [ARGS...]   call one: mcpctl fs read_file path=a
  mcpctl COMMAND [ARGS...]`
)

// helpTopic is a page of mcpctl help that is about no command.
type helpTopic struct {
	name, short string
	write       func(root *cobra.Command, w io.Writer) error
}

func helpTopics() []helpTopic {
	return []helpTopic{
		{"agent", "a page for programs and coding agents", writeAgent},
		{"commands", "all commands", writeCommands},
		{"exit-codes", "what exit codes mean", writeExitCodes},
		{"flags", "the flags of every command, and their environment variables", writeGlobalFlags},
	}
}

//go:embed agent.txt
var agentPage string

func writeAgent(_ *cobra.Command, w io.Writer) error {
	_, err := io.WriteString(w, agentPage)
	return err
}

func topicNamed(name string) *helpTopic {
	all := helpTopics()
	if i := slices.IndexFunc(all, func(t helpTopic) bool { return t.name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// addHelp makes an unknown word after help or completion an error: cobra's own
// commands print their help and exit with 0.
func addHelp(root *cobra.Command) {
	// Added before the command is looked up, so that --help may come first.
	root.InitDefaultHelpFlag()
	addVersionFlag(root)
	agent := false
	help := &cobra.Command{
		Use:     "help [COMMAND|TOPIC]",
		Short:   "Describe a command",
		Long:    "Describe a command. The topics are agent, commands, exit-codes and flags. --agent is the topic of that name.",
		Example: "  mcpctl help add\n  mcpctl help config validate\n  mcpctl help flags\n  mcpctl help --agent",
		GroupID: setupGroup,
		ValidArgsFunction: func(_ *cobra.Command, words []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			cmd, rest, err := root.Find(words)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var out []cobra.Completion
			for _, t := range helpTopics() {
				if cmd == root && strings.HasPrefix(t.name, begun) {
					out = append(out, cobra.CompletionWithDesc(t.name, t.short))
				}
			}
			for _, c := range cmd.Commands() {
				if c.IsAvailableCommand() && strings.HasPrefix(c.Name(), begun) {
					out = append(out, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, words []string) error {
			cmd := root
			if agent {
				return writeAgent(root, root.OutOrStdout())
			}
			if len(words) == 1 {
				if t := topicNamed(words[0]); t != nil {
					return t.write(root, root.OutOrStdout())
				}
			}
			for i, word := range words {
				sub := subcommand(cmd, word)
				if o, ok := otherWordOf(word); ok && i == 0 && sub == nil {
					return o.help(root)
				}
				if sub == nil {
					return unknownCommand(cmd, word)
				}
				cmd = sub
			}
			cmd.InitDefaultHelpFlag() // for the help text
			return cmd.Help()
		},
	}
	help.Flags().BoolVar(&agent, "agent", false, "what a program or a coding agent needs, on one page")
	root.SetHelpCommand(help)
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
