package cli

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/args"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/revision"
	"github.com/mcpctl/mcpctl/runtime/schema"
)

func newPrompt(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "prompt SERVER NAME [N=V...]",
		Short:   "Fill in a prompt and print its messages",
		Long:    "Fill in a prompt and print its messages. Values are text; N=@FILE takes one from a file, @@ stands for an @.",
		Example: "  mcpctl prompt docs review language=go code=@main.go",
		RunE: func(cmd *cobra.Command, words []string) error {
			if err := a.words(words, 2, -1, "prompt SERVER NAME [N=V...]"); err != nil {
				return err
			}
			return a.with(cmd.Context(), words, func(s *session, words []string) error {
				return s.prompt(cmd.Context(), words[0], words[1:])
			})
		},
	}
	a.completeServer(cmd)
	return cmd
}

func (s *session) prompt(ctx context.Context, name string, words []string) error {
	_, items, err := s.list(ctx, revision.MethodPromptsList, "prompts")
	if err != nil {
		return err
	}
	var p *runtime.Prompt
	var names []string
	prompts := s.decodePrompts(items)
	for i := range prompts {
		if prompts[i].Name == name {
			p = &prompts[i]
		}
		names = append(names, prompts[i].Name)
	}
	if p == nil {
		return unknownName(ui.CleanLine(s.server)+" has no prompt", name, names, s.command("prompts"))
	}
	values, err := s.promptArguments(ctx, p, words)
	if err != nil {
		return err
	}
	params, err := json.Marshal(struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}{name, values})
	if err != nil {
		return err
	}
	raw, err := s.watched(ctx, revision.MethodPromptsGet, params)
	if err != nil {
		return err
	}
	if s.a.ui.WantJSON() {
		return s.a.ui.PrintJSON(raw)
	}
	return s.showMessages(raw)
}

// promptArguments parses the words by the prompt's arguments, which are all text.
func (s *session) promptArguments(ctx context.Context, p *runtime.Prompt, words []string) (json.RawMessage, error) {
	props, required := []byte("{"), []string{}
	for i, arg := range p.Arguments {
		if i > 0 {
			props = append(props, ',')
		}
		props = append(append(props, schema.Quote(arg.Name)...), `:{"type":"string"}`...)
		if arg.Required {
			required = append(required, arg.Name)
		}
	}
	raw, err := json.Marshal(map[string]any{
		"type": "object", "properties": json.RawMessage(append(props, '}')), "required": required, "additionalProperties": false,
	})
	if err != nil {
		return nil, err
	}
	in, err := schema.Parse(raw)
	if err != nil {
		return nil, err
	}
	values, err := args.Parse(in, args.Source{Words: words, Stdin: func() ([]byte, error) { return s.a.readStdin(ctx) }})
	if unfit, ok := errors.AsType[*schema.ValidationError](err); ok {
		return nil, &Error{Code: exitUsage, Err: misfit(unfit), Remedy: promptSignature(p)}
	}
	return values, err
}

func (s *session) showMessages(raw json.RawMessage) error {
	var res runtime.PromptResult
	if err := json.Unmarshal(raw, &res); err != nil {
		return &runtime.ProtocolError{Reason: "prompts/get: the result is not one: " + err.Error()}
	}
	for i := range res.Messages {
		m := &res.Messages[i]
		p := &page{u: s.a.ui}
		if i > 0 {
			p.line("")
		}
		p.line("%s:", ui.CleanLine(m.Role))
		if p.err != nil {
			return p.err
		}
		if _, err := s.a.ui.Content([]runtime.Content{m.Content}, nil); err != nil {
			return err
		}
	}
	return nil
}
