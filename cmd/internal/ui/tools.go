package ui

import (
	"github.com/mcpctl/mcpctl/runtime"
)

// ShowTools writes tools as a list, or each with its schemas.
func (u *UI) ShowTools(tools []runtime.Tool, withSchema bool) error {
	if len(tools) == 0 {
		u.Info("the server has no tools")
		return nil
	}
	if withSchema {
		for i := range tools {
			if err := u.showSchemas(&tools[i], i > 0); err != nil {
				return err
			}
		}
		return nil
	}
	entries := make([]Tool, len(tools))
	for i := range tools {
		entries[i] = ToolOf(&tools[i])
	}
	return u.PrintTools("TOOL", entries)
}

func (u *UI) showSchemas(t *runtime.Tool, gap bool) error {
	p := &Page{UI: u}
	if gap {
		p.Line("")
	}
	p.Line("%s", SignatureOf(t))
	p.Schema("input schema", t.InputSchema)
	p.Schema("output schema", t.OutputSchema)
	return p.Err
}
