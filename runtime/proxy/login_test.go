package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	recording "github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/require"
)

// authenticator is a backend that wants a login before anything, and the login.
type authenticator struct {
	open  atomic.Bool
	begun atomic.Int64
	ended chan struct{}
	err   error // of the login
	none  error // why there is none
}

func (d *authenticator) ID() string        { return "login-1" }
func (d *authenticator) URL() string       { return "http://127.0.0.1:8085/connect/x" }
func (d *authenticator) Principal() string { return "" }

func (d *authenticator) Wait(ctx context.Context) error {
	select {
	case <-d.ended:
		return d.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// logIn is the person, who logs in.
func (d *authenticator) logIn(err error) {
	d.err = err
	d.open.Store(err == nil)
	close(d.ended)
}

// behind serves a backend behind the authenticator.
func (d *authenticator) behind(t *testing.T) *client {
	t.Helper()
	return d.recorded(t, nil)
}

// recorded is behind with a journal.
func (d *authenticator) recorded(t *testing.T, j *recording.Journal) *client {
	t.Helper()
	d.ended = make(chan struct{})
	b := two()
	p, err := proxy.NewAllowed(proxy.Options{
		Servers: proxy.Named("a", "b"), Journal: j,
		Dial: func(ctx context.Context, key proxy.Key, h runtime.Handler) (*runtime.Client, error) {
			if key.Server == "a" && !d.open.Load() {
				return nil, &runtime.AuthError{Status: 401}
			}
			return b.dial(ctx, key, h)
		},
		Login: func(_ context.Context, server string, _ *access.Principal, failure error) (proxy.Login, error) {
			var refused *runtime.AuthError
			switch {
			case server != "a" || !errors.As(failure, &refused):
				return nil, nil
			case d.none != nil:
				return nil, d.none
			}
			d.begun.Add(1)
			return d, nil
		},
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	return attach(t, p)
}

const echoOfA = `{"name":"a__echo","arguments":{"message":"hi"}}`

// TestLoginIsAskedFor: a client that can open pages is asked to in the middle of its
// call, which goes on when its person has logged in.
func TestLoginIsAskedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer string
		login  error
		want   string
	}{
		"accepted":       {answer: "accept", want: `"text":"hi"`},
		"declined":       {answer: "decline", want: "the login was declined"},
		"cancelled":      {answer: "cancel", want: "the login was declined"},
		"no use of it":   {answer: "accept", login: errors.New("nobody has logged in"), want: "a: nobody has logged in"},
		"no page at all": {want: "nobody can log in: no port"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &authenticator{}
			if c.answer == "" {
				d.none = errors.New("no port")
			}
			cl := d.behind(t)
			cl.result("initialize", `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"url":{}}},"clientInfo":{"name":"c","version":"1"}}`)
			cl.mu.Lock()
			cl.answer = func(m message) string {
				for _, want := range []string{`"mode":"url"`, `"elicitationId":"login-1"`, `"url":"http://127.0.0.1:8085/connect/x"`, `a wants you to log in`} {
					if !strings.Contains(string(m.Params), want) {
						t.Errorf("asked %s %s", m.Method, m.Params)
					}
				}
				if c.answer == "accept" {
					time.AfterFunc(10*time.Millisecond, func() { d.logIn(c.login) })
				}
				return fmt.Sprintf(`{"action":%q}`, c.answer)
			}
			cl.mu.Unlock()
			if got := cl.call("tools/call", echoOfA); !strings.Contains(got, c.want) {
				t.Errorf("got %s", got)
			}
			if c.answer == "accept" {
				for { // lists may have changed, too
					if note := <-cl.notes; strings.Contains(note, "elicitation/complete") {
						break
					}
				}
			}
			if c.want == `"text":"hi"` && d.begun.Load() != 1 {
				t.Errorf("%d logins", d.begun.Load())
			}
		})
	}
}

// TestLoginIsNamed: a client that cannot be asked gets the page in the error, and the
// next call after the login finds the server connected.
func TestLoginIsNamed(t *testing.T) {
	t.Parallel()
	const page = `"url":"http://127.0.0.1:8085/connect/x"`
	for name, hello := range map[string]string{
		"2025-11-25 without pages": `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}`,
		"2025-06-18":               `{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}`,
		"2025-03-26":               `{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &authenticator{}
			c := d.behind(t)
			c.result("initialize", hello)
			got := c.result("tools/call", echoOfA)
			if !strings.Contains(got, page) || !strings.Contains(got, `"isError":true`) || !strings.Contains(got, "or with: mcpctl auth login a") {
				t.Errorf("got %s", got)
			}
			if got := c.call("prompts/get", `{"name":"a__hello"}`); !strings.Contains(got, `"error"`) || !strings.Contains(got, page) {
				t.Errorf("got %s", got)
			}
			if got := c.result("tools/call", `{"name":"b__echo","arguments":{"message":"hi"}}`); !strings.Contains(got, `"text":"hi"`) {
				t.Errorf("the other server: got %s", got)
			}
			d.logIn(nil)
			if got := c.result("tools/call", echoOfA); !strings.Contains(got, `"text":"hi"`) {
				t.Errorf("got %s", got)
			}
		})
	}
}

// TestLoginOfTheStatelessEra: the result asks for the page, and the request that comes
// back waits for the login.
func TestLoginOfTheStatelessEra(t *testing.T) {
	t.Parallel()
	d := &authenticator{}
	c := d.behind(t)
	const pages = `{"elicitation":{"url":{}}}`
	got := c.july("1", "tools/call", echoOfA, pages)
	if !strings.Contains(got, `"resultType":"input_required"`) || !strings.Contains(got, `"url":"http://127.0.0.1:8085/connect/x"`) || strings.Contains(got, "elicitationId") {
		t.Fatalf("got %s", got)
	}
	_, state, _ := strings.Cut(got, `"requestState":`)
	state, _, _ = strings.Cut(state, `,"_meta"`)
	state = strings.TrimRight(state, "}")
	_, key, _ := strings.Cut(got, `"inputRequests":{"`)
	key, _, _ = strings.Cut(key, `"`)
	time.AfterFunc(20*time.Millisecond, func() { d.logIn(nil) })
	got = c.july("2", "tools/call", fmt.Sprintf(`{"name":"a__echo","arguments":{"message":"hi"},"inputResponses":{%q:{"action":"accept"}},"requestState":%s}`, key, state), pages)
	if !strings.Contains(got, `"text":"hi"`) {
		t.Errorf("got %s", got)
	}
	d = &authenticator{}
	if got := d.behind(t).july("1", "tools/call", echoOfA, `{}`); !strings.Contains(got, `"url":"http://127.0.0.1:8085/connect/x"`) || !strings.Contains(got, `"isError":true`) {
		t.Errorf("a client that opens no pages: got %s", got)
	}
}
