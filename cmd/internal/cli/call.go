package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpctl/mcpctl/cmd/internal/adding"
	"github.com/mcpctl/mcpctl/cmd/internal/args"
	"github.com/mcpctl/mcpctl/cmd/internal/policies"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/schema"
)

type callFlags struct {
	file       string
	noValidate bool
	dryRun     bool
	dir        string
	// names are those of all flags that a call takes.
	names []string
}

// callCommand is one run of mcpctl call.
type callCommand struct {
	*session
	f callFlags
	// tool is the tool's name; picked says that a person has chosen it from a list.
	tool   string
	picked bool
}

func newCall(a *app) *cobra.Command {
	var f callFlags
	cmd := &cobra.Command{
		Use:   "call SERVER TOOL [ARGS...]",
		Short: "Call a tool",
		Long: `Call a tool and print its result. mcpctl SERVER TOOL [ARGS...] is short for it.

Arguments are read by the tool's schema, never by the look of the value.

On a terminal, a call without a server, without a tool or without required arguments asks for them, and prints
the command that it has become.

  '{"a":1}'        the whole object (first word); - takes it from standard input
  a=text           a string stays text; numbers, booleans, null and listed values
                   are checked; an array of scalars: repeat the pair
  a:=json          raw JSON, digits kept as written
  a.b[0].c=text    a place inside; a[]=text appends
  a=@file          the value from a file (a:=@file: JSON; @-: standard input),
                   as base64 where the schema says so; @@ is an @
  --a text         the same as a=text, unless mcpctl has such a flag;
                   --a is a=true for a boolean

Without arguments, a pipe or file on standard input holds the whole object.
A word that begins with a dash is an argument after --. A command there is a server
that is in no file: mcpctl call TOOL [ARGS...] -- COMMAND [ARGS...].
With --help behind TOOL it is mcpctl describe SERVER TOOL.

They are checked against the tool's schema before anything is sent. A failure
that the tool itself reports is printed like a result, with exit code 3.`,
		Example: `  mcpctl call everything get-sum a=1 b=2
  mcpctl fs edit_file path=notes.txt edits[0].oldText=a edits[0].newText=@new.txt
  mcpctl fs write_file '{"path":"x","content":"y"}'
  mcpctl fs write_file --help
  mcpctl call get-sum a=1 b=2 -- npx -y @modelcontextprotocol/server-everything`,
	}
	cmd.Flags().StringVar(&f.file, "args-file", "", "take the arguments object from `FILE` (- is standard input); pairs override it")
	cmd.Flags().BoolVar(&f.noValidate, "no-validate", false, "send the arguments without checking them, also to a tool that is not listed")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "of a command-line tool: print what the call would run, and run nothing")
	cmd.Flags().StringVarP(&f.dir, "output-dir", "O", "", "save images, audio and other bytes of the result in `DIR`, or one of them in a file, such as out.png")
	before := func(cmd *cobra.Command, _ []string) {
		cmd.Flags().VisitAll(func(fl *pflag.Flag) { f.names = append(f.names, fl.Name) })
	}
	cmd.PreRun = before
	a.onServer(cmd, 2, -1, func(ctx context.Context, s *session, words []string) error {
		return (&callCommand{session: s, f: f}).run(ctx, words[0], words[1:])
	})
	return a.orPick(cmd, &f)
}

func (c *callCommand) run(ctx context.Context, name string, words []string) error {
	c.tool = name
	if c.f.dryRun && !c.wraps() {
		return usagef("call: --dry-run is for command-line tools, and %s is a server", c.server)
	}
	t, unlisted, err := c.findTool(ctx, name)
	var refused *policies.Refusal
	switch {
	case errors.As(err, &refused) && !c.f.dryRun: // the call is refused, too, and recorded
		t = &runtime.Tool{Name: name}
	case err != nil:
		return err
	case unlisted != nil && !c.f.noValidate && c.missing == nil:
		return unlisted
	case unlisted != nil:
		c.a.ui.Info("note: %s is not in the list of %s; the call is sent with unchecked arguments", name, c.server)
		t = &runtime.Tool{Name: name}
	}
	raw, err := c.arguments(ctx, t, words)
	switch {
	case err != nil && refused != nil:
		raw = nil // it is refused however its arguments are written
	case err != nil:
		return err
	}
	if c.f.dryRun {
		return adding.DryRunCommands(ctx, c, c.a.ui, "", name, raw)
	}
	line := c.a.ui.StartProgress()
	defer line.Stop()
	// Progress is always requested: it restarts the call's timeout.
	res, err := c.CallTool(ctx, name, raw, &runtime.CallOptions{Progress: line.Update})
	line.Stop()
	if err != nil && refused != nil {
		return refused
	}
	if err != nil && unlisted != nil && is[*runtime.Error](err) {
		return &Error{Err: err, Remedy: unlisted.Remedy}
	}
	if err != nil {
		return err
	}
	var save *ui.Saver
	if c.f.dir != "" {
		save = &ui.Saver{Dir: c.f.dir}
	}
	if err := c.a.ui.ToolResult(res, save); err != nil {
		return err
	}
	if res.IsError {
		return &Error{Code: exitTool, Silent: true, Err: &runtime.ToolError{Tool: name, Result: res}}
	}
	c.checkResult(t, res)
	return nil
}

// arguments parses the words into the arguments object; an error shows the tool's
// signature.
func (c *callCommand) arguments(ctx context.Context, t *runtime.Tool, words []string) (json.RawMessage, error) {
	in, err := schema.Parse(t.InputSchema)
	if err != nil {
		if !c.f.noValidate {
			return nil, c.schemaError(t, err)
		}
		in, err = schema.Parse(nil)
		if err != nil {
			return nil, err
		}
	}
	src := args.Source{
		Words: words, File: c.f.file, NoValidate: c.f.noValidate,
		Stdin: func() ([]byte, error) { return c.a.readStdin(ctx) }, Piped: c.a.piped(),
		Literal: c.a.given.literal, Taken: c.a.given.flags, Flags: c.f.names, Several: c.several(ctx),
	}
	raw, err := args.Parse(in, src)
	if unfit := (*schema.ValidationError)(nil); c.picked || errors.As(err, &unfit) {
		more, asking := c.complete(ctx, in, src)
		if asking != nil {
			return nil, asking
		}
		if len(more) > 0 {
			src.Words, src.Literal = append(slices.Clone(words), more...), src.Literal+len(more)
			raw, err = args.Parse(in, src)
		}
	}
	var unfit *schema.ValidationError
	var bad *schema.Error
	switch {
	case errors.As(err, &unfit):
		return nil, &Error{Code: exitUsage, Err: argumentsError(unfit), Remedy: shortSignature(t) + "; see " + c.command("describe", t.Name)}
	case errors.As(err, &bad):
		return nil, c.schemaError(t, err)
	}
	return raw, err
}

// several returns who asks whether a pair with a comma means several values, nil where nobody
// can be asked.
func (c *callCommand) several(ctx context.Context) func(key string, values []string) (bool, error) {
	asker := c.a.questions()()
	if _, silent := asker.(*ui.NonInteractive); silent {
		return nil
	}
	return func(key string, values []string) (bool, error) {
		n, err := asker.Select(ctx, ui.Question{Message: ui.CleanLine(key), Flag: key + "[]=… or " + key + "=… for each"}, []string{
			plain.Count(len(values), "value") + ": " + ui.CleanLine(strings.Join(values, " ")), "one value with " + plain.Count(len(values)-1, "comma"),
		})
		return n == 0, err
	}
}

// argumentsError returns the error of invalid arguments: one line, or one line each.
func argumentsError(e *schema.ValidationError) error {
	if len(e.Issues) == 1 {
		return e
	}
	return fmt.Errorf("%d arguments do not fit:\n  %s", len(e.Issues), strings.ReplaceAll(e.Error(), "\n", "\n  "))
}

func (c *callCommand) schemaError(t *runtime.Tool, err error) error {
	cause := strings.TrimPrefix(err.Error(), "schema: ")
	err = errors.New("the input schema of " + ui.CleanLine(t.Name) + " cannot be used: " + ui.CleanLine(cause))
	return &Error{Code: exitProtocol, Err: err, Remedy: c.command("call", t.Name) + " --no-validate … sends the arguments unchecked"}
}

// checkResult warns if a structured result does not match the output schema
// (specification, Tools: clients SHOULD validate structured results).
func (c *callCommand) checkResult(t *runtime.Tool, res *runtime.ToolResult) {
	if len(t.OutputSchema) == 0 || res.Structured == nil || c.a.ui.Quiet {
		return
	}
	out, err := schema.Parse(t.OutputSchema)
	if err == nil {
		err = out.Validate(res.Structured)
	}
	if err != nil {
		c.a.ui.Info("note: the structured result does not fit the tool's output schema: %v", err)
	}
}
