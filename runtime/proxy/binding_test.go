package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/seal"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// behindAuth is a proxy over HTTP that knows who asks.
type behindAuth struct {
	t   *testing.T
	url string
	c   *http.Client
}

// openServer serves a proxy behind an authenticator until close.
func openServer(t *testing.T, p *proxy.Proxy, d proxy.Authenticator) (_ *behindAuth, closeServer func()) {
	t.Helper()
	handler := p.NewHTTPHandler(proxy.HTTPOptions{Authenticator: d})
	s := serveHTTP(t, handler)
	return &behindAuth{t, s.url, s.client()}, func() {
		handler.Close()
		s.close()
	}
}

// ask sends a self-contained request and returns the status and the message.
func (b *behindAuth) ask(token, method, capabilities, members string) string {
	b.t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, modern(capabilities, members))
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.url, strings.NewReader(body))
	require.NoError(b.t, err)
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer " + token,
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": nameIn(members),
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	resp, err := b.c.Do(req)
	require.NoError(b.t, err)
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	require.NoError(b.t, err)
	_, data, streamed := strings.Cut(string(out), "data: ")
	if !streamed {
		data = string(out)
	}
	return fmt.Sprintf("%d %s", resp.StatusCode, strings.TrimSpace(data))
}

// nameIn returns what the header Mcp-Name repeats of the members of params.
func nameIn(members string) string {
	for _, name := range []string{`"name":"`, `"taskId":"`} {
		if _, rest, ok := strings.Cut(members, name); ok {
			value, _, _ := strings.Cut(rest, `"`)
			return value
		}
	}
	return ""
}

// cutOut returns what stands between two texts, "" for nothing.
func cutOut(text, before, after string) string {
	_, rest, _ := strings.Cut(text, before)
	found, _, ok := strings.Cut(rest, after)
	if !ok {
		return ""
	}
	return found
}

// TestTasksOfPrincipals: a task is found by the one whose it is, also after a restart, and
// to all others its id is unknown.
func TestTasksOfPrincipals(t *testing.T) {
	t.Parallel()
	d, alice, bob, _, _ := newAuthenticator(t)
	s, tasks := taskServer([]string{runtimetest.RevJuly}, "required")
	defer tasks.Close()
	ring := seal.NewKeyring()
	var id string
	for _, process := range []string{"first", "second"} {
		p := tasksEndpoint(t, map[string]*runtimetest.Server{"x.y": s}, proxy.Options{Ring: ring})
		at, closeServer := openServer(t, p, d)
		list := at.ask(alice, "tools/list", takesTasks, "")
		if id == "" {
			created := at.ask(alice, "tools/call", takesTasks, `,"name":"`+cutOut(list, `"name":"`, `"`)+`","arguments":{}`)
			if id = cutOut(created, `"taskId":"`, `"`); !strings.HasPrefix(id, "~") {
				t.Fatalf("created %s", created)
			}
		}
		about := func(id string) string { return `,"taskId":"` + id + `","inputResponses":{}` }
		unknown := []string{"x", "~.x", strings.TrimRight(id[:len(id)-4], ".") + "AAAA", strings.Replace(id, "~", "~a", 1)}
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
			want := at.ask(bob, method, takesTasks, about(unknown[0]))
			for _, id := range append(unknown, id) {
				if got := at.ask(bob, method, takesTasks, about(id)); got != want || !strings.Contains(got, `"code":-32602`) {
					t.Errorf("%s process, %s %s: got %s, want %s", process, method, id, got, want)
				}
			}
		}
		if got := at.ask(alice, "tasks/get", takesTasks, about(id)); cutOut(got, `"taskId":"`, `"`) != id || !strings.HasPrefix(got, "200") {
			t.Errorf("%s process: its own task: got %s", process, got)
		}
		if process == "second" {
			if got := at.ask(alice, "tasks/cancel", takesTasks, about(id)); !strings.Contains(got, `"result"`) {
				t.Errorf("cancel: got %s", got)
			}
		}
		closeServer()
		require.NoError(t, p.Close())
	}
}

// askingForm is a server whose tool "asks" asks for a form. ended gets something each time
// that has ended, nil for nothing.
func askingForm(version string, ended chan<- struct{}) *runtimetest.Server {
	s := runtimetest.New()
	s.Versions = []string{version}
	s.Tools = append(s.Tools, runtimetest.Tool{
		Definition: json.RawMessage(`{"name":"asks","inputSchema":{"type":"object"}}`),
		Call: func(ctx context.Context, c *runtimetest.Call) (json.RawMessage, error) {
			_, err := c.Questions(ctx, runtimetest.Form("who", "?", "name"))
			if ended != nil {
				ended <- struct{}{}
			}
			return json.RawMessage(`{"content":[]}`), err
		},
	})
	return s
}

// TestStatesOfPrincipals: what a principal keeps for the proxy between the rounds of a
// request is to others what was never given out, and leads to no call.
func TestStatesOfPrincipals(t *testing.T) {
	t.Parallel()
	for _, version := range []string{runtimetest.RevNov, runtimetest.RevJuly} {
		d, alice, bob, _, _ := newAuthenticator(t)
		b := newPool(map[string]*runtimetest.Server{"a": askingForm(version, nil)})
		p := b.serve(t, proxy.Options{})
		at, closeServer := openServer(t, p, d)
		const call = `,"name":"a__asks","arguments":{}`
		asked := at.ask(alice, "tools/call", canElicit, call)
		state, key := cutOut(asked, `"requestState":"`, `"`), cutOut(asked, `"inputRequests":{"`, `"`)
		if state == "" || key == "" {
			t.Fatalf("%s: asked %s", version, asked)
		}
		answer := func(state string) string {
			return call + `,"inputResponses":{"` + key + `":{"action":"accept","content":{}}},"requestState":"` + state + `"`
		}
		want := at.ask(bob, "tools/call", canElicit, answer("made-up"))
		if got := at.ask(bob, "tools/call", canElicit, answer(state)); got != want || !strings.Contains(got, `"code":-32602`) {
			t.Errorf("%s: got %s, want %s", version, got, want)
		}
		if got := at.ask(alice, "tools/call", canElicit, answer(state)); !strings.Contains(got, `"resultType":"complete"`) {
			t.Errorf("%s: its own: got %s", version, got)
		}
		closeServer()
		require.NoError(t, p.Close())
	}
}

// TestParkedOfRevoked: a call that waits for somebody who is not let in any more ends.
func TestParkedOfRevoked(t *testing.T) {
	t.Parallel()
	d, alice, bob, _, _ := newAuthenticator(t)
	ended := make(chan struct{}, 2)
	b := newPool(map[string]*runtimetest.Server{"a": askingForm(runtimetest.RevNov, ended)})
	p := b.serve(t, proxy.Options{})
	handler := p.NewHTTPHandler(proxy.HTTPOptions{Authenticator: d})
	h := serveHTTP(t, handler)
	defer h.close()
	defer handler.Close()
	at := &behindAuth{t, h.url, h.client()}
	for _, token := range []string{alice, bob} {
		if got := at.ask(token, "tools/call", canElicit, `,"name":"a__asks","arguments":{}`); !strings.Contains(got, `"requestState"`) {
			t.Fatalf("asked %s", got)
		}
	}
	handler.Expel(func(p *access.Principal) bool { return p.Name == "alice" })
	wait.For(t, "the end of the call", ended)
	select {
	case <-ended:
		t.Error("another's call has ended")
	case <-time.After(10 * time.Millisecond):
	}
}
