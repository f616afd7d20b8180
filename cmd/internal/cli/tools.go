package cli

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/args"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
)

func newTools(a *app) *cobra.Command {
	var withSchema, live bool
	var view string
	cmd := &cobra.Command{
		Use:   "tools [SERVER...]",
		Short: "List the tools of servers",
		Long: `List a server's tools: name and arguments, marks for what the server says about their effects, and a
description. mcpctl SERVER is short for it. Optional arguments have a question mark.
Several servers are asked side by side. Without a server, the tools of all configured servers are shown as
they were last listed, and nothing is started; --live asks the servers. With --view, they are those that
a view of serve shows, under the names and with the arguments that they have there.
Into a pipe, each tool is short: name, title, the first sentence of its description, signature and marks.
--schema and --json have the definitions as the server sent them.`,
		Example: "  mcpctl tools fs\n  mcpctl fs\n  mcpctl tools\n  mcpctl tools fs github\n  mcpctl tools fs --json | jq '.tools[].name'\n  mcpctl tools --match '*issue*'\n  mcpctl tools --view coding",
	}
	cmd.Flags().BoolVar(&withSchema, "schema", false, "show each tool's schemas in full")
	cmd.Flags().BoolVar(&live, "live", false, "without a server: ask all of them")
	a.viewFlag(cmd, &view, "only what the view `NAME` shows")
	a.onServer(cmd, 1, 1, func(ctx context.Context, s *session, _ []string) error {
		return s.printToolList(ctx, withSchema)
	})
	one := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		switch {
		case view != "" && (a.adhoc.given() || live || cmd.Flags().Changed("match")):
			return usagef("--view shows configured servers as they were last listed: use it without --live, --match, --url and a command")
		case view != "":
			return printView(cmd.Context(), a, view, words, withSchema)
		case len(words) == 1 || a.adhoc.given():
			return one(cmd, words)
		case withSchema && !a.ui.WantJSON():
			return usagef("--schema shows the tools of one server").withHint("mcpctl tools SERVER --schema")
		}
		return (&toolsCommand{a}).run(cmd.Context(), words, len(words) == 0 && !live, withSchema)
	}
	a.completeServers(cmd)
	a.matchTools(cmd)
	return a.watched(cmd, func(words []string) error {
		if len(words) > 0 || live || a.adhoc.given() {
			return usagef("--watch shows what is stored, and starts nothing: use it without servers").withHint("mcpctl tools --watch")
		}
		return nil
	})
}

// printToolList prints the list of tools: in a pipe that no form was asked for, a short one.
func (s *session) printToolList(ctx context.Context, withSchema bool) error {
	if s.a.ui.WantShort() && !withSchema {
		raw, items, err := s.list(ctx, revision.MethodToolsList, "tools")
		if err != nil {
			return err
		}
		s.noteUnexposed(raw)
		var of struct {
			Meta json.RawMessage `json:"_meta"` // such as why the list is not whole
		}
		_ = json.Unmarshal(raw, &of) // it was read as a list
		return s.a.ui.EncodeShortTools(items, of.Meta)
	}
	return s.printList(ctx, revision.MethodToolsList, "tools", func(items []json.RawMessage) error {
		return s.a.ui.ShowTools(s.decodeTools(items), withSchema)
	})
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
	if err := s.hidden(ctx, "tools", name); err != nil {
		return nil, nil, err
	}
	e := unknownName(ui.CleanLine(s.server)+" has no tool", name, names, s.command("tools"))
	if tool, words, ok := args.CallForm(name); ok {
		e.Remedy = "write " + s.command("call", append([]string{tool}, words...)...)
	}
	return nil, e, nil
}

// hidden returns why policies hide an item that is not in a list, nil where they do not.
func (s *session) hidden(ctx context.Context, member, name string) error {
	if !s.filtered {
		return nil
	}
	lists := s.a.knownWhole()
	return s.a.file.policies.Hidden(s.entry, member, name, lists.Load(ctx, []config.Entry{s.entry}, member)[s.entry.Name].Items)
}

// shortSignature returns a signature for a hint, of at most a few lines.
func shortSignature(t *runtime.Tool) string {
	const most = 240 // characters
	text := []rune(ui.SignatureOf(t))
	if len(text) <= most {
		return string(text)
	}
	return string(text[:most]) + "…)"
}
