package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
)

// writeUsage writes how a command is used: its own flags, and where those of all commands are.
func writeUsage(cmd *cobra.Command) error {
	var b strings.Builder
	if cmd.HasParent() {
		commandUsage(&b, cmd)
	} else {
		programUsage(&b, cmd)
	}
	_, err := io.WriteString(cmd.OutOrStderr(), b.String())
	return err
}

// programUsage writes the commands in groups: the first of each with a description.
func programUsage(b *strings.Builder, root *cobra.Command) {
	fmt.Fprintf(b, "Usage:\n%s\n\n", rootUsage)
	for _, g := range commandGroups() {
		title := g.title
		var others []string
		for i, c := range g.commands {
			cmd := subcommand(root, c.name)
			switch {
			case cmd == nil || !cmd.IsAvailableCommand():
			case i < g.first:
				fmt.Fprintf(b, "%-9s  %-9s %s\n", title, c.name, cmd.Short)
				title = ""
			default:
				others = append(others, c.name)
			}
		}
		if g.id == setupGroup {
			others = append(others, "completion", "help")
		}
		if len(others) > 0 {
			fmt.Fprintf(b, "%-9s  also: %s\n", title, strings.Join(others, ", "))
		}
	}
	b.WriteString("\nmcpctl help COMMAND describes one; mcpctl help flags, help exit-codes and\nhelp commands have the rest. For coding agents: mcpctl help --agent\n")
}

// commandUsage writes the usage of one command.
func commandUsage(b *strings.Builder, cmd *cobra.Command) {
	b.WriteString("Usage:\n")
	if cmd.Runnable() {
		fmt.Fprintf(b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(b, "  %s [command]\n", cmd.CommandPath())
	}
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(b, "\nAliases:\n  %s\n", cmd.NameAndAliases())
	}
	if cmd.HasExample() {
		fmt.Fprintf(b, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\nAvailable Commands:\n")
		writeList(b, cmd.Commands())
	}
	if flags := cmd.LocalFlags(); flags.HasAvailableFlags() {
		fmt.Fprintf(b, "\nFlags:\n%s\n", strings.TrimRight(flags.FlagUsages(), " \n"))
	}
	b.WriteString("\nmcpctl help flags lists the flags of every command.\n")
}

// writeList writes commands with what they do.
func writeList(b *strings.Builder, all []*cobra.Command) {
	width := 0
	for _, c := range all {
		if c.IsAvailableCommand() {
			width = max(width, len(c.Name()))
		}
	}
	for _, c := range all {
		if c.IsAvailableCommand() {
			fmt.Fprintf(b, "  %-*s  %s\n", width, c.Name(), c.Short)
		}
	}
}

// writeCommands writes all commands of the top level.
func writeCommands(root *cobra.Command, w io.Writer) error {
	var b strings.Builder
	for _, g := range commandGroups() {
		fmt.Fprintf(&b, "%s:\n", g.title)
		var all []*cobra.Command
		for _, c := range g.commands {
			if cmd := subcommand(root, c.name); cmd != nil {
				all = append(all, cmd)
			}
		}
		for _, name := range []string{"completion", "help"} {
			if cmd := subcommand(root, name); cmd != nil && g.id == setupGroup {
				all = append(all, cmd)
			}
		}
		writeList(&b, all)
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, strings.TrimSuffix(b.String(), "\n"))
	return err
}

// writeGlobalFlags writes the flags that each command takes, with their variables.
func writeGlobalFlags(root *cobra.Command, w io.Writer) error {
	_, err := fmt.Fprintf(w, `Every command takes these flags, before or behind its own words.

%s
Each of them but --url has a variable in the environment: MCPCTL_ and its name, such as
MCPCTL_NO_INPUT=1 for --no-input. Most are settings of config.yaml, beside servers.json,
too. A flag counts first, then the variable, then config.yaml.

A server that is in no file is given by --url URL, or by its command at the end:

  mcpctl --url URL TOOL [ARGS...]
  mcpctl TOOL [ARGS...] -- COMMAND [ARGS...]

Results go to standard output: text on a terminal, JSON into a pipe or with --json.
Everything else goes to standard error.
`, root.PersistentFlags().FlagUsages())
	return err
}

// exitMeanings are the exit codes with what they mean.
func exitMeanings() map[int]string {
	return map[int]string{
		exitOK: "done", exitOther: "another failure", exitUsage: "wrong usage or arguments", exitTool: "the tool reported an error",
		exitAuth: "a login is needed, or was refused", exitConfig: "a mistake in the configuration", exitConnect: "a server cannot be reached",
		exitTimeout: "a time limit has passed", exitProtocol: "a server broke the protocol", exitDenied: "a policy denies it",
		exitDrift: "something differs: lock, policy test, --check", exitInterrupted: "interrupted",
	}
}

func writeExitCodes(_ *cobra.Command, w io.Writer) error {
	means := exitMeanings()
	var codes []int
	for code := range means {
		codes = append(codes, code)
	}
	slices.SortFunc(codes, cmp.Compare[int])
	var b strings.Builder
	for _, code := range codes {
		fmt.Fprintf(&b, "%3d  %s\n", code, ui.CleanLine(means[code]))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
