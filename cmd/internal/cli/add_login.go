package cli

import (
	"context"
	"errors"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/auth"
	"github.com/mcpctl/mcpctl/runtime/config"
)

// probeTime bounds how long add waits for a server to say whether it wants a login.
const probeTime = 3 * time.Second

// offerLogin says that a server that was added wants a login, and offers one on a
// terminal. What goes wrong here does not undo the addition; ready is false for a server that
// nobody has logged in to.
func (c *addCommand) offerLogin(ctx context.Context, asker ui.Asker, alias string) (ready bool, err error) {
	entry, ok := c.added(alias)
	if !ok || !c.wantsLogin(ctx, entry) {
		return true, ctx.Err()
	}
	_, silent := asker.(*ui.NonInteractive)
	if silent || c.o.Yes {
		c.ui.Info("the server wants a login: %s", auth.LoginCommand(entry.Name))
		return false, nil
	}
	yes, err := asker.Confirm(ctx, ui.Question{Message: "The server wants a login. Log in now"})
	if err != nil {
		return false, err
	}
	if !yes {
		c.ui.Info("log in later: %s", auth.LoginCommand(entry.Name))
		return false, nil
	}
	commands := authCommands{c.app}
	z, err := commands.authorizer(entry)
	if err != nil {
		return false, err
	}
	t, err := commands.logIn(ctx, z, entry, false)
	switch {
	case errors.Is(err, context.Canceled):
		return false, err
	case err != nil:
		c.ui.Info("warning: not logged in: %v", err)
		c.ui.Info("try again: %s", auth.LoginCommand(entry.Name))
		return false, nil
	}
	c.ui.Info("logged in to %s%s", entry.Name, Until(t))
	return true, nil
}

// added returns the entry that was written, false for one that nobody logs in to: that
// of a program, or with an Authorization header.
func (c *addCommand) added(alias string) (config.Entry, bool) {
	if c.o.DryRun {
		return config.Entry{}, false
	}
	f, err := c.target.Load()
	if err != nil {
		return config.Entry{}, false
	}
	entry, err := f.Use(alias)
	return entry, err == nil && entry.URL != ""
}

// wantsLogin asks a server whether it wants credentials, unless there are any. A server
// that does not answer wants none.
func (c *addCommand) wantsLogin(ctx context.Context, entry config.Entry) bool {
	commands := authCommands{c.app}
	z, err := commands.authorizer(entry)
	if err != nil { // as where a variable is not set yet
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	if t, err := z.Current(ctx); err != nil || t.Access != "" {
		return false
	}
	_, wants, _ := commands.challengeOf(ctx, entry)
	return wants
}
