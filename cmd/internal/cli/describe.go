package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/schema"
)

func newDescribe(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "describe SERVER TOOL",
		Short:   "Show one tool: arguments, result, an example",
		Long:    "Show one tool: what it does, its arguments with types, allowed values and defaults, its result, and an example call.",
		Example: "  mcpctl describe fs read_text_file",
	}
	return a.onServer(cmd, 2, 2, func(ctx context.Context, s *session, words []string) error {
		t, err := s.tool(ctx, words[0])
		if err != nil {
			return err
		}
		if a.ui.WantJSON() {
			return a.ui.PrintJSON(t.Raw)
		}
		return s.showTool(t)
	})
}

func (s *session) showTool(t *runtime.Tool) error {
	p := &page{u: s.a.ui}
	head := ui.CleanLine(t.Name)
	if name := ui.CleanLine(title(t)); name != "" && name != head {
		head += " - " + name
	}
	if h := hints(t.Annotations); h != "" {
		head += "  " + h
	}
	p.line("%s", head)
	if t.Description != "" {
		p.line("")
		p.text(t.Description, "")
	}
	in, err := schema.Parse(t.InputSchema)
	if err != nil {
		p.head("ARGUMENTS cannot be shown: " + err.Error())
		return p.err
	}
	p.head("ARGUMENTS")
	if len(in.Root().Properties()) == 0 {
		p.line("  none")
	}
	p.arguments(in.Root(), "", 1)
	if out, err := schema.Parse(t.OutputSchema); err == nil && len(t.OutputSchema) > 0 {
		p.head("STRUCTURED RESULT")
		if len(out.Root().Properties()) == 0 {
			p.line("  %s", out.Root().Type())
		}
		p.arguments(out.Root(), "", 1)
	}
	p.head("EXAMPLE")
	p.line("  %s", s.example(t, in))
	return p.err
}

// example returns a command line that calls the tool with its required arguments, or
// with its first one if none is required.
func (s *session) example(t *runtime.Tool, in *schema.Schema) string {
	var words []string
	props := in.Root().Properties()
	needed := slices.DeleteFunc(slices.Clone(props), func(p schema.Property) bool { return !p.Required })
	if len(needed) == 0 && len(props) > 0 {
		needed = props[:1]
	}
	for _, p := range needed {
		words = append(words, samplePairs(p.Name, p.Node, 1)...)
	}
	if s.a.settings.URL == "" {
		quoted := []string{"mcpctl", ui.CleanLine(s.server), shellWord(ui.CleanLine(t.Name))}
		for _, w := range words {
			quoted = append(quoted, shellWord(ui.CleanLine(w)))
		}
		return strings.Join(quoted, " ")
	}
	return s.command("call", append([]string{t.Name}, words...)...)
}

// samplePairs returns words that give an argument a value of its type.
func samplePairs(path string, n schema.Node, depth int) []string {
	k := n.Kinds()
	if values := n.Enum(); len(values) > 0 {
		if text, ok := values[0].(string); ok {
			return []string{path + "=" + text}
		}
		return []string{path + ":=" + schema.Text(values[0])}
	}
	for _, sample := range append(n.Examples(), n.Default()) {
		if sample != "" && sample != "null" && len(sample) <= 40 {
			return []string{path + ":=" + sample}
		}
	}
	switch {
	case k&schema.String != 0 && k == schema.Any:
		return []string{path + ":=null"}
	case k&schema.String != 0:
		return []string{path + "=" + sampleText(n)}
	case k&schema.Integer != 0:
		return []string{path + "=1"}
	case k&schema.Boolean != 0:
		return []string{path + "=true"}
	case k&schema.Array != 0 && depth < maxShown:
		item := n.Item(0)
		if item.Kinds() == schema.Any || item.Kinds()&schema.Array != 0 {
			return []string{path + ":=[]"}
		}
		if item.Kinds()&schema.Object != 0 {
			return samplePairs(path+"[0]", item, depth+1)
		}
		return samplePairs(path, item, depth+1)
	case k&schema.Object != 0 && depth < maxShown:
		var out []string
		for _, p := range n.Properties() {
			if p.Required {
				out = append(out, samplePairs(path+"."+p.Name, p.Node, depth+1)...)
			}
		}
		if out != nil {
			return out
		}
		return []string{path + ":={}"}
	}
	return []string{path + ":=null"}
}

func sampleText(n schema.Node) string {
	if n.ContentEncoding() == "base64" {
		return "@FILE"
	}
	switch n.Format() {
	case "uri", "url":
		return "https://example.com/"
	case "date":
		return "2026-01-31"
	case "date-time":
		return "2026-01-31T12:00:00Z"
	case "email":
		return "me@example.com"
	}
	return "TEXT"
}

// shellWord quotes a word for a POSIX shell if needed.
func shellWord(w string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@,+%"
	if w != "" && strings.Trim(w, plain) == "" {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
