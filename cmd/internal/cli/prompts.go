package cli

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
)

func newPrompts(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "prompts [SERVER]",
		Short:   "List the prompts of servers",
		Long:    "List a server's prompts. Without a server, all of them are asked.",
		Example: "  mcpctl prompts docs\n  mcpctl prompts",
	}
	a.onServer(cmd, 1, 1, func(ctx context.Context, s *session, _ []string) error {
		return s.printList(ctx, revision.MethodPromptsList, "prompts", func(items []json.RawMessage) error {
			return s.showPrompts(s.decodePrompts(items))
		})
	})
	return a.paged(a.orEvery(cmd, func() everyList {
		return everyList{revision.MethodPromptsList, "prompts", []string{"PROMPT", "DESCRIPTION"}, func(item json.RawMessage) []string {
			var p runtime.Prompt
			if json.Unmarshal(item, &p) != nil {
				return nil
			}
			return []string{promptSignature(&p), ui.FirstLine(p.Description)}
		}}
	}))
}

func (s *session) decodePrompts(items []json.RawMessage) []runtime.Prompt {
	return entries(s, items, func(p *runtime.Prompt, raw json.RawMessage) { p.Raw = raw })
}

func (s *session) showPrompts(list []runtime.Prompt) error {
	if len(list) == 0 {
		s.a.ui.Info("the server has no prompts")
		return nil
	}
	entries := make([]ui.Tool, len(list))
	for i := range list {
		entries[i] = ui.PromptOf(&list[i])
	}
	return s.a.ui.PrintTools("PROMPT", entries)
}

// promptSignature returns a prompt's name and arguments: review(code, language?).
func promptSignature(p *runtime.Prompt) string {
	entry := ui.PromptOf(p)
	return entry.Signature()
}
