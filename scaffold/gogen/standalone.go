package gogen

import (
	"strings"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/emit"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/names"
	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/support"
)

// prepareStandalone prepares a package that holds its support code, which has no
// validator: what types and rules do not express is not checked, with a warning.
func prepareStandalone(p *model.Package, n *names.Options, e *emit.Options) {
	sides := map[*model.Decl]string{}
	for _, t := range p.Tools {
		sides[t.Params], sides[t.Result] = "/inputSchema", "/outputSchema"
	}
	for _, d := range p.Decls {
		if d.Schema == "" {
			continue
		}
		reason := "not checked by a package that stands alone"
		if len(d.SchemaFor) > 0 {
			reason = strings.Join(d.SchemaFor, ", ") + ": " + reason
		}
		p.Warnings = append(p.Warnings, model.Warning{Tool: d.Tool, Pointer: sides[d], Reason: reason})
		d.Schema, d.SchemaFor = "", nil
	}
	n.Reserved = append(n.Reserved, support.Exported()...)
	e.Local = support.Local
}

// supportFile returns the support code that the files of a package need.
func supportFile(pkg string, files []emit.File) (File, error) {
	sources := make([][]byte, len(files))
	for i, f := range files {
		sources[i] = f.Data
	}
	data, err := support.Source(pkg, Header, sources)
	if err != nil {
		return File{}, &Error{Reason: err.Error()}
	}
	return File{SupportFile, data}, nil
}
