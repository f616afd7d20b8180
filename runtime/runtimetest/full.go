package runtimetest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
)

// UnicodeTool and UnicodeURI are names of [Full] that are not ASCII.
const (
	UnicodeTool = "größe 世界/x"
	UnicodeURI  = "fake://größe/世界?q=%C3%A9 x"
)

// Full returns a server that speaks these revisions, best first (none: the
// legacy ones), and uses all of the protocol in the way of the era of each
// request. Beside what [New] has it offers subscriptions, completions, tasks
// and these tools:
//
//	array       nothing          → an array as structuredContent; to a session
//	                               {"result":…}; only where the server speaks
//	                               2026-07-28
//	ask_form    nothing          → asks a form, returns the raw answer
//	ask_url     nothing          → asks to open a link
//	ask_sample  nothing          → asks for sampling
//	ask_roots   nothing          → asks for roots
//	ask_two     nothing          → asks a form and for roots, at once
//	ask_again   nothing          → asks a form, then another one
//	link_first  key string       → -32042 once for each key (2025-11-25),
//	                               ask_url since 2026-07-28
//	come_back   nothing          → a requestState alone, then text
//	                               (2026-07-28); text before
//	log         level, text      → a log message of that level, then text
//	tell        label, ask       → progress, a log message and, with ask, a form
//	                               that all say label; label and the answer
//	wait        nothing          → waits until it is cancelled
//	task        message string   → text, as a task only
//	region      region, n, flag  → returns its arguments; all of them are
//	                               mirrored in headers, nested.deep too
//	broken_head x number         → has an x-mcp-header that is not allowed
//	image       bytes integer    → an image of that size
//	meta        nothing          → the request's own params as structuredContent
//	size        nothing          → its name is [UnicodeTool]
//
// Definitions carry the tool's bare name in _meta["fake/name"].
func Full(versions ...string) *Server {
	s := New()
	s.Versions, s.Subscriptions, s.Private = versions, true, []string{"prompts/list"}
	s.Capabilities = wireRaw(`{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"completions":{},"logging":{}}`)
	s.Methods = map[string]Func{"completion/complete": complete, "subscriptions/listen": func(ctx context.Context, c *Call) (json.RawMessage, error) {
		if c.Version < RevJuly {
			return nil, wireMethodNotFound(c.Method)
		}
		return c.n.listen(ctx, c)
	}}
	s.Resources = append(s.Resources, Resource{
		wireObject("uri", UnicodeURI, "name", "unicode", "mimeType", "text/plain"),
		wireObject("contents", wireArray([]json.RawMessage{wireObject("uri", UnicodeURI, "mimeType", "text/plain", "text", "größe")})),
	})
	s.Tools = append(s.Tools, askTools()...)
	s.Tools = append(s.Tools, otherTools()...)
	s.OfferTasks(TaskOptions{Poll: 5 * time.Millisecond}, TaskTool{
		Definition: wireRaw(`{"name":"task","inputSchema":{"type":"object","properties":{"message":{"type":"string"}}}}`), Support: "required",
		Run: func(ctx context.Context, c *Call, _ map[string]json.RawMessage) (json.RawMessage, error) {
			return echo(ctx, c)
		},
	})
	for i, t := range s.Tools {
		s.Tools[i].Definition = wireWithLast(t.Definition, `"_meta":`+string(wireObject("fake/name", wireField(t.Definition, "name"))))
	}
	return s
}

func complete(_ context.Context, c *Call) (json.RawMessage, error) {
	value := wireField(wireMember(c.Params, "argument"), "value")
	res := wireObject("completion", wireObject("values", []string{value + "-one", value + "-two"}, "total", 2, "hasMore", false))
	if c.Version >= RevJuly {
		res = wireWith(res, modernMembers(c.Method))
	}
	return res, nil
}

// image returns a picture of a size; the last one is kept.
func image() Func {
	var mu sync.Mutex
	var size int64
	var result json.RawMessage
	return func(_ context.Context, c *Call) (json.RawMessage, error) {
		mu.Lock()
		defer mu.Unlock()
		if n := c.number("bytes"); result == nil || n != size {
			data := make([]byte, n)
			for i := range data {
				data[i] = byte(i * 7)
			}
			block := wireObject("type", "image", "mimeType", "image/png", "data", wireRaw(`"`+base64.StdEncoding.EncodeToString(data)+`"`))
			size, result = n, wireObject("content", wireArray([]json.RawMessage{block}))
		}
		return result, nil
	}
}

// tool makes a tool without declared arguments.
func tool(name string, f Func) Tool {
	return Tool{Definition: wireObject("name", name, "inputSchema", wireRaw(`{"type":"object"}`)), Call: f}
}

// asking makes a tool that asks and returns the raw answers, as an object by key.
func asking(name string, rounds ...[]Question) Tool {
	return tool(name, func(ctx context.Context, c *Call) (json.RawMessage, error) {
		var all []any
		for _, qs := range rounds {
			answers, err := c.Questions(ctx, qs...)
			if err != nil {
				return nil, err
			}
			for _, q := range qs {
				all = append(all, q.Key, answers[q.Key])
			}
		}
		return wireObject("content", wireRaw(`[]`), "structuredContent", wireObject(all...)), nil
	})
}

func askTools() []Tool {
	form := Form("who", "Who are you?", "name")
	link := Link("link", "Please connect", "https://example.com/connect?a=1&b=é")
	return []Tool{
		asking("ask_form", []Question{form}),
		asking("ask_url", []Question{link}),
		asking("ask_sample", []Question{Sampling("sample", "Say hello")}),
		asking("ask_roots", []Question{Roots("roots")}),
		asking("ask_two", []Question{form, Roots("roots")}),
		asking("ask_again", []Question{form}, []Question{Form("again", "And again?", "name")}),
		tool("link_first", func(ctx context.Context, c *Call) (json.RawMessage, error) {
			if c.Version < RevJuly {
				return c.linkFirst(link)
			}
			answers, err := c.Questions(ctx, link)
			return wireObject("content", wireRaw(`[]`), "structuredContent", wireObject("link", answers["link"])), err
		}),
		tool("come_back", func(_ context.Context, c *Call) (json.RawMessage, error) {
			return Text("back"), c.ComeBack()
		}),
	}
}

func tell(ctx context.Context, c *Call) (json.RawMessage, error) {
	label, said := wireField(c.Arguments, "label"), "nothing"
	c.Progress(1, 2, label)
	c.Log("error", wireMarshal(label))
	if string(wireMember(c.Arguments, "ask")) == "true" {
		answers, err := c.Questions(ctx, Form("who", "Who is "+label+"?", "name"))
		if err != nil {
			return nil, err
		}
		said = string(answers["who"])
	}
	c.Progress(2, 2, label)
	return Text(label + ": " + said), nil
}

// codeURLElicitation is an error of 2025-11-25 that 2026-07-28 no longer has.
const codeURLElicitation = -32042

// linkFirst answers -32042 once for each key (2025-11-25, Elicitation, URL
// Elicitation Required Error).
func (c *Call) linkFirst(link Question) (json.RawMessage, error) {
	if c.Session < RevNov {
		return nil, &cannotAsk{link.need()}
	}
	w := &c.n.s.world
	w.mu.Lock()
	defer w.mu.Unlock()
	key := wireField(c.Arguments, "key")
	if w.linked[key] {
		return Text("linked"), nil
	}
	if w.linked == nil {
		w.linked = map[string]bool{}
	}
	w.linked[key] = true
	return nil, &runtime.Error{
		Code: codeURLElicitation, Message: "This request requires more information.",
		Data: wireObject("elicitations", wireArray([]json.RawMessage{wireWith(link.Params, `"elicitationId":"e-link"`)})),
	}
}

func otherTools() []Tool {
	return []Tool{
		{Definition: wireRaw(`{"name":"array","inputSchema":{"type":"object"},"outputSchema":{"type":"array","items":{"$ref":"#/$defs/item"},"$defs":{"item":{"type":["number","object"]}}}}`), Call: func(_ context.Context, c *Call) (json.RawMessage, error) {
			if c.Version < RevJuly { // structured content is an object
				return wireRaw(`{"content":[{"type":"text","text":"[1.0]"}],"structuredContent":{"result":[1.0,{"a":9007199254740993}]}}`), nil
			}
			return wireRaw(`{"content":[],"structuredContent":[1.0,{"a":9007199254740993}]}`), nil
		}, Since: RevJuly},
		tool("log", func(_ context.Context, c *Call) (json.RawMessage, error) {
			c.Log(wireField(c.Arguments, "level"), wireMarshal(wireField(c.Arguments, "text")))
			return Text("logged"), nil
		}),
		tool("tell", tell),
		tool("wait", func(ctx context.Context, c *Call) (json.RawMessage, error) {
			s := c.n.s
			s.world.count(func(st *Status) { st.Running++ })
			<-ctx.Done()
			s.world.count(func(st *Status) { st.Running--; st.Cancelled++ })
			return nil, context.Cause(ctx)
		}),
		{Definition: wireRaw(`{"name":"region","inputSchema":{"type":"object","properties":{"region":{"type":["string","null"],"x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"},"flag":{"type":"boolean","x-mcp-header":"Flag"},"nested":{"type":"object","properties":{"deep":{"type":"string","x-mcp-header":"Deep"}}}}}}`), Call: func(_ context.Context, c *Call) (json.RawMessage, error) {
			return wireObject("content", wireRaw(`[]`), "structuredContent", c.Arguments), nil
		}},
		{Definition: wireRaw(`{"name":"broken_head","inputSchema":{"type":"object","properties":{"x":{"type":"number","x-mcp-header":"X"}}}}`), Call: func(context.Context, *Call) (json.RawMessage, error) {
			return Text("called"), nil
		}},
		tool("image", image()),
		tool("meta", func(_ context.Context, c *Call) (json.RawMessage, error) {
			return wireObject("content", wireRaw(`[]`), "structuredContent", wireObject("params", c.Params)), nil
		}),
		tool(UnicodeTool, func(_ context.Context, c *Call) (json.RawMessage, error) { return Text(c.Name), nil }),
	}
}
