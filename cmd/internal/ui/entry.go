package ui

import (
	"cmp"

	"github.com/mcpctl/mcpctl/internal/declare"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime"
)

// ToolOf returns the entry of a tool in a list.
func ToolOf(t *runtime.Tool) Tool {
	sig := declare.Of(t.Name, t.InputSchema)
	return Tool{
		Name: sig.Name, Args: sig.Args, Unknown: sig.Unknown,
		Marks: Marks(Hints(t.Annotations)), Text: FirstLine(cmp.Or(FirstLine(t.Description), Title(t))),
	}
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
func FirstLine(text string) string { return declare.FirstLine(text) }

// SignatureOf returns the signature of a tool in one line.
func SignatureOf(t *runtime.Tool) string {
	entry := ToolOf(t)
	return entry.Signature()
}
