package hooks_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/hooks"
	"github.com/mcpctl/mcpctl/test/require"
)

const oneCheck = `{"interceptors":[{"name":"check","type":"validation","hooks":[{"events":["tools/call"],"phase":"request"}]}]}`

// server answers as a hook's server: its list, and what invoke says.
func server(list string, invoke func(ctx context.Context, params string) (string, error)) (hooks.Caller, *atomic.Int64) {
	lists := new(atomic.Int64)
	return func(ctx context.Context, _, method string, params json.RawMessage) (json.RawMessage, error) {
		if method == "interceptors/list" {
			lists.Add(1)
			return json.RawMessage(list), nil
		}
		got, err := invoke(ctx, string(params))
		return json.RawMessage(got), err
	}, lists
}

func newCall() *hooks.Call {
	return &hooks.Call{ID: "id-1", Principal: "token|ann", Client: "c", Traceparent: "00-x", Target: hooks.Target{Server: "s", Tool: "t", Exposed: "s__t", View: "v"}, Params: []byte(`{"name":"s__t","arguments":{"a":9007199254740993}}`)}
}

// TestContext: an interceptor is told who calls, and gets labels into the call.
func TestContext(t *testing.T) {
	t.Parallel()
	var got string
	call, _ := server(oneCheck, func(_ context.Context, params string) (string, error) {
		got = params
		return `{"valid":true,"info":{"dev.mcpctl/labels":["plan","not a name","plan"]}}`, nil
	})
	h, err := hooks.NewExternal(hooks.External{Server: "guard"}, call)
	require.NoError(t, err)
	c := newCall()
	require.NoError(t, h.Request(t.Context(), c))
	const want = `{"name":"check","event":"tools/call","phase":"request","payload":{"name":"s__t","arguments":{"a":9007199254740993}},"context":{"principal":{"type":"user","id":"token|ann"},"client":"c","view":"v","requestId":"id-1","traceparent":"00-x"}}`
	if got != want {
		t.Errorf("got %s", got)
	}
	if labels, noted := c.Found(); !slices.Equal(labels, []string{"plan"}) || noted != nil {
		t.Errorf("labels %q, noted %q", labels, noted)
	}
}

// TestInvocationsAreBounded: 256 are under way, those beyond wait within their timeout.
func TestInvocationsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var underway, most atomic.Int64
		call, _ := server(oneCheck, func(ctx context.Context, _ string) (string, error) {
			n := underway.Add(1)
			defer underway.Add(-1)
			for {
				was := most.Load()
				if n <= was || most.CompareAndSwap(was, n) {
					break
				}
			}
			<-ctx.Done()
			return "", ctx.Err()
		})
		h, err := hooks.NewExternal(hooks.External{Server: "guard", Timeout: time.Second}, call)
		require.NoError(t, err)
		begun, ended := time.Now(), make(chan error)
		for range 600 {
			go func() { ended <- h.Request(t.Context(), newCall()) }()
		}
		for range 600 {
			if err := <-ended; !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		}
		if took := time.Since(begun); most.Load() != 256 || took > 2*time.Second {
			t.Errorf("%d at once, after %v", most.Load(), took)
		}
	})
}

// TestListsAreKept: the list is asked for once a minute, and again where an interceptor is not
// known any more.
func TestListsAreKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		known := true
		call, lists := server(oneCheck, func(context.Context, string) (string, error) {
			if !known {
				return "", &runtime.Error{Code: -32602, Message: "unknown"}
			}
			return `{"valid":true}`, nil
		})
		h, err := hooks.NewExternal(hooks.External{Server: "guard"}, call)
		require.NoError(t, err)
		for _, step := range []struct {
			known, fails bool
			sleep        time.Duration
			lists        int64
		}{{true, false, 0, 1}, {true, false, 30 * time.Second, 1}, {true, false, 31 * time.Second, 2}, {false, true, 0, 2}, {true, false, 0, 3}} {
			known = step.known
			time.Sleep(step.sleep)
			if err := h.Request(t.Context(), newCall()); (err != nil) != step.fails || lists.Load() != step.lists {
				t.Errorf("%+v: %v after %d lists", step, err, lists.Load())
			}
		}
	})
}

// TestKeptMembers: what a hook is not shown of a result stays, and what it has not changed is
// byte for byte as it was.
func TestKeptMembers(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"modified":false}`:                                                      `{"resultType":"complete", "content":[],"_meta":{"a":1e2}}`,
		`{"modified":true,"payload":{"content":[1]}}`:                             `"_meta":{"a":1e2}`,
		`{"modified":true,"payload":{"content":[1],"_meta":{},"resultType":"x"}}`: `{"content":[1],"_meta":{},"resultType":"x"}`,
	} {
		call, _ := server(strings.NewReplacer("request", "response", "validation", "mutation").Replace(oneCheck), func(_ context.Context, params string) (string, error) {
			if strings.Contains(params, "_meta") {
				t.Errorf("shown: %s", params)
			}
			return answer, nil
		})
		h, err := hooks.NewExternal(hooks.External{Server: "guard"}, call)
		require.NoError(t, err)
		c := newCall()
		c.Result = []byte(`{"resultType":"complete", "content":[],"_meta":{"a":1e2}}`)
		require.NoError(t, h.Response(t.Context(), c))
		if !strings.Contains(string(c.Result), want) || !strings.Contains(string(c.Result), "resultType") {
			t.Errorf("%s: got %s", answer, c.Result)
		}
	}
}
