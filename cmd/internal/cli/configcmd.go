package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	goruntime "runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/plain"
	"github.com/mcpctl/mcpctl/schemas"
)

// configCommand is one run of mcpctl config.
type configCommand struct{ *app }

func newConfig(a *app) *cobra.Command {
	c := &configCommand{a}
	cmd := &cobra.Command{
		Use:     "config",
		Short:   "Show, edit and check servers.json",
		Example: "  mcpctl config path\n  mcpctl config validate",
		RunE: func(cmd *cobra.Command, words []string) error {
			if len(words) > 0 {
				return unknownName("unknown command config", words[0], []string{"path", "edit", "validate", "schema"}, "mcpctl config --help")
			}
			return usagef("config needs one of path, edit, validate and schema").withHint("%s --help", cmd.CommandPath())
		},
	}
	always := map[string]string{anyFiles: "yes"}
	cmd.AddCommand(
		&cobra.Command{
			Use: "path", Short: "Print where servers.json is", Args: cobra.NoArgs, Annotations: always,
			Long: "Print the path of servers.json, even if the file does not exist. The output is one line, also into a pipe, or an object with --json.",
			RunE: func(*cobra.Command, []string) error { return c.path() },
		},
		&cobra.Command{
			Use: "edit", Short: "Open servers.json in $VISUAL or $EDITOR, then check it", Args: cobra.NoArgs, Annotations: always,
			Long: "Open servers.json in $VISUAL or $EDITOR, then check it. A missing file is created.",
			RunE: func(cmd *cobra.Command, _ []string) error { return c.edit(cmd.Context()) },
		},
		&cobra.Command{
			Use: "validate", Short: "Check servers.json and config.yaml", Args: cobra.NoArgs,
			Long: "Check servers.json and config.yaml. Each fault has its line, its column and a fix.\n" +
				"Faults exit with code 5, warnings with 0. As JSON: {\"path\",\"ok\",\"servers\",\"problems\"}.",
			RunE: func(*cobra.Command, []string) error { return c.validate() },
		},
		&cobra.Command{
			Use: "schema", Short: "Print the JSON Schema of servers.json", Args: cobra.NoArgs, Annotations: always,
			Long: "Print the JSON Schema of servers.json, for editors and other programs.",
			RunE: func(*cobra.Command, []string) error { return a.ui.PrintJSON(schemas.Servers()) },
		},
	)
	return cmd
}

// path prints a bare path also into pipes, for $(mcpctl config path).
func (c *configCommand) path() error {
	path := c.settings.ConfigPath
	if path == "" {
		_, err := config.Path(c.getenv)
		return err
	}
	if c.ui.JSON {
		return c.ui.EncodeJSON(map[string]string{"path": path, "settings": c.settings.File()})
	}
	if c.ui.OutTTY {
		path = ui.CleanLine(path)
	}
	_, err := fmt.Fprintln(c.ui.Out, path)
	return err
}

// edit opens the file in an editor, after creating a missing one, and checks
// the result.
func (c *configCommand) edit(ctx context.Context) error {
	if c.ui.NoInput {
		return usagef("config edit cannot be used with --no-input").withHint("mcpctl config path prints where the file is")
	}
	path := c.settings.ConfigPath
	if path == "" {
		return c.path()
	}
	editor := cmp.Or(c.getenv("VISUAL"), c.getenv("EDITOR"))
	if editor == "" {
		if !c.ui.InTTY {
			return usagef("config edit needs a terminal").withHint("set EDITOR to a program that needs no terminal")
		}
		editor = map[bool]string{true: "notepad", false: "vi"}[goruntime.GOOS == "windows"]
	}
	// A broken file may be edited; only a missing one is created.
	f, err := config.Load(path)
	if p, ok := errors.AsType[*config.Problem](err); ok && p.Line == 0 {
		return p // not readable: an editor may hang
	}
	if err == nil && len(f.Bytes()) == 0 {
		if err := config.Update(path, (*config.File).Init); err != nil {
			return err
		}
	}
	cmd := editorCommand(ctx, editor, path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.ui.In, c.ui.Err, c.ui.Err
	if c.ui.OutTTY {
		cmd.Stdout = c.ui.Out
	}
	if err := cmd.Run(); err != nil {
		return &Error{Err: fmt.Errorf("editor %s: %w", editor, err), Remedy: "VISUAL and EDITOR name the editor"}
	}
	return c.validate()
}

// editorCommand returns the command of an editor with arguments, as in "code
// --wait": by the shell, like git, and on Windows split at spaces.
func editorCommand(ctx context.Context, editor, path string) *exec.Cmd {
	if goruntime.GOOS != "windows" {
		return exec.CommandContext(ctx, "sh", "-c", editor+` "$@"`, "sh", path)
	}
	words := strings.Fields(editor)
	if _, err := exec.LookPath(editor); err == nil || len(words) == 0 {
		words = []string{editor}
	}
	return exec.CommandContext(ctx, words[0], append(words[1:], path)...)
}

// finding is one line of config validate.
type finding struct {
	Severity string `json:"severity"` // "error" or "warning"
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Server   string `json:"server,omitempty"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
	problem  config.Problem
}

// validate prints all faults of servers.json. Errors mean exit code 5, unlike
// warnings. A broken config.yaml has failed before.
func (c *configCommand) validate() error {
	path := c.settings.ConfigPath
	findings := []finding{}
	add := func(severity string, problems ...config.Problem) {
		for _, p := range problems {
			findings = append(findings, finding{severity, p.Line, p.Column, p.Server, p.Message, p.Hint(), p})
		}
	}
	var first error
	servers := 0
	f, err := readConfig(path)
	var p *config.Problem
	switch {
	case errors.As(err, &p):
		first = p
		add("error", *p)
	case err != nil:
		return err
	case f.Missing() && c.file.wanted:
		p = &config.Problem{File: path, Message: "there is no such file"}
		first = p
		add("error", *p)
	default:
		servers = len(f.Entries())
		if faults := f.Faults(); len(faults) > 0 {
			first = &faults[0]
			add("error", faults...)
		}
		add("warning", f.Warnings()...)
	}
	if c.ui.WantJSON() {
		err := c.ui.EncodeJSON(struct {
			Path     string    `json:"path"`
			OK       bool      `json:"ok"`
			Servers  int       `json:"servers"`
			Problems []finding `json:"problems"`
		}{path, first == nil, servers, findings})
		if err != nil {
			return err
		}
		return first
	}
	for _, p := range findings {
		text := p.Severity + ": " + p.problem.Error() + "\n"
		if p.Hint != "" {
			text += "  hint: " + p.Hint + "\n"
		}
		if _, err := io.WriteString(c.ui.Out, ui.Clean(text)); err != nil {
			return err
		}
	}
	if first != nil {
		return &Error{Code: exitConfig, Err: first, Silent: true} // already printed
	}
	_, err = fmt.Fprintf(c.ui.Out, "%s: ok, %s\n", ui.CleanLine(path), plain.Count(servers, "server"))
	return err
}
