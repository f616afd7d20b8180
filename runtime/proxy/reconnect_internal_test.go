package proxy

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
)

// since returns when servers were dialled, in seconds after the stage was set.
func (s *stage) since() (at []float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.log {
		at = append(at, d.Round(10*time.Millisecond).Seconds())
	}
	return at
}

// forget starts the stage's clock again.
func (s *stage) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log, s.start = nil, time.Now()
}

var errRefused = &runtime.ConnectError{Target: "a", Err: errors.New("sh ended (exit status 1): API key missing")}

// TestEagerServersAreKeptConnected: from the first endpoint on, and again when they
// are lost, after 0.5, 1, 2, 4 s and so on; where they fail again and again, once
// in 30 s.
func TestEagerServersAreKeptConnected(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, Options{Servers: []Server{{Name: "a", Start: StartEager}, {Name: "b", Start: StartCached}}},
			map[string]*runtimetest.Server{"a": runtimetest.New(), "b": runtimetest.New()})
		b := s.backend("a")
		time.Sleep(time.Hour) // as time goes in the bubble
		if n := s.dials("a"); n != 0 {
			t.Errorf("connected %d times before anybody was there", n)
		}
		defer s.p.NewHTTPHandler(HTTPOptions{}).Close()
		synctest.Wait()
		if c := b.Condition(); c.State != upstream.StateReady || s.dials("b") != 0 {
			t.Errorf("at the start: %+v; %d connections to the other", c, s.dials("b"))
		}
		time.Sleep(10 * time.Hour)
		if n := s.dials("a"); n != 1 || s.alive("a") != 1 {
			t.Errorf("after hours without use: connected %d times", n)
		}

		s.forget()
		s.kill("a", errKilled)
		synctest.Wait()
		if c := b.Condition(); c.State != upstream.StateIdle || !errors.Is(c.Err, errKilled) || !c.NextTry.Equal(s.start.Add(500*time.Millisecond)) {
			t.Errorf("lost: %+v", c)
		}
		time.Sleep(time.Minute)
		if diff := cmp.Diff([]float64{0.5}, s.since()); diff != "" || b.Condition().Restarts != 1 {
			t.Errorf("connected anew: %s, %+v", diff, b.Condition())
		}

		s.forget()
		s.fails(errRefused)
		s.kill("a", errKilled)
		time.Sleep(2 * time.Minute)
		// Its end and four failures make five; from then on there is one try at a time.
		if diff := cmp.Diff([]float64{0.5, 1.5, 3.5, 7.5, 37.5, 67.5, 97.5}, s.since()); diff != "" {
			t.Errorf("connected anew: %s", diff)
		}
		if c := b.Condition(); c.State != upstream.StateBroken || !c.Tripped || !errors.Is(c.Err, errRefused) || !c.NextTry.Equal(s.start.Add(127500*time.Millisecond)) {
			t.Errorf("failing: %+v", c)
		}
		s.fails(nil)
		time.Sleep(time.Minute)
		if c := b.Condition(); c.State != upstream.StateReady || c.Tripped || c.Restarts != 2 || !c.NextTry.IsZero() {
			t.Errorf("back: %+v", c)
		}
	})
}

// TestEagerWithIdleTimeout is closed, and not connected before the next call.
func TestEagerWithIdleTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, Options{Servers: []Server{{Name: "a", Start: StartEager, IdleTimeout: 10 * time.Minute}}}, map[string]*runtimetest.Server{"a": runtimetest.New()})
		defer s.p.NewHTTPHandler(HTTPOptions{}).Close()
		time.Sleep(9 * time.Minute) // as time goes in the bubble
		if s.alive("a") != 1 {
			t.Error("closed before its time")
		}
		time.Sleep(time.Hour)
		if n := s.dials("a"); n != 1 || s.alive("a") != 0 {
			t.Errorf("connected %d times, %d are left", n, s.alive("a"))
		}
		s.do(old(), "tools/call", echoCall)
	})
}

// TestCallsConnectAtOnce: whatever lists and the proxy itself wait for; until the
// server has failed five times within 30 s.
func TestCallsConnectAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, Options{Servers: Named("a")}, map[string]*runtimetest.Server{"a": runtimetest.New()})
		b := s.backend("a")
		s.fails(errRefused)
		call := func() error {
			_, err := s.try(t.Context(), old(), "tools/call", echoCall)
			return err
		}
		for n := range upstream.TripFailures {
			if err := call(); !errors.Is(err, errRefused) || strings.Contains(err.Error(), "is paused") || s.dials("a") != n+1 {
				t.Errorf("call %d: %v, connected %d times", n, err, s.dials("a"))
			}
			time.Sleep(time.Second) // as time goes in the bubble
		}
		time.Sleep(time.Second)
		err := call()
		if s.dials("a") != upstream.TripFailures || err == nil || !strings.Contains(err.Error(), "next try in 28 s; last failure: connect a: sh ended (exit status 1): API key missing") {
			t.Errorf("left alone: %v, connected %d times", err, s.dials("a"))
		}
		if got := string(router.Failed("tools/call", err).Result); !strings.Contains(got, `"dev.mcpctl/error":{"kind":"connect","server":"a"}`) {
			t.Errorf("the client hears %s", got)
		}
		if c := b.Condition(); c.State != upstream.StateBroken || !c.Tripped || time.Until(c.NextTry) != 28*time.Second {
			t.Errorf("%+v", c)
		}
		s.do(old(), "tools/list", `{}`)
		time.Sleep(28*time.Second - 1)
		if err := call(); s.dials("a") != upstream.TripFailures || err == nil {
			t.Errorf("%v, connected %d times", err, s.dials("a"))
		}
		time.Sleep(time.Nanosecond)
		if err := call(); !errors.Is(err, errRefused) || strings.Contains(err.Error(), "is paused") || s.dials("a") != upstream.TripFailures+1 {
			t.Errorf("the one try: %v, connected %d times", err, s.dials("a"))
		}
		if err := call(); s.dials("a") != upstream.TripFailures+1 || !strings.Contains(err.Error(), "is paused") {
			t.Errorf("after the one try: %v, connected %d times", err, s.dials("a"))
		}
		s.fails(nil)
		time.Sleep(upstream.TripPause)
		if err := call(); err != nil {
			t.Error(err)
		}
		if c := b.Condition(); c.State != upstream.StateReady || c.Tripped {
			t.Errorf("%+v", c)
		}
	})
}

// TestListsLeaveFailingServersAlone for 30, 60, 120, 240 and 300 s.
func TestListsLeaveFailingServersAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, Options{Servers: Named("a")}, map[string]*runtimetest.Server{"a": runtimetest.New()})
		s.fails(errRefused)
		for range 1100 {
			s.do(old(), "tools/list", `{}`)
			time.Sleep(time.Second) // as time goes in the bubble
		}
		if diff := cmp.Diff([]float64{0, 30, 90, 210, 450, 750, 1050}, s.since()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestLostServer: calls in flight end in an error that says how, what it offered
// stays listed, the next call connects again, and what had been set up in it is
// set up again.
func TestLostServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, _ := waiting()
		told := make(chan string, 100)
		server.Seen = func(frame []byte) {
			for _, method := range []string{"logging/setLevel", "resources/subscribe"} {
				if strings.Contains(string(frame), method) {
					told <- method
				}
			}
		}
		s := newStage(t, Options{Servers: Named("a")}, map[string]*runtimetest.Server{"a": server})
		news := make(chan string, 10)
		who := settledPeer(`{}`)
		who.Client.SendLater = func(method string, _ []byte) { news <- method }
		s.do(*who, "tools/call", echoCall)
		s.do(*who, "logging/setLevel", `{"level":"error"}`)
		s.do(old(), "tools/list", `{}`)
		ended := make(chan error, 1)
		go func() {
			_, err := s.try(t.Context(), *who, "tools/call", `{"name":"a__linger","arguments":{}}`)
			ended <- err
		}()
		synctest.Wait()
		heard(told)
		s.kill("a", errKilled)
		if err := <-ended; err == nil || !strings.HasPrefix(err.Error(), "a: ") {
			t.Errorf("the call in flight: %v", err)
		}
		if got := s.do(*who, "tools/list", `{}`); !strings.Contains(got, "a__linger") || strings.Contains(got, "partial") {
			t.Errorf("lost, it lists %s", got)
		}
		time.Sleep(time.Hour) // as time goes in the bubble
		if n := s.dials("a"); n != 1 {
			t.Errorf("nobody needs it, and it was connected %d times", n)
		}
		s.do(*who, "tools/call", echoCall)
		if n := s.dials("a"); n != 2 || s.backend("a").Condition().Restarts != 1 {
			t.Errorf("connected %d times: %+v", n, s.backend("a").Condition())
		}
		synctest.Wait()
		if got := heard(told); got != "logging/setLevel " {
			t.Errorf("told again: %q", got)
		}

		// Somebody has subscribed: it is connected again without a call.
		s.do(*who, "resources/subscribe", `{"uri":"fake://note"}`)
		heard(told)
		s.forget()
		s.kill("a", errKilled)
		time.Sleep(time.Minute)
		if diff := cmp.Diff([]float64{0.5}, s.since()); diff != "" {
			t.Error(diff)
		}
		got := heard(told)
		if !strings.Contains(got, "setLevel") || !strings.Contains(got, "resources/subscribe") {
			t.Errorf("told %s", got)
		}
		if got := heard(news); got != "notifications/resources/updated " {
			t.Errorf("the subscriber has heard %s", got)
		}

		// Nobody any more: it stays away.
		s.do(*who, "resources/unsubscribe", `{"uri":"fake://note"}`)
		s.forget()
		s.kill("a", errKilled)
		time.Sleep(time.Hour)
		if at := s.since(); at != nil {
			t.Errorf("connected anew after %v", at)
		}
		s.p.router.Leave(who.Client)
	})
}

// TestCrashStorm: a server that ends as soon as it is connected is not started
// without end, whatever keeps it wanted.
func TestCrashStorm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, Options{Servers: []Server{{Name: "a", Start: StartEager}}}, map[string]*runtimetest.Server{"a": runtimetest.New()})
		defer s.p.NewHTTPHandler(HTTPOptions{}).Close()
		for range 600 { // ten minutes
			time.Sleep(time.Second) // as time goes in the bubble
			s.kill("a", errKilled)
			synctest.Wait()
		}
		// Five times at first, then once in 30 s and the second that it lasts.
		if n := s.dials("a"); n < 20 || n > 25 {
			t.Errorf("started %d times in ten minutes", n)
		}
		time.Sleep(5 * time.Minute)
		if c := s.backend("a").Condition(); c.State != upstream.StateReady || c.Tripped {
			t.Errorf("when it no longer ends: %+v", c)
		}
	})
}

// heard returns what has come by now.
func heard(ch chan string) (all string) {
	synctest.Wait()
	for len(ch) > 0 {
		all += <-ch + " "
	}
	return all
}
