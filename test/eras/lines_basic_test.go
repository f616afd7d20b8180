package eras_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

func basicLines() []line {
	return []line{
		{name: "list", title: "Lists, in pages on both sides", check: checkList},
		{name: "call", title: "A call: every byte that is the server's comes through", check: checkCall},
		{name: "object", title: "Structured output: an object", check: func(p *pair) {
			raw := must(p.c.use(p.ctx, "add", `{"a":1.5,"b":2}`))
			check(wantEra(p, raw, false))
			check(same(raw, json.RawMessage(`{"content":[{"type":"text","text":"{\"sum\":3.5}"}],"structuredContent":{"sum":3.5}}`)))
		}},
		{name: "array", title: "Structured output: an array", check: checkArray, impossible: func(_ endpoint, b backend) string {
			if !b.modern {
				return "Until 2025-11-25 structured content is an object (2025-11-25, Tools, Structured Content): the server has no array to give."
			}
			return ""
		}},
		{name: "iserror", title: "A result with isError", check: func(p *pair) {
			raw := must(p.c.use(p.ctx, "fail", ""))
			check(same(raw, json.RawMessage(`{"content":[{"type":"text","text":"it did not work"}],"isError":true}`)))
		}},
		{name: "invalid", title: "Errors: -32602 for an unknown tool, and a server's own", check: checkInvalid},
		{name: "read", title: "Prompts, resources, templates and completions", check: checkRead},
		{name: "ids", title: "Ids 1, \"1\" and 2^53+1", check: checkIDs},
		{name: "same-ids", title: "Two clients with the same ids at the same time", check: checkSameIDs},
		{name: "meta", title: "Unknown members and _meta, there and back", check: checkMeta},
		{name: "grease", title: "Unknown members everywhere come through", check: checkGrease},
		{name: "image", title: "An image of 20 MB", check: checkImage},
	}
}

func checkList(p *pair) {
	s := runtimetest.Full(p.back.versions()...)
	want := map[string]bool{}
	for _, t := range s.Tools {
		if t.Since == "" || p.back.modern {
			want[str(t.Definition, "name")] = true
		}
	}
	if p.back.modern && p.back.http { // x-mcp-header where it must not be
		delete(want, "broken_head")
	}
	exposed := map[string]bool{}
	for _, t := range must(p.c.list(p.ctx, "tools")) {
		bare := str(t, "_meta", "fake/name")
		if bare == "" && (strings.HasSuffix(str(t, "name"), "env") || strings.HasSuffix(str(t, "name"), "pid")) {
			continue // of the server's program, not of the server
		}
		failIf(!want[bare], "tool %.200s is not the server's, or twice", t)
		delete(want, bare)
		name := str(t, "name")
		if exposed[name] || len(name) > 44 || strings.ContainsFunc(name, func(r rune) bool {
			return !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-", r)
		}) {
			failf("exposed name %q", name)
		}
		exposed[name] = true
	}
	failIf(len(want) > 0, "tools missing: %v", want)
	first := must(p.c.roundTrip(p.ctx, ask{method: "tools/list"}))
	failIf(at(first, "nextCursor") == nil, "more than ten tools in one page")
	for kind, n := range map[string]int{"prompts": len(s.Prompts), "resources": len(s.Resources), "templates": len(s.Templates)} {
		items := slices.DeleteFunc(must(p.c.list(p.ctx, kind)), declares)
		failIf(len(items) != n, "%d %s, want %d", len(items), kind, n)
	}
	check(wantEra(p, first, true))
}

func checkCall(p *pair) {
	raw := must(p.c.use(p.ctx, "exact", ""))
	check(wantEra(p, raw, false))
	// Spelling is kept, too, where no revision has anything to change.
	for _, piece := range []string{`"text":"caf\u00e9 \/ \ud83d\ude00 é","x-inner":[1.0,1e2,-0]`, `{"big":9007199254740993,"one":1.0,"nested":{"b":1,"a":2}}`} {
		failIf(!strings.Contains(string(raw), piece), "%s is not in %s", piece, raw)
	}
	check(same(raw, json.RawMessage(runtimetest.ExactResult)))
}

func checkArray(p *pair) {
	const array = `[1.0,{"a":9007199254740993}]`
	raw := must(p.c.use(p.ctx, "array", ""))
	list := must(p.c.list(p.ctx, "tools"))
	i := slices.IndexFunc(list, func(t json.RawMessage) bool { return str(t, "_meta", "fake/name") == "array" })
	schema := at(list[i], "outputSchema")
	if p.endpoint.modern {
		failIf(str(schema, "type") != "array" || str(schema, "items", "$ref") != "#/$defs/item", "outputSchema %s", schema)
		check(same(at(raw, "structuredContent"), json.RawMessage(array)))
		return
	}
	if str(schema, "type") != "object" || str(schema, "properties", "result", "type") != "array" ||
		str(schema, "properties", "result", "items", "$ref") != "#/properties/result/$defs/item" {
		failf("outputSchema %s", schema)
	}
	failIf(text(raw) == "", "no text block for clients that know no structured content: %s", raw)
	check(same(at(raw, "structuredContent"), json.RawMessage(`{"result":`+array+`}`)))
}

func checkInvalid(p *pair) {
	raw, err := p.c.roundTrip(p.ctx, ask{method: "tools/call", members: `"name":"no such tool","arguments":{}`})
	check(wantCode(raw, err, -32602))
	raw, err = p.c.use(p.ctx, "refuse", `{"code":-32602}`)
	check(wantCode(raw, err, -32602))
	if !strings.Contains(err.Error(), `{"why":"told to"}`) {
		failf("the error's data is lost: %w", err)
	}
	raw, err = p.c.use(p.ctx, "refuse", `{"code":4711}`)
	check(wantCode(raw, err, 4711))
	raw, err = p.c.roundTrip(p.ctx, ask{method: "no/such", members: ""})
	check(wantCode(raw, err, -32601))
	raw, err = p.c.roundTrip(p.ctx, ask{method: "resources/read", members: `"uri":"fake://none"`})
	want := -32002
	if p.endpoint.modern {
		want = -32602
	}
	check(wantCode(raw, err, want))
}

func checkRead(p *pair) {
	greet := ""
	for _, d := range must(p.c.list(p.ctx, "prompts")) {
		if strings.HasSuffix(str(d, "name"), "greet") {
			greet = str(d, "name")
		}
	}
	raw := must(p.c.roundTrip(p.ctx, ask{method: "prompts/get", members: fmt.Sprintf(`"name":%q,"arguments":{"who":"é"}`, greet)}))
	check(same(raw, json.RawMessage(`{"messages":[{"role":"user","content":{"type":"text","text":"Greet é."}}]}`)))
	raw = must(p.c.roundTrip(p.ctx, ask{method: "resources/read", members: `"uri":"fake://note"`}))
	check(wantEra(p, raw, true))
	check(same(raw, json.RawMessage(`{"contents":[{"uri":"fake://note","mimeType":"text/plain","text":"hello"}]}`)))
	raw = must(p.c.roundTrip(p.ctx, ask{method: "completion/complete", members: fmt.Sprintf(`"ref":{"type":"ref/prompt","name":%q},"argument":{"name":"who","value":"é"}`, greet)}))
	check(same(raw, json.RawMessage(`{"completion":{"values":["é-one","é-two"],"total":2,"hasMore":false}}`)))
}

// checkIDs has requests in flight whose ids differ in type alone.
func checkIDs(p *pair) {
	slow := must(p.c.calling(p.ctx, "slow", `{"ms":15}`, ""))
	ids := []string{`1`, `"1"`, `9007199254740993`, `"9007199254740993"`, `"é/\u0000"`}
	calls := make([]*call, len(ids))
	for i, id := range ids {
		a := slow
		a.id = id
		calls[i] = p.c.start(a)
	}
	for i, k := range calls {
		m := must(k.wait(p.ctx))
		failIf(string(m.ID) != ids[i], "id %s came back as %s", ids[i], m.ID)
		check(wantText(m.Result, nil, "done"))
	}
}

func checkSameIDs(p *pair) {
	two, done := p.another("two")
	defer done()
	type want struct {
		k    *call
		text string
	}
	var calls []want
	for i := range 10 {
		for _, c := range []*client{p.c, two} {
			said := fmt.Sprintf("%s %d", c.label, i)
			a := must(c.calling(p.ctx, "random", fmt.Sprintf(`{"message":%q}`, said), ""))
			a.id = fmt.Sprint(1000 + i)
			calls = append(calls, want{c.start(a), said})
		}
	}
	for _, w := range calls {
		check(wantText(must(w.k.wait(p.ctx)).Result, nil, w.text))
	}
	if s := two.takeStrays(); s != nil {
		failf("strays: %q", s)
	}
}

func checkMeta(p *pair) {
	const vendor = `"example.com/n":{"big":9007199254740993,"one":1.0},"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"`
	a := must(p.c.calling(p.ctx, "meta", `{"x":1.0,"é":[9007199254740993]}`, vendor))
	a.members += `,"x-unknown":{"keep":[true,null,1E+2]}`
	raw := must(p.c.request(p.ctx, a))
	params := at(raw, "structuredContent", "params")
	for _, piece := range []string{`"x-unknown":{"keep":[true,null,1E+2]}`, `"example.com/n":{"big":9007199254740993,"one":1.0}`, `"arguments":{"x":1.0,"é":[9007199254740993]}`} {
		failIf(!strings.Contains(string(params), piece), "%s is not in %s", piece, params)
	}
	// Never the modern members over a session: a server of both eras would
	// take the request for a modern one.
	if has := strings.Contains(string(at(params, "_meta")), metaPrefix); has != p.modern() {
		failf("the protocol's own _meta: %t in %s", has, params)
	}
}

// checkGrease checks for the unknown members that the server adds everywhere.
func checkGrease(p *pair) {
	const grease = `{"int":9007199254740993,"float":1.0,"exp":1E+2,"esc":"\u00e9\/","null":null}`
	raw := must(p.c.use(p.ctx, "exact", ""))
	list := must(p.c.list(p.ctx, "tools"))
	read := must(p.c.roundTrip(p.ctx, ask{method: "resources/read", members: `"uri":"fake://note"`}))
	var contents []json.RawMessage
	_ = json.Unmarshal(at(read, "contents"), &contents)
	var content []json.RawMessage
	_ = json.Unmarshal(at(raw, "content"), &content)
	failIf(len(contents) != 1 || len(content) != 1, "%s, %s", read, raw)
	for where, got := range map[string]json.RawMessage{
		"a result": at(raw, "x-grease"), "a content block": at(content[0], "x-grease"), "_meta of a result": at(raw, "_meta", "x-grease"),
		"a tool": at(list[0], "x-grease"), "what is read": at(contents[0], "x-grease"),
	} {
		failIf(string(got) != grease, "%s has %q, want %s", where, got, grease)
	}
}
