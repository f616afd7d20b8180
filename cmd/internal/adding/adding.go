// Package adding adds an entry to servers.json: from the registry, a local document or by
// hand. It asks for what is missing and says what is left to do. It also searches and shows
// records, and finds and writes newer versions of the servers that were added from a registry.
package adding

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/bundle"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/scaffold"
)

// Options are the user's decisions.
type Options struct {
	As string

	Env, Args, Vars, Headers []scaffold.InputValue

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
	Find func(ctx context.Context, arg string, pre bool) (*Found, error)
	// Dial returns the settings for connecting to a server.
	Dial func(config.Entry) dial.Options
	// Bundles is where bundles (mcpb) are unpacked; nil refuses them.
	Bundles *bundle.Store
	// AllowInsecureHTTP lets an entry send credentials over http.
	AllowInsecureHTTP bool
	// Approve decides whether an entry is written; nil has all written. No lock is held
	// meanwhile.
	Approve Approve
}

// Approve returns nil if an entry may be written, otherwise the error that Adder ends with.
type Approve func(ctx context.Context, p Proposal) error

// Proposal is an entry that is about to be written.
type Proposal struct {
	Plan *scaffold.Plan
	// ByHand entries are not made from a record.
	ByHand bool
	// Before is the entry that is replaced, nil for none.
	Before *config.Entry
}

// Adder adds one entry.
type Adder struct {
	Host
	Options Options

	bundles bundles
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
			return o, ui.Usage("--remote=%s: want a number from 1", c.Options.Remote)
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
	// try are the words of a first call behind the alias, nil where none is known.
	try []string
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
	change := set
	if c.Approve != nil {
		before, err := c.approved(ctx, add)
		if err != nil {
			return err
		}
		change = func(f *config.File) error {
			if !bytes.Equal(rawOf(f, add.plan.Alias), before) {
				return &ui.Error{Kind: "config", Err: fmt.Errorf("%s has changed in servers.json since the question was asked", add.plan.Alias)}
			}
			return set(f)
		}
	}
	if err := c.bundles.install(ctx, c.ConfigPath, add.plan.Entry); err != nil {
		return err
	}
	if err := c.update(change); err != nil {
		return err
	}
	// Another process may have removed the folder while no file had named it.
	return c.bundles.install(ctx, c.ConfigPath, add.plan.Entry)
}

// update changes the file that is edited.
func (c *Adder) update(change func(*config.File) error) error {
	if c.Update != nil {
		return c.Update(change)
	}
	return config.Update(c.ConfigPath, change)
}

// approved returns what the approved entry replaces, nil for nothing. What could not be
// written is an error before anybody is asked.
func (c *Adder) approved(ctx context.Context, add *addition) (before []byte, err error) {
	f, err := c.Load()
	if err != nil {
		return nil, err
	}
	p := Proposal{Plan: add.plan, ByHand: add.byHand}
	if e, ok := f.Entry(add.plan.Alias); ok {
		p.Before = &e
	}
	before = rawOf(f, add.plan.Alias)
	if err := f.Set(add.plan.Alias, add.plan.Entry, c.Options.Replace); err != nil {
		return nil, err
	}
	return before, c.Approve(ctx, p)
}

// rawOf returns the text of an entry, nil for none.
func rawOf(f *config.File, alias string) []byte {
	e, _ := f.Entry(alias)
	return bytes.Clone(e.Raw)
}
