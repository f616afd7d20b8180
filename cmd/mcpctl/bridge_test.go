package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// bridgeCommand returns mcpctl bridge with a home of its own.
func bridgeCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "mcpctl", append([]string{"bridge"}, args...)...)
	home := t.TempDir()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "MCPCTL_HOME=" + home}
	return cmd
}

// TestBridgeHTTP: a command is a server over HTTP, for one client and for several, whose
// sessions are kept apart where that is wanted.
func TestBridgeHTTP(t *testing.T) {
	t.Parallel()
	for isolation, apart := range map[string]bool{"shared": false, "session": true} {
		t.Run(isolation, func(t *testing.T) {
			t.Parallel()
			cmd := bridgeCommand(t, "--http", "127.0.0.1:0", "--isolation", isolation, "--", "fake-mcp")
			p, err := wire.Launch(cmd, "listening on ")
			require.NoError(t, err)
			t.Cleanup(func() { p.Stop(10 * time.Second) })
			url := p.URL
			pids := map[string]bool{}
			for range 2 {
				c := wire.NewClient(url)
				t.Cleanup(c.Close)
				pids[pidOf(t, c)] = true
			}
			if want := map[bool]int{false: 1, true: 2}[apart]; len(pids) != want {
				t.Errorf("two sessions are served by %d processes, want %d", len(pids), want)
			}
		})
	}
}

// pidOf begins a session, and returns the process that serves it.
func pidOf(t *testing.T, c *wire.Client) string {
	t.Helper()
	hello := fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"t","version":"1"}}`, runtimetest.RevNov)
	m, err := c.Exchange(t.Context(), c.Next(), "initialize", hello)
	require.NoError(t, err)
	result, err := m.Outcome()
	require.NoError(t, err)
	if !strings.Contains(string(result), `"name":"fake-mcp"`) {
		t.Errorf("initialize answers %s, which is not what the server says of itself", result)
	}
	m, err = c.Exchange(t.Context(), c.Next(), "tools/call", `{"name":"pid","arguments":{}}`)
	require.NoError(t, err)
	result, err = m.Outcome()
	require.NoError(t, err)
	return string(result)
}

// recorder notes the requests to a server over HTTP.
type recorder struct {
	http.Handler
	mu   sync.Mutex
	seen []string // method of HTTP, and that of the message
	// refuse answers a message with 500 where it has this method.
	refuse string
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	var m struct{ Method string }
	_ = json.Unmarshal(body, &m)
	r.mu.Lock()
	r.seen = append(r.seen, strings.TrimSpace(req.Method+" "+m.Method))
	r.mu.Unlock()
	if r.refuse != "" && m.Method == r.refuse {
		http.Error(w, "not today", http.StatusInternalServerError)
		return
	}
	req.Body = io.NopCloser(strings.NewReader(string(body)))
	r.Handler.ServeHTTP(w, req)
}

// count returns how many requests were like this.
func (r *recorder) count(what string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(r.seen), func(s string) bool { return s != what }))
}

func (r *recorder) index(what string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Index(r.seen, what)
}

// TestBridgeMessages: what a remote server is sent, and when.
func TestBridgeMessages(t *testing.T) {
	t.Parallel()
	const (
		hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
			`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
		own  = `{"jsonrpc":"2.0","method":"notifications/acme","params":{"x":1}}` + "\n"
		call = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow","arguments":{"ms":300}}}` + "\n"
	)
	for name, tt := range map[string]struct {
		args   []string
		input  string
		refuse string
		token  string // that the server wants
		check  func(t *testing.T, r *recorder, stdout, stderr string)
	}{
		"the server's stream is opened": {
			input: hello + call,
			check: func(t *testing.T, r *recorder, _, _ string) {
				t.Helper()
				if r.count("GET") == 0 {
					t.Errorf("the server saw %q", r.seen)
				}
			},
		},
		"unless it is switched off": {
			args: []string{"--no-server-stream"}, input: hello + call,
			check: func(t *testing.T, r *recorder, stdout, _ string) {
				t.Helper()
				if r.count("GET") != 0 || !strings.Contains(stdout, `"id":2,"result"`) {
					t.Errorf("the server saw %q, the client %s", r.seen, stdout)
				}
			},
		},
		"a notification keeps its place before a call": {
			input: hello + own + call,
			check: func(t *testing.T, r *recorder, _, _ string) {
				t.Helper()
				initialized, noted, called := r.index("POST notifications/initialized"), r.index("POST notifications/acme"), r.index("POST tools/call")
				if initialized < 0 || noted < initialized || called < noted {
					t.Errorf("the server saw %q", r.seen)
				}
			},
		},
		"one that fails is logged": {
			input: hello + own, refuse: "notifications/acme",
			check: func(t *testing.T, _ *recorder, _, stderr string) {
				t.Helper()
				if !strings.Contains(stderr, "a notification was not delivered") || !strings.Contains(stderr, "notifications/acme") || !strings.Contains(stderr, "HTTP 500") {
					t.Errorf("stderr has %s", stderr)
				}
			},
		},
		"a refusal without other credentials is not repeated": {
			args: []string{"-H", "Authorization=Bearer stale"}, input: hello, token: "fresh",
			check: func(t *testing.T, r *recorder, stdout, _ string) {
				t.Helper()
				// The probe of the era, and the handshake.
				if n := r.count("POST server/discover") + r.count("POST initialize"); n > 2 || !strings.Contains(stdout, `"status":401`) {
					t.Errorf("the server saw %q, the client %s", r.seen, stdout)
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &recorder{Handler: runtimetest.New().Handler(runtimetest.HTTPOptions{Sessions: true, Stream: true, Bearer: tt.token}), refuse: tt.refuse}
			srv := httptest.NewServer(r)
			t.Cleanup(srv.Close)
			cmd := bridgeCommand(t, append(tt.args, srv.URL)...)
			var stdout, stderr strings.Builder
			cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(tt.input), &stdout, &stderr
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v: %s", err, stderr.String())
			}
			tt.check(t, r, stdout.String(), stderr.String())
		})
	}
}
