package runtimetest

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
)

// ExactResult is what the tool "exact" of [New] answers, byte for byte: unknown
// members, integers above 2^53, 1.0, unusual spacing and escapes.
const ExactResult = `{ "content" : [{"type":"text","text":"caf\u00e9 \/ \ud83d\ude00 é","x-inner":[1.0,1e2,-0]}],` +
	`"structuredContent":{"big":9007199254740993,"one":1.0,"nested":{"b":1,"a":2}},` +
	`"_meta":{"example.com/trace":"abc","n":12345678901234567890},"x-unknown":{"keep":[true,null]} }`

// ExactTool is the tools/list entry of the tool "exact".
const ExactTool = `{"name":"exact","description":"Answers fixed bytes.","inputSchema":{"type":"object","x-note":1.0},"x-vendor":{"id":9007199254740993}}`

// New returns a legacy server with tools for the ordinary cases of a test, a
// text and a binary resource, a template and a prompt:
//
//	echo     message string → that text
//	reflect  any object     → the arguments' bytes as structuredContent
//	exact    nothing        → [ExactResult]
//	add      a, b number    → their sum, structured, with an outputSchema
//	paint    color enum     → an enum and nothing else
//	random   message string → echo after up to 2 ms
//	slow     ms integer     → text, after that time
//	steps    n integer      → n progress messages, then text
//	huge     bytes integer  → text of that length
//	fail     nothing        → a result with isError
//	refuse   code integer   → a JSON-RPC error with that code
//	ask      method string  → sends the client that request, returns its answer
//	change   nothing        → notifications/tools/list_changed, then text
//	exit     code integer   → ends the server without an answer
func New() *Server {
	return &Server{
		Tools: []Tool{
			{Definition: wireRaw(`{"name":"echo","title":"Echo","description":"Gives the message back.","inputSchema":{"type":"object","properties":{"message":{"type":"string","description":"what to say"}},"required":["message"]}}`), Call: echo},
			{Definition: wireRaw(`{"name":"reflect","description":"Gives its arguments back.","inputSchema":{"type":"object"}}`), Call: func(_ context.Context, c *Call) (json.RawMessage, error) {
				return wireObject("content", wireRaw(`[]`), "structuredContent", c.Arguments), nil
			}},
			{Definition: wireRaw(ExactTool), Call: func(context.Context, *Call) (json.RawMessage, error) { return wireRaw(ExactResult), nil }},
			{Definition: wireRaw(`{"name":"add","description":"Adds two numbers.","inputSchema":{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]},"outputSchema":{"type":"object","properties":{"sum":{"type":"number"}},"required":["sum"]},"annotations":{"readOnlyHint":true}}`), Call: add},
			{Definition: wireRaw(`{"name":"paint","description":"Chooses a colour.","inputSchema":{"type":"object","properties":{"color":{"enum":["red","green","blue"]}},"required":["color"]}}`), Call: func(_ context.Context, c *Call) (json.RawMessage, error) {
				return Text("painted " + wireField(c.Arguments, "color")), nil
			}},
			{Definition: wireRaw(`{"name":"random","inputSchema":{"type":"object","properties":{"message":{"type":"string"}}}}`), Call: func(ctx context.Context, c *Call) (json.RawMessage, error) {
				if err := sleep(ctx, time.Duration(rand.IntN(2000))*time.Microsecond); err != nil { //nolint:gosec // spread, not secrecy
					return nil, err
				}
				return echo(ctx, c)
			}},
			{Definition: wireRaw(`{"name":"slow","inputSchema":{"type":"object","properties":{"ms":{"type":"integer"}},"required":["ms"]}}`), Call: func(ctx context.Context, c *Call) (json.RawMessage, error) {
				if err := sleep(ctx, time.Duration(c.number("ms"))*time.Millisecond); err != nil {
					return nil, err
				}
				return Text("done"), nil
			}},
			{Definition: wireRaw(`{"name":"steps","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}`), Call: func(_ context.Context, c *Call) (json.RawMessage, error) {
				n := c.number("n")
				for i := range n {
					c.Progress(float64(i+1), float64(n), "step")
				}
				return Text("done"), nil
			}},
			{Definition: wireRaw(`{"name":"huge","inputSchema":{"type":"object","properties":{"bytes":{"type":"integer"}},"required":["bytes"]}}`), Call: func(_ context.Context, c *Call) (json.RawMessage, error) {
				return Text(strings.Repeat("x", int(c.number("bytes")))), nil
			}},
			{Definition: wireRaw(`{"name":"fail","description":"Always reports an error.","inputSchema":{"type":"object"}}`), Call: func(context.Context, *Call) (json.RawMessage, error) {
				return wireRaw(`{"content":[{"type":"text","text":"it did not work"}],"isError":true}`), nil
			}},
			{Definition: wireRaw(`{"name":"refuse","inputSchema":{"type":"object","properties":{"code":{"type":"integer"}}}}`), Call: func(_ context.Context, c *Call) (json.RawMessage, error) {
				return nil, &runtime.Error{Code: c.number("code"), Message: "refused", Data: wireRaw(`{"why":"told to"}`)}
			}},
			{Definition: wireRaw(`{"name":"ask","inputSchema":{"type":"object","properties":{"method":{"type":"string"}},"required":["method"]}}`), Call: func(ctx context.Context, c *Call) (json.RawMessage, error) {
				res, err := c.Ask(ctx, wireField(c.Arguments, "method"), nil)
				if err != nil {
					return Text("error: " + err.Error()), nil //nolint:nilerr // the client's error is the tool's result
				}
				return Text(string(res)), nil
			}},
			{Definition: wireRaw(`{"name":"change","inputSchema":{"type":"object"}}`), Call: func(_ context.Context, c *Call) (json.RawMessage, error) {
				c.Notify("notifications/tools/list_changed", nil)
				return Text("changed"), nil
			}},
			{Definition: wireRaw(`{"name":"exit","inputSchema":{"type":"object","properties":{"code":{"type":"integer"}}}}`), Call: func(_ context.Context, c *Call) (json.RawMessage, error) {
				return nil, &ExitError{int(c.number("code"))}
			}},
		},
		Resources: []Resource{
			{wireRaw(`{"uri":"fake://note","name":"note","mimeType":"text/plain","size":5}`), wireRaw(`{"contents":[{"uri":"fake://note","mimeType":"text/plain","text":"hello"}]}`)},
			{wireRaw(`{"uri":"fake://blob","name":"blob","mimeType":"application/octet-stream"}`), wireRaw(`{"contents":[{"uri":"fake://blob","mimeType":"application/octet-stream","blob":"AAEC/w=="}]}`)},
		},
		Templates: []json.RawMessage{wireRaw(`{"uriTemplate":"fake://item/{id}","name":"item"}`)},
		Prompts: []Prompt{{wireRaw(`{"name":"greet","description":"A greeting.","arguments":[{"name":"who","required":true}]}`), func(_ context.Context, c *Call) (json.RawMessage, error) {
			return wireObject("messages", wireArray([]json.RawMessage{wireObject("role", "user", "content", wireObject("type", "text", "text", "Greet "+wireField(c.Arguments, "who")+"."))})), nil
		}}},
	}
}

// Text is the raw result of a tool that says s.
func Text(s string) json.RawMessage {
	return wireObject("content", wireArray([]json.RawMessage{wireObject("type", "text", "text", s)}))
}

func echo(_ context.Context, c *Call) (json.RawMessage, error) {
	return Text(wireField(c.Arguments, "message")), nil
}

func add(_ context.Context, c *Call) (json.RawMessage, error) {
	var args struct{ A, B float64 }
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return nil, &runtime.Error{Code: runtime.CodeInvalidParams, Message: err.Error()}
	}
	sum := wireObject("sum", args.A+args.B)
	return wireObject("content", wireArray([]json.RawMessage{wireObject("type", "text", "text", string(sum))}), "structuredContent", sum), nil
}

// number is one integer argument, 0 when absent.
func (c *Call) number(name string) int64 {
	var n int64
	if json.Unmarshal(wireMember(c.Arguments, name), &n) != nil {
		return 0
	}
	return n
}
