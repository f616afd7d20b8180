package emit

import (
	"go/token"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
)

// DoubleFile is the one file of a test double's package.
const DoubleFile = "fake_gen.go"

// doublePath is the package that test doubles are made of.
const doublePath = codegenPath + "/double"

// DoubleName returns the name of the package with the test double of package
// name.
func DoubleName(name string) string { return name + "test" }

// Double returns the test double of a package, a package of its own that imports
// it as path. All names must be set.
func Double(p *model.Package, path string) (File, error) {
	d := &doubler{pkg: p, path: path}
	f := jen.NewFile(DoubleName(p.Name))
	imports := importNames()
	imports[doublePath], imports["io/fs"], imports["testing"] = "double", "fs", "testing"
	f.ImportNames(imports)
	if alias := p.Name; shadowed(alias) {
		f.ImportAlias(path, alias+"client")
	} else {
		f.ImportName(path, alias)
	}
	f.HeaderComment(Header)
	f.PackageComment("// Package " + DoubleName(p.Name) + " stands in for the MCP server " + oneLine(p.Server) + " in tests of code that uses package " + p.Name + ".")
	d.fake(f.Group)
	for _, t := range p.Tools {
		d.tool(f.Group, t)
	}
	for _, q := range p.Prompts {
		d.prompt(f.Group, q)
	}
	for _, r := range p.Resources {
		d.resource(f.Group, r)
	}
	for _, t := range p.Templates {
		d.template(f.Group, t)
	}
	d.calls(f.Group)
	return render(f, DoubleFile)
}

// shadowed reports whether a name cannot be that of an import, as the double's
// code uses it otherwise.
func shadowed(name string) bool {
	return token.IsKeyword(name) || slices.Contains(predeclared(), name) ||
		slices.Contains([]string{"c", "f", "h", "t", "ctx", "opts", "fixtures"}, name)
}

// predeclared are the identifiers that every Go file knows.
func predeclared() []string {
	return strings.Fields(`any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string
		uint uint8 uint16 uint32 uint64 uintptr true false iota nil
		append cap clear close complex copy delete imag len make max min new panic print println real recover`)
}

// doubler writes one test double.
type doubler struct {
	support // never local: a double is made of packages
	pkg     *model.Package
	path    string
}

func (d *doubler) double(name string) *jen.Statement { return jen.Qual(doublePath, name) }
func (d *doubler) own(name string) *jen.Statement    { return jen.Qual(d.path, name) }

// fake writes the type and what every double has.
func (d *doubler) fake(g *jen.Group) {
	server := oneLine(d.pkg.Server)
	comment(g, []string{
		"Fake stands in for the server " + server + ". What its methods On… set answers calls; a call that nothing answers fails the test.",
		"Answers get arguments that the schemas allow, and what they return is checked, too. They may call testing's " +
			"FailNow only on the test's own goroutine. All methods may be called concurrently.",
	}, docWidth)
	g.Type().Id("Fake").Struct(jen.Id("core").Op("*").Add(d.double("Server")))
	g.Line()
	comment(g, []string{"NewFake makes a double that answers nothing yet."}, docWidth)
	g.Func().Id("NewFake").Params(jen.Id("t").Qual("testing", "TB")).Op("*").Id("Fake").
		Add(line(jen.Return(jen.Op("&").Id("Fake").Values(d.double("New").Call(jen.Id("t"), jen.Lit(d.pkg.Server))))))
	d.method(g, "Client", []string{"makes a client of the double."}, jen.Id("opts").Op("...").Add(d.runtime("CallOption"))).
		Op("*").Add(d.own("Client")).
		Add(line(jen.Return(d.own("New").Call(jen.Id("f").Dot("core"), jen.Id("opts").Op("...")))))
	d.method(g, "Caller", []string{"is what the double's clients call, for code that makes its client itself."}).
		Add(d.runtime("Caller")).Add(line(jen.Return(jen.Id("f").Dot("core"))))
	d.method(g, "Calls", []string{"gives the calls so far, in the order in which they came."}).
		Id("Calls").Add(line(jen.Return(jen.Id("f").Dot("core").Dot("Calls").Call())))
	d.method(g, "Replay", []string{"answers from fixtures what no method On… does: files that mcpctl generate --record has written, or package fixture."},
		jen.Id("fixtures").Qual("io/fs", "FS")).
		Add(line(jen.Id("f").Dot("core").Dot("Replay").Call(jen.Id("fixtures"))))
}

func (d *doubler) method(g *jen.Group, name string, doc []string, params ...jen.Code) *jen.Statement {
	g.Line()
	comment(g, docOf(name, doc), docWidth)
	return g.Func().Params(jen.Id("f").Op("*").Id("Fake")).Id(name).Params(params...)
}

// on writes a method that sets an answer: a function of the context and params,
// which may be nil, that returns a pointer to result.
func (d *doubler) on(g *jen.Group, goName, doc string, params, result jen.Code, set func(h *jen.Statement) jen.Code) {
	list := []jen.Code{jen.Qual("context", "Context")}
	if params != nil {
		list = append(list, params)
	}
	h := jen.Id("h").Func().Params(list...).Params(jen.Op("*").Add(result), jen.Error())
	d.method(g, "On"+goName, []string{doc}, h).Add(line(set(jen.Id("h"))))
}

func (d *doubler) tool(g *jen.Group, t *model.Tool) {
	var params jen.Code
	result, set := d.runtime("ToolResult"), "Tool"
	if t.Result != nil {
		result, set = d.own(t.Result.Name), "TypedTool"
	}
	switch {
	case t.Params != nil:
		params = d.own(t.Params.Name)
	case t.Optional: // there are none
		set = "Plain" + set
	default:
		params = raw()
	}
	d.on(g, t.GoName, "sets what the tool "+quoteName(t.Name)+" answers.", params, result, func(h *jen.Statement) jen.Code {
		return d.double(set).Call(jen.Id("f").Dot("core"), jen.Lit(t.Name), h)
	})
}

func (d *doubler) prompt(g *jen.Group, p *model.Prompt) {
	var params jen.Code
	if p.Params != nil {
		params = d.own(p.Params.Name)
	}
	d.on(g, p.GoName, "sets what the prompt "+quoteName(p.Name)+" is filled in to.", params, d.runtime("PromptResult"), func(h *jen.Statement) jen.Code {
		set := "Prompt"
		if params == nil {
			set = "PlainPrompt"
		}
		return d.double(set).Call(jen.Id("f").Dot("core"), jen.Lit(p.Name), h)
	})
}

func (d *doubler) resource(g *jen.Group, r *model.Resource) {
	d.on(g, r.GoName, "sets what the resource "+quoteName(r.URI)+" holds.", nil, d.runtime("ResourceResult"), func(h *jen.Statement) jen.Code {
		return d.double("Resource").Call(jen.Id("f").Dot("core"), jen.Lit(r.URI), h)
	})
}

func (d *doubler) template(g *jen.Group, t *model.Template) {
	d.on(g, t.GoName, "sets what the resources hold that the template "+quoteName(t.URITemplate)+" leads to, by their URIs.",
		jen.Id("string"), d.runtime("ResourceResult"), func(h *jen.Statement) jen.Code {
			return d.double("Template").Call(jen.Id("f").Dot("core"), jen.Lit(t.URITemplate), h)
		})
}

// calls writes the list of calls and the parameters in it by their types.
func (d *doubler) calls(g *jen.Group) {
	g.Line()
	comment(g, []string{"Calls are what has been asked of a [Fake]. The methods give the parameters of the calls that reached an answer."}, docWidth)
	g.Type().Id("Calls").Index().Add(d.double("Call"))
	one := func(goName, method, name string, params *model.Decl) {
		if params == nil {
			return
		}
		g.Line()
		comment(g, docOf(goName, []string{"gives the parameters of the calls of " + quoteName(name) + "."}), docWidth)
		g.Func().Params(jen.Id("c").Id("Calls")).Id(goName).Params().Index().Add(d.own(params.Name)).
			Add(line(jen.Return(d.double("ParamsOf").Types(d.own(params.Name)).Call(jen.Id("c"), d.double(method), jen.Lit(name)))))
	}
	for _, t := range d.pkg.Tools {
		one(t.GoName, "MethodTool", t.Name, t.Params)
	}
	for _, p := range d.pkg.Prompts {
		one(p.GoName, "MethodPrompt", p.Name, p.Params)
	}
}

// quoteName returns a server's name for a sentence.
func quoteName(name string) string { return "\"" + shorten(oneLine(name), 200) + "\"" }
