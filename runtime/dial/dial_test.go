package dial_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/dial"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/faults/hostile"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

func TestMain(m *testing.M) {
	if runtimetest.IsFake() {
		os.Exit(runtimetest.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	if os.Getenv(hostile.Env) != "" {
		os.Exit(hostile.Main(os.Args[1:], os.Stdin, os.NewFile(1, "out"), os.Stderr))
	}
	if os.Getenv(sdkEnv) != "" {
		os.Exit(runSDKServer())
	}
	goleak.VerifyTestMain(m)
}

func stdioEntry(flags ...string) config.Entry {
	command, env := runtimetest.Command(flags...)
	return config.Entry{Name: "fake", Command: command[0], Args: command[1:], Env: env}
}

// quick ends children fast, as one-shot commands do.
func quick(o dial.Options) dial.Options {
	o.Grace, o.ShutdownTimeout = 50*time.Millisecond, 500*time.Millisecond
	return o
}

func echo(t *testing.T, c *runtime.Client) {
	t.Helper()
	r, err := c.CallTool(t.Context(), "echo", []byte(`{"message":"hi"}`), nil)
	if err != nil || r.Text() != "hi" {
		t.Errorf("echo: got %+v %v", r, err)
	}
}

func TestDialReachesEveryKindOfServer(t *testing.T) {
	s := runtimetest.New()
	modern := runtimetest.New()
	modern.Versions = []string{"2026-07-28"}
	serve := func(h http.Handler) string {
		srv := httptest.NewServer(h)
		t.Cleanup(srv.Close)
		return srv.URL
	}
	for name, c := range map[string]struct {
		entry config.Entry
		want  string
	}{
		"stdio":                    {stdioEntry(), "2025-11-25"},
		"stdio, modern":            {stdioEntry("-modern"), "2026-07-28"},
		"stdio, dies on the probe": {stdioEntry("-exit-on-probe"), "2025-11-25"},
		"HTTP, JSON":               {config.Entry{Name: "h", URL: serve(s.Handler(runtimetest.HTTPOptions{Sessions: true}))}, "2025-11-25"},
		"HTTP, SSE":                {config.Entry{Name: "h", URL: serve(s.Handler(runtimetest.HTTPOptions{SSE: true, Sessions: true}))}, "2025-11-25"},
		"HTTP, sessions that end":  {config.Entry{Name: "h", URL: serve(s.Handler(runtimetest.HTTPOptions{Sessions: true, SessionCalls: 3}))}, "2025-11-25"},
		"HTTP, modern":             {config.Entry{Name: "h", URL: serve(modern.Handler(runtimetest.HTTPOptions{}))}, "2026-07-28"},
		"HTTP+SSE":                 {config.Entry{Name: "h", Type: "sse", URL: serve(s.LegacySSE()) + "/sse"}, "2024-11-05"},
		"HTTP+SSE, not said to be": {config.Entry{Name: "h", URL: serve(s.LegacySSE()) + "/sse"}, "2024-11-05"},
	} {
		t.Run(name, func(t *testing.T) {
			c2, err := dial.Dial(t.Context(), c.entry, quick(dial.Options{}))
			require.NoError(t, err)
			defer c2.Close()
			if got := c2.Info().Version; got != c.want && !(c.want == "2024-11-05" && got == "2025-11-25") {
				t.Errorf("got revision %s, want %s", got, c.want)
			}
			for range 4 {
				echo(t, c2)
			}
		})
	}
}

// ends counts the ends of connections.
type ends struct {
	runtime.NopHandler
	n chan error
}

func (e ends) Closed(err error) { e.n <- err }

// TestEndIsToldOnce: a process that the question for the era has ended is not
// the connection's.
func TestEndIsToldOnce(t *testing.T) {
	h := ends{n: make(chan error, 4)}
	c, err := dial.Dial(t.Context(), stdioEntry("-exit-on-probe"), quick(dial.Options{Handler: h}))
	require.NoError(t, err)
	if n := len(h.n); n != 0 {
		t.Errorf("%d ends while the connection lives", n)
	}
	_ = c.Close()
	if n := len(h.n); n != 1 {
		t.Errorf("got %d ends, want 1", n)
	}
}

func TestDialExplainsFailures(t *testing.T) {
	t.Parallel()
	html := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html><body>Welcome</body></html>"))
	}))
	defer html.Close()
	var (
		connect *runtime.ConnectError
		timeout *runtime.TimeoutError
		proto   *runtime.ProtocolError
		auth    *runtime.AuthError
		problem interface{ ExitKind() string }
	)
	secret := stdioEntry("-exit")
	secret.Args = append(secret.Args, "-stderr", "${DIAL_TEST_SECRET}")
	for name, c := range map[string]struct {
		entry config.Entry
		as    any
		want  string
	}{
		"ends at once":     {stdioEntry("-exit", "-stderr", "no licence"), &connect, "no licence"},
		"rubbish":          {stdioEntry("-rubbish-only"), &proto, "does not speak MCP"},
		"silent":           {stdioEntry("-silent"), &timeout, "no answer within"},
		"no command":       {config.Entry{Name: "x", Command: "no-such-command-here"}, &connect, "command not found"},
		"no shape":         {config.Entry{Name: "x"}, &connect, "neither command nor url"},
		"both shapes":      {config.Entry{Name: "x", Command: "sh", URL: "http://127.0.0.1:1/mcp"}, &connect, "both command and url"},
		"nameless process": {config.Entry{Command: "sh", Args: []string{"-c", "exit 3"}}, &connect, "connect sh: sh ended"},
		"nameless URL":     {config.Entry{URL: "http://127.0.0.1:1/mcp"}, &connect, "^connect http://127.0.0.1:1/mcp: dial"},
		"secrets of a URL": {config.Entry{URL: "http://user:secret@127.0.0.1:1/mcp?key=secret"}, &connect, "^connect http://127.0.0.1:1/mcp: dial"},
		"nameless command": {config.Entry{Command: "no-such-command-here"}, &connect, "^connect no-such-command-here: command"},
		"nothing at all":   {config.Entry{}, &connect, "connect entry: the entry has neither"},
		"refused":          {config.Entry{Name: "x", URL: "http://127.0.0.1:1/mcp"}, &connect, "127.0.0.1:1"},
		"HTML":             {config.Entry{Name: "x", URL: html.URL}, &proto, ""},
		"missing variable": {config.Entry{Name: "x", Command: "sh", Args: []string{"${NO_SUCH_VARIABLE}"}}, &problem, "NO_SUCH_VARIABLE"},
		"bearer wanted":    {config.Entry{Name: "x", URL: bearer(t)}, &auth, "401"},
	} {
		limit := time.Until(wait.Deadline(t))
		if name == "rubbish" || name == "silent" { // it never answers
			limit = 5 * time.Second
		}
		_, err := dial.Dial(t.Context(), c.entry, quick(dial.Options{ConnectTimeout: limit}))
		if !errors.As(err, c.as) || !strings.Contains("^"+err.Error(), c.want) {
			t.Errorf("%s: got %T %v", name, err, err)
		}
	}
	_, err := dial.Dial(t.Context(), secret, quick(dial.Options{Lookup: func(string) (string, bool) { return "hunter2", true }}))
	var h interface{ Hint() string }
	if !errors.As(err, &h) || strings.Contains(h.Hint(), "hunter2") || !strings.Contains(h.Hint(), "${DIAL_TEST_SECRET}") {
		t.Errorf("the hint shows an expanded value, or not the command: %v", h)
	}
}

func bearer(t *testing.T) string {
	srv := httptest.NewServer(runtimetest.New().Handler(runtimetest.HTTPOptions{Bearer: "secret"}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func TestHeadersAreSent(t *testing.T) {
	c, err := dial.Dial(t.Context(), config.Entry{Name: "x", URL: bearer(t), Headers: map[string]string{"Authorization": "Bearer ${TOKEN}"}},
		dial.Options{Lookup: func(string) (string, bool) { return "secret", true }})
	require.NoError(t, err)
	defer c.Close()
	echo(t, c)
}

// slowly answers questions after a while.
type slowly struct{ runtime.NopHandler }

func (slowly) Request(_ context.Context, _ *runtime.Request, method string, _ json.RawMessage) (json.RawMessage, error) {
	time.Sleep(2500 * time.Millisecond)
	return json.RawMessage(`{"asked":"` + method + `"}`), nil
}

// TestQuestionsAreAnswered: whatever the era, and however long it takes.
func TestQuestionsAreAnswered(t *testing.T) {
	t.Parallel()
	modern := runtimetest.New()
	modern.Versions = []string{"2026-07-28"}
	modern.Methods = map[string]runtimetest.Func{"tools/call": func(_ context.Context, c *runtimetest.Call) (json.RawMessage, error) {
		var p struct{ InputResponses map[string]json.RawMessage }
		if err := json.Unmarshal(c.Params, &p); err != nil || p.InputResponses == nil {
			return json.RawMessage(`{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}`), err
		}
		return runtimetest.Text(string(p.InputResponses["a"])), nil
	}}
	srv := httptest.NewServer(modern.Handler(runtimetest.HTTPOptions{}))
	defer srv.Close()
	for name, e := range map[string]config.Entry{"stdio": stdioEntry(), "modern": {Name: "h", URL: srv.URL}} {
		c, err := dial.Dial(t.Context(), e, quick(dial.Options{Handler: slowly{}, Timeout: 2 * time.Second}))
		require.NoError(t, err)
		r, err := c.CallTool(t.Context(), "ask", []byte(`{"method":"roots/list"}`), nil)
		if err != nil || r.Text() != `{"asked":"roots/list"}` {
			t.Errorf("%s: got %+v %v", name, r, err)
		}
		_ = c.Close()
	}
}
