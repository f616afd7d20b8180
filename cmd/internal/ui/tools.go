package ui

import (
	"github.com/mcpctl/mcpctl/runtime"
)

// ShowTools writes tools as a list, or each with its schemas.
func ShowTools(u *UI, tools []runtime.Tool, withSchema bool) error {
	if len(tools) == 0 {
		u.Note("the server has no tools")
		return nil
	}
	if withSchema {
		for i := range tools {
			if err := showSchemas(u, &tools[i], i > 0); err != nil {
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

func showSchemas(u *UI, t *runtime.Tool, gap bool) error {
	p := &Page{UI: u}
	if gap {
		p.Line("")
	}
	p.Line("%s", SignatureOf(t))
	p.Schema("input schema", t.InputSchema)
	p.Schema("output schema", t.OutputSchema)
	return p.Err
}
