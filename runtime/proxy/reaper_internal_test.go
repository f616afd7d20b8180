package proxy

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/internal/seal"
	"github.com/mcpctl/mcpctl/internal/store"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/subscriptions"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestIdleTimeout: by how often a server is used and by its settings.
func TestIdleTimeout(t *testing.T) {
	t.Parallel()
	const never = -1
	perHour := func(n float64) time.Duration { return time.Duration(float64(time.Hour) / n) }
	for _, c := range []struct {
		set      Server
		interval time.Duration
		unused   bool
		want     time.Duration
	}{
		{interval: 0, want: time.Minute},
		{interval: perHour(4.9), want: time.Minute},
		{interval: perHour(5), want: 3 * time.Minute},
		{interval: perHour(20), want: 3 * time.Minute},
		{interval: perHour(20.1), want: 5 * time.Minute},
		{interval: perHour(1e6), want: 5 * time.Minute},
		{interval: perHour(1), unused: true, want: 5 * time.Minute},
		{set: Server{MinIdleTimeout: 2 * time.Minute}, interval: perHour(1), want: 2 * time.Minute},
		{set: Server{MinIdleTimeout: 2 * time.Minute}, interval: perHour(10), want: 3 * time.Minute},
		{set: Server{MinIdleTimeout: time.Hour}, interval: perHour(100), want: time.Hour},
		{set: Server{MaxIdleTimeout: 2 * time.Minute}, interval: perHour(100), want: 2 * time.Minute},
		{set: Server{MaxIdleTimeout: 10 * time.Second}, interval: perHour(1), want: 10 * time.Second},
		{set: Server{MaxIdleTimeout: time.Hour}, interval: perHour(100), want: 5 * time.Minute},
		{set: Server{MaxIdleTimeout: time.Hour}, unused: true, want: time.Hour},
		{set: Server{IdleTimeout: 7 * time.Second}, interval: perHour(100), want: 7 * time.Second},
		{set: Server{IdleTimeout: 7 * time.Second}, unused: true, want: 7 * time.Second},
		{set: Server{IdleTimeout: -1}, interval: perHour(1), want: never},
		{set: Server{Start: StartEager}, interval: perHour(1), want: never},
		{set: Server{Start: StartEager, IdleTimeout: time.Hour}, want: time.Hour},
		{set: Server{Start: StartCached}, want: time.Minute},
	} {
		got, ever := settingsOf([]Server{c.set})[0].IdleBound(store.Usage{Interval: c.interval}, !c.unused)
		if !ever {
			got = never
		}
		if got != c.want {
			t.Errorf("%+v, every %v, unused %t: got %v, want %v", c.set, c.interval, c.unused, got, c.want)
		}
	}
}

// TestReaperGoesByUse: a connection is closed once its time is over, not before
// and at most one round later; what the server offers stays listed, and the next
// call connects again.
func TestReaperGoesByUse(t *testing.T) {
	t.Parallel()
	for every, want := range map[time.Duration]time.Duration{
		2 * time.Minute:  5 * time.Minute, // 30 an hour
		5 * time.Minute:  3 * time.Minute, // 12 an hour
		30 * time.Minute: time.Minute,     // 2 an hour
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, Options{Servers: Named("a")}, map[string]*runtimetest.Server{"a": runtimetest.New()})
			b := s.backend("a")
			for round := range 3 {
				b.Persisted.RestoreUsage(store.Usage{Count: 100, Last: time.Now().Add(-every), Interval: every})
				s.do(old(), "tools/call", echoCall)
				used := time.Now()
				for time.Since(used) < want-time.Second {
					time.Sleep(time.Second) // as time goes in the bubble
					if s.alive("a") != 1 {
						t.Fatalf("every %v: closed after %v", every, time.Since(used))
					}
				}
				reap := b.Condition().NextReap
				time.Sleep(time.Second + upstream.ReapEvery)
				if s.alive("a") != 0 {
					t.Fatalf("every %v: not closed after %v", every, time.Since(used))
				}
				if reap.Before(used.Add(want)) || reap.After(used.Add(want+upstream.ReapEvery)) {
					t.Errorf("every %v: said to be closed after %v", every, reap.Sub(used))
				}
				if got := s.do(old(), "tools/list", `{}`); !strings.Contains(got, "a__echo") || strings.Contains(got, "partial") {
					t.Errorf("every %v: idle, it lists %s", every, got)
				}
				if c := b.Condition(); c.State != upstream.StateIdle || c.Err != nil || c.Restarts != 0 || !c.NextReap.IsZero() {
					t.Errorf("idle: %+v", c)
				}
				if n := s.dials("a"); n != round+1 {
					t.Errorf("every %v: connected %d times", every, n)
				}
			}
		})
	}
}

// TestReaperGraceBeforeTheFirstCall: a list has connected it, and calls follow.
func TestReaperGraceBeforeTheFirstCall(t *testing.T) {
	t.Parallel()
	for most, want := range map[time.Duration]time.Duration{0: 5 * time.Minute, time.Hour: time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, Options{Servers: []Server{{Name: "a", MaxIdleTimeout: most}}}, map[string]*runtimetest.Server{"a": runtimetest.New()})
			s.do(old(), "tools/list", `{}`)
			time.Sleep(want - time.Second) // as time goes in the bubble
			if s.alive("a") != 1 {
				t.Errorf("closed within %v", want)
			}
			time.Sleep(time.Second + upstream.ReapEvery)
			if s.alive("a") != 0 {
				t.Errorf("not closed after %v", want)
			}
		})
	}
}

// TestReaperLeavesWhatIsInUse: whatever uses a connection keeps it for as long as
// it does, and not for ever.
func TestReaperLeavesWhatIsInUse(t *testing.T) {
	t.Parallel()
	modern := upstream.Caller{Version: revision.Modern, Capabilities: json.RawMessage(`{"extensions":{"` + revision.ExtensionTasks + `":{}}}`), Emit: func(string, []byte) {}}
	for name, c := range map[string]struct {
		isolation Isolation
		// use begins to use a connection and returns what ends that.
		use func(t *testing.T, s *stage, release chan struct{}) (end func())
		// lasts is for how long a use is taken for granted that has no end.
		lasts time.Duration
	}{
		"a call": {use: func(t *testing.T, s *stage, release chan struct{}) func() {
			s.inBackground(old(), "tools/call", `{"name":"a__linger","arguments":{}}`)
			return func() { close(release) }
		}},
		"a call of a stateless client": {use: func(t *testing.T, s *stage, release chan struct{}) func() {
			s.inBackground(modern, "tools/call", `{"name":"a__linger","arguments":{}}`)
			return func() { close(release) }
		}},
		"a subscription": {use: func(t *testing.T, s *stage, _ chan struct{}) func() {
			who := settledPeer(`{}`)
			s.do(*who, "resources/subscribe", `{"uri":"fake://note"}`)
			return func() { s.do(*who, "resources/unsubscribe", `{"uri":"fake://note"}`) }
		}},
		"a subscription whose client leaves": {use: func(t *testing.T, s *stage, _ chan struct{}) func() {
			who := settledPeer(`{}`)
			s.do(*who, "resources/subscribe", `{"uri":"fake://note"}`)
			return func() { s.p.router.Leave(who.Client) }
		}},
		"a listen": {use: func(t *testing.T, s *stage, _ chan struct{}) func() {
			ctx, cancel := context.WithCancel(t.Context())
			_, stop, err := s.p.router.Hub.Subscribe(ctx, &modern, deaf{}, subscriptions.Filter{URIs: []string{"fake://note"}})
			require.NoError(t, err)
			return func() { stop(); cancel() }
		}},
		"a session": {isolation: IsolationSession, use: func(t *testing.T, s *stage, _ chan struct{}) func() {
			who := settledPeer(`{}`)
			s.do(*who, "tools/call", echoCall)
			return func() { s.p.router.Leave(who.Client) }
		}},
		"a task": {lasts: router.StoredFor, use: func(t *testing.T, s *stage, _ chan struct{}) func() {
			id := taskID(t, s.do(modern, "tools/call", `{"name":"a__task","arguments":{"message":"hi"}}`))
			s.do(modern, "tasks/get", `{"taskId":"`+id+`"}`)
			id = taskID(t, s.do(modern, "tools/call", `{"name":"a__task","arguments":{"message":"hi"}}`))
			return func() { // the server has forgotten it by now
				if got, err := s.try(t.Context(), modern, "tasks/get", `{"taskId":"`+id+`"}`); err == nil {
					t.Errorf("got %s", got)
				}
			}
		}},
		"a task that is given up": {lasts: router.StoredFor, use: func(t *testing.T, s *stage, _ chan struct{}) func() {
			id := taskID(t, s.do(modern, "tools/call", `{"name":"a__task","arguments":{"message":"hi"}}`))
			return func() { _, _ = s.try(t.Context(), modern, "tasks/cancel", `{"taskId":"`+id+`"}`) }
		}},
		"a question": {lasts: seal.StateTTL, use: func(t *testing.T, s *stage, _ chan struct{}) func() {
			s.backend("a").Pool.KeepForAnswers()
			return nil
		}},
		"lists being asked for": {use: func(t *testing.T, s *stage, _ chan struct{}) func() {
			s.backend("a").Lists.Begin()
			return s.backend("a").Lists.End
		}},
	} {
		for _, ends := range []bool{true, false} {
			if !ends && c.lasts == 0 {
				continue
			}
			synctest.Test(t, func(t *testing.T) {
				server, release := waiting()
				s := newStage(t, Options{Servers: []Server{{Name: "a", Isolation: c.isolation}}, RequestTimeout: -1}, map[string]*runtimetest.Server{"a": server})
				s.do(old(), "tools/list", `{}`)
				if c.isolation == "" {
					s.do(old(), "tools/call", echoCall)
				}
				s.local("a")
				end := c.use(t, s, release)
				synctest.Wait()
				stays := 10 * time.Hour
				if c.lasts > 0 {
					stays = c.lasts - time.Minute
				}
				time.Sleep(stays) // as time goes in the bubble
				if n := s.alive("a"); n != 1 {
					t.Errorf("%s: %d connections", name, n)
				}
				if n := s.dials("a"); n != 1 && c.isolation == "" {
					t.Errorf("%s: connected %d times", name, n)
				}
				if at := s.backend("a").Condition().NextReap; !at.IsZero() {
					t.Errorf("%s: said to be closed in %v", name, time.Until(at))
				}
				if ends && end != nil {
					end()
				}
				time.Sleep(max(c.lasts, upstream.BusyIdle) + 2*upstream.ReapEvery)
				if n := s.alive("a"); n != 0 {
					t.Errorf("%s: %d connections stay after it", name, n)
				}
			})
		}
	}
}

func taskID(t *testing.T, result string) string {
	t.Helper()
	var task struct{ TaskID string }
	if err := json.Unmarshal([]byte(result), &task); err != nil || task.TaskID == "" {
		t.Fatalf("no task: %s", result)
	}
	return task.TaskID
}

// inBackground serves a request whose answer nobody looks at.
func (s *stage) inBackground(from upstream.Caller, method, params string) {
	go func() { _, _ = s.try(s.t.Context(), from, method, params) }() // ends with the server, or the test
}

// TestReaperClosesSideBySide: servers that take their time to end do not hold up
// each other, nor calls to others; who calls one of them meanwhile waits for its
// end, since some cannot run twice.
func TestReaperClosesSideBySide(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
		servers := map[string]*runtimetest.Server{}
		for _, name := range names {
			servers[name] = runtimetest.New()
		}
		s := newStage(t, Options{Servers: Named(names...)}, servers)
		s.do(old(), "tools/list", `{}`)
		s.mu.Lock()
		s.closing = 5 * time.Second
		s.mu.Unlock()
		used := time.Now()
		s.do(old(), "tools/call", `{"name":"b__echo","arguments":{"message":"hi"}}`)
		for s.backend("a").Primary.Ready.Load() != nil {
			time.Sleep(time.Second) // as time goes in the bubble
		}
		if at := time.Since(used); at < 5*time.Minute || at > 5*time.Minute+upstream.ReapEvery {
			t.Errorf("out of use after %v", at)
		}
		began := time.Now()
		if s.do(old(), "tools/call", echoCall); time.Since(began) > 5*time.Second || time.Since(began) < 4*time.Second {
			t.Errorf("a call waited %v for the server's end", time.Since(began))
		}
		synctest.Wait()
		for _, name := range names[1:] {
			if n := s.alive(name); n != 0 {
				t.Errorf("%s: %d connections", name, n)
			}
		}
		if n := s.alive("a"); n != 1 {
			t.Errorf("a: %d connections", n)
		}
		s.mu.Lock()
		s.closing = 0
		s.mu.Unlock()
	})
}

// TestSubscribeWhileReaping: who subscribes in the moment in which the connection
// is closed is subscribed over the next one.
func TestSubscribeWhileReaping(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, Options{Servers: []Server{{Name: "a", IdleTimeout: 1}}}, map[string]*runtimetest.Server{"a": runtimetest.Full("2025-11-25")})
		for i := range 200 {
			who := settledPeer(`{}`)
			s.do(old(), "tools/call", echoCall)
			done := make(chan error, 1)
			go func() {
				_, err := s.try(t.Context(), *who, "resources/subscribe", `{"uri":"fake://note"}`)
				done <- err
			}()
			for range i % 7 {
				s.backend("a").Pool.Reap()
			}
			require.NoError(t, <-done)
			s.backend("a").Pool.Reap()
			if n := s.alive("a"); n != 1 {
				t.Errorf("%d connections", n)
			}
			s.p.router.Leave(who.Client)
			synctest.Wait()
			time.Sleep(time.Millisecond) // more than the idle timeout
		}
	})
}
