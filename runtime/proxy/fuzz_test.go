package proxy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// fuzzTime is how long an endpoint may take for one input on a busy machine. What
// waits for a client ends with its connection.
const fuzzTime = 5 * time.Minute

// fuzzProxy is a proxy over two servers in memory, one of each era, with tools
// that answer at once or ask.
func fuzzProxy(f *testing.F) *proxy.Proxy {
	f.Helper()
	few := func(s *runtimetest.Server) *runtimetest.Server {
		s.Tools = slices.DeleteFunc(s.Tools, func(t runtimetest.Tool) bool {
			return !slices.ContainsFunc([]string{`"echo"`, `"exact"`, `"tell"`, `"ask"`, `"ask_form"`, `"fail"`}, func(name string) bool {
				return bytes.HasPrefix(t.Definition, []byte(`{"name":`+name))
			})
		})
		return s
	}
	old := &backends{servers: map[string]*runtimetest.Server{"old": few(runtimetest.Full())}}
	young := few(runtimetest.Full(runtimetest.RevJuly))
	p, err := proxy.NewAllowed(proxy.Options{
		Servers: proxy.Named("old", "new"), Info: runtime.Implementation{Name: "mcpctl", Version: "test"},
		Dial: func(ctx context.Context, key proxy.Key, h runtime.Handler) (*runtime.Client, error) {
			if key.Server == "old" {
				return old.dial(ctx, key, h)
			}
			return proxy.ConnectAs(ctx, key, h, negotiate.Options{}, func(h runtime.Handler) (runtime.Transport, error) { return young.Connect(h), nil })
		},
	})
	require.NoError(f, err)
	f.Cleanup(func() { _ = p.Close() })
	return p
}

// modernMeta is what every request of 2026-07-28 carries.
const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}`

// sessionSeeds are messages of a whole session, one a line, in each revision.
func sessionSeeds() []string {
	var out []string
	for _, v := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		lines := []string{
			`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + v + `","capabilities":{"elicitation":{},"sampling":{},"roots":{"listChanged":true}},"clientInfo":{"name":"c","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":"l","method":"tools/list","params":{}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"old__tell","arguments":{"label":"x"},"_meta":{"progressToken":"t"}}}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"new__ask_form","arguments":{}}}`,
			`{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"fake://note"}}`,
			`{"jsonrpc":"2.0","id":4,"method":"logging/setLevel","params":{"level":"info"}}`,
			`{"jsonrpc":"2.0","id":5,"method":"nope"}`,
			`{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"name":"x"}}}`,
		}
		if v == "2025-03-26" {
			lines = append(lines, `[{"jsonrpc":"2.0","id":6,"method":"ping"},{"jsonrpc":"2.0","id":7,"method":"prompts/list"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}},{},1]`)
		}
		out = append(out, strings.Join(lines, "\n"))
	}
	return append(out, strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + modernMeta + `}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"old__tell","arguments":{"ask":true},` + modernMeta + `}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"new__ask_form","inputResponses":{"who":{"action":"decline"}},"requestState":"x",` + modernMeta + `}}`,
		`{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["fake://note"]},` + modernMeta + `}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`,
		`{"jsonrpc":"2.0","id":4,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":5,"method":"tasks/get","params":{"taskId":"x",` + modernMeta + `}}`,
	}, "\n"),
		"\n \n{\n[]\n[1]\nnull\n\"x\"\n{\"id\":null,\"method\":\"ping\"}\n{\"id\":1.5e3,\"method\":\"ping\"}\n{\"id\":1,\"id\":2,\"method\":\"ping\"}\n{\"id\":{},\"method\":\"ping\"}\n{\"id\":0,\"id\":1,\"method\":\"a\",\"method\":\"b\"}",
	)
}

// FuzzStdio: whatever lines a client sends, each line that comes back is one
// JSON-RPC message (or, for a batch, an array of them), each request is answered
// once, and nothing else is. A request that is cancelled may stay unanswered.
func FuzzStdio(f *testing.F) {
	p := fuzzProxy(f)
	for _, s := range sessionSeeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		var out bytes.Buffer
		served := make(chan error, 1)
		go func() { served <- p.ServeStdio(context.Background(), bytes.NewReader(input), &out) }()
		select {
		case err := <-served:
			require.NoError(t, err)
		case <-time.After(fuzzTime):
			t.Fatal("the front does not end with its input")
		}
		answers := map[string]int{}
		for line := range bytes.Lines(out.Bytes()) {
			for _, m := range messagesOf(t, line) {
				if m.Method == nil {
					answers[string(m.ID)]++
				}
			}
		}
		sure, perhaps := requestsIn(input)
		for id, n := range answers {
			if most := sure[id] + perhaps[id]; n > most && id != "null" {
				t.Errorf("%d answers with id %s to %d requests", n, id, most)
			}
		}
		for id, n := range sure {
			if answers[id] < n && !bytes.Contains(input, []byte("cancelled")) && !bytes.Contains(input, []byte(`\u`)) {
				t.Errorf("%d answers with id %s to %d requests", answers[id], id, n)
			}
		}
	})
}

// sent is a message as an endpoint has sent it.
type sent struct {
	JSONRPC               string          `json:"jsonrpc"`
	ID                    json.RawMessage `json:"id"`
	Method                *string         `json:"method"`
	Params, Result, Error json.RawMessage
}

// messagesOf reads a line: a message or, for a batch, several.
func messagesOf(t *testing.T, line []byte) []sent {
	t.Helper()
	all := make([]sent, 1)
	var err error
	if bytes.HasPrefix(line, []byte("[")) {
		err = json.Unmarshal(line, &all)
	} else {
		err = json.Unmarshal(line, &all[0])
	}
	if err != nil || len(all) == 0 {
		t.Fatalf("no message: %v %q", err, line)
	}
	for _, m := range all {
		if fault := m.fault(); fault != "" {
			t.Fatalf("%s: %s", fault, line)
		}
	}
	return all
}

// fault tells what is wrong with a message.
func (m sent) fault() string {
	switch {
	case m.JSONRPC != "2.0":
		return "no JSON-RPC"
	case m.Method != nil && (m.Result != nil || m.Error != nil):
		return "a request with an answer"
	case m.Method == nil && (m.Result == nil) == (m.Error == nil):
		return "neither a result nor an error, or both"
	case m.Method == nil && m.ID == nil:
		return "an answer without id"
	case m.Result != nil && m.Result[0] != '{':
		return "a result that is no object"
	}
	return ""
}

// requestsIn counts the requests of an input by raw id: those that have to be
// answered with it, and those of which that is not sure, since something about
// them is wrong.
func requestsIn(input []byte) (sure, perhaps map[string]int) {
	sure, perhaps = map[string]int{}, map[string]int{}
	count := func(text []byte, whole bool) {
		var m map[string]json.RawMessage
		if json.Unmarshal(text, &m) != nil || m["id"] == nil || strings.IndexByte(`"-0123456789`, m["id"][0]) < 0 {
			return
		}
		_, isRequest := m["method"]
		odd := !whole || !utf8.Valid(text) || bytes.Count(text, []byte(`"method"`)) > 1 || bytes.Count(text, []byte(`"id"`)) > 1 || !bytes.Contains(text, []byte(`"id"`))
		switch {
		case odd:
			perhaps[string(m["id"])]++
		case isRequest:
			sure[string(m["id"])]++
		case m["result"] == nil && m["error"] == nil:
			perhaps[string(m["id"])]++ // refused as neither
		}
	}
	for line := range bytes.Lines(input) {
		var batch []json.RawMessage
		if json.Unmarshal(line, &batch) == nil {
			for _, text := range batch {
				count(text, false)
			}
			continue
		}
		count(line, true)
	}
	return sure, perhaps
}
