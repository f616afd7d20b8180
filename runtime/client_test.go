package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/test/require"
)

// transportFunc is a transport that answers calls with a function.
type transportFunc func(ctx context.Context, req *runtime.Request) (json.RawMessage, error)

func (f transportFunc) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	return f(ctx, req)
}
func (f transportFunc) Notify(context.Context, *runtime.Request) error { return nil }
func (f transportFunc) Close() error                                   { return nil }

func TestCallToolKeepsArguments(t *testing.T) {
	var sent string
	c := runtime.NewClient(transportFunc(func(_ context.Context, req *runtime.Request) (json.RawMessage, error) {
		sent = string(req.Params)
		return json.RawMessage(`{"content":[{"type":"text","text":"a"},{"type":"x","k":1.0},{"type":"text","text":"b"}],"structuredContent":{"n":9007199254740993},"x":1.0}`), nil
	}), runtime.ClientOptions{})
	r, err := c.CallTool(t.Context(), `quo"ted`, json.RawMessage(`{ "n": 9007199254740993, "f":1.0}`), &runtime.CallOptions{Meta: map[string]json.RawMessage{"k": json.RawMessage(`1.0`)}})
	require.NoError(t, err)
	if want := `{"_meta":{"k":1.0},"name":"quo\"ted","arguments":{ "n": 9007199254740993, "f":1.0}}`; sent != want {
		t.Errorf("sent %s, want %s", sent, want)
	}
	if r.Text() != "a\nb" || string(r.Structured) != `{"n":9007199254740993}` || string(r.Content[1].Raw) != `{"type":"x","k":1.0}` || !strings.Contains(string(r.Raw), `"x":1.0`) {
		t.Errorf("got %+v", r)
	}
	if _, err := c.CallTool(t.Context(), "x", nil, nil); err != nil || sent != `{"name":"x","arguments":{}}` {
		t.Errorf("without arguments: sent %s, %v", sent, err)
	}
}

// A server cannot answer what it cannot read, so the caller would wait for
// nothing.
func TestWhatIsNotJSONIsNotSent(t *testing.T) {
	c := runtime.NewClient(transportFunc(func(_ context.Context, req *runtime.Request) (json.RawMessage, error) {
		t.Errorf("sent %s", req.Params)
		return json.RawMessage(`{}`), nil
	}), runtime.ClientOptions{})
	meta := func(v string) *runtime.CallOptions {
		return &runtime.CallOptions{Meta: map[string]json.RawMessage{"k": json.RawMessage(v)}}
	}
	for _, x := range []struct {
		args, params string
		opts         *runtime.CallOptions
		want         string
	}{
		{args: `{"message":`, want: "tools/call: not sent: arguments: not JSON: "},
		{args: `{}},"more":{"a":1`, want: "tools/call: not sent: arguments: not JSON: "},
		{args: "{}", opts: meta(`{bad`), want: `tools/call: not sent: _meta "k": not JSON: `},
		{args: "{}", opts: meta(``), want: `tools/call: not sent: _meta "k": not JSON: `},
		{params: `{`, want: "ping: not sent: params: not JSON: "},
		{params: `[]`, opts: meta(`1`), want: "ping: not sent: params: "},
	} {
		var err error
		if x.params != "" {
			_, err = c.Call(t.Context(), "ping", json.RawMessage(x.params), x.opts)
		} else {
			_, err = c.CallTool(t.Context(), "echo", json.RawMessage(x.args), x.opts)
		}
		if err == nil || !strings.HasPrefix(err.Error(), x.want) || !errors.Is(err, runtime.ErrNotSent) {
			t.Errorf("%q%q: got %v, want %s", x.args, x.params, err, x.want)
		}
	}
}

func TestReadResourceAndGetPrompt(t *testing.T) {
	var sent, answer string
	c := runtime.NewClient(transportFunc(func(_ context.Context, req *runtime.Request) (json.RawMessage, error) {
		sent = req.Method + " " + string(req.Params)
		return json.RawMessage(answer), nil
	}), runtime.ClientOptions{})

	answer = `{"contents":[{"uri":"a:/1","text":"one"},{"uri":"a:/2","blob":"AP8="}],"x":1.0}`
	res, err := c.ReadResource(t.Context(), "a:/", nil)
	if err != nil || sent != `resources/read {"uri":"a:/"}` || len(res.Contents) != 2 || res.Contents[0].Text != "one" ||
		string(res.Contents[1].Blob) != "\x00\xff" || string(res.Raw) != answer {
		t.Errorf("read: sent %s, got %+v %v", sent, res, err)
	}

	answer = `{"description":"d","messages":[{"role":"user","content":{"type":"text","text":"hi","x":1.0}}]}`
	p, err := c.GetPrompt(t.Context(), "plan", map[string]string{"k": "5"}, nil)
	if err != nil || sent != `prompts/get {"name":"plan","arguments":{"k":"5"}}` || p.Description != "d" || len(p.Messages) != 1 ||
		p.Messages[0].Role != "user" || p.Messages[0].Content.Text != "hi" || string(p.Raw) != answer {
		t.Errorf("get: sent %s, got %+v %v", sent, p, err)
	}
	if _, err := c.GetPrompt(t.Context(), "plan", nil, nil); err != nil || sent != `prompts/get {"name":"plan"}` {
		t.Errorf("without arguments: sent %s, %v", sent, err)
	}

	answer = `{"contents":7,"messages":7}`
	var proto *runtime.ProtocolError
	if _, err := c.ReadResource(t.Context(), "a:/", nil); !errors.As(err, &proto) {
		t.Errorf("no contents: got %v", err)
	}
	if _, err := c.GetPrompt(t.Context(), "plan", nil, nil); !errors.As(err, &proto) {
		t.Errorf("no messages: got %v", err)
	}
}

func TestListsFollowPages(t *testing.T) {
	pages := map[string]string{
		``:                 `{"tools":[{"name":"a","inputSchema":{}}],"nextCursor":""}`,
		`{"cursor":""}`:    `{"tools":[{"name":"b","x":1.0}],"nextCursor":"two"}`,
		`{"cursor":"two"}`: `{"tools":[{"name":"c"}]}`,
	}
	c := runtime.NewClient(transportFunc(func(_ context.Context, req *runtime.Request) (json.RawMessage, error) {
		return json.RawMessage(pages[string(req.Params)]), nil
	}), runtime.ClientOptions{})
	tools, err := c.ListTools(t.Context())
	if err != nil || len(tools) != 3 || tools[2].Name != "c" || string(tools[1].Raw) != `{"name":"b","x":1.0}` {
		t.Errorf("got %+v %v", tools, err)
	}
	pages[`{"cursor":"two"}`] = `{"tools":[],"nextCursor":"two"}`
	var proto *runtime.ProtocolError
	if _, err := c.ListTools(t.Context()); !errors.As(err, &proto) || !strings.Contains(err.Error(), "repeats a cursor") {
		t.Errorf("a cursor that repeats: got %v", err)
	}
	pages[``] = `[]`
	if _, err := c.ListTools(t.Context()); !errors.As(err, &proto) {
		t.Errorf("no object: got %v", err)
	}
}

func TestTimeoutIsReArmedByProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		progress := 0
		c := runtime.NewClient(transportFunc(func(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
			for {
				select {
				case <-ctx.Done():
					return nil, ctx.Err()
				case <-time.After(40 * time.Second):
					if req.Events == nil {
						t.Error("silence is not the end")
					}
					req.Events.Notification(ctx, req, "notifications/progress", fmt.Appendf(nil, `{"progressToken":%s,"progress":1}`, req.Token))
				}
			}
		}), runtime.ClientOptions{Ceiling: 3 * time.Minute})
		start := time.Now()
		_, err := c.Call(t.Context(), "tools/call", nil, &runtime.CallOptions{Progress: func(runtime.Progress) { progress++ }})
		var timeout *runtime.TimeoutError
		if !errors.As(err, &timeout) || time.Since(start) != 3*time.Minute || progress != 4 {
			t.Errorf("got %v after %v and %d messages", err, time.Since(start), progress)
		}
	})
}

func TestTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := transportFunc(func(ctx context.Context, _ *runtime.Request) (json.RawMessage, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		for _, c := range []struct {
			client, call, want time.Duration
		}{
			{0, 0, 60 * time.Second}, {5 * time.Second, 0, 5 * time.Second}, {5 * time.Second, time.Second, time.Second}, {-1, 7 * time.Second, 7 * time.Second},
		} {
			start := time.Now()
			_, err := runtime.NewClient(silent, runtime.ClientOptions{Timeout: c.client}).Call(t.Context(), "m", nil, &runtime.CallOptions{Timeout: c.call})
			var timeout *runtime.TimeoutError
			if !errors.As(err, &timeout) || time.Since(start) != c.want {
				t.Errorf("%v %v: got %v after %v", c.client, c.call, err, time.Since(start))
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(24*time.Hour, cancel)
		if _, err := runtime.NewClient(silent, runtime.ClientOptions{Timeout: -1}).Call(ctx, "m", nil, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("without a bound: got %v", err)
		} else if want := "m: context canceled"; err.Error() != want {
			t.Errorf("cancelled: got %q, want %q", err, want)
		}
	})
}

func TestBadBase64HidesNothing(t *testing.T) {
	r, err := runtime.ParseToolResult(json.RawMessage(`{"content":[{"type":"image","data":"%%%","mimeType":"image/png"},{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"resource","resource":{"uri":"x","blob":"?"}}]}`))
	if err != nil || r.Content[0].Data != nil || string(r.Content[1].Data) != "hi" || r.Content[2].Resource.URI != "x" {
		t.Errorf("got %+v %v", r, err)
	}
}

func TestResultThatIsNone(t *testing.T) {
	for _, raw := range []string{`null`, `[]`, `"x"`, `{"content":7}`} {
		r, err := runtime.ParseToolResult(json.RawMessage(raw))
		if _, ok := errors.AsType[*runtime.ProtocolError](err); !ok || r != nil {
			t.Errorf("%s: got %+v %v", raw, r, err)
		}
	}
}

// TestQuestionSuspendsTheTimeout: a question suspends the client's timeout, which
// restarts with the answer.
func TestQuestionSuspendsTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c *runtime.Client
		c = runtime.NewClient(transportFunc(func(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
			if string(req.Params) == `{"ask":true}` {
				resume := c.Suspend()
				time.Sleep(20 * time.Minute)
				resume()
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}), runtime.ClientOptions{})
		for params, want := range map[string]time.Duration{`{}`: time.Minute, `{"ask":true}`: 21 * time.Minute} {
			begin := time.Now()
			_, err := c.Call(t.Context(), "tools/call", json.RawMessage(params), nil)
			var timeout *runtime.TimeoutError
			if !errors.As(err, &timeout) || time.Since(begin) != want {
				t.Errorf("%s: got %v after %s", params, err, time.Since(begin))
			}
		}
	})
}

// answering is a handler that records what it gets.
type answering struct {
	runtime.NopHandler
	notes []string
}

func (a *answering) Notification(_ context.Context, _ *runtime.Request, method string, _ json.RawMessage) {
	a.notes = append(a.notes, method)
}

func (a *answering) Request(context.Context, *runtime.Request, string, json.RawMessage) (json.RawMessage, error) {
	return json.RawMessage(`{"roots":[]}`), nil
}

// TestCallWithProgressLosesNothingElse: what comes inside goes to the handler.
func TestCallWithProgressLosesNothingElse(t *testing.T) {
	h := &answering{}
	c := runtime.NewClient(transportFunc(func(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
		req.Events.Notification(ctx, req, "notifications/message", nil)
		req.Events.Notification(ctx, req, "notifications/progress", json.RawMessage(`{"progress":1}`))
		return req.Events.Request(ctx, req, "roots/list", nil)
	}), runtime.ClientOptions{Handler: h})
	progress := 0
	raw, err := c.Call(t.Context(), "tools/call", nil, &runtime.CallOptions{Progress: func(runtime.Progress) { progress++ }})
	if err != nil || string(raw) != `{"roots":[]}` || progress != 1 || len(h.notes) != 1 {
		t.Errorf("got %s %v, %d progress, %v", raw, err, progress, h.notes)
	}
}

// TestURLElicitationRequired: the handler gets the elicitations, and the call is
// retried once.
func TestURLElicitationRequired(t *testing.T) {
	required := func(elicitations string) error {
		return runtime.ParseError(json.RawMessage(`{"code":-32042,"message":"open pages","data":{"elicitations":` + elicitations + `}}`))
	}
	const one = `{"mode":"url","elicitationId":"e1","url":"https://s.test/?e1","message":"Authorize"}`
	for name, c := range map[string]struct {
		elicitations, action string
		fails                int // of the calls, the first ones
		want                 string
	}{
		"agreed to":      {`[` + one + `,` + one + `]`, "accept", 1, "2 asked, 2 calls, <nil>"},
		"still required": {`[` + one + `]`, "accept", 9, "1 asked, 2 calls, open pages (-32042)"},
		"declined":       {`[` + one + `,` + one + `]`, "decline", 1, "1 asked, 1 calls, open pages (-32042)"},
		"a form":         {`[{"mode":"form"}]`, "accept", 1, "0 asked, 1 calls, open pages (-32042)"},
		"none":           {`[]`, "accept", 1, "0 asked, 1 calls, open pages (-32042)"},
	} {
		asked, calls := 0, 0
		h := asking(func(method string, params json.RawMessage) (json.RawMessage, error) {
			if asked++; method != "elicitation/create" || string(params) != one {
				t.Errorf("%s: asked %s %s", name, method, params)
			}
			return json.RawMessage(`{"action":"` + c.action + `"}`), nil
		})
		cl := runtime.NewClient(transportFunc(func(context.Context, *runtime.Request) (json.RawMessage, error) {
			if calls++; calls <= c.fails {
				return nil, required(c.elicitations)
			}
			return json.RawMessage(`{}`), nil
		}), runtime.ClientOptions{Handler: h})
		_, err := cl.Call(t.Context(), "tools/call", nil, nil)
		if got := fmt.Sprintf("%d asked, %d calls, %v", asked, calls, err); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// asking is a handler that answers questions with a function.
type asking func(method string, params json.RawMessage) (json.RawMessage, error)

func (a asking) Request(_ context.Context, _ *runtime.Request, method string, params json.RawMessage) (json.RawMessage, error) {
	return a(method, params)
}
func (asking) Notification(context.Context, *runtime.Request, string, json.RawMessage) {}
func (asking) Closed(error)                                                            {}

// TestListIsBounded: endless pages are bounded by their size as well.
func TestListIsBounded(t *testing.T) {
	pad, n := strings.Repeat("x", 30<<20), 0
	c := runtime.NewClient(transportFunc(func(context.Context, *runtime.Request) (json.RawMessage, error) {
		n++
		return fmt.Appendf(nil, `{"tools":[],"nextCursor":"%d","pad":"%s"}`, n, pad), nil
	}), runtime.ClientOptions{})
	var proto *runtime.ProtocolError
	if _, err := c.ListPages(t.Context(), "tools/list"); !errors.As(err, &proto) || !strings.Contains(err.Error(), "64 MiB") || n != 3 {
		t.Errorf("got %v after %d pages", err, n)
	}
}
