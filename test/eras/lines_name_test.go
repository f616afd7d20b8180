package eras_test

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

func nameLines() []line {
	return []line{
		{name: "unicode-name", title: "A tool whose name is not ASCII", check: func(p *pair) {
			raw, err := p.c.use(p.ctx, runtimetest.UnicodeTool, "")
			check(wantText(raw, err, runtimetest.UnicodeTool))
		}},
		{name: "unicode-uri", title: "A URI that is not ASCII", check: func(p *pair) {
			raw := must(p.c.roundTrip(p.ctx, ask{method: "resources/read", members: fmt.Sprintf(`"uri":%q`, runtimetest.UnicodeURI)}))
			check(same(raw, json.RawMessage(fmt.Sprintf(`{"contents":[{"uri":%q,"mimeType":"text/plain","text":"größe"}]}`, runtimetest.UnicodeURI))))
		}},
		{name: "header-valid", title: "x-mcp-header: valid", check: func(p *pair) {
			p.region(`{"region":"us-west1","n":-42,"flag":true,"nested":{"deep":"padded  x"}}`,
				map[string]string{"Region": "us-west1", "N": "-42", "Flag": "true", "Deep": "padded  x"})
		}},
		{name: "header-unicode", title: "x-mcp-header: unicode, padding, and what looks encoded", check: func(p *pair) {
			for _, v := range []string{"Hello, 世界", " padded ", "=?base64?literal?=", "tab\there"} {
				quoted := must(json.Marshal(v))
				p.region(`{"region":`+string(quoted)+`,"n":1}`, map[string]string{"Region": headerValue(v), "N": "1"})
			}
		}},
		{name: "header-null", title: "x-mcp-header: null and absent", check: func(p *pair) {
			p.region(`{"region":null}`, nil)
			p.region(`{}`, nil)
		}},
		{name: "header-invalid", title: "x-mcp-header: where it must not be, and headers that say something else", check: checkHeaderInvalid},
	}
}

// region calls the tool whose arguments are mirrored in headers; a client of
// 2026-07-28 over HTTP has to send these, but for a call inside another: whoever sends that
// to its server mirrors them.
func (p *pair) region(arguments string, params map[string]string) {
	p.regionGets(arguments, arguments, params)
}

func (p *pair) regionGets(want, arguments string, params map[string]string) {
	a := must(p.c.calling(p.ctx, "region", arguments, ""))
	if p.endpoint.modern && !p.c.inside {
		a.headers = mirrors(a)
		for k, v := range params {
			a.headers.Set("Mcp-Param-"+k, v)
		}
	}
	raw, err := p.c.roundTrip(p.ctx, a)
	failIf(err != nil, "%s: %w", arguments, err)
	check(same(at(raw, "structuredContent"), json.RawMessage(want)))
}

func checkHeaderInvalid(p *pair) {
	list := must(p.c.list(p.ctx, "tools"))
	broken := slices.IndexFunc(list, func(t json.RawMessage) bool { return str(t, "_meta", "fake/name") == "broken_head" })
	if broken >= 0 {
		// A client over HTTP would have to drop the whole tool.
		failIf(at(list[broken], "inputSchema", "properties", "x", "x-mcp-header") != nil, "the annotation that is not allowed is still there: %s", list[broken])
		raw, err := p.c.use(p.ctx, "broken_head", `{"x":1}`)
		check(wantText(raw, err, "called"))
	} else if !(p.back.http && p.back.modern) {
		failf("the tool is not listed, though nothing keeps it from working")
	}
	if !(p.endpoint.modern && p.endpoint.http) {
		return
	}
	a := must(p.c.calling(p.ctx, "region", `{"region":"x"}`, ""))
	good := mirrors(a)
	good.Set("Mcp-Param-Region", "x")
	for name, value := range map[string]string{"Mcp-Param-Region": "y", "Mcp-Param-N": "1", "Mcp-Name": "other", "Mcp-Method": "tools/list", "Mcp-Protocol-Version": "2025-11-25"} {
		a.headers = good.Clone()
		a.headers.Set(name, value)
		k := p.c.start(a)
		m, err := k.wait(p.ctx)
		check(wrap(err, name))
		raw, err := m.Outcome()
		check(wrap(wantCode(raw, err, -32020), name))
		failIf(k.status != 400, "%s: status %d", name, k.status)
	}
	a.headers = mirrors(a) // without the header that the body asks for
	raw, err := p.c.roundTrip(p.ctx, a)
	check(wantCode(raw, err, -32020))
}
