package emit

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/mcpctl/mcpctl/scaffold/gogen/internal/model"
)

// client writes the client's type and what the whole package needs.
func (e *emitter) client(g *jen.Group) {
	if e.command != "" {
		g.Comment("//go:generate " + strings.Join(strings.Fields(e.command), " "))
		g.Line()
	}
	if e.local == nil {
		comment(g, []string{"Fails to compile with a runtime older than this code needs: upgrade " + runtimePath + "."}, docWidth)
		g.Const().Id("_").Op("=").Add(e.codegen("Version2"))
		g.Line()
	}
	server := oneLine(e.pkg.Server)
	comment(g, []string{
		"Client is a typed client of the server " + server + ". It is made by [New]. Its methods may be called concurrently " +
			"if its caller's may.",
		"A failure that a tool reports itself is a " + e.link("*", "ToolError") + ", arguments that the tool's schema does not allow " +
			"are a " + e.link("*", "FieldError") + " and not sent, a result that does not have the promised form is a " +
			e.link("*", "ResultError") + ".",
	}, docWidth)
	g.Type().Id("Client").Struct(jen.Id("core").Op("*").Add(e.codegen("Client")))
	g.Line()
	comment(g, []string{"New makes a client that calls through c, usually a connected " + e.link("", "Client") + ". " +
		"The options hold for every call, before those of the call itself."}, docWidth)
	g.Func().Id("New").Params(jen.Id("c").Add(e.runtime("Caller")), e.options()).Op("*").Id("Client").Block(
		jen.Return(jen.Op("&").Id("Client").Values(e.codegen("NewClient").Call(jen.Id("c"), jen.Op("&").Id("surface"), jen.Id("opts").Op("...")))),
	)
	g.Line()
	g.Comment("// surface is what the client was generated from: to notice a tool that has changed.")
	g.Var().Id("surface").Op("=").Add(e.codegen("Surface")).Custom(
		jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true},
		jen.Id("Server").Op(":").Lit(e.pkg.Server),
		jen.Id("Tools").Op(":").Map(jen.String()).String().CustomFunc(
			jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true},
			func(g *jen.Group) {
				for _, t := range e.pkg.Tools {
					g.Lit(t.Name).Op(":").Lit(t.Digest)
				}
			}),
	)
}

func (e *emitter) options() *jen.Statement {
	return jen.Id("opts").Op("...").Add(e.runtime("CallOption"))
}

// method begins a method of the client.
func (e *emitter) method(g *jen.Group, name string, doc []string, params ...jen.Code) *jen.Statement {
	g.Line()
	comment(g, docOf(name, doc), docWidth)
	return g.Func().Params(jen.Id("c").Op("*").Id("Client")).Id(name).Params(append([]jen.Code{ctx()}, params...)...)
}

// arguments returns the parameters of a method and what it passes on.
func (e *emitter) arguments(params *model.Decl, optional bool) (list []jen.Code, pass jen.Code) {
	switch {
	case params == nil:
		return []jen.Code{e.options()}, jen.Nil()
	case optional:
		return []jen.Code{e.options()}, jen.Id(params.Name).Values()
	default:
		return []jen.Code{jen.Id("p").Id(params.Name), e.options()}, jen.Id("p")
	}
}

func (e *emitter) tool(g *jen.Group, t *model.Tool) {
	list, pass := e.arguments(t.Params, t.Optional)
	if t.Params == nil && !t.Optional {
		list, pass = []jen.Code{jen.Id("args").Add(raw()), e.options()}, jen.Id("args")
	}
	fn := e.method(g, t.GoName, t.Doc, list...)
	if t.Result == nil {
		e.read(fn, "ToolResult", "Call", jen.Lit(t.Name), pass)
		return
	}
	fn.Params(jen.Op("*").Id(t.Result.Name), jen.Error()).Block(
		jen.Var().Id("r").Id(t.Result.Name),
		jen.Return(e.codegen("Typed").Call(jen.Op("&").Id("r"), jen.Id("c").Dot("core").Dot("CallTyped").Call(
			jen.Id("ctx"), jen.Lit(t.Name), pass, jen.Id("opts"), jen.Op("&").Id("r"), jen.Op("&").Id("r").Dot("Raw")))),
	)
}

func (e *emitter) prompts(g *jen.Group) {
	for _, p := range e.pkg.Prompts {
		list, pass := e.arguments(p.Params, p.Optional)
		e.read(e.method(g, p.GoName, p.Doc, list...), "PromptResult", "GetPrompt", jen.Lit(p.Name), pass)
	}
}

func (e *emitter) resources(g *jen.Group) {
	for _, r := range e.pkg.Resources {
		e.read(e.method(g, r.GoName, r.Doc, e.options()), "ResourceResult", "ReadResource", jen.Lit(r.URI))
	}
}

func (e *emitter) templates(g *jen.Group) {
	for _, t := range e.pkg.Templates {
		list, pass := e.arguments(t.Params, false)
		e.read(e.method(g, t.GoName, t.Doc, list...), "ResourceResult", "ReadTemplate", jen.Lit(t.URITemplate), pass)
	}
}

// read completes a method that calls one of the core client's.
func (e *emitter) read(fn *jen.Statement, result, core string, args ...jen.Code) {
	args = append(append([]jen.Code{jen.Id("ctx")}, args...), jen.Id("opts"))
	fn.Params(jen.Op("*").Add(e.runtime(result)), jen.Error()).Block(jen.Return(jen.Id("c").Dot("core").Dot(core).Call(args...)))
}

// lists writes the iterators over what the server has now.
func (e *emitter) lists(g *jen.Group) {
	for _, l := range []struct{ name, of, elem string }{
		{"Tools", "tools", "Tool"},
		{"Prompts", "prompts", "Prompt"},
		{"Resources", "resources", "Resource"},
		{"ResourceTemplates", "resource templates", "ResourceTemplate"},
	} {
		e.method(g, l.name, []string{"gives the " + l.of + " that the server has now, page by page. An error is the last there is."}).
			Qual("iter", "Seq2").Types(e.runtime(l.elem), jen.Error()).Block(
			jen.Return(jen.Id("c").Dot("core").Dot(l.name).Call(jen.Id("ctx"))),
		)
	}
}
