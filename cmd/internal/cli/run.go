package cli

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/internal/lockfile"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
)

func newRun(a *app) *cobra.Command {
	noPolicy := false
	cmd := &cobra.Command{
		Use:   "run SERVER [-- ARGS...]",
		Short: "Run a configured server instead of mcpctl",
		Long: "Run the command of a configured stdio server instead of mcpctl, for hosts and for debugging. Its placeholders are\n" +
			"replaced, and it gets its usual environment and directory. ARGS are added to its arguments.\n\n" +
			"Nothing reads or changes what the server and its client say. On Linux and macOS the process becomes the server;\n" +
			"on Windows mcpctl waits for it and ends with its exit code. For a remote server, use mcpctl bridge.\n\n" +
			"A server that policies are about is not run (exit 9): mcpctl bridge obeys them.",
		Example: "  mcpctl run fs\n  mcpctl run fs -- --verbose",
		Args:    cobra.ArbitraryArgs, // checked with the place of "--"
		RunE: func(cmd *cobra.Command, words []string) error {
			dash := cmd.ArgsLenAtDash()
			if dash < 0 {
				dash = len(words)
			}
			return a.become(words[:dash], words[dash:], noPolicy)
		},
	}
	cmd.Flags().BoolVar(&noPolicy, "no-policy", false, "run the server although policies are about it, which are not asked")
	a.completeServer(cmd)
	return cmd
}

// become runs the server that the words name, with more arguments.
func (a *app) become(words, more []string, noPolicy bool) error {
	if a.settings.URL != "" {
		return usagef("run starts a command, and --url is a remote server").withHint("mcpctl bridge URL")
	}
	if len(words) > 1 {
		return usagef("unexpected argument %q", words[1]).
			withHint("mcpctl run %s -- %s", shellWord(words[0]), shellLine(words[1:]))
	}
	if err := a.words(words, 1, 1, "run SERVER [-- ARGS...]"); err != nil {
		return err
	}
	entry, err := a.entry(words[0])
	if err != nil {
		return err
	}
	switch entry.Transport() {
	case config.TransportStdio:
	case config.TransportCLI:
		return usagef("%s is a command-line tool, which speaks MCP only through mcpctl", entry.Name).withHint("mcpctl bridge %s", entry.Name)
	default:
		return usagef("%s is a remote server: there is nothing to run", entry.Name).withHint("mcpctl bridge %s", entry.Name)
	}
	if err := a.file.policies.Unread(entry, "run", noPolicy, a.ui.Say); err != nil {
		return a.withServer(entry.Name, err)
	}
	if entry.Pin == string(lockfile.Hold) {
		a.ui.Info("warning: %s has \"pin\": \"hold\", and run compares nothing (mcpctl bridge %s does)", entry.Name, entry.Name)
	}
	if a.settings.Audit != nil {
		a.ui.Info("warning: run reads no messages, so the audit log does not have them (mcpctl bridge %s records them)", entry.Name)
	}
	var streams dial.Streams
	streams.In, _ = a.ui.In.(*os.File)
	streams.Out, _ = a.ui.Out.(*os.File)
	streams.Err, _ = a.ui.Err.(*os.File)
	code, err := dial.Replace(entry, more, a.dialOptions(entry), streams)
	if err == nil && code != 0 {
		return &Error{Code: code, Err: errors.New(entry.Name + " failed"), Silent: true} // it has said why itself
	}
	return a.withServer(entry.Name, err)
}
