package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/adding"
	"github.com/mcpctl/mcpctl/cmd/internal/args"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/clitool"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/schema"
)

func newDescribe(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "describe SERVER [TOOL]",
		Short: "Show a tool with its arguments, or a server",
		Long: "Show one tool: what it does, its arguments with types, allowed values and defaults, its result, and an example call.\n" +
			"Without TOOL, show the server: what it says of itself, and its tools.",
		Example: "  mcpctl describe fs read_text_file\n  mcpctl describe fs",
	}
	return a.paged(a.onServer(cmd, 1, 2, func(ctx context.Context, s *session, words []string) error {
		if len(words) == 0 {
			return s.describeServer(ctx)
		}
		t, err := s.tool(ctx, words[0])
		if err != nil {
			return err
		}
		if a.ui.WantJSON() {
			return a.ui.PrintJSON(t.Raw)
		}
		return s.showTool(ctx, t)
	}))
}

// describeServer shows what the server says of itself, and its tools.
func (s *session) describeServer(ctx context.Context) error {
	info := s.Info()
	_, items, err := s.list(ctx, revision.MethodToolsList, "tools")
	if err != nil {
		return err
	}
	if s.a.ui.WantJSON() {
		var tools any = adding.NonNil(items)
		if s.a.ui.WantShort() {
			tools = ui.ShortTools(items)
		}
		return s.a.ui.EncodeJSON(serverPage{s.server, info.Implementation, info.Version, info.Capabilities, info.Instructions, tools})
	}
	p := &ui.Page{UI: s.a.ui}
	head := ui.CleanLine(s.server)
	if of := info.Implementation; of.Name != "" {
		head += " - " + ui.CleanLine(strings.TrimSpace(cmp.Or(of.Title, of.Name)+" "+of.Version))
	}
	p.Title(head, nil)
	p.Line("protocol revision %s", ui.CleanLine(info.Version))
	if info.Instructions != "" {
		p.Head("INSTRUCTIONS")
		p.Text(info.Instructions, "  ")
	}
	if p.Err != nil {
		return p.Err
	}
	p.Line("")
	return s.a.ui.ShowTools(s.decodeTools(items), false)
}

// serverPage is what describe says of a server, in JSON.
type serverPage struct {
	Server         string                 `json:"server"`
	Implementation runtime.Implementation `json:"serverInfo"`
	Revision       string                 `json:"protocolVersion"`
	Capabilities   json.RawMessage        `json:"capabilities,omitempty"`
	Instructions   string                 `json:"instructions,omitempty"`
	Tools          any                    `json:"tools"`
}

func (s *session) showTool(ctx context.Context, t *runtime.Tool) error {
	p := &ui.Page{UI: s.a.ui}
	head := ui.CleanLine(t.Name)
	if name := ui.CleanLine(ui.Title(t)); name != "" && name != head {
		head += " - " + name
	}
	p.Title(head, ui.Hints(t.Annotations))
	if t.Description != "" {
		p.Line("")
		p.Text(t.Description, "")
	}
	in, err := schema.Parse(t.InputSchema)
	if err != nil {
		p.Head("ARGUMENTS cannot be shown: " + err.Error())
		return p.Err
	}
	if err := in.Sound(); err != nil {
		p.Head("The input schema is broken: " + strings.TrimPrefix(err.Error(), "schema: "))
	}
	p.Head("ARGUMENTS")
	if len(in.Root().Properties()) == 0 {
		p.Line("  none")
	}
	p.Arguments(in.Root(), "", 1)
	if out, err := schema.Parse(t.OutputSchema); err == nil && len(t.OutputSchema) > 0 {
		p.Head("STRUCTURED RESULT")
		if len(out.Root().Properties()) == 0 {
			p.Line("  %s", out.Root().Type())
		}
		p.Arguments(out.Root(), "", 1)
	}
	p.Head("EXAMPLE")
	words := args.Sample(in)
	p.Line("  %s", s.example(t, words))
	if s.wraps() {
		if raw, err := args.Parse(in, args.Source{Words: words, NoValidate: true}); err == nil && p.Err == nil {
			p.Head("RUNS")
			p.Err = adding.DryRunCommands(ctx, s, s.a.ui, "  ", t.Name, raw)
		}
	}
	return p.Err
}

// example returns a command line that calls the tool with these words.
func (s *session) example(t *runtime.Tool, words []string) string {
	if !s.a.adhoc.given() {
		quoted := []string{"mcpctl", ui.CleanLine(s.server), shellWord(ui.CleanLine(t.Name))}
		for _, w := range words {
			quoted = append(quoted, shellWord(ui.CleanLine(w)))
		}
		return strings.Join(quoted, " ")
	}
	return s.command("call", append([]string{t.Name}, words...)...)
}

// shellWord quotes a word for a POSIX shell if needed.
func shellWord(w string) string { return clitool.Line([]string{w}) }
