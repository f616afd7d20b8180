package proxy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

var crossings = flag.Int("crossings", 400, "how many calls of two principals TestNothingCrosses interleaves; make crossings has 10,000")

// crossServer is a server with a connection for whom alone, "" for nobody, "*" for all. Its
// tool puts its caller's name into all that it sends, and refuses the calls of others.
func crossServer(whom string, calls *atomic.Int64) *runtimetest.Server {
	s := runtimetest.New()
	s.Capabilities = json.RawMessage(`{"tools":{},"logging":{}}`)
	s.Tools = append(s.Tools, runtimetest.Tool{
		Definition: json.RawMessage(`{"name":"cross","inputSchema":{"type":"object"}}`),
		Call: func(ctx context.Context, c *runtimetest.Call) (json.RawMessage, error) {
			var args struct {
				Who   string
				Wait  int
				Notes bool
			}
			if err := json.Unmarshal(c.Arguments, &args); err != nil {
				return nil, err
			}
			calls.Add(1)
			if whom != "*" && "token|"+args.Who != whom {
				return runtimetest.Text("CROSSED: " + args.Who + " is in the process of " + whom + "."), nil
			}
			if args.Notes {
				c.Progress(1, 2, "for "+args.Who)
				c.Notify("notifications/message", json.RawMessage(`{"level":"info","data":"for `+args.Who+`"}`))
			}
			select {
			case <-time.After(time.Duration(args.Wait) * time.Microsecond):
			case <-ctx.Done():
			}
			return runtimetest.Text("for " + args.Who), nil
		},
	})
	return s
}

// crosser is a client of one principal, with a session or without.
type crosser struct {
	t          *testing.T
	who, token string
	url        string
	c          *http.Client
	session    string // "" for the stateless era
	answered   *atomic.Int64
}

// send sends a message and returns what comes. cut ends the request before its answer,
// zero lets it be.
func (x *crosser) send(body, method, name string, cut time.Duration) (status int, lines []string, session string) {
	ctx, cancel := context.WithCancel(x.t.Context())
	defer cancel()
	if cut > 0 {
		defer time.AfterFunc(cut, cancel).Stop()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, x.url, strings.NewReader(body))
	if err != nil {
		x.t.Error(err)
		return 0, nil, ""
	}
	for key, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer " + x.token, "Mcp-Session-Id": x.session,
	} {
		if value != "" {
			req.Header.Set(key, value)
		}
	}
	if name != "" && x.session == "" {
		req.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		req.Header.Set("Mcp-Method", method)
		req.Header.Set("Mcp-Name", name)
	}
	resp, err := x.c.Do(req)
	if err != nil {
		if cut == 0 {
			x.t.Errorf("%s: %v", x.who, err)
		}
		return 0, nil, ""
	}
	defer resp.Body.Close()
	in := bufio.NewScanner(resp.Body)
	for in.Scan() {
		if text := strings.TrimPrefix(in.Text(), "data: "); strings.HasPrefix(text, "{") {
			lines = append(lines, text)
		}
	}
	return resp.StatusCode, lines, resp.Header.Get("Mcp-Session-Id")
}

// connect begins a session, after it has ended the one before.
func (x *crosser) connect() {
	if x.session != "" && rand.IntN(2) == 0 {
		if req, err := http.NewRequestWithContext(x.t.Context(), http.MethodDelete, x.url, http.NoBody); err == nil {
			req.Header.Set("Mcp-Session-Id", x.session)
			req.Header.Set("Authorization", "Bearer "+x.token)
			if resp, err := x.c.Do(req); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
		}
	}
	x.session = ""
	_, _, x.session = x.send(hello("2025-11-25"), "", "", 0)
	if x.session == "" {
		x.t.Errorf("%s has no session", x.who)
	}
}

// call makes a call, equal to those of others but for the name in it, and checks that
// everything that comes is for the principal.
func (x *crosser) call(id int, name string) {
	cut := time.Duration(0)
	if rand.IntN(10) == 0 {
		cut = time.Duration(1+rand.IntN(800)) * time.Microsecond
	}
	meta, notes := "", rand.IntN(4) == 0
	if x.session == "" {
		meta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`
	}
	if notes { // no fast call of the stateless era
		meta = strings.TrimLeft(fmt.Sprintf(`%s,"progressToken":%d`, meta, id), ",")
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"who":%q,"wait":%d,"notes":%t},"_meta":{%s}}}`,
		id, name, x.who, rand.IntN(500), notes, meta)
	status, lines, _ := x.send(body, "tools/call", name, cut)
	done := false
	for _, line := range lines {
		if !strings.Contains(line, "for "+x.who) || strings.Contains(line, "CROSSED") {
			x.t.Errorf("%s got %.200s", x.who, line)
		}
		done = done || strings.Contains(line, `"result"`)
	}
	switch {
	case done:
		x.answered.Add(1)
	case cut == 0:
		x.t.Errorf("%s, call %d: got %d, %.200q", x.who, id, status, lines)
	}
}

// TestNothingCrosses: two principals call servers side by side, with equal ids and equal
// credentials behind, in both eras; they cancel and connect again at random, and try one
// another's sessions. What comes is for them, and a server that is one principal's has
// calls of no other.
func TestNothingCrosses(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	dial := func(ctx context.Context, key proxy.Key, h runtime.Handler) (*runtime.Client, error) {
		whom := key.Principal.Key()
		if key.Server == "all" {
			whom = "*"
		}
		s := crossServer(whom, &calls)
		if key.Server == "both" {
			s.Versions = []string{runtimetest.RevJuly, runtimetest.RevNov}
		}
		return newPool(map[string]*runtimetest.Server{key.Server: s}).dial(ctx, key, h)
	}
	names := []string{"own__cross", "both__cross", "theirs__cross", "all__cross"}
	p, err := proxy.NewAllowed(proxy.Options{Dial: dial, Servers: []proxy.Server{
		{Name: "own", Isolation: proxy.IsolationPrincipal}, {Name: "both", Isolation: proxy.IsolationPrincipal}, {Name: "theirs", PerPrincipal: true}, {Name: "all"},
	}})
	require.NoError(t, err)
	d, alice, bob, _, _ := newAuthenticator(t)
	handler := p.NewHTTPHandler(proxy.HTTPOptions{Authenticator: d})
	s := serveHTTP(t, handler)
	defer func() {
		handler.Close()
		s.close()
		require.NoError(t, p.Close())
	}()
	var answered, refused atomic.Int64
	var sessions [2]atomic.Pointer[string]
	var wg sync.WaitGroup
	begin := make(chan struct{})
	const clients = 8 // half of each principal, half of each era
	for i := range clients {
		of := i % 2
		x := &crosser{t: t, who: [...]string{"alice", "bob"}[of], token: [...]string{alice, bob}[of], url: s.url, c: s.client(), answered: &answered}
		stateless := i/2%2 == 0
		connect := func() {
			x.connect()
			own := x.session
			sessions[of].Store(&own)
		}
		if !stateless {
			connect() // before any calls: there are sessions to steal
		}
		wg.Go(func() {
			<-begin
			for n := range *crossings / clients {
				if !stateless && rand.IntN(40) == 0 {
					connect()
				}
				if n == 20 || rand.IntN(40) == 0 {
					other := sessions[1-of].Load()
					thief := *x
					thief.session = *other
					if status, lines, _ := thief.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "", "", 0); status != http.StatusNotFound {
						t.Errorf("another's session: got %d, %.200q", status, lines)
					}
					refused.Add(1)
				}
				x.call(n, names[rand.IntN(len(names))])
			}
		})
	}
	close(begin)
	wg.Wait()
	if n := int64(*crossings); answered.Load() < n*8/10 || refused.Load() < n/100 || calls.Load() < answered.Load() {
		t.Errorf("%d of %d calls were answered, servers had %d; %d sessions of others were refused", answered.Load(), n, calls.Load(), refused.Load())
	}
}
