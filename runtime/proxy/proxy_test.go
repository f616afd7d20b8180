package proxy_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

func two() *backends {
	return &backends{servers: map[string]*runtimetest.Server{"a": runtimetest.New(), "b": runtimetest.New()}}
}

func names(t *testing.T, list, member string) []string {
	t.Helper()
	var r map[string]json.RawMessage
	var items []struct{ Name, URI string }
	if err := errors.Join(json.Unmarshal([]byte(list), &r), json.Unmarshal(r[member], &items)); err != nil {
		t.Fatalf("%v: %s", err, list)
	}
	var out []string
	for _, i := range items {
		out = append(out, i.Name)
	}
	return out
}

func TestListsAreAggregated(t *testing.T) {
	_, c := start(t, two(), proxy.Options{Servers: proxy.Named("a", "b")})
	tools := names(t, c.result("tools/list", `{}`), "tools")
	for _, want := range []string{"a__echo", "b__echo"} {
		if !slices.Contains(tools, want) {
			t.Errorf("tools: %s is missing in %v", want, tools)
		}
	}
	if i, j := slices.Index(tools, "a__change"), slices.Index(tools, "b__echo"); i > j {
		t.Errorf("b's tools come before a's: %v", tools)
	}
	for method, member := range map[string]string{"prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates"} {
		got := names(t, c.result(method, `{}`), member)
		if len(got) == 0 || !strings.HasPrefix(got[0], "a__") || !strings.HasPrefix(got[len(got)-1], "b__") {
			t.Errorf("%s: got %v", method, got)
		}
	}
}

func TestPassThroughKeepsBytes(t *testing.T) {
	for _, plain := range []bool{false, true} {
		b := two()
		b.plain = plain
		_, c := start(t, b, proxy.Options{Servers: proxy.Named("a", "b")})
		list := c.result("tools/list", `{}`)
		if want := strings.Replace(runtimetest.ExactTool, `"name":"exact"`, `"name":"b__exact"`, 1); !strings.Contains(list, want) {
			t.Errorf("plain %v: the tool's entry changed: %s", plain, list)
		}
		if got := c.call("tools/call", `{"name":"b__exact","arguments":{}}`); !strings.Contains(got, `"result":`+runtimetest.ExactResult+`}`) {
			t.Errorf("plain %v: the result changed: %s", plain, got)
		}
		args := `{"n":9007199254740993,"f":1.0,"e":1e2, "s":"\ud83d\ude00\/", "d":{"a":1,"a":2},"name":"x"}`
		if got := c.result("tools/call", `{"x-grease":[1.0],"arguments":`+args+`,"name":"b__reflect","_meta":{"example.com/k":1.0}}`); !strings.Contains(got, args) {
			t.Errorf("plain %v: the arguments changed: %s", plain, got)
		}
	}
}

func TestIDsComeBackAsSent(t *testing.T) {
	_, c := start(t, two(), proxy.Options{Servers: proxy.Named("a", "b")})
	for _, id := range []string{`7`, `"7"`, `9007199254740993`, `"\u0041"`, `1.0`} {
		got := <-c.begin(id, "tools/call", `{"name":"a__echo","arguments":{"message":"hi"}}`)
		if !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":`+id+`,"result"`) {
			t.Errorf("id %s: got %s", id, got)
		}
	}
}

func TestConnectsLazilyAndOnce(t *testing.T) {
	b := two()
	hold := make(chan struct{})
	b.hold = map[string]chan struct{}{"a": hold}
	_, c := start(t, b, proxy.Options{Servers: cached("a", "b")})
	c.result("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	if n := b.dials.Load(); n != 0 {
		t.Errorf("initialize connected %d backends", n)
	}
	// b answers while a is still connecting.
	var waiting []chan string
	for i := range 20 {
		waiting = append(waiting, c.begin(fmt.Sprintf(`"a%d"`, i), "tools/call", `{"name":"a__echo","arguments":{"message":"hi"}}`))
	}
	c.result("tools/call", `{"name":"b__echo","arguments":{"message":"hi"}}`)
	close(hold)
	for _, w := range waiting {
		if got := <-w; !strings.Contains(got, `"hi"`) {
			t.Errorf("got %s", got)
		}
	}
	if n := b.dials.Load(); n != 2 {
		t.Errorf("connected %d times, want 2", n)
	}
}

func TestThousandParallelCalls(t *testing.T) {
	b := &backends{servers: map[string]*runtimetest.Server{"a": runtimetest.New()}}
	_, c := start(t, b, proxy.Options{Servers: proxy.Named("a")})
	var wg sync.WaitGroup
	for i := range 1000 {
		wg.Go(func() {
			want := fmt.Sprintf("m%d", i)
			if got := c.result("tools/call", fmt.Sprintf(`{"name":"a__random","arguments":{"message":%q}}`, want)); !strings.Contains(got, `"`+want+`"`) {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	wg.Wait()
	if n := b.dials.Load(); n != 1 {
		t.Errorf("connected %d times, want 1", n)
	}
}

func TestDeadBackendHurtsNobody(t *testing.T) {
	b := two()
	b.fail = map[string]error{"b": &runtime.ConnectError{Target: "b", Err: errors.New("command not found")}}
	_, c := start(t, b, proxy.Options{Servers: proxy.Named("a", "b")})
	list := c.result("tools/list", `{}`)
	if !strings.Contains(list, `"_meta":{"dev.mcpctl/partial":[{"server":"b","kind":"connect"}]}`) || !strings.Contains(list, `"a__echo"`) {
		t.Errorf("got %s", list)
	}
	got := c.result("tools/call", `{"name":"b__echo","arguments":{}}`)
	if !strings.Contains(got, `"isError":true`) || !strings.Contains(got, `"dev.mcpctl/error":{"kind":"connect","server":"b"}`) || !strings.Contains(got, "command not found") {
		t.Errorf("got %s", got)
	}
	if got := c.call("prompts/get", `{"name":"b__greet"}`); !strings.Contains(got, `"code":-32603`) {
		t.Errorf("got %s", got)
	}
	c.result("tools/call", `{"name":"a__echo","arguments":{"message":"hi"}}`)
}

func TestBackendThatDiesIsConnectedAgain(t *testing.T) {
	b := two()
	_, c := start(t, b, proxy.Options{Servers: proxy.Named("a", "b")})
	c.result("tools/list", `{}`)
	pending := c.begin(`"p"`, "tools/call", `{"name":"a__slow","arguments":{"ms":60000}}`)
	got := c.result("tools/call", `{"name":"a__exit","arguments":{"code":3}}`)
	if !strings.Contains(got, `"isError":true`) {
		t.Errorf("the call that ended the backend: got %s", got)
	}
	if got := <-pending; !strings.Contains(got, `"isError":true`) {
		t.Errorf("the call in flight: got %s", got)
	}
	if list := c.result("tools/list", `{}`); !strings.Contains(list, `"a__echo"`) {
		t.Error("a backend that has died is not listed any more")
	}
	if got := c.result("tools/call", `{"name":"a__echo","arguments":{"message":"again"}}`); !strings.Contains(got, "again") {
		t.Errorf("got %s", got)
	}
}

// TestConnectionThatIsFoundGone is a call in the moment between a backend's end
// and the news of it: nothing was sent, so it goes to a new connection.
func TestConnectionThatIsFoundGone(t *testing.T) {
	for _, plain := range []bool{false, true} {
		b := two()
		b.plain, b.delayed = plain, true
		_, c := start(t, b, proxy.Options{Servers: proxy.Named("a", "b")})
		c.result("tools/call", `{"name":"a__exit","arguments":{"code":3}}`)
		if got := c.result("tools/call", `{"name":"a__echo","arguments":{"message":"again"}}`); !strings.Contains(got, `"again"`) {
			t.Errorf("plain %v: got %s", plain, got)
		}
	}
}

func TestErrorsCrossAsTheyAre(t *testing.T) {
	for _, plain := range []bool{false, true} {
		b := two()
		b.plain = plain
		_, c := start(t, b, proxy.Options{Servers: proxy.Named("a", "b")})
		if got := c.call("tools/call", `{"name":"a__refuse","arguments":{"code":-31999}}`); !strings.Contains(got, `"error":{"code":-31999`) {
			t.Errorf("got %s", got)
		}
		if got := c.result("tools/call", `{"name":"a__fail","arguments":{}}`); !strings.Contains(got, `"isError":true`) || strings.Contains(got, "dev.mcpctl") {
			t.Errorf("got %s", got)
		}
	}
}

func TestBadInput(t *testing.T) {
	_, c := start(t, two(), proxy.Options{Servers: proxy.Named("a", "b")})
	for name, x := range map[string]struct{ method, params, want string }{
		"unknown tool":    {"tools/call", `{"name":"a__nope"}`, `"code":-32602,"message":"unknown tool: a__nope"`},
		"unknown prompt":  {"prompts/get", `{"name":"nope"}`, `"code":-32602,"message":"unknown prompt: nope"`},
		"no name":         {"tools/call", `{}`, `"code":-32602`},
		"name no string":  {"tools/call", `{"name":7}`, `"code":-32602`},
		"unknown method":  {"tools/nope", `{}`, `"code":-32601`},
		"unknown uri":     {"resources/read", `{"uri":"nope://x"}`, `"code":-32002`},
		"cursor":          {"tools/list", `{"cursor":"x"}`, `"code":-32602`},
		"unknown claim":   {"tools/list", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2030-01-01"}}`, `"code":-32022`},
		"server/discover": {"server/discover", `{}`, `"code":-32601`},
	} {
		if got := c.call(x.method, x.params); !strings.Contains(got, x.want) {
			t.Errorf("%s: got %s, want %s", name, got, x.want)
		}
	}
	for line, want := range map[string]string{
		`nonsense`:                        `"id":null,"error":{"code":-32700`,
		`[]`:                              `"id":null,"error":{"code":-32600`,
		`7`:                               `"id":null,"error":{"code":-32600`,
		`{"id":1,"id":2,"method":"ping"}`: `"id":null,"error":{"code":-32600`,
		"{\"method\":\"\xff\",\"id\":1}":  `"id":null,"error":{"code":-32700`,
		`{"id":901,"method":"ping","params":{"name":1,"name":2}}`: `"id":901,"error":{"code":-32600`,
		`{"jsonrpc":"2.0","id":902}`:                              `"id":902,"error":{"code":-32600`,
		`{}`:                                                      `"id":null,"error":{"code":-32600`,
		`{"id":null,"method":"ping"}`:                             `"id":null,"error":{"code":-32600`,
		`{"id":{},"method":"tools/call","params":{"name":"a__echo"}}`: `"id":null,"error":{"code":-32600`,
		`{"jsonrpc":"2.0","id":900,"method":1}`:                       `"id":900,"error":{"code":-32600`,
	} {
		c.send(line)
		if got := <-c.notes; !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
	if got := c.result("ping", `{}`); got != `{}` {
		t.Errorf("ping: got %s", got)
	}
}

func TestCancelReachesTheBackend(t *testing.T) {
	for _, plain := range []bool{false, true} {
		b := two()
		started, cancelled := make(chan struct{}, 4), make(chan string, 4)
		b.servers["a"].Seen = func(frame []byte) {
			switch {
			case strings.Contains(string(frame), `"slow"`):
				started <- struct{}{}
			case strings.Contains(string(frame), "notifications/cancelled"):
				cancelled <- string(frame)
			}
		}
		b.plain = plain
		_, c := start(t, b, proxy.Options{Servers: proxy.Named("a", "b")})
		c.result("tools/list", `{}`)
		c.begin(`"x"`, "tools/call", `{"name":"a__slow","arguments":{"ms":60000}}`)
		<-started
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}`)
		if got := <-cancelled; strings.Contains(got, `"x"`) {
			t.Errorf("plain %v: the client's id went to the backend: %s", plain, got)
		}
		c.result("ping", `{}`)
	}
}

// TestCancelRightBehindItsRequest: the request is found, though nothing of it
// has happened yet.
func TestCancelRightBehindItsRequest(t *testing.T) {
	b := two()
	hold := make(chan struct{})
	b.hold = map[string]chan struct{}{"a": hold}
	_, c := start(t, b, proxy.Options{Servers: proxy.Named("a", "b")})
	var answers []chan string
	for i := range 100 {
		id := fmt.Sprintf(`"x%d"`, i)
		answers = append(answers, c.begin(id, "tools/call", `{"name":"a__echo","arguments":{}}`))
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
	}
	c.result("ping", `{}`) // messages are taken in turn: the last cancel has been, too
	close(hold)
	c.end() // after what is in flight
	for _, answer := range answers {
		select {
		case got := <-answer:
			t.Fatalf("a cancelled call was answered: %s", got)
		default:
		}
	}
}

func TestProgressCarriesTheClientsToken(t *testing.T) {
	for _, plain := range []bool{false, true} {
		b := two()
		b.plain = plain
		_, c := start(t, b, proxy.Options{Servers: proxy.Named("a", "b")})
		c.result("tools/list", `{}`)
		c.result("tools/call", `{"_meta":{"progressToken":"mine"},"name":"a__steps","arguments":{"n":3}}`)
		for range 3 {
			if got := <-c.notes; !strings.Contains(got, `"method":"notifications/progress"`) || !strings.Contains(got, `"progressToken":"mine"`) {
				t.Errorf("plain %v: got %s", plain, got)
			}
		}
	}
}

func TestChangedListIsAnnounced(t *testing.T) {
	b := two()
	changed := false
	var mu sync.Mutex
	b.servers["a"].Methods = map[string]runtimetest.Func{"tools/list": listThatChanges(&mu, &changed)}
	_, c := start(t, b, proxy.Options{Servers: proxy.Named("a", "b")})
	if got := names(t, c.result("tools/list", `{}`), "tools"); slices.Contains(got, "a__later") {
		t.Fatalf("got %v", got)
	}
	mu.Lock()
	changed = true
	mu.Unlock()
	c.result("tools/call", `{"name":"a__change","arguments":{}}`)
	if got := <-c.notes; !strings.Contains(got, `"notifications/tools/list_changed"`) {
		t.Errorf("got %s", got)
	}
	if got := names(t, c.result("tools/list", `{}`), "tools"); !slices.Contains(got, "a__later") {
		t.Errorf("got %v", got)
	}
}

// TestListIsSaidToHaveChanged: what a server says is passed on though its list
// looks the same.
func TestListIsSaidToHaveChanged(t *testing.T) {
	b := two()
	var mu sync.Mutex
	changed := false
	b.servers["a"].Methods = map[string]runtimetest.Func{"tools/list": listThatChanges(&mu, &changed)}
	_, c := start(t, b, proxy.Options{Servers: proxy.Named("a", "b")})
	c.result("tools/list", `{}`)
	for range 2 {
		c.result("tools/call", `{"name":"a__change","arguments":{}}`)
		if got := <-c.notes; !strings.Contains(got, `"notifications/tools/list_changed"`) {
			t.Errorf("got %s", got)
		}
	}
}

func TestSharedURIsAreWrapped(t *testing.T) {
	_, c := start(t, two(), proxy.Options{Servers: proxy.Named("a", "b")})
	var list struct{ Resources []struct{ URI string } }
	require.NoError(t, json.Unmarshal([]byte(c.result("resources/list", `{}`)), &list))
	for _, r := range list.Resources {
		if !strings.HasPrefix(r.URI, "mcpctl+") {
			t.Errorf("both servers list it, and it is not wrapped: %s", r.URI)
			continue
		}
		got := c.result("resources/read", fmt.Sprintf(`{"uri":%q}`, r.URI))
		if !strings.Contains(got, fmt.Sprintf(`%q`, r.URI)) {
			t.Errorf("the contents of %s have another URI: %s", r.URI, got)
		}
	}
}

func TestNoPrefixKeepsNames(t *testing.T) {
	b := &backends{servers: map[string]*runtimetest.Server{"a": runtimetest.New()}}
	_, c := start(t, b, proxy.Options{Servers: proxy.Named("a"), NoPrefix: true})
	if list := c.result("tools/list", `{}`); !strings.Contains(list, runtimetest.ExactTool) {
		t.Errorf("got %s", list)
	}
	if got := c.result("tools/call", `{"name":"echo","arguments":{"message":"hi"}}`); !strings.Contains(got, "hi") {
		t.Errorf("got %s", got)
	}
}

func TestBatchIsForOneRevision(t *testing.T) {
	_, c := start(t, two(), proxy.Options{Servers: proxy.Named("a", "b")})
	c.result("initialize", `{"protocolVersion":"2025-03-26"}`)
	c.send(`[{"jsonrpc":"2.0","id":"b1","method":"ping"},{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":"b2","method":"nope"},{"id":[],"method":"ping"}]`)
	got := <-c.notes
	if want := `[{"jsonrpc":"2.0","id":"b1","result":{}},{"jsonrpc":"2.0","id":"b2","error":{"code":-32601`; !strings.HasPrefix(got, want) {
		t.Errorf("got %s", got)
	}
}

// TestBatchKeepsTokensApart: a progress token of a client must not reach the
// backend, where it could stand for another's call.
func TestBatchKeepsTokensApart(t *testing.T) {
	b := two()
	seen := make(chan string, 8)
	b.servers["a"].Seen = func(frame []byte) {
		if strings.Contains(string(frame), `"steps"`) {
			seen <- string(frame)
		}
	}
	_, c := start(t, b, proxy.Options{Servers: proxy.Named("a", "b")})
	c.result("initialize", `{"protocolVersion":"2025-03-26"}`)
	c.send(`[{"jsonrpc":"2.0","id":"b1","method":"tools/call","params":{"name":"a__steps","arguments":{"n":1},"_meta":{"progressToken":4711}}}]`)
	for _, want := range []string{`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":4711,`, `[{"jsonrpc":"2.0","id":"b1","result":`} {
		if got := <-c.notes; !strings.HasPrefix(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := <-seen; strings.Contains(got, "4711") {
		t.Errorf("the backend got %s", got)
	}
}
