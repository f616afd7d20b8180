package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/revision"
)

func newPrompts(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "prompts SERVER",
		Short:   "List a server's prompts",
		Example: "  mcpctl prompts docs",
	}
	return a.onServer(cmd, 1, 1, func(ctx context.Context, s *session, _ []string) error {
		return s.printList(ctx, revision.MethodPromptsList, "prompts", func(items []json.RawMessage) error {
			return s.showPrompts(s.decodePrompts(items))
		})
	})
}

func (s *session) decodePrompts(items []json.RawMessage) []runtime.Prompt {
	return entries(s, items, func(p *runtime.Prompt, raw json.RawMessage) { p.Raw = raw })
}

func (s *session) showPrompts(list []runtime.Prompt) error {
	if len(list) == 0 {
		s.a.ui.Note("the server has no prompts")
		return nil
	}
	rows := make([][]string, len(list))
	for i, p := range list {
		rows[i] = []string{promptSignature(&p), firstLine(cmp.Or(p.Description, p.Title))}
	}
	return s.a.ui.Table([]string{"PROMPT", "DESCRIPTION"}, rows)
}

// promptSignature returns a prompt's name and arguments: review(code, language?).
func promptSignature(p *runtime.Prompt) string {
	parts := make([]string, len(p.Arguments))
	for i, arg := range p.Arguments {
		parts[i] = arg.Name
		if !arg.Required {
			parts[i] += "?"
		}
	}
	return p.Name + "(" + strings.Join(parts, ", ") + ")"
}
