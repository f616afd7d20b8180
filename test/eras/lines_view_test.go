package eras_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

func viewLines() []line {
	return []line{
		{name: "view", title: "A view selects, renames and presents, and what it leaves out does not exist", check: func(p *pair) {
			alongside(p, func(o *proxy.Options) {
				o.Views = must(views.New(map[string]views.Config{"coding": codingView}, "coding"))
			}, checkView)
		}},
	}
}

// codingView shows three tools and one resource.
var codingView = views.Config{
	Tools:     []string{"b__e*", "b__region", "b__slow", "!b__exact"},
	Prompts:   []string{},
	Resources: []string{"fake://note"},
	Pin:       []string{"b__slow"},
	Override: map[string]views.Override{
		"b__echo": {Name: "say", Title: "Say", Description: "Says it.", Arguments: map[string]views.Argument{"message": {Description: "é"}}},
		"b__region": {Arguments: map[string]views.Argument{
			"flag": {Value: json.RawMessage(`true`)}, "n": {Default: json.RawMessage(`7`)}, "nested": {Hide: true},
		}},
	},
}

func checkView(p *pair) {
	tell := func(name, arguments string) (json.RawMessage, error) {
		return p.c.request(p.ctx, ask{method: "tools/call", members: fmt.Sprintf(`"name":%q,"arguments":%s`, name, arguments)})
	}
	for p.ctx.Err() == nil { // until the server is there; see settle
		raw, err := tell("say", `{"message":"é"}`)
		if wantText(raw, err, "é") == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}

	all := must(p.c.list(p.ctx, "tools"))
	var names []string
	for _, t := range all {
		names = append(names, str(t, "name"))
	}
	failIf(len(names) == 0 || names[0] != "b__slow", "the pinned tool is not first: %q", names)
	failIf(slices.Contains(names, "b__echo") || slices.Contains(names, "b__exact") || slices.Contains(names, "b__array"), "the list has %q", names)
	say := all[slices.Index(names, "say")]
	failIf(str(say, "title") != "Say" || str(say, "description") != "Says it." || str(say, "inputSchema", "properties", "message", "description") != "é", "say: %s", say)
	check(wantEra(p, must(p.c.roundTrip(p.ctx, ask{method: "tools/list"})), true))

	// What the view adds is in the headers for the server, which it compares.
	p.regionGets(`{"region":"é","flag":true,"n":7}`, `{"region":"é"}`, map[string]string{"Region": headerValue("é")})
	p.regionGets(`{"region":"x","n":8,"flag":true}`, `{"region":"x","n":8}`, map[string]string{"Region": "x", "N": "8"})
	for _, argument := range []string{`"flag":false`, `"nested":{}`} {
		raw, err := tell("b__region", `{"region":"x",`+argument+`}`)
		check(wantTrouble(raw, err, "leave it out"))
	}

	for _, name := range []string{"b__echo", "b__exact", "b__array"} {
		raw, err := tell(name, `{"message":"é"}`)
		check(wantCode(raw, err, -32602))
		failIf(!strings.Contains(err.Error(), "unknown tool"), "%v", err)
	}
	failIf(len(must(p.c.list(p.ctx, "prompts"))) != 0, "there are prompts")
	raw, err := p.c.roundTrip(p.ctx, ask{method: "prompts/get", members: `"name":"b__greet","arguments":{"who":"é"}`})
	check(wantCode(raw, err, -32602))
	resources := slices.DeleteFunc(must(p.c.list(p.ctx, "resources")), declares)
	failIf(len(resources) != 1 || str(resources[0], "uri") != "fake://note", "resources: %s", resources)
	raw = must(p.c.roundTrip(p.ctx, ask{method: "resources/read", members: `"uri":"fake://note"`}))
	check(same(raw, json.RawMessage(`{"contents":[{"uri":"fake://note","mimeType":"text/plain","text":"hello"}]}`)))
}

// declares reports whether a resource is the declarations of a view's tools, or tells where
// they are.
func declares(item json.RawMessage) bool {
	return strings.HasPrefix(str(item, "uri"), "mcpctl+view://") || strings.HasPrefix(str(item, "uriTemplate"), "mcpctl+view://")
}
