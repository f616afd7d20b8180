package gogen

import (
	"bytes"
	"fmt"
	"go/format"

	"github.com/dave/jennifer/jen"
)

const (
	runtimePath = "github.com/mcpctl/mcpctl/runtime"
	docWidth    = 100
	fieldWidth  = 96
)

// emit gives the package's source, formatted.
func (p *pkg) emit() ([]byte, error) {
	f := jen.NewFile(p.name)
	f.ImportName(runtimePath, "runtime")
	f.ImportName("encoding/json", "json")
	f.ImportName("context", "context")
	f.HeaderComment(Header)
	for _, line := range p.header() {
		f.HeaderComment(line)
	}
	f.PackageComment("// Package " + p.name + " is a typed client of the MCP server " + oneLine(p.server) + ".")
	f.PackageComment("//")
	f.PackageComment("// What a doc comment says of a tool and its values is the server's own text.")

	comment(f.Group, []string{"Fails to compile with a runtime older than this code needs: upgrade " + runtimePath + "."}, docWidth)
	f.Const().Id("_").Op("=").Qual(runtimePath, "Codegen1")
	p.emitClient(f.Group)
	for _, m := range p.methods {
		p.emitMethod(f.Group, m)
		for _, top := range []bool{true, false} {
			for _, t := range p.types {
				if t.tool == m.tool && t.top == top {
					emitType(f.Group, t)
				}
			}
		}
	}
	var buf bytes.Buffer
	if err := f.Render(&buf); err != nil {
		return nil, fmt.Errorf("gogen: emitted source does not parse: %w", err)
	}
	return settle(groupImports(buf.Bytes()))
}

// groupImports sets the one import that is not of the standard library apart,
// as goimports does. The declaration is the first place where such a line can
// stand.
func groupImports(src []byte) []byte {
	line := []byte("\n\t\"" + runtimePath + "\"\n")
	return bytes.Replace(src, line, append([]byte("\n"), line...), 1)
}

// header says what the file was made from. It stands in front of the package
// clause, where Go reads directives, so each line is one cleaned phrase.
func (p *pkg) header() []string {
	server := "// Server " + oneLine(p.server)
	if p.version != "" {
		server += " (" + shorten(oneLine(p.version), 200) + ")"
	}
	return []string{fmt.Sprintf("%s, %d tools.", server, len(p.methods)), "// Tools " + p.digest}
}

// settle formats until nothing changes: gofmt lays doc comments out anew, and
// once is not always enough.
func settle(src []byte) ([]byte, error) {
	for range 5 {
		out, err := format.Source(src)
		if err != nil {
			return nil, fmt.Errorf("gogen: format: %w", err)
		}
		if bytes.Equal(out, src) {
			break
		}
		src = out
	}
	return src, nil
}

// comment writes paragraphs as line comments.
func comment(g *jen.Group, paragraphs []string, width int) {
	for _, line := range commentLines(paragraphs, width) {
		g.Comment(line)
	}
}

// docOf puts a declaration's name in front of its documentation.
func docOf(name string, doc []string) []string {
	if len(doc) == 0 {
		return nil
	}
	return append([]string{name + " " + doc[0]}, doc[1:]...)
}
