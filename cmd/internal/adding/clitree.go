package adding

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/clihelp"
	"github.com/mcpctl/mcpctl/internal/clitool"
	"github.com/mcpctl/mcpctl/runtime"
)

// ChooseCommands shows the commands of a tool on standard error, and returns what is exposed;
// without rules those that only read. Where only has no rules it asks, unless asker is
// nil or has nobody to ask.
func ChooseCommands(ctx context.Context, u *ui.UI, asker ui.Asker, tool string, found clitool.Found, only []string) (clitool.Exposure, error) {
	e := clitool.Exposure{Only: only}
	choices, err := clitool.Choices(tool, &found, e)
	if err != nil {
		return e, err
	}
	show(u, tool, &found.Root, choices)
	if only != nil || asker == nil || len(choices) < 2 {
		return e, nil
	}
	picked, err := ask(ctx, asker, choices)
	switch {
	case errors.Is(err, ui.ErrNoAnswer):
		return e, nil
	case err != nil:
		return e, err
	}
	return exposure(choices, picked), nil
}

// ask returns the indexes of the choices that are to be exposed.
func ask(ctx context.Context, asker ui.Asker, choices []clitool.Choice) ([]int, error) {
	q := ui.Question{Message: "Which commands are exposed", Flag: "--cli-only SUBCOMMAND", Check: func(answer string) error {
		if answer == "" {
			return errors.New("choose at least one; Ctrl+C adds nothing")
		}
		return nil
	}}
	var options []string
	for _, c := range choices {
		option := c.Words
		if c.Summary != "" {
			option += "  " + c.Summary
		}
		options = append(options, ui.CleanLine(option))
		if c.Exposed {
			q.Defaults = append(q.Defaults, ui.CleanLine(option))
		}
	}
	return asker.MultiSelect(ctx, q, options)
}

// exposure returns the rules for what was picked, none where that is what is exposed
// without: those keep back flags that write, too. A rule stands for all below its command,
// so what was not picked there is denied.
func exposure(choices []clitool.Choice, picked []int) clitool.Exposure {
	var e clitool.Exposure
	same := true
	for i, c := range choices {
		exposed := slices.Contains(picked, i)
		same = same && exposed == c.Exposed
		switch {
		case exposed:
			e.Only = append(e.Only, c.Words)
		case slices.ContainsFunc(e.Only, func(above string) bool { return above == "*" || strings.HasPrefix(c.Words, above+" ") }):
			e.Deny = append(e.Deny, c.Words)
		}
	}
	if same {
		return clitool.Exposure{}
	}
	return e
}

// show prints the tree; what is exposed has a mark.
func show(u *ui.UI, tool string, root *clihelp.Command, choices []clitool.Choice) {
	exposed, width := map[string]bool{}, 0
	for _, c := range choices {
		exposed[c.Words] = c.Exposed
	}
	each(root, func(c *clihelp.Command) { width = max(width, len(label(tool, c))) })
	u.Info("commands of %s; those with a * are exposed:", tool)
	each(root, func(c *clihelp.Command) {
		mark := " "
		if exposed[words(c)] {
			mark = "*"
		}
		text := label(tool, c)
		u.Row(strings.TrimRight("  "+mark+" "+text+strings.Repeat(" ", width-len(text)+2)+c.Summary, " "))
	})
}

// each visits what is shown: the commands, and of a tool without any the tool itself.
func each(c *clihelp.Command, visit func(*clihelp.Command)) {
	if len(c.Path) > 0 || len(c.Sub) == 0 {
		visit(c)
	}
	for i := range c.Sub {
		each(&c.Sub[i], visit)
	}
}

// words returns the rule that exposes a command, as in [clitool.Choice].
func words(c *clihelp.Command) string { return cmp.Or(strings.Join(c.Path, " "), "*") }

func label(tool string, c *clihelp.Command) string {
	if len(c.Path) == 0 {
		return tool
	}
	return strings.Repeat("  ", len(c.Path)-1) + c.Path[len(c.Path)-1]
}

// DryRunCommands prints what a call of a command-line tool would run: an indented line for a
// shell, or as JSON the words.
func DryRunCommands(ctx context.Context, c runtime.Caller, u *ui.UI, indent, tool string, args json.RawMessage) error {
	res, err := c.CallTool(ctx, tool, args, &runtime.CallOptions{Meta: map[string]json.RawMessage{clitool.MetaDryRun: json.RawMessage("true")}})
	if err != nil {
		return err
	}
	if res.IsError {
		return &runtime.ToolError{Tool: tool, Result: res}
	}
	var run struct{ Argv []string }
	if err := json.Unmarshal(res.Structured, &run); err != nil {
		return &runtime.ProtocolError{Reason: "the answer has no words: " + err.Error()}
	}
	if u.WantJSON() {
		return u.PrintJSON(res.Structured)
	}
	_, err = u.Out.Write([]byte(indent + ui.CleanLine(clitool.Line(run.Argv)) + "\n"))
	return err
}
