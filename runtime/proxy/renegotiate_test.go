package proxy_test

import (
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
)

// remote is a scripted connection to a server that is no process of ours.
type remote struct{ *scripted }

func (remote) Remote() bool { return true }

// TestServerThatIsAnother: what a server says that cannot be true of the one that
// was connected to makes the proxy look again, once, and call again what has not
// been acted on.
func TestServerThatIsAnother(t *testing.T) {
	rpc := func(code int64) error {
		return &runtime.Error{Code: code, Message: "no", Raw: json.RawMessage(`{"code":1}`)}
	}
	for name, x := range map[string]struct {
		err    error
		local  bool
		dials  int64 // after two calls where it goes on failing
		modern bool
	}{
		"looked at already":     {rpc(runtime.CodeMethodNotFound), false, 1, true}, // by the bridge
		"unknown method":        {rpc(runtime.CodeMethodNotFound), false, 2, false},
		"lost session":          {&negotiate.SessionError{Err: rpc(runtime.CodeUnsupportedVersion)}, false, 2, false},
		"a process's error":     {rpc(runtime.CodeMethodNotFound), true, 1, false},
		"an error like another": {rpc(runtime.CodeInvalidParams), false, 1, false},
		"a failure on the way":  {errors.New("broken"), false, 1, false},
	} {
		for _, mends := range []bool{true, false} {
			var dials, calls atomic.Int64
			version := "2025-11-25"
			if x.modern {
				version = "2026-07-28"
			}
			c := scriptTransport(t, version, func(runtime.Handler) runtime.Transport {
				n := dials.Add(1)
				s := &scripted{answer: func(method string, _ json.RawMessage) (json.RawMessage, error) {
					switch {
					case method == "tools/list":
						return json.RawMessage(oneTool), nil
					case mends && n > 1:
						return json.RawMessage(`{"content":[]}`), nil
					}
					calls.Add(1)
					return nil, x.err
				}}
				if x.local {
					return s
				}
				return remote{s}
			})
			got := c.call("tools/call", `{"name":"a__x"}`)
			if ok := strings.Contains(got, `"content":[]`); ok != (mends && x.dials == 2) {
				t.Errorf("%s, mends %v: got %s", name, mends, got)
			}
			if strings.Contains(name, "lost") && !mends && !strings.Contains(got, `"isError":true`) {
				t.Errorf("%s: got %s", name, got)
			}
			c.call("tools/call", `{"name":"a__x"}`)
			if n := dials.Load(); n != x.dials {
				t.Errorf("%s, mends %v: %d connections, want %d", name, mends, n, x.dials)
			}
			if want := 1 + x.dials; !mends && calls.Load() != want {
				t.Errorf("%s: called %d times, want %d", name, calls.Load(), want)
			}
		}
	}
}

// TestRefusedHandshakeIsNoAnswer: an error of the handshake is not the server's
// answer to the client's request.
func TestRefusedHandshakeIsNoAnswer(t *testing.T) {
	b := two()
	b.fail = map[string]error{"a": &runtime.Error{Code: -32000, Message: "not today", Raw: json.RawMessage(`{"code":-32000,"message":"not today"}`)}}
	_, c := start(t, b, proxy.Options{Servers: proxy.Named("a", "b")})
	if got := c.result("tools/call", `{"name":"a__echo","arguments":{}}`); !strings.Contains(got, `"isError":true`) || !strings.Contains(got, "not today") {
		t.Errorf("got %s", got)
	}
}
