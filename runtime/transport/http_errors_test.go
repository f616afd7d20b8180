package transport_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/transport"
)

// TestHTTPAnswersThatAreNone: what each kind of bad answer is taken for.
func TestHTTPAnswersThatAreNone(t *testing.T) {
	type verdict struct {
		rpc      int64 // code, 0 for no JSON-RPC error
		status   int   // of the StatusError, 0 for none
		auth     bool
		expired  bool
		protocol string // part of the ProtocolError's text
		kind     string // exit kind of the StatusError
		hint     string
	}
	const session404 = `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`
	for name, c := range map[string]struct {
		media   string
		status  int
		body    string // %s is the id
		version string
		want    verdict
	}{
		"error with 200":              {"application/json", 200, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"m"}}`, legacy, verdict{rpc: -32602}},
		"error with 200 and no id":    {"application/json", 200, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"m"}}%.0s`, legacy, verdict{rpc: -32600}},
		"error with 400":              {"application/json", 400, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"m"}}`, modern, verdict{rpc: -32022, status: 400, kind: "protocol"}},
		"error with 404, modern":      {"application/json", 404, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"m"}}`, modern, verdict{rpc: -32601, status: 404, kind: "protocol"}},
		"error with 500":              {"application/json", 500, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"m"}}`, modern, verdict{rpc: -32603, status: 500, kind: "protocol"}},
		"error in a stream":           {"text/event-stream", 200, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32603,\"message\":\"m\"}}\n\n", legacy, verdict{rpc: -32603}},
		"error in a stream with 400":  {"text/event-stream", 400, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32020,\"message\":\"m\"}}\n\n", modern, verdict{rpc: -32020, status: 400, kind: "protocol"}},
		"error as text with 400":      {"text/plain", 400, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"m"}}`, modern, verdict{rpc: -32022, status: 400, kind: "protocol"}},
		"404 in a session":            {"text/plain", 404, "not found%.0s", legacy, verdict{status: 404, expired: true, kind: "protocol"}},
		"404 in a session, JSON":      {"application/json", 404, session404 + "%.0s", legacy, verdict{rpc: -32001, status: 404, expired: true, kind: "protocol"}},
		"404 in a session, method":    {"application/json", 404, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"m"}}`, legacy, verdict{rpc: -32601, status: 404, kind: "protocol"}},
		"400 that means the session":  {"application/json", 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}%.0s`, legacy, verdict{rpc: -32000, status: 400, expired: true, kind: "protocol"}},
		"400 that does not":           {"application/json", 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: Unsupported protocol version"}}%.0s`, legacy, verdict{rpc: -32000, status: 400, kind: "protocol"}},
		"404 without a session":       {"text/html", 404, "<html>lost</html>%.0s", modern, verdict{status: 404, kind: "protocol", hint: "/mcp"}},
		"405":                         {"", 405, "%.0s", modern, verdict{status: 405, kind: "protocol", hint: "HTTP+SSE"}},
		"401":                         {"application/json", 401, `{"error":"invalid_token"}%.0s`, modern, verdict{status: 401, auth: true, kind: "auth", hint: "Authorization"}},
		"401 with a JSON-RPC body":    {"application/json", 401, session404 + "%.0s", legacy, verdict{rpc: -32001, status: 401, auth: true, kind: "auth", hint: "Authorization"}},
		"403":                         {"text/plain", 403, "no%.0s", modern, verdict{status: 403, auth: true, kind: "auth", hint: "credentials"}},
		"403 as OAuth says it":        {"application/json", 403, `{"error":"insufficient_scope"}%.0s`, modern, verdict{status: 403, auth: true, kind: "auth", hint: "credentials"}},
		"403 with a JSON-RPC body":    {"application/json", 403, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Invalid Host"}}%.0s`, modern, verdict{rpc: -32000, status: 403, kind: "protocol"}},
		"429":                         {"text/plain", 429, "slow down%.0s", modern, verdict{status: 429, kind: "connect", hint: "in 7 seconds"}},
		"502":                         {"text/html", 502, "<html>bad gateway</html>%.0s", modern, verdict{status: 502, kind: "connect"}},
		"304":                         {"", 304, "%.0s", modern, verdict{status: 304, kind: "protocol"}},
		"HTML":                        {"text/html; charset=utf-8", 200, "<!DOCTYPE html>\n<title>Hello</title>%.0s", modern, verdict{protocol: `text/html instead of MCP: "<!DOCTYPE html> <title>Hello</title>"`}},
		"nothing":                     {"application/json", 200, "%.0s", modern, verdict{protocol: "HTTP 200 with an empty body"}},
		"202 for a call":              {"", 202, "%.0s", legacy, verdict{protocol: "HTTP 202 with an empty body"}},
		"JSON that is no message":     {"application/json", 200, `{"status":"ok"}%.0s`, modern, verdict{protocol: "not a JSON-RPC message"}},
		"broken JSON":                 {"application/json", 200, `{"jsonrpc":"2.0","id":%s,"result":{`, modern, verdict{protocol: "malformed"}},
		"two ids":                     {"application/json", 200, `{"jsonrpc":"2.0","id":%s,"id":99,"result":{}}`, modern, verdict{protocol: "duplicate member id"}},
		"answer to something else":    {"application/json", 200, `{"jsonrpc":"2.0","id":99,"result":{}}%.0s`, modern, verdict{protocol: "a different request"}},
		"stream without the answer":   {"text/event-stream", 200, "data: {\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n\n: %s\n\n", modern, verdict{protocol: "before the result"}},
		"stream of rubbish":           {"text/event-stream", 200, "data: hello\n\n%.0s", legacy, verdict{protocol: "before the result"}},
		"escape sequences in a body":  {"text/plain", 200, "\x1b[31mred\x07\x00 %.0s", modern, verdict{protocol: `text/plain instead of MCP: "[31mred"`}},
		"an answer beyond the limit":  {"application/json", 200, `{"jsonrpc":"2.0","id":%s,"result":"` + strings.Repeat("x", 10_000) + `"}`, modern, verdict{protocol: "larger than 10000 bytes"}},
		"an event beyond the limit":   {"text/event-stream", 200, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":\"" + strings.Repeat("x", 10_000) + "\"}\n\n", modern, verdict{protocol: "larger than 10000 bytes"}},
		"HTML beyond the limit":       {"text/html", 200, "<html>%.0s" + strings.Repeat("x", 100_000), modern, verdict{protocol: "text/html instead of MCP"}},
		"an error page with no limit": {"text/html", 500, "<html>%.0s" + strings.Repeat("x", 1_000_000), modern, verdict{status: 500, kind: "connect"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, func(w http.ResponseWriter, _ *http.Request, p posted) {
				if p.Method == "initialize" {
					w.Header().Set("Mcp-Session-Id", "s")
					writeJSON(w, 200, `{"jsonrpc":"2.0","id":%s,"result":{}}`, p.ID)
					return
				}
				w.Header()["Content-Type"] = nil
				if c.media != "" {
					w.Header().Set("Content-Type", c.media)
				}
				if c.status == 429 {
					w.Header().Set("Retry-After", "7")
				}
				w.WriteHeader(c.status)
				fmt.Fprintf(w, c.body, p.ID)
			})
			cl := newHTTP(t, s.URL, transport.HTTPOptions{MaxMessage: 10_000})
			if _, err := cl.Call(t.Context(), &runtime.Request{Method: "initialize"}); err != nil {
				t.Fatal(err)
			}
			_, err := cl.Call(t.Context(), &runtime.Request{Method: "tools/list", Version: c.version})
			if err == nil {
				t.Fatal("no error")
			}
			if text := err.Error(); strings.ContainsAny(text, "\n\x1b\x00") || len(text) > 1000 || strings.Contains(text, "malformed error") {
				t.Errorf("not fit to print: %q", text)
			}
			var (
				got      verdict
				rpc      *runtime.Error
				status   *transport.StatusError
				protocol *runtime.ProtocolError
				auth     *runtime.AuthError
			)
			if errors.As(err, &rpc) {
				got.rpc = rpc.Code
			}
			if errors.As(err, &status) {
				got.status, got.kind = status.HTTPStatus(), status.ExitKind()
				got.expired = status.SessionExpired() && errors.Is(err, transport.ErrSessionExpired)
				if c.want.hint != "" && strings.Contains(status.Hint(), c.want.hint) {
					got.hint = c.want.hint
				}
			}
			if errors.As(err, &protocol) {
				got.protocol = err.Error()
				if strings.Contains(got.protocol, c.want.protocol) {
					got.protocol = c.want.protocol
				}
			}
			got.auth = errors.As(err, &auth)
			if got != c.want {
				t.Errorf("%v:\ngot  %+v\nwant %+v", err, got, c.want)
			}
			if errors.Is(err, runtime.ErrNotSent) {
				t.Error("claims not to have been sent")
			}
			if n := s.count(); n != 2 {
				t.Errorf("%d requests, want 2: a call is never repeated", n)
			}
		})
	}
}

// TestHTTPEndlessBodies: what is not JSON is not read to its end, JSON by
// another name is.
func TestHTTPEndlessBodies(t *testing.T) {
	s := newScript(t, func(w http.ResponseWriter, r *http.Request, p posted) {
		w.Header().Set("Content-Type", "text/plain")
		switch p.Method {
		case "endless", "notifications/endless":
			w.WriteHeader(500)
			for r.Context().Err() == nil {
				fmt.Fprint(w, strings.Repeat("x", 10_000))
			}
		case "endless JSON":
			fmt.Fprint(w, `{"x":"`)
			for r.Context().Err() == nil {
				fmt.Fprint(w, strings.Repeat("x", 10_000))
			}
		case "long":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":"%s"}`, p.ID, strings.Repeat("x", 200_000))
		}
	})
	c := newHTTP(t, s.URL, transport.HTTPOptions{MaxMessage: 1 << 20})
	call := func(method string) (string, error) {
		got, err := c.Call(t.Context(), &runtime.Request{Method: method, Version: modern})
		return string(got), err
	}
	var status *transport.StatusError
	if _, err := call("endless"); !errors.As(err, &status) || status.Status != 500 {
		t.Errorf("endless: got %v", err)
	}
	if err := c.Notify(t.Context(), &runtime.Request{Method: "notifications/endless", Version: modern}); !errors.As(err, &status) || status.Status != 500 {
		t.Errorf("endless, notified: got %v", err)
	}
	if _, err := call("endless JSON"); !isProtocol(err) || !strings.Contains(err.Error(), "larger than 1048576 bytes") {
		t.Errorf("endless JSON: got %v", err)
	}
	if got, err := call("long"); err != nil || len(got) != 200_002 {
		t.Errorf("long: got %d bytes, %v", len(got), err)
	}
}

func TestHTTPConnectErrors(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	plain := newScript(t, func(w http.ResponseWriter, _ *http.Request, _ posted) {})
	secure := httptest.NewUnstartedServer(nil)
	secure.Config.ErrorLog = quiet()
	secure.StartTLS()
	t.Cleanup(secure.Close)
	broken := newScript(t, func(w http.ResponseWriter, _ *http.Request, _ posted) { panic(http.ErrAbortHandler) })
	for name, c := range map[string]struct {
		url     string
		notSent bool
		hint    string
	}{
		"refused":             {closed.URL + "/mcp?key=secret", true, "start the server"},
		"no such host":        {"http://nowhere.invalid/mcp?key=secret", true, "host name"},
		"TLS to a plain port": {strings.Replace(plain.URL, "http:", "https:", 1) + "/?key=secret", true, "http://"},
		"unknown authority":   {secure.URL + "/?key=secret", true, "authority"},
		"closed on us":        {broken.URL + "/?key=secret", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			cl := newHTTP(t, c.url, transport.HTTPOptions{})
			for what, err := range map[string]error{
				"call":   second(cl.Call(t.Context(), &runtime.Request{Method: "x", Version: modern})),
				"notify": cl.Notify(t.Context(), &runtime.Request{Method: "x", Version: modern}),
			} {
				var ce *runtime.ConnectError
				if !errors.As(err, &ce) {
					t.Fatalf("%s: got %v, want a ConnectError", what, err)
				}
				if errors.Is(err, runtime.ErrNotSent) != c.notSent || !strings.Contains(ce.Hint(), c.hint) || (c.hint == "") != (ce.Hint() == "") {
					t.Errorf("%s: %v: not sent: %v, hint: %q", what, err, errors.Is(err, runtime.ErrNotSent), ce.Hint())
				}
				if strings.Contains(err.Error(), "secret") {
					t.Errorf("%s: tells the query: %v", what, err)
				}
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }

func TestHTTPDialerTimeoutIsATimeout(t *testing.T) {
	client := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: context.DeadlineExceeded}
	}}}
	_, err := newHTTP(t, "http://127.0.0.1:1/", transport.HTTPOptions{Client: client}).Call(t.Context(), &runtime.Request{Method: "x"})
	var ce *runtime.ConnectError
	if !errors.As(err, &ce) || !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, runtime.ErrNotSent) {
		t.Errorf("got %v", err)
	}
}

func TestHTTPRedirects(t *testing.T) {
	other := newScript(t, func(w http.ResponseWriter, _ *http.Request, p posted) {
		writeJSON(w, 200, `{"jsonrpc":"2.0","id":%s,"result":{}}`, p.ID)
	})
	for name, c := range map[string]struct {
		status int
		to     string
		want   string // part of the error, "" for success
	}{
		"307 to the same origin":   {307, "/there", ""},
		"308 to the same origin":   {308, "/there", ""},
		"301 would lose the body":  {301, "/there", "lose the request"},
		"302 would lose the body":  {302, "/there", "lose the request"},
		"303 would lose the body":  {303, "/there", "lose the request"},
		"307 to another origin":    {307, other.URL + "/x?key=secret", "another origin"},
		"308 to another scheme":    {308, "https://{host}/there", "another origin"},
		"307 in a circle":          {307, "/", "more than 10"},
		"302 to a log-in page":     {302, other.URL + "/login", "another origin"},
		"307 to another, via here": {307, "/away", "another origin"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, func(w http.ResponseWriter, r *http.Request, p posted) {
				switch r.URL.Path {
				case "/there":
					writeJSON(w, 200, `{"jsonrpc":"2.0","id":%s,"result":%s}`, p.ID, p.Params)
				case "/away":
					http.Redirect(w, r, other.URL, c.status)
				default:
					http.Redirect(w, r, strings.Replace(c.to, "{host}", r.Host, 1), c.status)
				}
			})
			cl := newHTTP(t, s.URL, transport.HTTPOptions{Headers: map[string]string{"Authorization": "Bearer k"}})
			got, err := cl.Call(t.Context(), &runtime.Request{Method: "x", Params: []byte(`{"a":1}`), Version: modern})
			if c.want == "" {
				if err != nil || string(got) != `{"a":1}` {
					t.Errorf("got %s, %v", got, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	if n := other.count(); n != 0 {
		t.Errorf("%d requests went to the other origin", n)
	}
}

// keyring is an authorizer whose key changes when it is challenged.
type keyring struct {
	keys       []string
	challenges int
	refuse     error
}

func (k *keyring) Authorize(_ context.Context, r *http.Request) error {
	if k.refuse != nil {
		return k.refuse
	}
	r.Header.Set("Authorization", "Bearer "+k.keys[min(k.challenges, len(k.keys)-1)])
	return nil
}

func (k *keyring) Challenged(_ context.Context, resp *http.Response) (bool, error) {
	k.challenges++
	if resp.Header.Get("Www-Authenticate") == "" {
		return false, errors.New("no challenge")
	}
	return k.challenges < len(k.keys), nil
}

func TestHTTPAuthorizer(t *testing.T) {
	guard := func(status int, challenge string) func(w http.ResponseWriter, _ *http.Request, p posted) {
		return func(w http.ResponseWriter, _ *http.Request, p posted) {
			if p.Header.Get("Authorization") != "Bearer good" {
				if challenge != "" {
					w.Header().Set("WWW-Authenticate", challenge)
				}
				w.WriteHeader(status)
				return
			}
			writeJSON(w, 200, `{"jsonrpc":"2.0","id":%s,"result":{}}`, p.ID)
		}
	}
	refused := errors.New("no token")
	for name, c := range map[string]struct {
		status    int
		challenge string
		ring      keyring
		static    string
		requests  int
		seen      int
		auth      bool
		want      string
	}{
		"good at once":            {401, "Bearer", keyring{keys: []string{"good"}}, "", 1, 0, false, ""},
		"refreshed":               {401, "Bearer", keyring{keys: []string{"old", "good"}}, "", 2, 1, false, ""},
		"refreshed in vain":       {401, "Bearer", keyring{keys: []string{"old", "older", "good"}}, "", 2, 1, true, "HTTP 401"},
		"has no other":            {401, "Bearer", keyring{keys: []string{"old"}}, "", 1, 1, true, "HTTP 401"},
		"fails":                   {401, "", keyring{keys: []string{"old", "good"}}, "", 1, 1, false, "no challenge"},
		"more scope":              {403, `Bearer error="insufficient_scope"`, keyring{keys: []string{"old", "good"}}, "", 2, 1, false, ""},
		"forbidden for good":      {403, "Bearer", keyring{keys: []string{"old", "good"}}, "", 1, 0, true, "HTTP 403"},
		"cannot":                  {401, "Bearer", keyring{refuse: refused}, "", 0, 0, false, "no token"},
		"a static header is last": {401, "Bearer", keyring{keys: []string{"old"}}, "Bearer good", 1, 0, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t, guard(c.status, c.challenge))
			o := transport.HTTPOptions{Authorizer: &c.ring}
			if c.static != "" {
				o.Headers = map[string]string{"authorization": c.static}
			}
			_, err := newHTTP(t, s.URL, o).Call(t.Context(), &runtime.Request{Method: "x", Version: modern})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			var auth *runtime.AuthError
			if errors.As(err, &auth) != c.auth || c.auth && auth.Challenge != c.challenge {
				t.Errorf("AuthError: got %+v in %v", auth, err)
			}
			if n := s.count(); n != c.requests || c.ring.challenges != c.seen {
				t.Errorf("got %d requests and %d challenges, want %d and %d", n, c.ring.challenges, c.requests, c.seen)
			}
			if errors.Is(err, runtime.ErrNotSent) != (c.requests == 0) {
				t.Errorf("not sent: %v", err)
			}
		})
	}
}
