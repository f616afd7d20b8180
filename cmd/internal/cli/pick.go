package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/args"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime/schema"
)

// askable returns who can be asked about a call, nil for nobody: in scripts, with --no-input and
// with --json, what is missing is an error.
func (a *app) askable() ui.Asker {
	if a.ui.JSON {
		return nil
	}
	asker := a.questions()()
	if _, silent := asker.(*ui.NonInteractive); silent {
		return nil
	}
	return asker
}

// orPick lets a call without a server, or without a tool, ask for them on a terminal.
func (a *app) orPick(cmd *cobra.Command, f *callFlags) *cobra.Command {
	one := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		wanted := 2
		if a.adhoc.given() {
			wanted = 1
		}
		asker := a.askable()
		if len(words) >= wanted || asker == nil {
			return one(cmd, words)
		}
		ctx := cmd.Context()
		if len(words) == 0 && wanted == 2 {
			server, err := a.pickServer(ctx, asker)
			if err != nil {
				return err
			}
			words = []string{server}
		}
		return a.with(ctx, words, func(s *session, _ []string) error {
			tool, err := s.pickTool(ctx, asker)
			if err != nil {
				return err
			}
			return (&callCommand{session: s, f: *f, picked: true}).run(ctx, tool, nil)
		})
	}
	return cmd
}

// pickServer asks for one of the configured servers.
func (a *app) pickServer(ctx context.Context, asker ui.Asker) (string, error) {
	if err := a.shareConfig(); err != nil {
		return "", err
	}
	f, err := a.loadConfig()
	if err != nil {
		return "", err
	}
	var names []string
	for _, e := range f.Enabled() {
		names = append(names, e.Name)
	}
	switch len(names) {
	case 0:
		return "", usagef("there are no servers in %s", f.Path()).withHint("mcpctl search finds some, mcpctl add adds one")
	case 1:
		return names[0], nil
	}
	at, err := asker.Select(ctx, ui.Question{Message: "Server", Flag: "mcpctl call SERVER"}, names)
	if err != nil {
		return "", err
	}
	return names[at], nil
}

// pickTool asks for one of the server's tools.
func (s *session) pickTool(ctx context.Context, asker ui.Asker) (string, error) {
	_, items, err := s.list(ctx, revision.MethodToolsList, "tools")
	if err != nil {
		return "", err
	}
	tools := s.decodeTools(items)
	if len(tools) == 0 {
		return "", errors.New(ui.CleanLine(s.server) + " has no tools")
	}
	width := 0
	for i := range tools {
		width = max(width, min(len([]rune(ui.CleanLine(tools[i].Name))), 30))
	}
	options := make([]string, len(tools))
	for i := range tools {
		options[i] = fmt.Sprintf("%-*s  %s", width, ui.CleanLine(tools[i].Name), ui.FirstSentence(tools[i].Description))
	}
	at, err := asker.Select(ctx, ui.Question{Message: "Tool of " + ui.CleanLine(s.server), Flag: s.command("call") + " TOOL"}, options)
	if err != nil {
		return "", err
	}
	return tools[at].Name, nil
}

// complete asks for the required arguments that the words do not give, and after a picker for
// optional ones as well. It returns the words to add.
func (c *callCommand) complete(ctx context.Context, in *schema.Schema, src args.Source) (words []string, err error) {
	asker := c.a.askable()
	if asker == nil || c.f.noValidate || src.Piped || src.File != "" || slices.ContainsFunc(src.Words, readsInput) {
		return nil, nil
	}
	src.NoValidate = true
	given, readable := givenBy(in, src)
	if !readable {
		return nil, nil // what is wrong is said of the words themselves
	}
	var optional []schema.Property
	for _, p := range in.Root().Properties() {
		switch {
		case given[p.Name] != nil || !plainArgument(p.Name):
		case !p.Required:
			optional = append(optional, p)
		default:
			more, err := askArgument(ctx, asker, p)
			if err != nil {
				return nil, err
			}
			words = append(words, more...)
		}
	}
	if c.picked && len(optional) > 0 {
		more, err := askOptional(ctx, asker, optional)
		if err != nil {
			return nil, err
		}
		words = append(words, more...)
	}
	if len(words) > 0 || c.picked {
		c.a.ui.Say("%s", c.command("call", slices.Concat([]string{c.tool}, src.Words, words)...))
	}
	return words, nil
}

// givenBy returns the arguments that words give, whether or not they fit.
func givenBy(in *schema.Schema, src args.Source) (given map[string]json.RawMessage, readable bool) {
	raw, err := args.Parse(in, src)
	readable = err == nil && json.Unmarshal(raw, &given) == nil
	return given, readable
}

// readsInput reports whether a word takes its value from standard input, which is read once.
func readsInput(word string) bool { return word == "-" || strings.HasSuffix(word, "=@-") }

// plainArgument reports whether a name can stand in a pair as it is.
func plainArgument(name string) bool { return name != "" && !strings.ContainsAny(name, ".[]=:\"'@ ") }

// askOptional asks which optional arguments are set, and for their values.
func askOptional(ctx context.Context, asker ui.Asker, optional []schema.Property) (words []string, err error) {
	names := make([]string, len(optional))
	for i, p := range optional {
		names[i] = p.Name
		if about := ui.FirstSentence(p.Node.Description()); about != "" {
			names[i] += "  " + about
		}
	}
	chosen, err := asker.MultiSelect(ctx, ui.Question{Message: "Optional arguments to set"}, names)
	if err != nil {
		return nil, err
	}
	for _, i := range chosen {
		more, err := askArgument(ctx, asker, optional[i])
		if err != nil {
			return nil, err
		}
		words = append(words, more...)
	}
	return words, nil
}

// askArgument asks for one argument, by its schema, and returns the words that give it.
func askArgument(ctx context.Context, asker ui.Asker, p schema.Property) ([]string, error) {
	q := ui.Question{Message: p.Name, Help: p.Node.Description(), Flag: p.Name + "=VALUE"}
	var texts []string
	for _, v := range p.Node.Enum() {
		text, ok := v.(string)
		if !ok {
			texts = nil
			break
		}
		texts = append(texts, text)
	}
	kinds := p.Node.Kinds()
	switch {
	case len(texts) > 0:
		at, err := asker.Select(ctx, q, texts)
		if err != nil {
			return nil, err
		}
		return []string{p.Name + "=" + texts[at]}, nil
	case kinds == schema.Boolean:
		at, err := asker.Select(ctx, q, []string{"true", "false"})
		if err != nil {
			return nil, err
		}
		return []string{p.Name + "=" + []string{"true", "false"}[at]}, nil
	case kinds&schema.String != 0, kinds&(schema.Integer|schema.Number) != 0 && kinds&(schema.Array|schema.Object) == 0:
		text, err := asker.Input(ctx, q)
		if err != nil {
			return nil, err
		}
		return []string{p.Name + "=" + text}, nil
	case kinds == schema.Array && p.Node.Item(0).Kinds() == schema.String:
		q.Message += " (several with commas between)"
		text, err := asker.Input(ctx, q)
		if err != nil {
			return nil, err
		}
		var words []string
		for part := range strings.SplitSeq(text, ",") {
			words = append(words, p.Name+"[]="+strings.TrimSpace(part))
		}
		return words, nil
	}
	q.Message += " (JSON, " + plain.Line(p.Node.Type()) + ")"
	q.Check = func(text string) error {
		if !json.Valid([]byte(text)) {
			return errors.New("it is no JSON")
		}
		return nil
	}
	text, err := asker.Input(ctx, q)
	if err != nil {
		return nil, err
	}
	return []string{p.Name + ":=" + text}, nil
}
