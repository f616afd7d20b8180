package revision_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unsafe"

	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
)

const (
	v2026   = "2026-07-28"
	v202511 = "2025-11-25"
	v202506 = "2025-06-18"
	v202503 = "2025-03-26"
	v202411 = "2024-11-05"
)

// conversion is one case: want "" is the result as it came, the same bytes;
// refused is a part of the error.
type conversion struct {
	name          string
	c             revision.Conversion
	in, want      string
	refused       string
	notEquivalent bool // the other members do not all survive, on purpose
}

func conversions() []conversion {
	const (
		us   = `{"name":"mcpctl","version":"1"}`
		them = `{"name":"b","version":"2"}`
	)
	call := func(from, to string) revision.Conversion {
		return revision.Conversion{From: from, To: to, Method: "tools/call"}
	}
	method := func(m, from, to string) revision.Conversion {
		return revision.Conversion{From: from, To: to, Method: m}
	}
	named := func(c revision.Conversion) revision.Conversion {
		c.Server, c.Backend = json.RawMessage(us), json.RawMessage(them)
		return c
	}
	wrapped := func(c revision.Conversion) revision.Conversion { c.Wrap = true; return c }
	declaring := func(c revision.Conversion, caps string) revision.Conversion {
		c.Capabilities = json.RawMessage(caps)
		return c
	}
	return []conversion{
		{name: "same legacy revision", c: call(v202511, v202511), in: `{"content":[{"type":"audio","data":"AA=="}],"x":1.0}`},
		{name: "newer legacy client", c: call(v202411, v202511), in: `{"content":[]}`},
		{name: "older legacy client, nothing new", c: call(v202511, v202411), in: `{"content":[{"type":"text","text":"a"}]}`},
		{name: "client that has not said", c: call(v202511, ""), in: `{"content":[{"type":"resource_link","uri":"a:b","name":"n"}]}`},
		{name: "2025-06-18 keeps links", c: call(v202511, v202506), in: `{"content":[{"type":"resource_link","uri":"a:b","name":"n"}],"structuredContent":{}}`},

		{name: "up", c: call(v202511, v2026), in: ` {"content":[], "x":1.0}`, want: ` {"resultType":"complete","content":[], "x":1.0}`},
		{name: "up, empty", c: method("logging/setLevel", v202511, v2026), in: `{}`, want: `{"resultType":"complete"}`},
		{
			name: "up, read", c: method("resources/read", v202511, v2026), in: `{"contents":[]}`,
			want: `{"resultType":"complete","ttlMs":0,"cacheScope":"private","contents":[]}`,
		},
		{
			name: "up, read with hints of no meaning", c: method("resources/read", v202511, v2026), in: `{"ttlMs":9,"cacheScope":"public","contents":[]}`,
			want: `{"resultType":"complete","ttlMs":0,"cacheScope":"private","contents":[]}`,
		},
		{
			name: "up, names", c: named(call(v202511, v2026)), in: `{"content":[]}`,
			want: `{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":` + us + `,"dev.mcpctl/backendServerInfo":` + them + `},"content":[]}`,
		},
		{
			name: "up, names beside vendor members", c: named(call(v202511, v2026)), in: `{"_meta":{"v/x":1e3},"content":[]}`,
			want: `{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":` + us + `,"dev.mcpctl/backendServerInfo":` + them + `,"v/x":1e3},"content":[]}`,
		},
		{
			name: "up, a result that asks without saying so", c: call(v202511, v2026), in: `{"inputRequests":{"a":{"method":"roots/list"}}}`,
			want: `{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}`,
		},

		{name: "modern both", c: call(v2026, v2026), in: `{"resultType":"complete","content":[]}`},
		{name: "up, nulls", c: call(v202511, v2026), in: `{"content":[],"inputRequests":null,"requestState":null}`, want: `{"resultType":"complete","content":[],"inputRequests":null,"requestState":null}`},
		{name: "modern without a type", c: call(v2026, v2026), in: `{"content":[]}`, want: `{"resultType":"complete","content":[]}`},
		{
			name: "modern, our name for the server's", c: named(call(v2026, v2026)),
			in:   `{"resultType":"complete","_meta":{"a":1,"io.modelcontextprotocol/serverInfo":` + them + `},"content":[]}`,
			want: `{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":` + us + `,"a":1,"dev.mcpctl/backendServerInfo":` + them + `},"content":[]}`,
		},
		{name: "modern, hints stay", c: method("resources/read", v2026, v2026), in: `{"resultType":"complete","contents":[],"ttlMs":5,"cacheScope":"public"}`},
		{
			name: "modern, hints that are none", c: method("resources/read", v2026, v2026), in: `{"resultType":"complete","contents":[],"ttlMs":-5,"cacheScope":""}`,
			want: `{"resultType":"complete","contents":[],"ttlMs":0,"cacheScope":"private"}`,
		},
		{name: "modern asks", c: call(v2026, v2026), in: `{"resultType":"input_required","requestState":"s"}`},
		{
			name: "modern asks, with hints", c: method("resources/read", v2026, v2026), in: `{"resultType":"input_required","ttlMs":5,"requestState":"s","cacheScope":"public"}`,
			want: `{"resultType":"input_required","requestState":"s"}`,
		},
		{name: "task for a client without", c: call(v2026, v2026), in: `{"resultType":"task","taskId":"1"}`, refused: `"task"`},
		{name: "task for a client with", c: declaring(call(v2026, v2026), `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`), in: `{"resultType":"task","taskId":"1"}`},
		{name: "unknown type", c: declaring(call(v2026, v2026), `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`), in: `{"resultType":"odd"}`, refused: `"odd"`},
		{name: "unknown type of a declared extension", c: declaring(call(v2026, v2026), `{"extensions":{"com.example/odd":{}}}`), in: `{"resultType":"odd"}`},
		{name: "type that is no text", c: call(v2026, v2026), in: `{"resultType":1}`, refused: "no string"},
		{name: "twice", c: call(v2026, v2026), in: `{"resultType":"complete","resultType":"odd"}`, refused: "twice"},
		{name: "no object", c: call(v202511, v2026), in: `[1]`, refused: "no object"},

		{name: "down", c: call(v2026, v202511), in: `{"resultType":"complete","content":[],"x":1.0}`, want: `{"content":[],"x":1.0}`},
		{name: "down, alone", c: method("ping", v2026, v202511), in: `{"resultType":"complete"}`, want: `{}`},
		{
			name: "down, hints", c: method("resources/read", v2026, v202511), in: `{"contents":[],"ttlMs":1, "cacheScope":"public","resultType":"complete"}`,
			want: `{"contents":[]}`,
		},
		{
			name: "down, names", c: named(call(v2026, v202511)), in: `{"content":[],"_meta":{"v/x":1,"io.modelcontextprotocol/serverInfo":` + them + `}}`,
			want: `{"content":[],"_meta":{"v/x":1,"dev.mcpctl/backendServerInfo":` + them + `}}`,
		},
		{
			name: "down, icons of who answers", c: named(call(v2026, v202511)), in: `{"content":[],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"x","icons":[{"src":"data:image/png;base64,AAAA"}],"version":"1"}}}`,
			want: `{"content":[],"_meta":{"dev.mcpctl/backendServerInfo":{"name":"x","version":"1"}}}`,
		},
		{
			name: "same era, icons of who answers", c: named(call(v2026, v2026)), in: `{"resultType":"complete","content":[],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"x","version":"1","icons":[]}}}`,
			want: `{"resultType":"complete","content":[],"_meta":{"io.modelcontextprotocol/serverInfo":` + us + `,"dev.mcpctl/backendServerInfo":{"name":"x","version":"1"}}}`,
		},
		{name: "down, only modern meta", c: call(v2026, v202511), in: `{"content":[],"_meta":{"io.modelcontextprotocol/subscriptionId":1}}`, want: `{"content":[]}`},
		{name: "down, empty meta stays", c: call(v2026, v202511), in: `{"content":[],"_meta":{}}`},
		{name: "down, input", c: call(v2026, v202511), in: `{"resultType":"input_required","requestState":"s"}`, refused: "input_required"},
		{name: "down, task", c: call(v2026, v202511), in: `{"resultType":"task","taskId":"1"}`, refused: "cannot express"},
		{
			name: "down, array", c: call(v2026, v202511), in: `{"content":[],"structuredContent":[1.0,2]}`,
			want: `{"content":[{"type":"text","text":"[1.0,2]"}],"structuredContent":{"result":[1.0,2]}}`,
		},
		{
			name: "down, array beside text", c: call(v2026, v202511), in: `{"content":[{"type":"text","text":"t"}],"structuredContent":[1.0,2]}`,
			want: `{"content":[{"type":"text","text":"t"}],"structuredContent":{"result":[1.0,2]}}`,
		},
		{
			name: "down, null beside an image", c: call(v2026, v202511), in: `{"content":[{"type":"image"} ],"structuredContent":null}`,
			want: `{"content":[{"type":"image"} ,{"type":"text","text":"null"}],"structuredContent":{"result":null}}`,
		},
		{
			name: "down, no content", c: call(v2026, v202511), in: `{"structuredContent":{"a":"é"}}`,
			want: `{"content":[{"type":"text","text":"{\"a\":\"é\"}"}],"structuredContent":{"a":"é"}}`,
		},
		{
			name: "down, an object of a wrapped schema", c: wrapped(call(v2026, v202511)), in: `{"content":[{"type":"text","text":"t"}],"structuredContent":{"a":1}}`,
			want: `{"content":[{"type":"text","text":"t"}],"structuredContent":{"result":{"a":1}}}`,
		},
		{
			name: "structured content for one who does not know it", c: call(v202511, v202503), in: `{"content":[],"structuredContent":{"a":1}}`,
			want: `{"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1}}`,
		},
		{
			name: "link", c: call(v2026, v202503),
			in:   `{"content":[{"type":"text","text":"a"}, {"type":"resource_link","uri":"a:b","name":"n","title":"T","mimeType":"x/y","description":"d","grease":{"a":1}}]}`,
			want: `{"content":[{"type":"text","text":"a"}, {"text":"T: a:b (x/y)\nd","type":"text","uri":"a:b","name":"n","title":"T","mimeType":"x/y","description":"d","grease":{"a":1}}]}`,
		},
		{name: "link alone", c: call(v202511, v202411), in: `{"content":[{"type":"resource_link","uri":"a:b"}]}`, want: `{"content":[{"text":"a:b","type":"text","uri":"a:b"}]}`},
		{name: "sound stays", c: call(v202511, v202503), in: `{"content":[{"type":"audio","data":"AAAA","mimeType":"audio/wav"}]}`},
		{
			name: "sound", c: call(v202511, v202411), in: `{"content":[{"type":"audio","data":"AAAA","mimeType":"audio/wav","annotations":{"priority":1.0}}]}`,
			want:          `{"content":[{"text":"[audio/wav, 3 bytes, left out: this client's protocol revision has no audio]","type":"text","mimeType":"audio/wav","annotations":{"priority":1.0}}]}`,
			notEquivalent: true,
		},
		{
			name: "prompt", c: method("prompts/get", v2026, v202411), in: `{"resultType":"complete","messages":[{"role":"user","content":{"type":"audio","data":"","x":[]}},{"role":"user","content":{"type":"text","text":"\"audio\""}}]}`,
			want: `{"messages":[{"role":"user","content":{"text":"[audio, 0 bytes, left out: this client's protocol revision has no audio]","type":"text","x":[]}},{"role":"user","content":{"type":"text","text":"\"audio\""}}]}`,
		},
		{name: "word that is no type", c: call(v202511, v202411), in: `{"content":[{"type":"text","text":"x","audio":"audio"}],"y":"audio"}`},
	}
}

func TestResult(t *testing.T) {
	for _, tt := range conversions() {
		got, err := tt.c.Result(json.RawMessage(tt.in))
		switch {
		case tt.refused != "":
			if err == nil || !strings.Contains(err.Error(), tt.refused) {
				t.Errorf("%s: got %s, %v, want an error with %q", tt.name, got, err, tt.refused)
			}
			continue
		case err != nil:
			t.Errorf("%s: %v", tt.name, err)
			continue
		case tt.want == "" && string(got) != tt.in:
			t.Errorf("%s: got %s, want it unchanged", tt.name, got)
		case tt.want != "" && string(got) != tt.want:
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
		if !json.Valid(got) {
			t.Errorf("%s: not JSON: %s", tt.name, got)
		}
		if again, err := tt.c.Result(got); tt.c.Server == nil && !tt.c.Wrap && (err != nil || string(again) != string(got)) && !strings.Contains(tt.in, "structuredContent") {
			t.Errorf("%s: a second time: got %s, %v", tt.name, again, err)
		}
	}
}

// TestUnchangedIsTheSameBytes: a result that needs no change is not copied.
func TestUnchangedIsTheSameBytes(t *testing.T) {
	for _, tt := range conversions() {
		in := json.RawMessage(tt.in)
		got, err := tt.c.Result(in)
		if tt.want == "" && err == nil && unsafe.SliceData(got) != unsafe.SliceData(in) {
			t.Errorf("%s: copied", tt.name)
		}
	}
	c := revision.Conversion{From: v202511, To: v202411, Method: "tools/call"}
	in := json.RawMessage(`{"content":[{"type":"text","text":"a"}]}`)
	if n := testing.AllocsPerRun(10, func() { _, _ = c.Result(in) }); n != 0 {
		t.Errorf("got %v allocations for a result that needs no change, want none", n)
	}
}

func TestItem(t *testing.T) {
	for _, tt := range []struct{ name, to, in, want string }{
		{"execution, modern", v2026, `{"name":"a","execution":{"taskSupport":"optional","x":1},"y":2}`, `{"name":"a","y":2}`},
		{"execution, legacy", v202511, `{"name":"a","execution":{"taskSupport":"optional"},"y":2}`, `{"name":"a","y":2}`},
		{"execution with more, legacy", v202511, `{"name":"a","execution":{"taskSupport":"optional","x":1},"y":2}`, `{"name":"a","execution":{"x":1},"y":2}`},
		{"object", v202511, `{"outputSchema":{"type":"object"}}`, `{"outputSchema":{"type":"object"}}`},
		{"array, modern", v2026, `{"outputSchema":{"type":"array"}}`, `{"outputSchema":{"type":"array"}}`},
		{
			"array", v202506, `{"outputSchema": {"type":"array","items":{"type":"string"}} ,"x":1.0}`,
			`{"outputSchema": {"type":"object","properties":{"result":{"type":"array","items":{"type":"string"}}},"required":["result"]} ,"x":1.0}`,
		},
		{"true", v202506, `{"outputSchema":true}`, `{"outputSchema":{"type":"object","properties":{"result":true},"required":["result"]}}`},
		{
			"references", v202511,
			`{"outputSchema":{"$schema":"s","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$id":"i","$ref":"#/x"},"$ref":{"type":"string"}},"anyOf":[{"$ref":"#"},{"$ref":"#/$defs/a"},{"$ref":"o.json#/a"},{"const":{"$ref":"#/c"}}]}}`,
			`{"outputSchema":{"$schema":"s","type":"object","properties":{"result":{"$defs":{"a":{"$ref":"#/properties/result/$defs/b"},"b":{"$id":"i","$ref":"#/x"},"$ref":{"type":"string"}},"anyOf":[{"$ref":"#/properties/result"},{"$ref":"#/properties/result/$defs/a"},{"$ref":"o.json#/a"},{"const":{"$ref":"#/c"}}]}},"required":["result"]}}`,
		},
		{
			"document of its own", v202511, `{"outputSchema":{"$schema":"s","$id":"i","$ref":"#/$defs/a"}}`,
			`{"outputSchema":{"type":"object","properties":{"result":{"$schema":"s","$id":"i","$ref":"#/$defs/a"}},"required":["result"]}}`,
		},
		{"no object", v202511, `["outputSchema"]`, `["outputSchema"]`},
	} {
		c := revision.Conversion{From: v2026, To: tt.to, Method: "tools/list"}
		if got := string(c.Item([]byte(tt.in))); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
		wraps := strings.Contains(tt.want, `"required":["result"]`)
		if got := revision.WrapsOutput([]byte(tt.in)); got != wraps && tt.to != v2026 {
			t.Errorf("%s: wraps output: got %v, want %v", tt.name, got, wraps)
		}
	}
}

func TestConvertError(t *testing.T) {
	convert := func(method, from, to, caps string) revision.Conversion {
		return revision.Conversion{Method: method, From: from, To: to, Capabilities: json.RawMessage(caps)}
	}
	const read = "resources/read"
	for _, tt := range []struct {
		name     string
		c        revision.Conversion
		in, want string
	}{
		{"missing, up", convert(read, v202511, v2026, ""), `{"code":-32002,"message":"m","data":{"uri":"a"},"x":1.0}`, `{"code":-32602,"message":"m","data":{"uri":"a"},"x":1.0}`},
		{"missing, down", convert(read, v2026, v202511, ""), `{"code":-32602,"message":"m"}`, `{"code":-32002,"message":"m"}`},
		{"missing, same era", convert(read, v202511, v202506, ""), `{"code":-32002,"message":"m"}`, ``},
		{"params, same era", convert(read, v202511, v202506, ""), `{"code":-32602,"message":"m"}`, ``},
		{"params of a call", convert("tools/call", v2026, v202511, ""), `{"code":-32602,"message":"m"}`, ``},
		{"not initialised", convert("tools/call", v202511, v2026, ""), `{"code":-32002,"message":"m"}`, `{"code":-32603,"message":"m"}`},
		{"headers", convert("tools/call", v2026, v2026, ""), `{"code":-32020,"message":"m"}`, `{"code":-32603,"message":"m"}`},
		{"revision", convert("tools/call", v2026, v202511, ""), `{"code":-32022,"message":"m"}`, `{"code":-32603,"message":"m"}`},
		{"capability, down", convert("tools/call", v2026, v202511, ""), `{"code":-32021,"message":"m","data":{"requiredCapabilities":{"roots":{}}}}`, `{"code":-32603,"message":"m","data":{"requiredCapabilities":{"roots":{}}}}`},
		{"capability, lacks all", convert("tools/call", v2026, v2026, `{}`), `{"code":-32021,"message":"m","data":{"requiredCapabilities":{"roots":{}}}}`, ``},
		{
			"capability, lacks a part", convert("tools/call", v2026, v2026, `{"roots":{},"elicitation":{}}`),
			`{"code":-32021,"message":"m","data":{"requiredCapabilities":{"roots":{},"elicitation":{"form":{},"url":{}}},"y":2}}`,
			`{"code":-32021,"message":"m","data":{"requiredCapabilities":{"elicitation":{"url":{}}},"y":2}}`,
		},
		{"capability, lacks nothing", convert("tools/call", v2026, v2026, `{"roots":{}}`), `{"code":-32021,"message":"m","data":{"requiredCapabilities":{"roots":{}}}}`, `{"code":-32603,"message":"m","data":{"requiredCapabilities":{"roots":{}}}}`},
		{"url, known", convert("tools/call", v202511, v202511, ""), `{"code":-32042,"message":"m"}`, ``},
		{"url, modern", convert("tools/call", v202511, v2026, ""), `{"code":-32042,"message":"m"}`, `{"code":-32603,"message":"m"}`},
		{"url, older", convert("tools/call", v202511, v202506, ""), `{"code":-32042,"message":"m"}`, `{"code":-32603,"message":"m"}`},
		{"anything else", convert("tools/call", v202511, v2026, ""), `{"code":-32007,"message":"m"}`, ``},
	} {
		e := runtime.ParseError(json.RawMessage(tt.in))
		got := tt.c.Error(e)
		want := tt.want
		if want == "" {
			want = tt.in
			if got != e {
				t.Errorf("%s: copied", tt.name)
			}
		}
		if string(got.Raw) != want {
			t.Errorf("%s: got %s, want %s", tt.name, got.Raw, want)
		}
		if again := runtime.ParseError(got.Raw); again.Code != got.Code || string(again.Data) != string(got.Data) {
			t.Errorf("%s: got %d %s beside %s", tt.name, got.Code, got.Data, got.Raw)
		}
	}
}

func TestSentence(t *testing.T) {
	for in, want := range map[string]string{
		`{"code":-1,"message":"no"}`: "no",
		`{"code":-32042,"message":"go","data":{"elicitations":[{"message":"Sign in","url":"https://a"},{"url":"https://b"}]}}`: "go\nSign in https://a\nhttps://b",
		`{"code":-32021,"message":"no","data":{"requiredCapabilities":{"roots":{}}}}`:                                          `no: the server needs a client with {"roots":{}}`,
	} {
		if got := revision.Sentence(runtime.ParseError(json.RawMessage(in))); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// FuzzResult: whatever comes, the result stays JSON, members that no revision
// knows survive, and what has been converted needs no change any more.
func FuzzResult(f *testing.F) {
	revisions := revision.Versions()
	methods := []string{"tools/call", "prompts/get", "resources/read", "tools/list", "completion/complete"}
	for i, tt := range conversions() {
		f.Add([]byte(tt.in), i, i/2, i)
	}
	f.Fuzz(func(t *testing.T, in []byte, from, to, method int) {
		if !json.Valid(in) {
			return
		}
		c := revision.Conversion{
			From: revisions[uint(from)%uint(len(revisions))], To: revisions[uint(to)%uint(len(revisions))],
			Method: methods[uint(method)%uint(len(methods))],
		}
		got, err := c.Result(in)
		if err != nil {
			return
		}
		if !c.Needed() && string(got) != string(in) {
			t.Fatalf("changed %s to %s without need", in, got)
		}
		if !json.Valid(got) {
			t.Fatalf("no JSON any more: %s", got)
		}
		var before, after map[string]json.RawMessage
		if json.Unmarshal(in, &before) != nil || json.Unmarshal(got, &after) != nil {
			return
		}
		for name, value := range before {
			switch name {
			case "resultType", "ttlMs", "cacheScope", "_meta", "content", "structuredContent", "messages":
			default:
				if string(after[name]) != string(value) {
					t.Fatalf("%s: got %s, want %s", name, after[name], value)
				}
			}
		}
		if again, err := c.Result(got); revision.IsModern(c.To) && (err != nil || string(again) != string(got)) {
			t.Fatalf("a second time: got %s, %v, want %s", again, err, got)
		}
		_ = c.Item(in)
	})
}
