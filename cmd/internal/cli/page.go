package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

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

// head writes an empty line and a heading.
func (p *page) head(text string) {
	p.line("")
	p.line("%s", text)
}

// text writes a server's text, indented.
func (p *page) text(text, indent string) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		p.line("%s", strings.TrimRight(indent+line, " \t\n"))
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
		facts := []string{prop.Node.Type()}
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
		if depth < maxShown {
			p.arguments(prop.Node, path+".", depth+1)
			if item := prop.Node.Item(0); prop.Node.Kinds()&schema.Array != 0 && prop.Node.Kinds() != schema.Any {
				p.arguments(item, path+"[].", depth+1)
			}
		}
	}
}
