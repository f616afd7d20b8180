package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/control"
	"github.com/mcpctl/mcpctl/cmd/internal/gateway"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
)

// serveStatus is the status of one process.
type serveStatus = gateway.Status

// serveCommands is what mcpctl status needs of the program that it runs in.
type serveCommands struct {
	UI *ui.UI
	// StateDir is where running serves are found.
	StateDir string
	// Logins returns the configured servers that a person has to log in to again.
	Logins func() []Status
}

// statusOf is one process in the answer of mcpctl status.
type statusOf struct {
	control.Found
	serveStatus
}

// Run prints the status of the processes that which names, of all for "".
func (c *serveCommands) Run(ctx context.Context, which string) error {
	all, err := control.Find(ctx, c.StateDir)
	if err != nil {
		return fmt.Errorf("look for mcpctl serve: %w", err)
	}
	var chosen []statusOf
	var failed error
	for _, f := range all {
		s := statusOf{Found: f}
		if s.Err == nil {
			if err := json.Unmarshal(f.Status, &s.serveStatus); err != nil {
				s.Err = fmt.Errorf("it is of another version: %w", err)
			}
		}
		if s.Err != nil {
			failed = errors.Join(failed, fmt.Errorf("process %d does not say what it does: %w", f.PID, s.Err))
		}
		if which == "" || s.is(which) {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		return c.noServe(which, all)
	}
	if c.UI.WantJSON() {
		serves := make([]json.RawMessage, len(chosen))
		for i, s := range chosen {
			if serves[i] = s.Status(); s.Err != nil {
				serves[i], _ = json.Marshal(map[string]any{"pid": s.Found.PID, "error": s.Err.Error()})
			}
		}
		answer := map[string]any{"serves": serves}
		if logins := c.Logins(); len(logins) > 0 {
			answer["logins"] = logins
		}
		return c.UI.EncodeJSON(answer)
	}
	answered := false
	for _, s := range chosen {
		if s.Err != nil {
			c.UI.Info("process %d does not say what it does: %v", s.Found.PID, s.Err)
			continue
		}
		if err := c.printStatus(&s.serveStatus, answered); err != nil {
			return err
		}
		answered = true
	}
	if !answered {
		return failed
	}
	for _, s := range c.Logins() {
		if _, err := fmt.Fprintf(c.UI.Out, "%s: the token ends %s; log in again with: %s\n", ui.CleanLine(s.Name), s.Ends(), s.Login); err != nil {
			return err
		}
	}
	return nil
}

// printStatus prints one process for people.
func (c *serveCommands) printStatus(s *serveStatus, more bool) error {
	now := time.Now()
	head := s.StatusHead(now) + "\n"
	if more {
		head = "\n" + head
	}
	if _, err := io.WriteString(c.UI.Out, head); err != nil {
		return err
	}
	if err := c.UI.Table(s.StatusTable(now, c.UI.Palette().State)); err != nil {
		return err
	}
	_, err := io.WriteString(c.UI.Out, s.StatusTroubles(now))
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
func (c *serveCommands) noServe(which string, all []control.Found) error {
	err := &ui.Error{Kind: "other", Err: errors.New("no mcpctl serve is running"), Remedy: "mcpctl serve --http starts one"}
	if which != "" && len(all) > 0 {
		ids := make([]string, len(all))
		for i, f := range all {
			ids[i] = strconv.Itoa(f.PID)
		}
		err = &ui.Error{Kind: "other", Err: fmt.Errorf("no mcpctl serve is %s", which), Remedy: "running are the processes " + strings.Join(ids, ", ")}
	}
	if c.UI.WantJSON() && which == "" {
		if err := c.UI.EncodeJSON(map[string]any{"serves": []any{}}); err != nil {
			return err
		}
	}
	return err
}
