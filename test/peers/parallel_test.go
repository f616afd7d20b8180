//go:build integration

package peers_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/wire"
)

const many = 1000

// TestThousandCallsStdio sends a thousand calls into one serve before it waits
// for any: each answer is matched and one process has answered them all.
func TestThousandCallsStdio(t *testing.T) {
	t.Parallel()
	l, _ := serveStdio(t, configure(t, fake("fake")))
	start := time.Now()
	answers := map[string]<-chan wire.Message{}
	pids := make([]<-chan wire.Message, 0, many/10)
	for i := range many {
		text := fmt.Sprint("message ", i)
		answers[text] = l.start(fmt.Sprintf(`"call-%d"`, i), "tools/call", fmt.Sprintf(`{"name":"fake__random","arguments":{"message":%q}}`, text))
		if i%10 == 0 {
			pids = append(pids, l.start(fmt.Sprint(i), "tools/call", `{"name":"fake__pid"}`))
		}
	}
	for text, ch := range answers {
		if got, want := string(l.await(t, ch, wire.Limit).Result), `{"content":[{"type":"text","text":"`+text+`"}]}`; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
	processes := map[string]int{}
	for _, ch := range pids {
		processes[string(l.await(t, ch, wire.Limit).Result)]++
	}
	t.Logf("%d calls in %s", many+len(pids), time.Since(start).Round(time.Millisecond))
	if len(processes) != 1 {
		t.Errorf("the calls met %d processes, want 1: %v", len(processes), processes)
	}
	if other := l.rest(); len(other) > 0 {
		t.Errorf("lines that answer nothing: %q", other)
	}
}

// TestThousandCallsHTTP has fifty clients with twenty calls each, every one of
// which uses the same ids.
func TestThousandCallsHTTP(t *testing.T) {
	t.Parallel()
	d := serveHTTP(t, configure(t, fake("fake")))
	var mu sync.Mutex
	processes := map[string]int{}
	start := time.Now()
	var wg sync.WaitGroup
	for n := range 50 {
		wg.Go(func() {
			p := &poster{wire.Client{URL: d.URL}}
			if _, err := p.Exchange(t.Context(), "0", "initialize", wire.Hello); err != nil {
				t.Errorf("client %d: %v", n, err)
				return
			}
			var calls sync.WaitGroup
			for i := range many / 50 {
				calls.Go(func() {
					text, id := fmt.Sprint(n, "/", i), fmt.Sprint(i)
					q := session(d.URL, p.Session)
					r, err := q.Exchange(t.Context(), id, "tools/call", fmt.Sprintf(`{"name":"fake__random","arguments":{"message":%q}}`, text))
					if err != nil || string(r.ID) != id || string(r.Result) != `{"content":[{"type":"text","text":"`+text+`"}]}` {
						t.Errorf("client %d, call %d: got %s %s %s, %v", n, i, r.ID, r.Result, r.Error, err)
					}
				})
			}
			calls.Wait()
			r, err := p.Exchange(t.Context(), "99", "tools/call", `{"name":"fake__pid"}`)
			if err != nil || r.Result == nil {
				t.Errorf("client %d: pid: %s, %v", n, r.Error, err)
			}
			mu.Lock()
			defer mu.Unlock()
			processes[string(r.Result)]++
		})
	}
	wg.Wait()
	t.Logf("%d calls in %s", many+50, time.Since(start).Round(time.Millisecond))
	if len(processes) != 1 {
		t.Errorf("the calls met %d processes, want 1: %v", len(processes), processes)
	}
	if strings.Contains(d.Stderr.String(), "level=ERROR") {
		t.Errorf("stderr:\n%s", d.Stderr)
	}
}

// TestCancelIsForOneSession: eight sessions have a call of the same id at one
// server of the handshake era; the one that cancels takes nobody along.
func TestCancelIsForOneSession(t *testing.T) {
	t.Parallel()
	d := serveHTTP(t, configure(t, fake("fake")))
	const n = 8
	sessions := make([]*poster, n)
	answers := make([]chan string, n)
	for i := range sessions {
		sessions[i] = post(t, d.URL)
		result(t, sessions[i], "tools/call", `{"name":"fake__pid"}`) // connected: what follows takes the quick way
		answers[i] = make(chan string, 1)
		go func() {
			q := session(d.URL, sessions[i].Session)
			r, err := q.Exchange(t.Context(), `"same"`, "tools/call", `{"name":"fake__slow","arguments":{"ms":2000}}`)
			answers[i] <- fmt.Sprint(string(r.Result), string(r.Error), err)
		}()
	}
	// Answered: all calls before it on the same pipe are behind.
	result(t, sessions[0], "tools/call", `{"name":"fake__slow","arguments":{"ms":500}}`)
	if res, err := sessions[3].Post(t.Context(), wire.Notification("notifications/cancelled", `{"requestId":"same"}`)); err != nil || res.Status != 202 {
		t.Errorf("cancel: got status %d, %v", res.Status, err)
	}
	for i, ch := range answers {
		got := <-ch
		if done := strings.Contains(got, `"done"`); done == (i == 3) {
			t.Errorf("session %d: got %s", i, got)
		}
	}
}
