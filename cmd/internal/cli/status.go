package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/control"
	"github.com/mcpctl/mcpctl/cmd/internal/gateway"
	"github.com/mcpctl/mcpctl/cmd/internal/login"
	"github.com/mcpctl/mcpctl/cmd/internal/statusview"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
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
		Example: "  mcpctl status\n  mcpctl status 127.0.0.1:8080\n  mcpctl status --json",
		RunE: func(cmd *cobra.Command, words []string) error {
			if err := a.words(words, 0, 1, "status [PID|ADDR]"); err != nil {
				return err
			}
			which := ""
			if len(words) > 0 {
				which = words[0]
			}
			return (&statusCommand{a}).run(cmd.Context(), which)
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
	return cmd
}

// serveStatus is the status of one process.
type serveStatus = gateway.Status

// statusCommand is one run of mcpctl status.
type statusCommand struct{ *app }

// statusOf is one process in the answer of mcpctl status.
type statusOf struct {
	control.Found
	serveStatus
}

// run prints the status of the processes that which names, of all for "".
func (c *statusCommand) run(ctx context.Context, which string) error {
	all, err := control.Find(ctx, config.StateDir(c.getenv))
	if err != nil {
		return fmt.Errorf("look for mcpctl serve: %w", err)
	}
	var chosen []statusOf
	var failure error
	for _, f := range all {
		s := statusOf{Found: f}
		if s.Err == nil {
			if err := json.Unmarshal(f.Status, &s.serveStatus); err != nil {
				s.Err = fmt.Errorf("it is of another version: %w", err)
			}
		}
		if s.Err != nil {
			failure = errors.Join(failure, fmt.Errorf("process %d does not say what it does: %w", f.PID, s.Err))
		}
		if which == "" || s.is(which) {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		return c.noServe(which, all)
	}
	if c.ui.WantJSON() {
		serves := make([]json.RawMessage, len(chosen))
		for i, s := range chosen {
			if serves[i] = s.Status(); s.Err != nil {
				serves[i], _ = json.Marshal(map[string]any{"pid": s.Found.PID, "error": s.Err.Error()})
			}
		}
		answer := map[string]any{"serves": serves}
		if logins := c.logins(); len(logins) > 0 {
			answer["logins"] = logins
		}
		return c.ui.EncodeJSON(answer)
	}
	answered := false
	for _, s := range chosen {
		if s.Err != nil {
			c.ui.Note("process %d does not say what it does: %v", s.Found.PID, s.Err)
			continue
		}
		if err := c.printStatus(&s.serveStatus, answered); err != nil {
			return err
		}
		answered = true
	}
	if !answered {
		return failure
	}
	for _, s := range c.logins() {
		if _, err := fmt.Fprintf(c.ui.Out, "%s: the token ends %s; log in again with: %s\n", ui.CleanLine(s.Name), s.Ends(), s.Login); err != nil {
			return err
		}
	}
	return nil
}

// logins returns the configured servers that a person has to log in to again.
func (c *statusCommand) logins() []login.Status {
	commands := authCommands{c.app}
	names, _, err := commands.namesOfTokens(nil)
	if err != nil {
		return nil
	}
	all, err := commands.tokenStore().Tokens("")
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(login.Statuses(all, names), func(s login.Status) bool {
		return s.Login == "" || strings.Contains(s.Name, "://")
	})
}

// printStatus prints one process for people.
func (c *statusCommand) printStatus(s *serveStatus, more bool) error {
	now := time.Now()
	head := statusview.Head(s, now) + "\n"
	if more {
		head = "\n" + head
	}
	if _, err := io.WriteString(c.ui.Out, head); err != nil {
		return err
	}
	if err := c.ui.Table(statusview.Table(s, now, c.ui.Palette().State)); err != nil {
		return err
	}
	_, err := io.WriteString(c.ui.Out, statusview.Troubles(s, now))
	return err
}

// Status returns the process's answer.
func (s *statusOf) Status() json.RawMessage { return s.Found.Status }

// is reports whether a word names the process: by id, or by address or URL.
func (s *statusOf) is(word string) bool {
	if word == strconv.Itoa(s.Found.PID) {
		return true
	}
	for _, listening := range s.Listening {
		if u, err := url.Parse(listening); err == nil && (word == u.Host || word == listening || word == ":"+u.Port() || word == "localhost:"+u.Port()) {
			return true
		}
	}
	return false
}

// noServe returns the error of a status without processes.
func (c *statusCommand) noServe(which string, all []control.Found) error {
	err := (&Error{Code: exitOther, Err: errors.New("no mcpctl serve is running")}).withHint("mcpctl serve --http starts one")
	if which != "" && len(all) > 0 {
		ids := make([]string, len(all))
		for i, f := range all {
			ids[i] = strconv.Itoa(f.PID)
		}
		err = (&Error{Code: exitOther, Err: fmt.Errorf("no mcpctl serve is %s", which)}).withHint("running are the processes %s", strings.Join(ids, ", "))
	}
	if c.ui.WantJSON() && which == "" {
		if err := c.ui.EncodeJSON(map[string]any{"serves": []any{}}); err != nil {
			return err
		}
	}
	return err
}
