package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/internal/revision"
)

// tries reports whether add starts what it has added: on a terminal, where somebody sees what
// happens, or with --check.
func (c *addCommand) tries() bool {
	if c.o.DryRun || c.o.CLI.On {
		return false
	}
	_, silent := c.questions()().(*ui.NonInteractive)
	return c.check || c.ui.ErrTTY && !silent && !c.o.Yes
}

// try lists the tools of a server that was added. What goes wrong does not undo the addition: it
// is a warning, and with --check an error.
func (c *addCommand) try(ctx context.Context, alias string) error {
	if !c.tries() {
		return nil
	}
	var tools []json.RawMessage
	err := c.with(ctx, []string{alias}, func(s *session, _ []string) (err error) {
		_, tools, err = s.list(ctx, revision.MethodToolsList, "tools")
		return err
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		c.ui.Info("%s has %s: mcpctl %s", alias, plain.Count(len(tools), "tool"), shellWord(alias))
		return nil
	case c.check:
		return &Error{Code: exitConnect, Server: alias, Err: fmt.Errorf("%s is added, and does not work yet: %w", ui.CleanLine(alias), err), Remedy: ui.HintOf(err)}
	}
	c.ui.Info("warning: %s is added, and does not work yet: %v", alias, err)
	if hint := ui.HintOf(err); hint != "" {
		c.ui.Info("hint: %s", hint)
	}
	c.ui.Info("try again: mcpctl doctor %s", shellWord(alias))
	return nil
}
