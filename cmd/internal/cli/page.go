package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/screen"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/schema"
)

// page writes readable text on standard output. Everything is cleaned; the
// first failure stays in err and ends the output.
type page struct {
	u   *ui.UI
	err error
}

func (p *page) line(format string, a ...any) {
	if p.err == nil {
		_, p.err = io.WriteString(p.u.Out, ui.Clean(fmt.Sprintf(format, a...))+"\n")
	}
}

// print writes clean text, which may be coloured.
func (p *page) print(text string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.u.Out, text+"\n")
	}
}

// title writes what a tool is called, and in brackets what it says of its effects.
func (p *page) title(name string, hints []string) {
	colours := p.u.Palette()
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
	p.print(name)
}

// head writes an empty line and a heading.
func (p *page) head(text string) {
	p.line("")
	p.print(p.u.Palette().Bold(ui.CleanLine(text)))
}

// text writes a server's text, indented.
func (p *page) text(text, indent string) {
	for line := range strings.Lines(strings.TrimSpace(ui.Clean(text))) {
		for _, part := range screen.Wrap(strings.TrimRight(indent+line, " \t\n"), ui.Width(p.u)) {
			p.print(part)
		}
	}
}

func (p *page) schema(head string, raw json.RawMessage) {
	if len(raw) == 0 || p.err != nil {
		return
	}
	p.line("%s:", head)
	p.err = p.u.Indented(raw)
}

// maxShown bounds how deep a page goes into nested arguments.
const maxShown = 4

// arguments writes one line per property and nested property, with its path in a
// call.
func (p *page) arguments(n schema.Node, prefix string, depth int) {
	for _, prop := range n.Properties() {
		path := prefix + prop.Name
		values := enumOf(prop.Node)
		facts := []string{prop.Node.Type()}
		if values != nil {
			facts[0] = screen.ShortType(prop.Node)
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
		p.line("  %s  %s", ui.CleanLine(path), ui.CleanLine(strings.Join(facts, ", ")))
		p.text(prop.Node.Description(), "      ")
		if values != nil {
			for _, line := range screen.Values("      one of: ", values, ui.Width(p.u)) {
				p.print(line)
			}
		}
		if depth < maxShown {
			p.arguments(prop.Node, path+".", depth+1)
			if item := prop.Node.Item(0); prop.Node.Kinds()&schema.Array != 0 && prop.Node.Kinds() != schema.Any {
				p.arguments(item, path+"[].", depth+1)
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
		out[i] = ui.CleanLine(schema.Text(v))
	}
	return out
}
