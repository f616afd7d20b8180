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

func searchLines() []line {
	return []line{
		{name: "search", title: "Tools are found instead of listed", check: func(p *pair) {
			alongside(p, func(o *proxy.Options) { o.Search = proxy.Search{List: views.ListSearch} }, checkSearch)
		}},
		{name: "call-tool", title: "A call through call_tool is the call inside it: " + strings.Join(insideLines(), ", "), check: func(p *pair) {
			// The list is whole, and the tools are there.
			alongside(p, func(o *proxy.Options) { o.Search = proxy.Search{List: views.ListAuto, Budget: 1 << 30} }, func(q *pair) {
				check(q.settle(q.ctx))
				q.c.takeQuestions()
				checkInside(q)
			})
		}},
	}
}

// insideLines are the lines that hold for calls through call_tool, too.
func insideLines() []string {
	return []string{
		"call", "object", "array", "iserror", "invalid", "meta", "grease", "ids", "progress", "cancel-message", "cancel-disconnect", "log-level", "header-valid", "header-unicode", "header-null", "unicode-name",
		"form", "url", "32042", "sampling", "roots", "two", "again", "no-capability", "state-only", "state-tampered", "state-expired", "state-target", "task-required", "task-extension",
	}
}

// alongside runs a check with a proxy of its own before the same kind of backend.
func alongside(p *pair, set func(*proxy.Options), do func(q *pair)) {
	q := must(newPair(p.endpoint, p.back, set))
	defer q.close()
	q.ctx = p.ctx
	do(q)
	if strays := q.c.takeStrays(); strays != nil {
		failf("stray messages: %s", strings.Join(strays, "; "))
	}
}

func checkSearch(p *pair) {
	for p.ctx.Err() == nil { // until the server is there; see settle
		raw, err := p.c.request(p.ctx, ask{method: "tools/call", members: `"name":"b__echo","arguments":{"message":"é"}`})
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
	failIf(!slices.Equal(names, []string{"search_tools", "call_tool", "call_read_tool"}), "the list has %q", names)
	raw, err := p.c.request(p.ctx, ask{method: "tools/call", members: `"name":"search_tools","arguments":{"queries":["echo"],"limit":1}`})
	check(err)
	failIf(!strings.HasPrefix(text(raw), "b__echo("), "found: %s", raw)
	check(wantEra(p, raw, false))
	raw, err = p.c.request(p.ctx, ask{method: "tools/call", members: `"name":"search_tools","arguments":{"queries":["zzqxzzqx"]}`})
	check(err)
	failIf(!strings.Contains(text(raw), "b ("), "nothing found: %s", raw)
	raw, err = p.c.request(p.ctx, ask{method: "tools/call", members: `"name":"call_tool","arguments":{"name":"b__echo","arguments":{"message":"é"}}`})
	check(wantText(raw, err, "é"))
	raw, err = p.c.request(p.ctx, ask{method: "tools/call", members: `"name":"b__echo","arguments":{"message":"é"}`})
	check(wantText(raw, err, "é"))
	raw, err = p.c.request(p.ctx, ask{method: "tools/call", members: `"name":"call_read_tool","arguments":{"name":"b__echo","arguments":{"message":"é"}}`})
	check(wantTrouble(raw, err, "use call_tool"))
}

// checkInside runs lines with all calls inside others.
func checkInside(p *pair) {
	p.c.inside = true
	for _, l := range lines() {
		if !slices.Contains(insideLines(), l.name) {
			continue
		}
		do := l.check
		if l.impossible != nil && l.impossible(p.endpoint, p.back) != "" {
			if do = l.refused; do == nil {
				continue
			}
		}
		p.c.takeQuestions()
		check(wrap(attempt(func() { do(p) }), "%s", l.name))
	}
}

// within returns a call inside one of call_tool.
func (a ask) within() ask {
	var members map[string]json.RawMessage
	if a.method != "tools/call" || json.Unmarshal([]byte("{"+a.members+"}"), &members) != nil || members["name"] == nil {
		return a
	}
	inner := `"name":` + string(members["name"])
	if members["arguments"] != nil {
		inner += `,"arguments":` + string(members["arguments"])
	}
	a.members = `"name":"call_tool","arguments":{` + inner + `}`
	for name, value := range members {
		if name != "name" && name != "arguments" {
			a.members += fmt.Sprintf(",%q:%s", name, value)
		}
	}
	return a
}
