package ui

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/internal/declare"
	"github.com/mcpctl/mcpctl/runtime/schema"
)

// Page writes readable text on standard output. Everything is cleaned; the first failure
// stays in Err and ends the output.
type Page struct {
	UI  *UI
	Err error
}

// Line writes a line.
func (p *Page) Line(format string, a ...any) {
	if p.Err == nil {
		_, p.Err = io.WriteString(p.UI.Out, Clean(fmt.Sprintf(format, a...))+"\n")
	}
}

// Print writes clean text, which may be coloured.
func (p *Page) Print(text string) {
	if p.Err == nil {
		_, p.Err = io.WriteString(p.UI.Out, text+"\n")
	}
}

// Title writes what a tool is called, and in brackets what it says of its effects.
func (p *Page) Title(name string, hints []string) {
	colours := p.UI.Palette()
	name = colours.Bold(name)
	if len(hints) > 0 {
		words := "[" + strings.Join(hints, ", ") + "]"
		switch {
		case slices.Contains(hints, "destructive"):
			words = colours.Red(words)
		case slices.Contains(hints, "read-only"):
			words = colours.Green(words)
		}
		name += "  " + words
	}
	p.Print(name)
}

// Head writes an empty line and a heading.
func (p *Page) Head(text string) {
	p.Line("")
	p.Print(p.UI.Palette().Bold(CleanLine(text)))
}

// Text writes a server's text, indented.
func (p *Page) Text(text, indent string) {
	for line := range strings.Lines(strings.TrimSpace(Clean(text))) {
		for _, part := range Wrap(strings.TrimRight(indent+line, " \t\n"), p.UI.Width()) {
			p.Print(part)
		}
	}
}

// Schema writes a schema below a heading, where there is one.
func (p *Page) Schema(head string, raw json.RawMessage) {
	if len(raw) == 0 || p.Err != nil {
		return
	}
	p.Line("%s:", head)
	p.Err = p.UI.Indented(raw)
}

// maxShown bounds how deep a page goes into nested arguments.
const maxShown = 4

// Arguments writes one line per property and nested property, with its path in a
// call.
func (p *Page) Arguments(n schema.Node, prefix string, depth int) {
	for _, prop := range n.Properties() {
		path := prefix + prop.Name
		values := enumOf(prop.Node)
		facts := []string{prop.Node.Type()}
		if values != nil {
			facts[0] = declare.Plain(prop.Node)
		}
		if prop.Required {
			facts = append(facts, "required")
		}
		if d := prop.Node.Default(); d != "" {
			facts = append(facts, "default "+d)
		}
		if f := prop.Node.Format(); f != "" {
			facts = append(facts, f)
		}
		if e := prop.Node.ContentEncoding(); e != "" {
			facts = append(facts, e)
		}
		p.Line("  %s  %s", CleanLine(path), CleanLine(strings.Join(facts, ", ")))
		p.Text(prop.Node.Description(), "      ")
		if values != nil {
			for _, line := range Values("      one of: ", values, p.UI.Width()) {
				p.Print(line)
			}
		}
		if depth < maxShown {
			p.Arguments(prop.Node, path+".", depth+1)
			if item := prop.Node.Item(0); prop.Node.Kinds()&schema.Array != 0 && prop.Node.Kinds() != schema.Any {
				p.Arguments(item, path+"[].", depth+1)
			}
		}
	}
}

// enumOf returns all values of an argument, or of the elements of one, where there are
// more than its type shows; nil for others.
func enumOf(n schema.Node) []string {
	values := n.Enum()
	if len(values) == 0 && n.Kinds() != schema.Any && n.Kinds()&schema.Array != 0 {
		values = n.Item(0).Enum()
	}
	if len(values) <= schema.MostValues {
		return nil
	}
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = CleanLine(schema.Text(v))
	}
	return out
}
