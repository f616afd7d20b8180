// Package cli is mcpctl's command tree: one file per command. A command parses its
// words, calls one library package and passes the result to package ui; exit codes
// are decided in exit.go alone.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpctl/mcpctl/cmd/internal/adding"
	"github.com/mcpctl/mcpctl/cmd/internal/policies"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/layers"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/transport"
)

// app is one run of mcpctl.
type app struct {
	environment
	endingSignals

	// dial replaces connect in tests, asker the user at the terminal; nil is the
	// real one.
	dial  func(ctx context.Context, server string, h *host) (*runtime.Client, error)
	asker ui.Asker
}

// environment is what a run works with: streams, environment variables, settings
// and servers.json.
type environment struct {
	ui     *ui.UI
	getenv func(string) string
	log    *slog.Logger

	// settings are read before a command runs, and determine log and ui.
	settings settings.Settings
	// broken is what is wrong with config.yaml, for the command to report; nil for nothing.
	broken *config.Problem

	stored storedFiles
	short  shortGuard

	built string // the version of this program, once the command tree is built
	file  serversFile
	adhoc adhocServer
	given givenWords

	// side says that servers are reached side by side, so that no line shows one alone.
	side bool
}

// storedFiles are what is kept of servers from one command to the next.
type storedFiles struct {
	tokens tokenStore
	eras   eraCache
}

// serversFile is servers.json as far as it has been read.
type serversFile struct {
	// set was read by dispatch, for the user's file at path, for the command.
	set  *layers.Set
	path string
	// last is what was read last, nil for nothing.
	last *layers.Set
	// shared keeps set, which does not change after shareConfig.
	shared bool
	// scope is the file that what is learned of the servers is kept for, once it is known:
	// that of the project, if it counts.
	scope string
	// wanted says that --config names the file, and the command does not create it.
	wanted bool
	// command says that a command runs, not a completion: the user may be asked whether a
	// project's file is trusted. declined says that the answer was no.
	command, declined bool
	noted             sync.Once
	// policies say what commands may do with the servers; nil: everything.
	policies *policies.Policies
	// approve decides whether add writes an entry; nil has all written.
	approve adding.Approve
}

// Main runs mcpctl and returns its exit code. args are the words after the
// program's name.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if isGuardian(args) {
		transport.Guardian(stdin)
		return exitOK
	}
	a := &app{
		environment:   environment{ui: ui.New(stdin, stdout, stderr), getenv: os.Getenv, log: slog.New(slog.DiscardHandler)},
		endingSignals: endingSignals{Hurry: make(chan struct{})},
	}
	code, ended := a.RunUntilSignal(func(ctx context.Context) int { return a.run(ctx, args) })
	if !ended {
		return exitInterrupted
	}
	return code
}

// run is Main with its streams and context made.
func (a *app) run(ctx context.Context, words []string) int {
	// For failures before the flags are parsed.
	a.ui.JSON = asksJSON(words, a.getenv)
	root := newRootFor(a, words)
	a.settings.Color = a.getenv(settings.Variable("color"))
	if color, given := (lineFlags{root.PersistentFlags()}).Value(words, "color"); given {
		a.settings.Color = color
	}
	a.settings.ColorSet = a.settings.Color != ""
	a.ui.ErrColor = a.wantColor(a.ui.ErrTTY)
	words, err := a.dispatch(root, words)
	if err == nil {
		root.SetArgs(words)
		err = root.ExecuteContext(ctx)
	}
	a.short.close()
	if err != nil && !ui.ReaderGone(err) {
		a.report(err)
		return exitCode(err)
	}
	return exitOK
}

// newRoot builds the command tree.
func newRoot(a *app) *cobra.Command { return a.withCommands(newBareRoot(a)) }

func (a *app) withCommands(root *cobra.Command) *cobra.Command {
	addCommands(root, a)
	addHelp(root)
	a.showStart(root)
	a.completeFirst(root)
	usageErrors(root)
	return root
}

// newRootFor builds the command tree as far as it is needed for words: all of it takes longer
// than what most commands do. Words that begin with no command are short for one of three.
func newRootFor(a *app, words []string) *cobra.Command {
	root := newBareRoot(a)
	first := lineFlags{root.PersistentFlags()}.First(words)
	if first < 0 {
		return a.withCommands(root)
	}
	var needed []command
	switch c, ok := commandNamed(words[first]); {
	case ok && c.name == "call": // which is describe with --help
		needed = []command{c, {"describe", newDescribe}}
	case ok:
		needed = []command{c}
	case config.Reserved(words[first]) || builtin(words[first]) || isURL(words[first]):
		return a.withCommands(root)
	default:
		needed = []command{{"tools", newTools}, {"call", newCall}, {"describe", newDescribe}}
	}
	root.CompletionOptions.DisableDefaultCmd = true
	for _, c := range needed {
		root.AddCommand(c.build(a))
	}
	root.InitDefaultHelpFlag()
	root.InitDefaultVersionFlag()
	usageErrors(root)
	return root
}

// newBareRoot returns mcpctl without commands.
func newBareRoot(a *app) *cobra.Command {
	a.built = buildVersion().Version
	root := &cobra.Command{
		Use:           "mcpctl",
		Short:         "Find, call, generate clients for and serve MCP servers",
		Long:          rootLong,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.HasParent() && cmd.Flags().Changed("version") { // whatever config.yaml says
				return nil
			}
			return a.setup(cmd)
		},
	}
	root.SetIn(a.ui.In)
	root.SetOut(a.ui.Out)
	root.SetErr(a.ui.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok && bad.GetFlag().Value.Type() == pairFlag {
			err = fmt.Errorf("--%s: %w", bad.GetFlag().Name, bad.Unwrap()) // its own text quotes the value
		}
		return usagef("%w", err).withHint("%s --help", cmd.CommandPath())
	})
	root.SetUsageFunc(writeUsage)
	a.addGlobalFlags(root)
	return root
}
