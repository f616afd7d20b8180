package cli

import (
	"cmp"
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
		RunE: func(cmd *cobra.Command, words []string) error {
			if err := a.words(words, 1, 1, "prompts SERVER"); err != nil {
				return err
			}
			return a.with(cmd.Context(), words, func(s *session, _ []string) error {
				raw, items, err := s.list(cmd.Context(), revision.MethodPromptsList, "prompts")
				if err != nil {
					return err
				}
				if a.ui.WantJSON() {
					return a.ui.PrintJSON(raw)
				}
				return s.showPrompts(s.decodePrompts(items))
			})
		},
	}
	a.completeServer(cmd)
	return cmd
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
