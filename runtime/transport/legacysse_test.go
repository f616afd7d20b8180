package transport_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/transport"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// sseServer is a server of 2024-11-05. Each message posted is handed to a
// function that writes to the stream or to the POST's own answer.
type sseServer struct {
	*httptest.Server
	posts chan posted
	out   chan string // raw stream text; "" ends the stream
}

func newSSEServer(t *testing.T, endpoint string, on func(s *sseServer, w http.ResponseWriter, p posted)) *sseServer {
	t.Helper()
	s := &sseServer{posts: make(chan posted, 1000), out: make(chan string, 1000)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			writeSSE(w, "event: endpoint\ndata: %s\n\n", endpoint)
			for {
				select {
				case text := <-s.out:
					if text == "" {
						return
					}
					writeSSE(w, "%s", text)
				case <-r.Context().Done():
					return
				}
			}
		}
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		p := posted{HTTPMethod: r.Method, Header: r.Header.Clone(), Body: string(b)}
		var m struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		if err := json.Unmarshal(b, &m); err != nil {
			t.Errorf("the body is not JSON: %q", b)
		}
		p.ID, p.Method, p.Params = string(m.ID), m.Method, r.URL.RequestURI()
		s.posts <- p
		on(s, w, p)
	}))
	t.Cleanup(s.Close)
	return s
}

func openSSE(t *testing.T, url string, o transport.HTTPOptions) *transport.SSE {
	t.Helper()
	c, err := transport.OpenSSE(t.Context(), url, o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func accept(_ *sseServer, w http.ResponseWriter, _ posted) { w.WriteHeader(http.StatusAccepted) }

func TestSSECall(t *testing.T) {
	for name, on := range map[string]func(s *sseServer, w http.ResponseWriter, p posted){
		"202 then the answer": func(s *sseServer, w http.ResponseWriter, p posted) {
			w.WriteHeader(http.StatusAccepted)
			s.out <- fmt.Sprintf("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", p.ID, grease)
		},
		"200 with a word": func(s *sseServer, w http.ResponseWriter, p posted) {
			s.out <- fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", p.ID, grease)
			fmt.Fprint(w, "Accepted")
		},
		"204": func(s *sseServer, w http.ResponseWriter, p posted) {
			w.WriteHeader(http.StatusNoContent)
			s.out <- fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", p.ID, grease)
		},
		"answered before the POST is": func(s *sseServer, w http.ResponseWriter, p posted) {
			s.out <- fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", p.ID, grease)
			<-s.posts // held until the test has its answer
		},
		"in the POST's own answer": func(_ *sseServer, w http.ResponseWriter, p posted) {
			writeJSON(w, 200, `{"jsonrpc":"2.0","id":%s,"result":%s}`, p.ID, grease)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSSEServer(t, "/messages?session=1", on)
			held := name == "answered before the POST is"
			if held {
				s.posts = make(chan posted)
				go func() { <-s.posts }()
				defer func() { s.posts <- posted{} }()
			}
			c := openSSE(t, s.URL+"/sse", transport.HTTPOptions{})
			got, err := c.Call(t.Context(), &runtime.Request{Method: "x", Params: json.RawMessage(grease), Version: legacy})
			if err != nil || string(got) != grease {
				t.Fatalf("got %s, %v", got, err)
			}
			if held {
				return
			}
			p := wait.For(t, "the POST", s.posts)
			if want := `{"jsonrpc":"2.0","id":1,"method":"x","params":` + grease + `}`; p.Body != want {
				t.Errorf("body: got %s, want %s", p.Body, want)
			}
			if p.Params != "/messages?session=1" || p.Header.Get("Mcp-Protocol-Version") != legacy || p.Header.Get("Mcp-Session-Id") != "" {
				t.Errorf("POST to %s with %v", p.Params, p.Header)
			}
		})
	}
}

func TestSSEEndpoint(t *testing.T) {
	for name, c := range map[string]struct {
		endpoint string
		path     string // where POSTs go, "" for an error
		want     string
	}{
		"absolute path":  {"/messages?sessionId=a%20b", "/messages?sessionId=a%20b", ""},
		"relative":       {"messages", "/deep/messages", ""},
		"query only":     {"?session=1", "/deep/sse?session=1", ""},
		"absolute URL":   {"{self}/m#part", "/m", ""},
		"other host":     {"http://evil.example/m", "", "another origin"},
		"other port":     {"http://127.0.0.1:1/m", "", "another origin"},
		"other scheme":   {"https://{host}/m", "", "another origin"},
		"no scheme":      {"//evil.example/m", "", "another origin"},
		"a script":       {"javascript:alert(1)", "", "another origin"},
		"not a URL":      {"http://[::1", "", "no URL"},
		"an empty event": {"", "", "no URL"},
	} {
		t.Run(name, func(t *testing.T) {
			var s *httptest.Server
			posts := make(chan string, 1)
			s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost {
					posts <- r.URL.RequestURI()
					w.WriteHeader(http.StatusAccepted)
					return
				}
				e := strings.NewReplacer("{self}", s.URL, "{host}", r.Host).Replace(c.endpoint)
				writeSSE(w, ": hi\n\nevent: endpoint\ndata: %s\n\n", e)
				<-r.Context().Done()
			}))
			defer s.Close()
			cl, err := transport.OpenSSE(t.Context(), s.URL+"/deep/sse", transport.HTTPOptions{})
			if c.want != "" {
				var protocol *runtime.ProtocolError
				if !errors.As(err, &protocol) || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("got %v, want %q", err, c.want)
				}
				return
			}
			require.NoError(t, err)
			defer cl.Close()
			require.NoError(t, cl.Notify(t.Context(), &runtime.Request{Method: "n"}))
			if got := wait.For(t, "the POST", posts); got != c.path {
				t.Errorf("got %s, want %s", got, c.path)
			}
		})
	}
}

func TestSSEOpenFails(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request)
		check  func(err error) bool
	}{
		"404": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, func(err error) bool {
			var s *transport.StatusError
			return errors.As(err, &s) && s.Status == 404
		}},
		"401": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, func(err error) bool {
			var a *runtime.AuthError
			return errors.As(err, &a)
		}},
		"HTML": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, isProtocol},
		"another event first": {func(w http.ResponseWriter, _ *http.Request) {
			writeSSE(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n\n")
		}, isProtocol},
		"ends at once": {func(w http.ResponseWriter, _ *http.Request) { writeSSE(w, ": hi\n\n") }, isProtocol},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
		}, func(err error) bool {
			return err != nil && strings.Contains(err.Error(), "another origin")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(c.answer))
			defer s.Close()
			if _, err := transport.OpenSSE(t.Context(), s.URL, transport.HTTPOptions{}); !c.check(err) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("silence", func(t *testing.T) {
		asked := make(chan struct{})
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			writeSSE(w, ": hi\n\n")
			close(asked)
			<-r.Context().Done()
		}))
		defer s.Close()
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-asked; cancel() }()
		if _, err := transport.OpenSSE(ctx, s.URL, transport.HTTPOptions{}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

func isProtocol(err error) bool {
	var p *runtime.ProtocolError
	return errors.As(err, &p)
}

// TestSSEOutlivesItsOpening: the context of OpenSSE bounds opening alone.
func TestSSEOutlivesItsOpening(t *testing.T) {
	s := newSSEServer(t, "/m", func(s *sseServer, w http.ResponseWriter, p posted) {
		accept(s, w, p)
		s.out <- fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n\n", p.ID)
	})
	ctx, cancel := context.WithCancel(t.Context())
	c, err := transport.OpenSSE(ctx, s.URL, transport.HTTPOptions{})
	cancel()
	require.NoError(t, err)
	defer c.Close()
	if _, err := c.Call(t.Context(), &runtime.Request{Method: "x"}); err != nil {
		t.Fatal(err)
	}
}

// TestSSELost: the end of the stream is the end of everything, told once.
func TestSSELost(t *testing.T) {
	for name, text := range map[string]string{"ended": "", "flooded": "data: " + strings.Repeat("x", 5000) + "\n\n"} {
		t.Run(name, func(t *testing.T) {
			s := newSSEServer(t, "/m", accept)
			rec := newRecorder()
			c := openSSE(t, s.URL, transport.HTTPOptions{Handler: rec, MaxMessage: 1000})
			const calls = 5
			failed := make(chan error, calls)
			for range calls {
				go func() {
					_, err := c.Call(context.WithoutCancel(t.Context()), &runtime.Request{Method: "x"})
					failed <- err
				}()
				wait.For(t, "the POST", s.posts)
			}
			s.out <- text
			for range calls {
				if err := wait.For(t, "the end of a call", failed); !errors.Is(err, runtime.ErrClosed) || isProtocol(err) != (text != "") {
					t.Errorf("got %v", err)
				}
			}
			if err := wait.For(t, "Closed", rec.closed); !errors.Is(err, runtime.ErrClosed) {
				t.Errorf("Closed: got %v", err)
			}
			_, err := c.Call(t.Context(), &runtime.Request{Method: "x"})
			if !errors.Is(err, runtime.ErrClosed) || !errors.Is(err, runtime.ErrNotSent) {
				t.Errorf("later call: got %v", err)
			}
			if err := c.Notify(t.Context(), &runtime.Request{Method: "x"}); !errors.Is(err, runtime.ErrClosed) {
				t.Errorf("later notification: got %v", err)
			}
			_ = c.Close()
			_ = c.Close()
			if len(rec.closed) > 0 {
				t.Error("Closed was told twice")
			}
		})
	}
}

func TestSSEClose(t *testing.T) {
	s := newSSEServer(t, "/m", accept)
	rec := newRecorder()
	c := openSSE(t, s.URL, transport.HTTPOptions{Handler: rec})
	failed := make(chan error, 1)
	go func() { failed <- second(c.Call(context.WithoutCancel(t.Context()), &runtime.Request{Method: "x"})) }()
	wait.For(t, "the POST", s.posts)
	_ = c.Close()
	// Not a word of the server: it was us.
	if err := wait.For(t, "the end of the call", failed); err != runtime.ErrClosed { //nolint:errorlint // exactly this
		t.Errorf("got %v", err)
	}
	if err := wait.For(t, "Closed", rec.closed); err != runtime.ErrClosed { //nolint:errorlint // exactly this
		t.Errorf("Closed: got %v", err)
	}
}

func TestSSEErrors(t *testing.T) {
	s := newSSEServer(t, "/m", func(s *sseServer, w http.ResponseWriter, p posted) {
		switch p.Method {
		case "refused":
			writeJSON(w, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"m"}}`)
		case "lost":
			panic(http.ErrAbortHandler)
		default:
			accept(s, w, p)
			s.out <- fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32601,\"message\":\"m\"}}\n\n", p.ID)
		}
	})
	s.Config.ErrorLog = quiet()
	c := openSSE(t, s.URL, transport.HTTPOptions{})
	call := func(method string) error {
		return second(c.Call(t.Context(), &runtime.Request{Method: method}))
	}
	var rpc *runtime.Error
	if err := call("x"); !errors.As(err, &rpc) || rpc.Code != -32601 {
		t.Errorf("got %v", err)
	}
	var status *transport.StatusError
	if err := call("refused"); !errors.As(err, &status) || status.Status != 400 || status.RPC.Code != -32600 {
		t.Errorf("got %v", err)
	}
	var ce *runtime.ConnectError
	if err := call("lost"); !errors.As(err, &ce) || errors.Is(err, runtime.ErrNotSent) {
		t.Errorf("got %v", err)
	}
}

func TestSSEDeliversAndAnswers(t *testing.T) {
	s := newSSEServer(t, "/m", func(s *sseServer, w http.ResponseWriter, p posted) {
		accept(s, w, p)
		switch p.Method {
		case "slow":
			s.out <- "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n" +
				"event: other\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/unseen\"}\n\n" +
				"data: rubbish\n\n" +
				"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":5,\"progress\":1}}\n\n" +
				"data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"ping\"}\n\n" +
				"data: {\"jsonrpc\":\"2.0\",\"id\":\"nobody\",\"result\":{}}\n\n"
		case "":
			s.out <- "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n"
		}
	})
	own, mine := newRecorder(), newRecorder()
	c := openSSE(t, s.URL, transport.HTTPOptions{Handler: own})
	req := &runtime.Request{Method: "slow", Version: legacy, Token: json.RawMessage(`5`), Events: mine}
	if _, err := c.Call(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if n := own.next(t); n.method != "notifications/message" || n.call != nil {
		t.Errorf("got %+v", n)
	}
	if n := mine.next(t); n.method != "notifications/progress" || n.call != req {
		t.Errorf("got %+v", n)
	}
	wait.For(t, "the call", s.posts)
	p := wait.For(t, "the answer to the ping", s.posts)
	if p.Body != `{"jsonrpc":"2.0","id":"q","result":{}}` || p.Header.Get("Mcp-Protocol-Version") != legacy {
		t.Errorf("got %s with %v", p.Body, p.Header)
	}
	if len(own.notes)+len(mine.notes) > 0 {
		t.Error("more came than was sent")
	}
}

func TestSSECancel(t *testing.T) {
	s := newSSEServer(t, "/m", accept)
	c := openSSE(t, s.URL, transport.HTTPOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() { failed <- second(c.Call(ctx, &runtime.Request{Method: "x", Version: legacy})) }()
	wait.For(t, "the POST", s.posts)
	cancel()
	if err := wait.For(t, "the end of the call", failed); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	_ = c.Close()
	p := wait.For(t, "the notice", s.posts)
	want := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"the caller cancelled"}}`
	if d := cmp.Diff(want, p.Body); d != "" {
		t.Error(d)
	}
	// A late answer is dropped: nothing to see but that nothing breaks.
	if err := second(c.Call(ctx, &runtime.Request{Method: "x"})); !errors.Is(err, runtime.ErrNotSent) {
		t.Errorf("got %v", err)
	}
}

func TestSSEConcurrent(t *testing.T) {
	s := newSSEServer(t, "/m", func(s *sseServer, w http.ResponseWriter, p posted) {
		s.out <- fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"id\":%s}}\n\n", p.ID, p.ID)
		accept(s, w, p)
	})
	c := openSSE(t, s.URL, transport.HTTPOptions{})
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			for j := range 20 {
				id := fmt.Sprintf("%q", fmt.Sprint(i, "-", j))
				got, err := c.Call(t.Context(), &runtime.Request{Method: "x", ID: json.RawMessage(id)})
				if err != nil || string(got) != `{"id":`+id+`}` {
					t.Errorf("%s: got %s, %v", id, got, err)
					return
				}
			}
		})
	}
	wg.Wait()
}
