package cli

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/args"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/schema"
)

// promptCommand is one run of mcpctl prompt.
type promptCommand struct{ *session }

func newPrompt(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "prompt SERVER NAME [N=V...]",
		Short:   "Fill in a prompt and print its messages",
		Long:    "Fill in a prompt and print its messages. Values are text; N=@FILE takes one from a file, @@ is an @.",
		Example: "  mcpctl prompt docs review language=go code=@main.go",
	}
	return a.onServer(cmd, 2, -1, func(ctx context.Context, s *session, words []string) error {
		return (&promptCommand{s}).run(ctx, words[0], words[1:])
	})
}

func (c *promptCommand) run(ctx context.Context, name string, words []string) error {
	_, items, err := c.list(ctx, revision.MethodPromptsList, "prompts")
	if err != nil {
		return err
	}
	var p *runtime.Prompt
	var names []string
	prompts := c.decodePrompts(items)
	for i := range prompts {
		if prompts[i].Name == name {
			p = &prompts[i]
		}
		names = append(names, prompts[i].Name)
	}
	if p == nil {
		if err := c.hidden(ctx, "prompts", name); err != nil {
			c.record(ctx, name)
			return err
		}
		return unknownName(ui.CleanLine(c.server)+" has no prompt", name, names, c.command("prompts"))
	}
	values, err := c.arguments(ctx, p, words)
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
	raw, err := c.watched(ctx, revision.MethodPromptsGet, params)
	if err != nil {
		return err
	}
	if c.a.ui.WantJSON() {
		return c.a.ui.PrintJSON(raw)
	}
	return c.showMessages(raw)
}

// record asks for a prompt that policies hide: that is refused, and recorded.
func (c *promptCommand) record(ctx context.Context, name string) {
	if params, err := json.Marshal(map[string]string{"name": name}); err == nil {
		_, _ = c.watched(ctx, revision.MethodPromptsGet, params) // what is returned is why it is hidden
	}
}

// arguments parses the words by the prompt's arguments, which are all text.
func (c *promptCommand) arguments(ctx context.Context, p *runtime.Prompt, words []string) (json.RawMessage, error) {
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
	values, err := args.Parse(in, args.Source{
		Words: words, Stdin: func() ([]byte, error) { return c.a.readStdin(ctx) },
		Literal: c.a.given.literal, Taken: c.a.given.flags,
	})
	if unfit, ok := errors.AsType[*schema.ValidationError](err); ok {
		return nil, &Error{Code: exitUsage, Err: argumentsError(unfit), Remedy: promptSignature(p)}
	}
	return values, err
}

func (c *promptCommand) showMessages(raw json.RawMessage) error {
	var res runtime.PromptResult
	if err := json.Unmarshal(raw, &res); err != nil {
		return &runtime.ProtocolError{Reason: "prompts/get: the result is not one: " + err.Error()}
	}
	for i := range res.Messages {
		m := &res.Messages[i]
		p := &ui.Page{UI: c.a.ui}
		if i > 0 {
			p.Line("")
		}
		p.Line("%s:", ui.CleanLine(m.Role))
		if p.Err != nil {
			return p.Err
		}
		if _, err := c.a.ui.Content([]runtime.Content{m.Content}, nil); err != nil {
			return err
		}
	}
	return nil
}
