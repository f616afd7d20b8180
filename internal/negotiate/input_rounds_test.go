package negotiate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// person answers questions by a function and keeps the progress it sees.
type person struct {
	runtime.NopHandler
	answer func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)

	mu       sync.Mutex // guards progress
	progress []string
}

func (p *person) Request(ctx context.Context, _ *runtime.Request, method string, params json.RawMessage) (json.RawMessage, error) {
	return p.answer(ctx, method, params)
}

func (p *person) Notification(_ context.Context, _ *runtime.Request, method string, params json.RawMessage) {
	var v struct{ Progress json.Number }
	if method != "notifications/progress" {
		return
	}
	if json.Unmarshal(params, &v) != nil {
		v.Progress = "malformed"
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.progress = append(p.progress, v.Progress.String())
}

func accept(_ context.Context, method string, _ json.RawMessage) (json.RawMessage, error) {
	return json.RawMessage(`{"action":"accept","content":{"for":"` + method + `", "n":1.0}}`), nil
}

// turns is a server whose nth tools/call has the nth answer, the last one from
// then on; an answer that is no object is an error's code. Seen are the ids and
// params of the calls, without _meta.
func turns(versions []string, answers ...string) (s *runtimetest.Server, seen func() []string) {
	var mu sync.Mutex
	var all []string
	s = runtimetest.New()
	s.Versions = versions
	s.Methods = map[string]runtimetest.Func{"tools/call": func(_ context.Context, c *runtimetest.Call) (json.RawMessage, error) {
		mu.Lock()
		n := min(len(all), len(answers)-1)
		p := string(c.Params)
		if i := strings.Index(p, `"_meta":{`); i >= 0 && c.Version != "" {
			j := i + strings.Index(p[i:], `}},`) + 3
			p = p[:i] + p[j:]
		}
		all = append(all, p)
		mu.Unlock()
		c.Progress(float64(n), 10, "") // starts again each time
		a := answers[n]
		if a[0] != '{' {
			var code int64
			_, _ = fmt.Sscan(a, &code)
			return nil, &runtime.Error{Code: code, Message: "no"}
		}
		return json.RawMessage(a), nil
	}}
	return s, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), all...)
	}
}

const (
	asksWho   = `{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"?"}},"r":{"method":"roots/list"}},"requestState":"st\u00e4te"}`
	asksBare  = `{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create"}}}`
	asksState = `{"resultType":"input_required","requestState":"later"}`
	complete  = `{"resultType":"complete","content":[]}`
	answerWho = `"who":{"action":"accept","content":{"for":"elicitation/create", "n":1.0}}`
	answerR   = `"r":{"action":"accept","content":{"for":"roots/list", "n":1.0}}`
)

func TestQuestionsOfAResult(t *testing.T) {
	const params = `{"name":"t", "arguments":{"n":9007199254740993}}`
	july := []string{runtimetest.RevJuly}
	for name, c := range map[string]struct {
		versions []string
		answers  []string
		method   string
		inputs   bool
		want     string   // result, or "error: …"
		seen     []string // params of each request
	}{
		"answered": {july, []string{asksWho, complete}, "", false, complete, []string{
			params, `{"inputResponses":{` + answerR + `,` + answerWho + `},"requestState":"st\u00e4te","name":"t", "arguments":{"n":9007199254740993}}`,
		}},
		"twice, state only of the last": {july, []string{asksWho, asksBare, complete}, "", false, complete, []string{
			params, `{"inputResponses":{` + answerR + `,` + answerWho + `},"requestState":"st\u00e4te","name":"t", "arguments":{"n":9007199254740993}}`,
			`{"inputResponses":{` + answerWho + `},"name":"t", "arguments":{"n":9007199254740993}}`,
		}},
		"relayed":                      {july, []string{asksWho}, "", true, asksWho, []string{params}},
		"no type is complete":          {july, []string{`{"content":[]}`}, "", false, `{"content":[]}`, []string{params}},
		"no type, modern, is complete": {july, []string{`{"content":[],"inputRequests":{"a":{"method":"roots/list"}}}`}, "", false, `{"content":[],"inputRequests":{"a":{"method":"roots/list"}}}`, []string{params}},
		"unknown type":                 {july, []string{`{"resultType":"odd"}`}, "", false, `error: tools/call: the server answered with a result of the unknown type "odd"`, []string{params}},
		"come back": {july, []string{asksState, complete}, "", false, complete, []string{
			params, `{"requestState":"later","name":"t", "arguments":{"n":9007199254740993}}`,
		}},
		"come back for ever": {july, []string{asksState}, "", false, "error: tools/call: the server has asked 4 times to come back later", make([]string, 4)},
		"asks for ever":      {july, []string{asksBare}, "", false, "error: tools/call: the server has asked 8 times and has not answered", make([]string, 9)},
		"asks for nothing":   {july, []string{`{"resultType":"input_required"}`}, "", false, "error: tools/call: the server asks for input, but says neither which nor for what state", []string{params}},
		"malformed":          {july, []string{`{"resultType":"input_required","inputRequests":{"a":7}}`}, "", false, "error: tools/call: what the server asks for is malformed: json: cannot unmarshal number into Go value of type struct { Method string; Params json.RawMessage }", []string{params}},
		"legacy without a type": {nil, []string{`{"content":[],"inputRequests":{"who":{"method":"elicitation/create"}}}`, `{"content":[]}`}, "", false, `{"content":[]}`, []string{
			params, `{"inputResponses":{` + answerWho + `},"name":"t", "arguments":{"n":9007199254740993}}`,
		}},
		"legacy, nulls":                  {nil, []string{`{"content":[],"inputRequests":null,"requestState":null}`}, "", false, `{"content":[],"inputRequests":null,"requestState":null}`, []string{params}},
		"legacy, relayed nulls":          {nil, []string{`{"content":[],"inputRequests":null,"requestState":null}`}, "", true, `{"content":[],"inputRequests":null,"requestState":null}`, []string{params}},
		"legacy, a member of its own":    {nil, []string{`{"content":[],"requestState":{"done":true}}`}, "", false, `{"content":[],"requestState":{"done":true}}`, []string{params}},
		"legacy without a type, relayed": {nil, []string{`{"content":[],"requestState":"s"}`}, "", true, `{"resultType":"input_required","content":[],"requestState":"s"}`, []string{params}},
		"legacy, a member of a name":     {nil, []string{`{"content":[{"requestState":1}]}`}, "", false, `{"content":[{"requestState":1}]}`, []string{params}},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, seen := turns(c.versions, c.answers...)
			conn, _, err := connect(t.Context(), s, negotiate.Options{})
			require.NoError(t, err)
			defer conn.Close()
			raw, err := conn.Call(t.Context(), &runtime.Request{
				Method: "tools/call", Params: json.RawMessage(params), Inputs: c.inputs, Events: &person{answer: accept}, ID: json.RawMessage(`"mine"`),
			})
			got := string(raw)
			if err != nil {
				got = "error: " + err.Error()
			}
			if got != c.want {
				t.Errorf("%s: got %s, want %s", name, got, c.want)
			}
			if c.seen[0] == "" {
				if len(seen()) != len(c.seen) {
					t.Errorf("%s: got %d requests, want %d", name, len(seen()), len(c.seen))
				}
			} else if diff := cmp.Diff(c.seen, seen()); diff != "" {
				t.Errorf("%s: requests (-want +got):\n%s", name, diff)
			}
		})
	}
}

func TestRoundsHaveIDsOfTheirOwn(t *testing.T) {
	s, _ := turns([]string{runtimetest.RevJuly}, asksBare, complete)
	var mu sync.Mutex
	ids := map[string]int{}
	s.Seen = func(frame []byte) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(frame, &m) == nil && m.Method == "tools/call" {
			mu.Lock()
			ids[string(m.ID)]++
			mu.Unlock()
		}
	}
	conn, _, err := connect(t.Context(), s, negotiate.Options{Handler: &person{answer: accept}})
	require.NoError(t, err)
	defer conn.Close()
	if _, err := conn.Call(t.Context(), &runtime.Request{Method: "tools/call", Params: json.RawMessage(`{"name":"t"}`), ID: json.RawMessage(`"mine"`)}); err != nil {
		t.Fatal(err)
	}
	if len(ids) != 2 || ids[`"mine"`] != 1 {
		t.Errorf("got ids %v", ids)
	}
}

func TestQuestionWithoutAnAnswer(t *testing.T) {
	refuse := func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
		return nil, &runtime.Error{Code: -1, Message: "the user says no"}
	}
	hang := func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for name, c := range map[string]struct {
		answer func(context.Context, string, json.RawMessage) (json.RawMessage, error)
		cancel time.Duration
		want   string
		took   time.Duration
	}{
		"refused": {refuse, time.Hour, "the server asks for roots/list, which could not be answered: the user says no", 0},
		"refused while another waits": {func(ctx context.Context, method string, p json.RawMessage) (json.RawMessage, error) {
			if method == "roots/list" {
				return refuse(ctx, method, p)
			}
			return hang(ctx, method, p)
		}, time.Hour, "the server asks for roots/list, which could not be answered: the user says no", 0},
		"no answer": {hang, time.Hour, "which could not be answered: no answer within 10m0s", 10 * time.Minute},
		"cancelled": {hang, time.Minute, "context deadline exceeded", time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, seen := turns([]string{runtimetest.RevJuly}, strings.Replace(asksWho, "elicitation/create", "roots/list", map[bool]int{true: 1}[name == "refused"]))
			conn, _, err := connect(t.Context(), s, negotiate.Options{})
			require.NoError(t, err)
			defer conn.Close()
			ctx, cancel := context.WithTimeout(t.Context(), c.cancel)
			defer cancel()
			begin := time.Now()
			_, err = conn.Call(ctx, &runtime.Request{Method: "tools/call", Params: json.RawMessage(`{"name":"t"}`), Events: &person{answer: c.answer}})
			if err == nil || !strings.Contains(err.Error(), c.want) || time.Since(begin) != c.took {
				t.Errorf("%s: got %v after %s", name, err, time.Since(begin))
			}
			if rpc := (*runtime.Error)(nil); errors.As(err, &rpc) {
				t.Errorf("%s: what the user says goes for an answer of the server", name)
			}
			if len(seen()) != 1 {
				t.Errorf("%s: asked again: %v", name, seen())
			}
		})
	}
}

// TestProgressWhileAQuestionWaits: the caller hears that its call is alive, and
// never of less than before.
func TestProgressWhileAQuestionWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := turns([]string{runtimetest.RevJuly}, complete, asksBare, asksBare, complete)
		conn, _, err := connect(t.Context(), s, negotiate.Options{})
		require.NoError(t, err)
		defer conn.Close()
		p := &person{answer: func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
			time.Sleep(31 * time.Second)
			return accept(ctx, method, params)
		}}
		for range 2 {
			p.progress = nil
			req := &runtime.Request{Method: "tools/call", Params: json.RawMessage(`{"name":"t","_meta":{"progressToken":"a"}}`), Token: json.RawMessage(`"a"`), Events: p}
			if _, err := conn.Call(t.Context(), req); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff([]string{"1", "1.001", "1.002", "2", "2.001", "2.002", "3"}, p.progress); diff != "" {
			t.Errorf("progress (-want +got):\n%s", diff)
		}
	})
}

// TestProgressOnlyIncreases: what the server tells again in a later round is
// dropped, and a caller that wants no progress gets none.
func TestProgressOnlyIncreases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, token := range []string{`"a"`, ""} {
			n := 0
			s := runtimetest.New()
			s.Versions = []string{runtimetest.RevJuly}
			s.Methods = map[string]runtimetest.Func{"tools/call": func(_ context.Context, c *runtimetest.Call) (json.RawMessage, error) {
				for i := range 3 {
					c.Progress(float64(5*i), 10, "") // 0, 5 and 10, each time
				}
				if n++; n == 1 {
					return json.RawMessage(asksBare), nil
				}
				c.Progress(11, 10, "")
				return json.RawMessage(complete), nil
			}}
			conn, _, err := connect(t.Context(), s, negotiate.Options{})
			require.NoError(t, err)
			p := &person{answer: func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
				if token == "" {
					time.Sleep(time.Minute)
				}
				return accept(ctx, method, params)
			}}
			req := &runtime.Request{Method: "tools/call", Params: json.RawMessage(`{"name":"t"}`), Events: p}
			var want []string
			if token != "" {
				req.Token, req.Params = json.RawMessage(token), json.RawMessage(`{"name":"t","_meta":{"progressToken":`+token+`}}`)
				want = []string{"0", "5", "10", "11"}
			}
			if _, err := conn.Call(t.Context(), req); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(want, p.progress); diff != "" {
				t.Errorf("token %s: (-want +got):\n%s", token, diff)
			}
			_ = conn.Close()
		}
	})
}

func TestOnlySomeMethodsMayAsk(t *testing.T) {
	s := runtimetest.New()
	s.Versions = []string{runtimetest.RevJuly}
	s.Methods = map[string]runtimetest.Func{}
	for _, method := range []string{"completion/complete", "prompts/get", "resources/read"} {
		s.Methods[method] = func(_ context.Context, c *runtimetest.Call) (json.RawMessage, error) {
			if strings.Contains(string(c.Params), "inputResponses") {
				return json.RawMessage(complete), nil
			}
			return json.RawMessage(asksBare), nil
		}
	}
	conn, _, err := connect(t.Context(), s, negotiate.Options{})
	require.NoError(t, err)
	defer conn.Close()
	for method, want := range map[string]string{
		"prompts/get": "<nil>", "resources/read": "<nil>",
		"completion/complete": "completion/complete: the server asks for input, which this method does not allow",
	} {
		_, err := conn.Call(t.Context(), &runtime.Request{Method: method, Params: json.RawMessage(`{"name":"a","uri":"b"}`), Events: &person{answer: accept}})
		if fmt.Sprint(err) != want {
			t.Errorf("%s: got %v", method, err)
		}
	}
}
