//go:build faults && linux

package faults_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// caller is one client over HTTP, with a session or without.
type caller struct {
	url, session string
	http         *http.Client
	next         atomic.Int64
}

func newCaller(d *daemon) *caller {
	tr := &http.Transport{MaxIdleConnsPerHost: 256, DialContext: (&net.Dialer{Timeout: limit}).DialContext}
	return &caller{url: d.url, http: &http.Client{Transport: tr}}
}

func (c *caller) close() { c.http.CloseIdleConnections() }

// greet begins a session.
func (c *caller) greet(ctx context.Context) error {
	a, err := c.post(ctx, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	switch {
	case err != nil:
		return err
	case a.status == http.StatusServiceUnavailable:
		return &refusal{strconv.Itoa(a.status) + " " + a.text}
	case a.status != http.StatusOK || a.session == "":
		return fmt.Errorf("initialize: status %d, session %q, %s", a.status, a.session, a.text)
	}
	c.session = a.session
	return nil
}

// refusal is a session that could not begin for want of room.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

// bye ends the session.
func (c *caller) bye() {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, c.url, nil)
	if err != nil {
		return
	}
	req.Header.Set("Mcp-Session-Id", c.session)
	if res, err := c.http.Do(req); err == nil {
		_ = res.Body.Close()
	}
}

// answer is what came for a POST.
type answer struct {
	status  int
	session string
	text    string // the last message
}

// post sends one message and reads the answer, JSON or a stream, to its end.
func (c *caller) post(ctx context.Context, body string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: res.StatusCode, session: res.Header.Get("Mcp-Session-Id"), text: string(raw)}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		a.text = ""
		for line := range bytes.Lines(raw) {
			if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && len(bytes.TrimSpace(data)) > 0 {
				a.text = string(bytes.TrimSpace(data))
			}
		}
	}
	return a, nil
}

// kind is how a call ended.
type kind string

const (
	right   kind = "right"   // with its own answer
	wrong   kind = "wrong"   // with an answer that is not its own: never
	failed  kind = "failed"  // with a clear error
	refused kind = "refused" // with a status
	unheard kind = "unheard" // with none of these
)

// call calls a tool of the hostile server with a message of its own and tells
// how that ended.
func (c *caller) call(ctx context.Context, server, name string, ms, size int) (kind, string) {
	id := c.next.Add(1)
	message := fmt.Sprintf("%s %d %s", c.session, id, strings.Repeat("m", size))
	a, err := c.post(ctx, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"_meta":{"progressToken":%d},"name":"%s__%s","arguments":{"message":"%s","ms":%d}}}`, id, id, server, name, message, ms))
	if err != nil {
		return unheard, err.Error()
	}
	if a.status != http.StatusOK {
		return refused, strconv.Itoa(a.status) + " " + a.text
	}
	return judge(a.text, id, server+": "+message)
}

// judge tells what an answer to a call is.
func judge(text string, id int64, want string) (kind, string) {
	var m struct {
		ID     json.RawMessage
		Result *struct {
			Content []struct{ Text string }
			IsError bool
		}
		Error *struct{ Message string }
	}
	switch err := json.Unmarshal([]byte(text), &m); {
	case err != nil:
		return unheard, fmt.Sprintf("%v: %.200s", err, text)
	case string(m.ID) != strconv.FormatInt(id, 10):
		return wrong, text
	case m.Error != nil && m.Error.Message != "":
		return failed, m.Error.Message
	case m.Result == nil:
		return wrong, text
	case m.Result.IsError && len(m.Result.Content) > 0:
		return failed, m.Result.Content[0].Text
	case len(m.Result.Content) == 1 && strings.HasPrefix(m.Result.Content[0].Text, want):
		return right, ""
	}
	return wrong, fmt.Sprintf("%.300s", text)
}

// crowd is callers of a server that behaves, as long as a fault lasts. Each of
// their calls has to be answered, and rightly.
type crowd struct {
	t      testing.TB
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu    sync.Mutex // guards took
	took  []time.Duration
	calls atomic.Int64
}

// gather starts n callers of a server, each with a session; they pause between
// calls.
func gather(t testing.TB, d *daemon, server string, n int, pause time.Duration) *crowd {
	t.Helper()
	g := &crowd{t: t}
	ctx, cancel := context.WithCancel(context.Background())
	g.cancel = cancel
	for range n {
		c := newCaller(d)
		if err := c.greet(ctx); err != nil {
			t.Fatal(err)
		}
		g.work.Go(func() {
			defer c.close()
			for ctx.Err() == nil {
				start := time.Now()
				k, text := c.call(context.WithoutCancel(ctx), server, "echo", 0, 20)
				if k != right {
					t.Errorf("a caller of another server: %s %s", k, text)
					return
				}
				g.calls.Add(1)
				g.mu.Lock()
				g.took = append(g.took, time.Since(start))
				g.mu.Unlock()
				select {
				case <-ctx.Done():
				case <-time.After(pause):
				}
			}
		})
	}
	return g
}

// dismiss ends the callers and looks at how long they had to wait.
func (g *crowd) dismiss() {
	g.t.Helper()
	g.cancel()
	g.work.Wait()
	slowest := time.Duration(0)
	for _, d := range g.took {
		slowest = max(slowest, d)
	}
	if slowest > slack {
		g.t.Errorf("a call of another server took %s", slowest)
	}
	if len(g.took) == 0 {
		g.t.Error("nobody else was answered")
	}
}
