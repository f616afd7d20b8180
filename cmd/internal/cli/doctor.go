package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/auditing"
	"github.com/mcpctl/mcpctl/cmd/internal/doctor"
	"github.com/mcpctl/mcpctl/cmd/internal/locking"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/configedit"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// doctorCommand is one run of mcpctl doctor.
type doctorCommand struct {
	*app
	fix bool
}

func newDoctor(a *app) *cobra.Command {
	c := &doctorCommand{app: a}
	cmd := &cobra.Command{
		Use:   "doctor [SERVER...]",
		Short: "Check servers and show how to fix what is wrong",
		Long: "Check all servers, or those named. doctor reads their entries, starts them, lists their tools and looks at what they\n" +
			"write. It checks the program, the variables, the protocol, the login, the schemas, and who may read secrets. Each finding\n" +
			"has a command that fixes it.\n\n" +
			"No tool is called, and nobody is logged in. doctor waits for a server no longer than --connect-timeout. It finds out\n" +
			"whether a package exists by starting it, since runners have their own caches and registries.\n\n" +
			"The exit code is that of the worst finding, in this order: config 5, connect 6, timeout 7, protocol 8, auth 4.\n" +
			"Warnings do not fail. As JSON: {\"servers\":[{\"name\",\"ok\",\"checks\":[{\"id\",\"ok\",\"message\",\"fix\",\"level\"}]}],\"files\":[…]}.",
		Example: "  mcpctl doctor\n  mcpctl doctor gh --json\n  mcpctl doctor --fix\n  mcpctl doctor -- npx -y @modelcontextprotocol/server-memory",
		Args:    cobra.ArbitraryArgs, Annotations: map[string]string{brokenFiles: reported},
		RunE: func(cmd *cobra.Command, words []string) error { return c.run(cmd.Context(), words) },
	}
	cmd.Flags().BoolVar(&c.fix, "fix", false, "fix who may read files with secrets, and offer to name who gets the secret of an entry")
	a.completeServers(cmd)
	a.adhoc.takenBy(cmd)
	return cmd
}

func (c *doctorCommand) run(ctx context.Context, words []string) error {
	entries, files, err := c.what(words)
	if err != nil {
		return err
	}
	files.Fix = c.fix
	d := &doctor.Doctor{Turns: proxy.NewStartLimiter(), Dial: c.options, Kind: func(err error) string { return kinds[exitCode(err)] }, Hint: ui.HintOf, Drift: locking.Drift(c.settings.ConfigPath), Shared: c.settings.Serve.Access.Required()}
	if files.Config != nil {
		d.Warnings = files.Config.Warnings()
	}
	reports, err := c.check(ctx, d, entries)
	if err != nil {
		return err
	}
	if c.fix {
		if err := c.nameIssuers(ctx, d, entries, reports); err != nil {
			return err
		}
	}
	result := &doctor.Result{Servers: reports, Files: append(files.Check(), accessReports(ctx, files.Path, c.settings, c.getenv, c.unmatched(ctx))...)}
	if c.broken != nil {
		result.Files = append(result.Files, doctor.Settings(c.broken))
	}
	if files.Path != "" { // else it is about a server alone
		result.Files = append(result.Files, auditing.Check(ctx, c.settings.Audit, config.StateDir(c.getenv), c.getenv)...)
		missing, doubts := c.missingInViews(ctx, false)
		result.Files = append(result.Files, doctor.Views(c.settings.File(), append(missing, doubts...))...)
	}
	if err := c.print(result, len(words) > 0 || c.settings.Verbose > 0); err != nil {
		return err
	}
	if code, ok := codeOf(result.Worst()); ok {
		return &Error{Code: code, Err: errors.New("doctor found faults"), Silent: true} // they are printed
	}
	return nil
}

// what returns the servers to check, and the files that they are in.
func (c *doctorCommand) what(words []string) ([]config.Entry, doctor.Files, error) {
	files := doctor.Files{Path: c.settings.ConfigPath}
	files.Tokens = authCommands{c.app}.tokenFiles().Files()
	if c.adhoc.given() {
		if len(words) > 0 {
			return nil, files, usagef("unexpected argument %q", words[0]).withHint("mcpctl doctor --help")
		}
		entry, err := c.entryOrURL("")
		return []config.Entry{entry}, doctor.Files{}, err
	}
	set, err := c.loadLayers()
	if broken, ok := errors.AsType[*config.Problem](err); ok {
		files.Path, files.Broken = broken.File, broken
		return nil, files, nil
	}
	if err != nil {
		return nil, files, err
	}
	f := set.File()
	files.Config, files.Layers = f, set.Layers
	if len(words) == 0 {
		return f.Enabled(), files, nil
	}
	var entries []config.Entry
	for _, name := range words {
		entry, ok := f.Entry(name)
		if !ok {
			_, err := f.Use(name)
			return nil, files, &Error{Server: name, Err: err, Remedy: ui.HintOf(err)}
		}
		entries = append(entries, entry)
	}
	return entries, files, nil
}

// options are those of every command. What servers log would stand in the live table.
func (c *doctorCommand) options(entry config.Entry) dial.Options {
	o := c.dialOptions(entry)
	o.Grace, o.ShutdownTimeout, o.Lookup = callGrace, callShutdown, os.LookupEnv
	if c.settings.Verbose == 0 {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// check checks the servers, with a live table on a terminal.
func (c *doctorCommand) check(ctx context.Context, d *doctor.Doctor, entries []config.Entry) ([]*doctor.Report, error) {
	if c.settings.Verbose > 0 || c.ui.JSON {
		return d.Servers(ctx, entries, nil)
	}
	table := ui.NewLiveTable(c.ui)
	defer table.Stop()
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name
	}
	begun, done := make([]bool, len(entries)), make([]*doctor.Report, len(entries))
	return d.Servers(ctx, entries, func(i int, report *doctor.Report) {
		begun[i], done[i] = true, report
		table.Draw(doctor.Progress(names, begun, done))
	})
}

// nameIssuers offers on a terminal to write the authorization server that a server names
// into its entry, where the entry has a secret and names none; and checks it again.
func (c *doctorCommand) nameIssuers(ctx context.Context, d *doctor.Doctor, entries []config.Entry, reports []*doctor.Report) error {
	asker := c.questions()()
	if _, silent := asker.(*ui.NonInteractive); silent {
		return nil
	}
	for i, r := range reports {
		if r.Unnamed == nil || r.Unnamed.Issuer == "" {
			continue
		}
		entry, issuer := entries[i], r.Unnamed.Issuer
		target, err := c.targetOf(entry)
		if err != nil {
			return err
		}
		yes, err := asker.Confirm(ctx, ui.Question{
			Message: fmt.Sprintf("%s names %s as its authorization server. Send the secret of its entry there", entry.Name, plain.Line(issuer)),
			Help:    "Yes, if that is where the client of the entry is registered: it becomes auth.issuer in " + target.Path + ". Whoever runs the server can name anybody.",
		})
		if err != nil {
			return err
		}
		if !yes {
			continue
		}
		value, err := json.Marshal(issuer)
		if err != nil {
			return err
		}
		var changed config.Entry
		err = target.Update(func(f *config.File) error {
			if err := configedit.Set(f, configedit.Names("mcpServers", entry.Name, "auth", "issuer"), value); err != nil {
				return err
			}
			changed, _ = f.Entry(entry.Name)
			d.Warnings = f.Warnings()
			return nil
		})
		if err != nil {
			return err
		}
		again, err := d.Servers(ctx, []config.Entry{changed}, nil)
		if err != nil {
			return err
		}
		reports[i] = again[0]
	}
	return nil
}

// targetOf returns the file that an entry is in.
func (c *doctorCommand) targetOf(entry config.Entry) (*Target, error) {
	target, err := c.editable(false)
	if err != nil || target.Path == entry.File {
		return target, err
	}
	return c.editable(true)
}

func (c *doctorCommand) print(result *doctor.Result, all bool) error {
	if result.Servers == nil {
		result.Servers = []*doctor.Report{}
	}
	if c.ui.WantJSON() {
		return c.ui.EncodeJSON(result)
	}
	text := doctor.Text{Result: result, Width: c.ui.Width(), Color: c.ui.Color, All: all}
	_, err := io.WriteString(c.ui.Out, text.String())
	return err
}
