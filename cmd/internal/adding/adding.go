// Package adding adds an entry to servers.json: from the registry, a local document or by
// hand. It asks for what is missing and says what is left to do.
package adding

import (
	"context"
	"strconv"

	"github.com/mcpctl/mcpctl/cmd/internal/failure"
	"github.com/mcpctl/mcpctl/cmd/internal/records"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/scaffold"
)

// Options are the user's decisions.
type Options struct {
	As string

	Env, Args, Vars, Headers []scaffold.Given

	Package, Remote     string
	Pre, Replace, Force bool
	DryRun, Yes         bool
	Cwd                 string
	SSE                 bool
	CLI                 CLI
}

// CLI are the decisions about a command-line tool.
type CLI struct {
	On   bool
	Only []string
}

// Host is what an addition needs of the program that it runs in.
type Host struct {
	UI *ui.UI
	// Asker returns who is asked.
	Asker  func() ui.Asker
	Getenv func(string) string
	// ConfigPath is where servers.json is, which Load reads.
	ConfigPath string
	Load       func() (*config.File, error)
	// Update edits the file; nil is config.Update.
	Update func(edit func(*config.File) error) error
	// Find resolves a name in the registry, or a local document.
	Find func(ctx context.Context, arg string, pre bool) (*records.Found, error)
	// Dial returns the settings for connecting to a server.
	Dial func(config.Entry) dial.Options
	// AllowInsecureHTTP lets an entry send credentials over http.
	AllowInsecureHTTP bool
}

// Adder adds one entry.
type Adder struct {
	Host
	Options Options
}

// scaffoldOptions returns the user's decisions for package scaffold.
func (c *Adder) scaffoldOptions() (scaffold.Options, error) {
	o := scaffold.Options{
		Package: c.Options.Package, Env: c.Options.Env, Args: c.Options.Args, Vars: c.Options.Vars, Headers: c.Options.Headers, Force: c.Options.Force,
	}
	switch c.Options.Remote {
	case "":
	case "best":
		o.Remote = scaffold.AnyRemote
	default:
		n, err := strconv.Atoi(c.Options.Remote)
		if err != nil || n < 1 {
			return o, failure.Usage("--remote=%s: want a number from 1", c.Options.Remote)
		}
		o.Remote = n
	}
	return o, nil
}

// addition is an entry to be written, and what to print about it.
type addition struct {
	plan *scaffold.Plan
	// title is what is added, in a few words.
	title string
	// byHand entries are the user's own, so that placeholders with a value are not
	// reported.
	byHand bool
	// shown reports that the user has confirmed entry and warnings.
	shown bool
}

// write writes an entry to servers.json, or with --dry-run checks that it could.
func (c *Adder) write(ctx context.Context, add *addition) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := c.checkClearText(add.plan); err != nil {
		return err
	}
	set := func(f *config.File) error { return f.Set(add.plan.Alias, add.plan.Entry, c.Options.Replace) }
	if c.Options.DryRun {
		f, err := c.Load()
		if err != nil {
			return err
		}
		return set(f)
	}
	if c.Update != nil {
		return c.Update(set)
	}
	return config.Update(c.ConfigPath, set)
}
