package screen

import (
	"cmp"
	"strings"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/plain"
	"github.com/mcpctl/mcpctl/runtime/schema"
)

// ToolOf returns the entry of a tool in a list.
func ToolOf(t *runtime.Tool) Tool {
	out := Tool{Name: plain.Line(t.Name), Marks: Marks(Hints(t.Annotations)), Text: FirstLine(cmp.Or(FirstLine(t.Description), Title(t)))}
	in, err := schema.Parse(t.InputSchema)
	if err != nil {
		out.Unknown = true
		return out
	}
	for _, p := range in.Root().Properties() {
		out.Args = append(out.Args, Arg{plain.Line(p.Name), plain.Line(ShortType(p.Node)), p.Required})
	}
	return out
}

// PromptOf returns the entry of a prompt in a list.
func PromptOf(p *runtime.Prompt) Tool {
	out := Tool{Name: plain.Line(p.Name), Text: FirstLine(cmp.Or(FirstLine(p.Description), p.Title))}
	for _, a := range p.Arguments {
		out.Args = append(out.Args, Arg{Name: plain.Line(a.Name), Required: a.Required})
	}
	return out
}

// Title returns the tool's display name: title, then annotations.title
// (specification, Tools).
func Title(t *runtime.Tool) string {
	if t.Title == "" && t.Annotations != nil {
		return t.Annotations.Title
	}
	return t.Title
}

// ShortType returns a type, without its values where they would be long.
func ShortType(n schema.Node) string {
	const most = 32
	t := n.Type()
	switch {
	case len(t) <= most && !strings.Contains(t, "…"):
		return t
	case n.Kinds() == schema.Array:
		return n.Item(0).Plain() + "[]"
	}
	return n.Plain()
}

// Hints returns what a tool says explicitly of its effects.
func Hints(h *runtime.ToolAnnotations) []string {
	if h == nil {
		return nil
	}
	said := func(b *bool, want bool) bool { return b != nil && *b == want }
	readOnly := said(h.ReadOnlyHint, true)
	var words []string
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
	return words
}

// FirstLine returns the first line of a text that is not blank, clean.
func FirstLine(text string) string {
	for line := range strings.Lines(plain.Text(text)) {
		if line = plain.Line(strings.TrimSpace(line)); line != "" {
			return line
		}
	}
	return ""
}
