package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/args"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/revision"
	"github.com/mcpctl/mcpctl/runtime/schema"
)

func newTools(a *app) *cobra.Command {
	var withSchema bool
	cmd := &cobra.Command{
		Use:   "tools SERVER",
		Short: "List a server's tools",
		Long: `List a server's tools: name and arguments, what the server says about their effects, and a description.
mcpctl SERVER is short for it. Optional arguments have a question mark.`,
		Example: "  mcpctl tools fs\n  mcpctl fs\n  mcpctl tools fs --json | jq '.tools[].name'\n  mcpctl tools --match '*issue*'",
	}
	cmd.Flags().BoolVar(&withSchema, "schema", false, "show each tool's schemas in full")
	return matchTools(a, a.onServer(cmd, 1, 1, func(ctx context.Context, s *session, _ []string) error {
		return s.printList(ctx, revision.MethodToolsList, "tools", func(items []json.RawMessage) error {
			return s.showTools(s.decodeTools(items), withSchema)
		})
	}))
}

func (s *session) decodeTools(items []json.RawMessage) []runtime.Tool {
	return entries(s, items, func(t *runtime.Tool, raw json.RawMessage) { t.Raw = raw })
}

// tool finds one tool in the server's list: servers answer differently to calls of
// unknown tools.
func (s *session) tool(ctx context.Context, name string) (*runtime.Tool, error) {
	t, unlisted, err := s.findTool(ctx, name)
	if err == nil && t == nil {
		err = unlisted
	}
	return t, err
}

// findTool is tool with the error of a tool that is not in the list apart from others.
func (s *session) findTool(ctx context.Context, name string) (t *runtime.Tool, unlisted *Error, err error) {
	_, items, err := s.list(ctx, revision.MethodToolsList, "tools")
	if err != nil {
		return nil, nil, err
	}
	tools := s.decodeTools(items)
	names := make([]string, len(tools))
	for i := range tools {
		if tools[i].Name == name {
			return &tools[i], nil, nil
		}
		names[i] = tools[i].Name
	}
	e := unknownName(ui.CleanLine(s.server)+" has no tool", name, names, s.command("tools"))
	if tool, words, ok := args.CallForm(name); ok {
		e.Remedy = "write " + s.command("call", append([]string{tool}, words...)...)
	}
	return nil, e, nil
}

func (s *session) showTools(tools []runtime.Tool, withSchema bool) error {
	if len(tools) == 0 {
		s.a.ui.Note("the server has no tools")
		return nil
	}
	if withSchema {
		for i := range tools {
			if err := s.showSchemas(&tools[i], i > 0); err != nil {
				return err
			}
		}
		return nil
	}
	rows := make([][]string, len(tools))
	for i := range tools {
		t := &tools[i]
		text := cmp.Or(t.Description, title(t))
		if h := hints(t.Annotations); h != "" {
			text = h + " " + text
		}
		rows[i] = []string{signature(t), firstLine(text)}
	}
	return s.a.ui.Table([]string{"TOOL", "DESCRIPTION"}, rows)
}

func (s *session) showSchemas(t *runtime.Tool, gap bool) error {
	p := &page{u: s.a.ui}
	if gap {
		p.line("")
	}
	p.line("%s", signature(t))
	p.schema("input schema", t.InputSchema)
	p.schema("output schema", t.OutputSchema)
	return p.err
}

// title returns the tool's display name: title, then annotations.title
// (specification, Tools).
func title(t *runtime.Tool) string {
	if t.Title == "" && t.Annotations != nil {
		return t.Annotations.Title
	}
	return t.Title
}

// signature returns a tool's name and arguments: get-sum(a:number, b?:number).
func signature(t *runtime.Tool) string {
	in, err := schema.Parse(t.InputSchema)
	if err != nil {
		return t.Name + "(?)"
	}
	var parts []string
	for _, p := range in.Root().Properties() {
		mark := ":"
		if !p.Required {
			mark = "?:"
		}
		parts = append(parts, p.Name+mark+shortType(p.Node))
	}
	return t.Name + "(" + strings.Join(parts, ", ") + ")"
}

// shortSignature returns a signature for a hint, of at most a few lines.
func shortSignature(t *runtime.Tool) string {
	const most = 240 // characters
	text := []rune(signature(t))
	if len(text) <= most {
		return string(text)
	}
	return string(text[:most]) + "…)"
}

// shortType returns a type, shortened for a signature.
func shortType(n schema.Node) string {
	const most = 32
	if t := n.Type(); len(t) <= most {
		return t
	}
	return n.Plain()
}

// hints formats the explicit hints about a tool's effects: [read-only, idempotent].
func hints(h *runtime.ToolAnnotations) string {
	if h == nil {
		return ""
	}
	said := func(b *bool, want bool) bool { return b != nil && *b == want }
	var words []string
	readOnly := said(h.ReadOnlyHint, true)
	for _, x := range []struct {
		ok   bool
		word string
	}{
		{readOnly, "read-only"},
		{!readOnly && said(h.DestructiveHint, true), "destructive"},
		{!readOnly && said(h.DestructiveHint, false), "additive"},
		{said(h.IdempotentHint, true), "idempotent"},
		{said(h.OpenWorldHint, true), "open-world"},
	} {
		if x.ok {
			words = append(words, x.word)
		}
	}
	if len(words) == 0 {
		return ""
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// firstLine returns the first line of a text that is not blank.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}
