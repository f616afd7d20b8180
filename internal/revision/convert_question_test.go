package revision_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
)

const everything = `{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{},"context":{}},"roots":{}}`

func questions() []struct {
	name           string
	from, to       string
	method, caps   string
	server         string
	in, want, code string
} {
	const (
		elicit = "elicitation/create"
		sample = "sampling/createMessage"
		titled = `{"message":"m","mode":"form","requestedSchema":{"type":"object","properties":{"c":{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b"}],"default":"a","x":1.0}}}}`
		multi  = `{"message":"m","requestedSchema":{"type":"object","properties":{"c":{"type":"array","items":{"type":"string","enum":["a"]}}}}}`
		url    = `{"mode":"url","message":"m","url":"https://a"}`
	)
	return []struct {
		name           string
		from, to       string
		method, caps   string
		server         string
		in, want, code string
	}{
		{name: "form, same", from: v202511, to: v202511, method: elicit, caps: everything, in: titled},
		{name: "form, modern to newest", from: v2026, to: v202511, method: elicit, caps: everything, in: titled},
		{
			name: "form, older", from: v2026, to: v202506, method: elicit, caps: `{"elicitation":{}}`, in: titled,
			want: `{"message":"m","requestedSchema":{"type":"object","properties":{"c":{"enum":["a","b"],"enumNames":["A","b"],"type":"string","default":"a","x":1.0}}}}`,
		},
		{name: "several choices, older", from: v2026, to: v202506, method: elicit, caps: `{"elicitation":{}}`, in: multi, code: "-32602"},
		{name: "several choices", from: v2026, to: v202511, method: elicit, caps: everything, in: multi},
		{name: "no elicitation yet", from: v2026, to: v202503, method: elicit, caps: everything, in: titled, code: "-32602"},
		{name: "client that cannot", from: v2026, to: v202511, method: elicit, caps: `{"sampling":{}}`, in: titled, code: `-32021 {"requiredCapabilities":{"elicitation":{"form":{}}}}`},
		{name: "client that has not said", from: v2026, to: v202511, method: elicit, in: titled, code: `-32021 {"requiredCapabilities":{"elicitation":{"form":{}}}}`},
		{name: "url", from: v2026, to: v202511, method: elicit, caps: everything, in: url, want: `{"elicitationId":"minted","mode":"url","message":"m","url":"https://a"}`},
		{name: "url with an id", from: v202511, to: v202511, method: elicit, caps: everything, in: `{"elicitationId":"1","mode":"url","url":"https://a"}`},
		{name: "url, client without", from: v2026, to: v202511, method: elicit, caps: `{"elicitation":{}}`, in: url, code: `-32021 {"requiredCapabilities":{"elicitation":{"url":{}}}}`},
		{name: "url, older", from: v2026, to: v202506, method: elicit, caps: everything, in: url, code: "-32602"},
		{name: "only url", from: v2026, to: v202511, method: elicit, caps: `{"elicitation":{"url":{}}}`, in: titled, code: `-32021 {"requiredCapabilities":{"elicitation":{"form":{}}}}`},
		{name: "up", from: v202506, to: v2026, method: elicit, caps: everything, in: `{"message":"m","requestedSchema":{"x":1.0}}`, want: `{"mode":"form","message":"m","requestedSchema":{"x":1.0}}`},
		{
			name: "up, url", from: v202511, to: v2026, method: elicit, caps: everything,
			in:   `{"mode":"url","elicitationId":"e","message":"m","url":"https://a","_meta":{"progressToken":1,"io.modelcontextprotocol/related-task":{"taskId":"1"}},"task":{}}`,
			want: `{"mode":"url","message":"m","url":"https://a"}`,
		},
		{name: "named", from: v202511, to: v202511, method: elicit, caps: everything, server: "git", in: `{"message":"m\n","_meta":{"v/x":1.0}}`, want: `{"message":"git: m\n","_meta":{"v/x":1.0}}`},
		{
			name: "secret", from: v202511, to: v202511, method: elicit, caps: everything, in: `{"message":"m","requestedSchema":{"properties":{"API_key":{},"tokens":{},"dbPassword":{}}}}`,
			want: `{"message":"m\n\nWarning from mcpctl: this form asks for what looks like a secret (API_key, dbPassword). No server should ask for one in a form.","requestedSchema":{"properties":{"API_key":{},"tokens":{},"dbPassword":{}}}}`,
		},

		{name: "sampling", from: v2026, to: v202511, method: sample, caps: everything, in: `{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"tools":[],"maxTokens":1.0}`},
		{
			name: "sampling, older", from: v2026, to: v202506, method: sample, caps: `{"sampling":{}}`,
			in:   `{"messages":[{"role":"user","content":[{"type":"text","text":"a"}],"x":1.0},{"role":"assistant","content":{"type":"text","text":"b"}}],"tools":[{}],"toolChoice":{},"maxTokens":1}`,
			want: `{"messages":[{"role":"user","content":{"type":"text","text":"a"},"x":1.0},{"role":"assistant","content":{"type":"text","text":"b"}}],"maxTokens":1}`,
		},
		{
			name: "sampling, several blocks", from: v2026, to: v202411, method: sample, caps: `{"sampling":{}}`,
			in:   `{"messages":[{"role":"user","content":[{"type":"text","text":"a"}, {"type":"audio","data":"AAAA"}]}]}`,
			want: `{"messages":[{"role":"user","content":{"type":"text","text":"a"}},{"role":"user","content":{"text":"[audio, 3 bytes, left out: this client's protocol revision has no audio]","type":"text"}}]}`,
		},
		{name: "sampling, no block", from: v2026, to: v202411, method: sample, caps: `{"sampling":{}}`, in: `{"messages":[{"role":"user","content":[]}]}`, want: `{"messages":[{"role":"user","content":{"type":"text","text":""}}]}`},
		{name: "sampling, use of a tool", from: v2026, to: v202411, method: sample, caps: `{"sampling":{}}`, in: `{"messages":[{"role":"user","content":[{"type":"tool_use"}]}]}`, code: "-32602"},
		{name: "sampling, tools, client without", from: v2026, to: v202511, method: sample, caps: `{"sampling":{}}`, in: `{"messages":[],"tools":[]}`, code: `-32021 {"requiredCapabilities":{"sampling":{"tools":{}}}}`},
		{name: "sampling, client without", from: v2026, to: v202511, method: sample, caps: `{}`, in: `{"messages":[]}`, code: `-32021 {"requiredCapabilities":{"sampling":{}}}`},
		{name: "sampling, context", from: v202511, to: v202511, method: sample, caps: everything, in: `{"messages":[],"includeContext":"thisServer"}`, want: `{"messages":[]}`},
		{name: "sampling, no context", from: v202511, to: v202511, method: sample, caps: everything, in: `{"messages":[],"includeContext":"none"}`},

		{name: "roots", from: v2026, to: v202511, method: "roots/list", caps: everything},
		{name: "roots with params", from: v2026, to: v202511, method: "roots/list", caps: everything, in: `{"x":1.0}`},
		{name: "roots, client without", from: v2026, to: v202511, method: "roots/list", caps: `{}`, code: `-32021 {"requiredCapabilities":{"roots":{}}}`},
		{name: "no object", from: v2026, to: v202511, method: elicit, caps: everything, in: `[]`, code: "-32602"},
	}
}

func TestQuestion(t *testing.T) {
	for _, tt := range questions() {
		q := revision.Question{
			From: tt.from, To: tt.to, Method: tt.method, Capabilities: json.RawMessage(tt.caps), Name: tt.server,
			NewID: func() string { return "minted" },
		}
		got, err := q.Params(json.RawMessage(tt.in))
		if tt.code != "" {
			rpc, ok := errors.AsType[*runtime.Error](err)
			if !ok {
				t.Errorf("%s: got %s, %v, want an error", tt.name, got, err)
				continue
			}
			code, data, _ := strings.Cut(tt.code, " ")
			if j, _ := json.Marshal(rpc.Code); string(j) != code || data != string(rpc.Data) {
				t.Errorf("%s: got %d %s, want %s", tt.name, rpc.Code, rpc.Data, tt.code)
			}
			continue
		}
		want := tt.want
		if want == "" {
			want = tt.in
		}
		if err != nil || string(got) != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", tt.name, got, err, want)
		}
	}
}

func TestMintedIDsDiffer(t *testing.T) {
	q := revision.Question{From: v2026, To: v202511, Method: "elicitation/create", Capabilities: json.RawMessage(everything)}
	in := json.RawMessage(`{"mode":"url"}`)
	a, err := q.Params(in)
	b, err2 := q.Params(in)
	if err != nil || err2 != nil || string(a) == string(b) || len(a) < len(in)+20 {
		t.Errorf("got %s and %s", a, b)
	}
}

func TestEmbedded(t *testing.T) {
	q := revision.Question{Method: "roots/list"}
	if got := string(q.Embedded(nil)); got != `{"method":"roots/list","params":{}}` {
		t.Errorf("got %s", got)
	}
	if got := string(q.Embedded(json.RawMessage(`{"a":1.0}`))); got != `{"method":"roots/list","params":{"a":1.0}}` {
		t.Errorf("got %s", got)
	}
}

func TestReply(t *testing.T) {
	const sample = "sampling/createMessage"
	for _, tt := range []struct{ name, from, method, in, want string }{
		{"one block", v202506, sample, `{"role":"assistant","content":{"type":"text"},"x":1.0}`, ``},
		{"several blocks", v202511, sample, `{"content":[{"type":"text"},{"type":"image"}]}`, ``},
		{"array of one", v202506, sample, `{"x":1.0,"content":[ {"type":"image","y":1.0} ]}`, `{"x":1.0,"content":{"type":"image","y":1.0}}`},
		{"texts", v202506, sample, `{"content":[{"type":"text","text":"a"},{"type":"text","text":"\"b"}]}`, `{"content":{"type":"text","text":"a\n\"b"}}`},
		{"not texts alone", v202506, sample, `{"content":[{"type":"text","text":"a"},{"type":"image"}]}`, `error`},
		{"form", v202506, "elicitation/create", `{"action":"accept","content":{"a":1.0},"_meta":{"v/x":1}}`, ``},
		{"modern members", v202511, "roots/list", `{"resultType":"complete","roots":[],"_meta":{"io.modelcontextprotocol/related-task":{}}}`, `{"roots":[]}`},
		{"no object", v202511, "roots/list", `[]`, `error`},
	} {
		q := revision.Question{From: tt.from, To: v202511, Method: tt.method}
		got, err := q.Reply(json.RawMessage(tt.in))
		want := tt.want
		if want == "" {
			want = tt.in
		}
		if (err != nil) != (want == "error") || err == nil && string(got) != want {
			t.Errorf("%s: got %s, %v, want %s", tt.name, got, err, want)
		}
	}
}

func TestOffer(t *testing.T) {
	for _, tt := range []struct{ name, from, to, in, want string }{
		{"nothing said", v202511, v2026, ``, `{}`},
		{"nothing", v202511, v202511, `{}`, `{}`},
		{"forms by default", v202511, v2026, `{"elicitation":{}}`, `{"elicitation":{"form":{}}}`},
		{"forms by default, legacy", v2026, v202511, `{"elicitation":{}}`, `{"elicitation":{"form":{}}}`},
		{"both", v202511, v2026, `{"elicitation":{"url":{},"form":{"x":1.0}}}`, `{"elicitation":{"form":{"x":1.0},"url":{}}}`},
		{"url alone", v2026, v202511, `{"elicitation":{"url":{}}}`, `{"elicitation":{"url":{}}}`},
		{"url that the revision does not know", v202506, v2026, `{"elicitation":{"url":{}}}`, `{"elicitation":{"form":{}}}`},
		{"elicitation that the revision does not know", v202503, v2026, `{"elicitation":{}}`, `{}`},
		{"sampling", v202511, v2026, `{"sampling":{"context":{},"tools":{"x":1},"y":2}}`, `{"sampling":{"tools":{"x":1},"context":{}}}`},
		{"sampling, older", v202506, v2026, `{"sampling":{"context":{},"tools":{}}}`, `{"sampling":{}}`},
		{"roots, modern", v202511, v2026, `{"roots":{"listChanged":true}}`, `{"roots":{}}`},
		{"roots, legacy", v202511, v202506, `{"roots":{"listChanged":true}}`, `{"roots":{"listChanged":true}}`},
		{"order", v202511, v2026, `{"roots":{},"sampling":{},"elicitation":{"form":{}}}`, `{"elicitation":{"form":{}},"sampling":{},"roots":{}}`},
		{"tasks of the core, and the unknown", v202511, v202511, `{"tasks":{"list":{}},"odd":{},"sampling":null}`, `{}`},
		{"experimental", v202511, v2026, `{"experimental":{"a":{"b":1.0}}}`, `{"experimental":{"a":{"b":1.0}}}`},
		{
			"extensions", v2026, v202511, `{"extensions":{"x/y":{},"io.modelcontextprotocol/ui":{"mimeTypes":["m"]},"io.modelcontextprotocol/tasks":{}}}`,
			`{"extensions":{"io.modelcontextprotocol/tasks":{},"io.modelcontextprotocol/ui":{"mimeTypes":["m"]}}}`,
		},
		{"extension that is null", v2026, v2026, `{"extensions":{"io.modelcontextprotocol/ui":null}}`, `{}`},
		{"lines", v2026, v2026, "{\"experimental\":{\"a\":\n1}}", `{"experimental":{"a": 1}}`},
		{"no object", v2026, v2026, `[]`, `{}`},
	} {
		if got := string(revision.Offer(json.RawMessage(tt.in), tt.from, tt.to)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// FuzzQuestion: what is put to a client stays JSON, and so does its answer.
func FuzzQuestion(f *testing.F) {
	revisions := revision.Versions()
	methods := []string{"elicitation/create", "sampling/createMessage", "roots/list"}
	for i, tt := range questions() {
		f.Add([]byte(tt.in), []byte(tt.caps), i, i/2, i)
	}
	f.Fuzz(func(t *testing.T, in, caps []byte, from, to, method int) {
		if !json.Valid(in) {
			return
		}
		if offer := revision.Offer(caps, v202511, v2026); !json.Valid(offer) {
			t.Fatalf("offer: %s", offer)
		}
		q := revision.Question{
			From: revisions[uint(from)%uint(len(revisions))], To: revisions[uint(to)%uint(len(revisions))],
			Method: methods[uint(method)%uint(len(methods))], Capabilities: json.RawMessage(everything), Name: "n",
		}
		if got, err := q.Params(in); err == nil && !json.Valid(got) {
			t.Fatalf("params: %s", got)
		}
		if got, err := q.Reply(in); err == nil && !json.Valid(got) {
			t.Fatalf("reply: %s", got)
		}
	})
}

// TestQuestionOfNullParams: they count as none, as some servers write them.
func TestQuestionOfNullParams(t *testing.T) {
	for _, to := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		for method, capabilities := range map[string]string{"roots/list": `{"roots":{}}`, "sampling/createMessage": `{"sampling":{}}`} {
			q := revision.Question{To: to, Method: method, Capabilities: json.RawMessage(capabilities)}
			if out, err := q.Params(json.RawMessage(`null`)); err != nil || out != nil {
				t.Errorf("%s for %s: %s, %v", method, to, out, err)
			}
		}
	}
}

// TestQuestionIsOne: nothing but the three requests of a server is put to a client.
func TestQuestionIsOne(t *testing.T) {
	for method, want := range map[string]bool{
		"elicitation/create": true, "sampling/createMessage": true, "roots/list": true,
		"ping": false, "initialize": false, "tools/call": false, "tasks/get": false, "Roots/list": false, "": false,
	} {
		q := revision.Question{Method: method, Capabilities: json.RawMessage(everything)}
		_, err := q.Params(json.RawMessage(`{}`))
		rpc, ok := errors.AsType[*runtime.Error](err)
		if revision.IsQuestion(method) != want || want != (err == nil) || !want && (!ok || rpc.Code != runtime.CodeMethodNotFound) {
			t.Errorf("%q: question %v, params %v", method, revision.IsQuestion(method), err)
		}
	}
}
