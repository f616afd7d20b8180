package cli

import (
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"
)

// watchEvery is how often --watch looks: as often as watch(1).
const watchEvery = 2 * time.Second

// paged has what a command prints read in a pager, if it is longer than the terminal.
func (a *app) paged(cmd *cobra.Command) *cobra.Command {
	one := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		if !a.ui.OutTTY { // where the pager is need not be known
			return one(cmd, words)
		}
		environ := os.Environ()
		if a.getenv("LESS") == "" {
			environ = append(environ, "LESS=FRX") // as git has it: colours, and nothing to quit where all of it fits
		}
		return a.ui.Page(a.pager(), environ, func() error { return one(cmd, words) })
	}
	return cmd
}

// pager returns what shows long lists: $MCPCTL_PAGER, $PAGER, else less; "" for nothing.
func (a *app) pager() string {
	for _, name := range []string{"MCPCTL_PAGER", "PAGER"} {
		switch p := a.getenv(name); p {
		case "":
		case "cat":
			return ""
		default:
			return p
		}
	}
	if a.getenv("TERM") == "dumb" {
		return ""
	}
	less, err := exec.LookPath("less")
	if err != nil {
		return ""
	}
	return shellWord(less)
}

// watched gives a command --watch, which shows what the command prints again whenever it changes.
// Words for which that is not possible have refuse return why; nil refuses none.
func (a *app) watched(cmd *cobra.Command, refuse func(words []string) error) *cobra.Command {
	var watch bool
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "show it again whenever it changes, until ^C")
	one := cmd.RunE
	a.paged(cmd)
	once := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		if !watch {
			return once(cmd, words)
		}
		if refuse != nil {
			if err := refuse(words); err != nil {
				return err
			}
		}
		return a.ui.Watch(cmd.Context(), watchEvery, func() error {
			a.file.set, a.file.shared = nil, false // they may have changed
			err := one(cmd, words)
			if err == nil || exitCode(err) == exitUsage || cmd.Context().Err() != nil {
				return err
			}
			a.report(err) // it may be over the next time
			return nil
		})
	}
	return cmd
}
