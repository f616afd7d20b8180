package gogen

import (
	"github.com/dave/jennifer/jen"
)

func (p *pkg) emitClient(g *jen.Group) {
	g.Line()
	comment(g, []string{
		"Client calls the tools of the server " + oneLine(p.server) +
			". It is made by New. Its methods may be called concurrently if its caller's may.",
		"A failure that a tool reports itself is a [*runtime.ToolError], a result that does not have the promised form a " +
			"[*runtime.ResultError].",
	}, docWidth)
	g.Type().Id("Client").Struct(
		jen.Id("caller").Qual(runtimePath, "Caller"),
		jen.Id("opts").Index().Qual(runtimePath, "CallOption"),
	)
	g.Line()
	comment(g, []string{"New makes a client that calls through c, usually a connected [runtime.Client]. " +
		"The options hold for every call, before those of the call itself."}, docWidth)
	g.Func().Id("New").Params(jen.Id("c").Qual(runtimePath, "Caller"), jen.Id("opts").Op("...").Qual(runtimePath, "CallOption")).
		Op("*").Id("Client").
		Block(jen.Return(jen.Op("&").Id("Client").Values(jen.Dict{jen.Id("caller"): jen.Id("c"), jen.Id("opts"): jen.Id("opts")})))
	g.Line()
	g.Func().Params(jen.Id("c").Op("*").Id("Client")).Id("invoke").Params(
		jen.Id("ctx").Qual("context", "Context"), jen.Id("tool").String(), jen.Id("args").Qual("encoding/json", "Marshaler"),
		jen.Id("opts").Index().Qual(runtimePath, "CallOption"),
	).Params(jen.Op("*").Qual(runtimePath, "ToolResult"), jen.Error()).Block(
		jen.Id("all").Op(":=").Append(jen.Id("c").Dot("opts").Index(jen.Empty(), jen.Len(jen.Id("c").Dot("opts")), jen.Len(jen.Id("c").Dot("opts"))), jen.Id("opts").Op("...")),
		jen.Return(jen.Qual(runtimePath, "Invoke").Call(jen.Id("ctx"), jen.Id("c").Dot("caller"), jen.Id("tool"), jen.Id("args"), jen.Id("all").Op("..."))),
	)
}

func (p *pkg) emitMethod(g *jen.Group, m *method) {
	g.Line()
	comment(g, docOf(m.goName, m.doc), docWidth)
	params := []jen.Code{jen.Id("ctx").Qual("context", "Context")}
	args := jen.Nil()
	switch {
	case m.rawParams:
		params = append(params, jen.Id("args").Qual("encoding/json", "RawMessage"))
		args = jen.Id("args")
	case m.params != nil:
		params = append(params, jen.Id("p").Id(m.params.goName))
		args = jen.Id("p")
	}
	params = append(params, jen.Id("opts").Op("...").Qual(runtimePath, "CallOption"))
	call := jen.Id("c").Dot("invoke").Call(jen.Id("ctx"), jen.Lit(m.tool), args, jen.Id("opts"))
	fn := g.Func().Params(jen.Id("c").Op("*").Id("Client")).Id(m.goName).Params(params...)
	if m.result == nil {
		fn.Params(jen.Op("*").Qual(runtimePath, "ToolResult"), jen.Error()).Block(jen.Return(call))
		return
	}
	target := jen.Id("r")
	if m.result.form == formWrapper {
		target = jen.Op("&").Id("r").Dot("Value")
	}
	fn.Params(jen.Op("*").Id(m.result.goName), jen.Error()).Block(
		jen.List(jen.Id("raw"), jen.Err()).Op(":=").Add(call),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
		jen.Id("r").Op(":=").Op("&").Id(m.result.goName).Values(jen.Dict{jen.Id("Raw"): jen.Id("raw")}),
		jen.If(jen.Err().Op(":=").Qual(runtimePath, "DecodeResult").Call(jen.Lit(m.tool), jen.Id("raw"), target), jen.Err().Op("!=").Nil()).
			Block(jen.Return(jen.Nil(), jen.Err())),
		jen.Return(jen.Id("r"), jen.Nil()),
	)
}
