package negotiate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// connect connects to a fake server over memory and counts the connections.
func connect(ctx context.Context, s *runtimetest.Server, o negotiate.Options) (*negotiate.Connected, int, error) {
	var opened atomic.Int64
	o.Client = runtime.Implementation{Name: "t", Version: "1"}
	o.Open = func(context.Context) (runtime.Transport, error) {
		opened.Add(1)
		return s.Connect(nil), nil
	}
	c, err := negotiate.Connect(ctx, o)
	return c, int(opened.Load()), err
}

// connectTo connects to what open returns, until the end of the test.
func connectTo(t *testing.T, o negotiate.Options, open func() runtime.Transport) *negotiate.Connected {
	t.Helper()
	o.Open = func(context.Context) (runtime.Transport, error) { return open(), nil }
	c, err := negotiate.Connect(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() }) // of a fake
	return c
}

func TestEraIsFound(t *testing.T) {
	modern, both := []string{"2026-07-28"}, []string{"2026-07-28", "2025-11-25"}
	for name, c := range map[string]struct {
		versions []string
		faults   runtimetest.Faults
		pinned   string
		want     string // revision, or the beginning of the error
		opened   int
	}{
		"legacy":                               {nil, runtimetest.Faults{}, "", "2025-11-25", 1},
		"old legacy":                           {[]string{"2024-11-05"}, runtimetest.Faults{}, "", "2024-11-05", 1},
		"modern":                               {modern, runtimetest.Faults{}, "", "2026-07-28", 1},
		"both":                                 {both, runtimetest.Faults{}, "", "2026-07-28", 1},
		"both, pinned to legacy":               {both, runtimetest.Faults{}, "2025-11-25", "2025-11-25", 1},
		"legacy, pinned to an older one":       {nil, runtimetest.Faults{}, "2025-03-26", "2025-03-26", 1},
		"legacy, pinned to modern":             {nil, runtimetest.Faults{}, "2026-07-28", "error: the server does not speak 2026-07-28: server/discover: ", 1},
		"modern only, pinned to legacy":        {modern, runtimetest.Faults{}, "2025-11-25", "error", 1},
		"dies on the probe":                    {nil, runtimetest.Faults{ExitOnProbe: true}, "", "2025-11-25", 2},
		"silent on the probe":                  {nil, runtimetest.Faults{SilentProbe: true}, "", "2025-11-25", 1},
		"-32022 that lists legacy":             {nil, runtimetest.Faults{Unsupported: json.RawMessage(`{"supported":["2025-06-18"],"requested":"2026-07-28"}`)}, "", "2025-06-18", 1},
		"-32022 without a list":                {nil, runtimetest.Faults{Unsupported: json.RawMessage(`null`)}, "", "2025-11-25", 1},
		"-32022 that lists another modern one": {nil, runtimetest.Faults{Unsupported: json.RawMessage(`{"supported":["2027-01-01"]}`)}, "", "error: no protocol revision in common", 1},
		"ends at once":                         {nil, runtimetest.Faults{ExitAtOnce: true}, "", "error", 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := runtimetest.New()
			s.Versions, s.Faults = c.versions, c.faults
			got, opened, err := connect(t.Context(), s, negotiate.Options{Version: c.pinned})
			have := ""
			if err != nil {
				have = "error: " + err.Error()
			} else {
				have = got.Info.Version
				defer got.Close()
				raw, err := got.Call(t.Context(), &runtime.Request{Method: "tools/call", Params: json.RawMessage(`{"name":"echo","arguments":{"message":"hi"}}`)})
				if err != nil || !strings.Contains(string(raw), "hi") {
					t.Errorf("%s: call: %s %v", name, raw, err)
				}
			}
			if !strings.HasPrefix(have, c.want) || opened != c.opened {
				t.Errorf("%s: got %s after %d connections, want %s after %d", name, have, opened, c.want, c.opened)
			}
		})
	}
}

// TestRefusedOnce: a server that refuses the revision it lists is asked once
// more, and whatever it says of its revisions then, it is a modern one.
func TestRefusedOnce(t *testing.T) {
	for _, pinned := range []string{"", "2026-07-28"} {
		asked := 0
		s := runtimetest.New()
		s.Versions = []string{"2026-07-28"}
		s.Methods = map[string]runtimetest.Func{"server/discover": func(context.Context, *runtimetest.Call) (json.RawMessage, error) {
			if asked++; asked == 1 {
				return nil, &runtime.Error{Code: runtime.CodeUnsupportedVersion, Message: "no", Data: json.RawMessage(`{"supported":["2026-07-28"]}`)}
			}
			return json.RawMessage(`{"resultType":"complete"}`), nil
		}}
		c, _, err := connect(t.Context(), s, negotiate.Options{Version: pinned})
		if err != nil || c.Info.Version != "2026-07-28" || asked != 2 {
			t.Fatalf("%q: got %+v %v after %d questions", pinned, c, err, asked)
		}
		_ = c.Close()
	}
}

// TestLateAnswerWins is a modern server that takes longer to answer than the
// probe waits: its answer still counts, because the handshake failed.
func TestLateAnswerWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := runtimetest.New()
		s.Versions = []string{"2026-07-28"}
		s.Delay = func(method string) time.Duration {
			if method == "server/discover" {
				return 8 * time.Second
			}
			return 0
		}
		c, _, err := connect(t.Context(), s, negotiate.Options{})
		require.NoError(t, err)
		defer c.Close()
		if c.Info.Version != "2026-07-28" {
			t.Errorf("got %s", c.Info.Version)
		}
	})
}

func TestSilentServerIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := runtimetest.New()
		s.Faults.Silent = true
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if _, _, err := connect(ctx, s, negotiate.Options{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

// late is a server that reads its first message a moment after the handshake
// was tried, and ends on it.
type late struct {
	runtime.Transport
	read chan struct{}
}

func (l *late) Call(_ context.Context, req *runtime.Request) (json.RawMessage, error) {
	if req.Method == "initialize" {
		close(l.read)
	}
	<-l.read
	return nil, runtime.ErrClosed
}

func (l *late) Close() error { return nil }

func TestServerThatEndsLateOnTheProbeIsStartedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened := 0
		c, err := negotiate.Connect(t.Context(), negotiate.Options{Open: func(context.Context) (runtime.Transport, error) {
			if opened++; opened == 1 {
				return &late{read: make(chan struct{})}, nil
			}
			return runtimetest.New().Connect(nil), nil
		}})
		require.NoError(t, err)
		defer c.Close()
		if c.Info.Version != "2025-11-25" || opened != 2 {
			t.Errorf("got %s after %d connections", c.Info.Version, opened)
		}
	})
}

// lost is a transport whose server forgets the session after some calls.
type lost struct {
	runtime.Transport
	left   int
	resets int
}

type expired struct{ error }

func (expired) SessionExpired() bool { return true }
func (e expired) Unwrap() error      { return e.error }

func (l *lost) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	if req.Method != "initialize" && req.Method != "server/discover" {
		if l.left--; l.left == 0 {
			return nil, expired{errors.New("gone")}
		}
	}
	return l.Transport.Call(ctx, req)
}

func (l *lost) ResetSession() { l.resets++ }

func TestLostSessionIsStartedAnewOnce(t *testing.T) {
	s := runtimetest.New()
	initialized := 0
	s.Seen = func(frame []byte) {
		if strings.Contains(string(frame), `"initialize"`) {
			initialized++
		}
	}
	l := &lost{Transport: s.Connect(nil), left: 2}
	c := connectTo(t, negotiate.Options{Client: runtime.Implementation{Name: "t", Version: "1"}}, func() runtime.Transport { return l })
	for i := range 3 {
		params := fmt.Sprintf(`{"name":"echo","arguments":{"message":"m%d"}}`, i)
		if raw, err := c.Call(t.Context(), &runtime.Request{Method: "tools/call", Params: json.RawMessage(params)}); err != nil || !strings.Contains(string(raw), fmt.Sprintf("m%d", i)) {
			t.Errorf("call %d: got %s %v", i, raw, err)
		}
	}
	if l.resets != 1 || initialized != 2 {
		t.Errorf("got %d resets and %d handshakes, want 1 and 2", l.resets, initialized)
	}
}

// forgetful is a transport whose server forgets its session once and then
// refuses what comes without one, and at first the new handshake, too.
type forgetful struct {
	runtime.Transport
	session bool
	refuse  int
	forget  bool // with the next notification
}

func (f *forgetful) Notify(ctx context.Context, req *runtime.Request) error {
	if f.forget && f.session && req.Method != "notifications/initialized" {
		return expired{errors.New("404")}
	}
	return f.Transport.Notify(ctx, req)
}

func (f *forgetful) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	switch {
	case req.Method == "initialize" && f.session:
	case req.Method == "initialize" && f.refuse > 0:
		f.refuse--
		return nil, errors.New("503")
	case req.Method == "initialize":
		f.session = true
	case req.Method == "server/discover":
	case !f.session:
		return nil, errors.New("400 no session")
	case string(req.Params) == `{"name":"forget"}`:
		return nil, expired{errors.New("404")}
	}
	return f.Transport.Call(ctx, req)
}

func (f *forgetful) ResetSession() { f.session, f.forget = false, false }

// TestHandshakeAfterALostSessionMayFail: the next call tries it again.
func TestHandshakeAfterALostSessionMayFail(t *testing.T) {
	f := &forgetful{Transport: runtimetest.New().Connect(nil), session: true, refuse: 2}
	c := connectTo(t, negotiate.Options{Client: runtime.Implementation{Name: "t", Version: "1"}}, func() runtime.Transport { return f })
	call := func(params string) error {
		_, err := c.Call(t.Context(), &runtime.Request{Method: "tools/call", Params: json.RawMessage(params)})
		return err
	}
	if err := call(`{"name":"forget"}`); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("got %v", err)
	}
	for _, want := range []string{"503", ""} {
		if err := call(`{"name":"echo","arguments":{"message":"hi"}}`); fmt.Sprint(err) != "<nil>" && want == "" || want != "" && !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestLateRefusalThenHandshake is an older server that starts slowly: it
// refuses the probe after the probe's time, and then takes the handshake.
func TestLateRefusalThenHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := runtimetest.New()
		s.Delay = func(method string) time.Duration {
			switch method {
			case "server/discover":
				return 6 * time.Second
			case "initialize":
				return 2 * time.Second // from 5 s on: after the refusal
			}
			return 0
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		type outcome struct {
			c   *negotiate.Connected
			err error
		}
		done := make(chan outcome, 1)
		go func() {
			c, _, err := connect(ctx, s, negotiate.Options{})
			done <- outcome{c, err}
		}()
		o := wait.For(t, "the connection", done)
		if o.err != nil {
			t.Fatal(o.err)
		}
		defer o.c.Close()
		if o.c.Info.Version != "2025-11-25" {
			t.Errorf("got %s", o.c.Info.Version)
		}
	})
}

// TestNewSessionHasWhatTheOldOneHad: subscriptions and log level are set up
// again, and the handler hears what it may have missed.
func TestNewSessionHasWhatTheOldOneHad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := runtimetest.New()
		var mu sync.Mutex
		var frames []string
		s.Methods = map[string]runtimetest.Func{}
		for _, method := range []string{"resources/subscribe", "resources/unsubscribe", "logging/setLevel"} {
			s.Methods[method] = func(_ context.Context, c *runtimetest.Call) (json.RawMessage, error) {
				mu.Lock()
				defer mu.Unlock()
				frames = append(frames, method+" "+string(c.Params))
				return json.RawMessage(`{}`), nil
			}
		}
		h := &told{}
		f := &forgetful{Transport: s.Connect(nil), session: true}
		c := connectTo(t, negotiate.Options{Handler: h}, func() runtime.Transport { return f })
		call := func(method, params string) {
			t.Helper()
			if _, err := c.Call(t.Context(), &runtime.Request{Method: method, Params: json.RawMessage(params)}); err != nil {
				t.Error(method, err)
			}
		}
		call("resources/subscribe", `{"uri":"a"}`)
		call("resources/subscribe", `{"uri":"b"}`)
		call("resources/unsubscribe", `{"uri":"a"}`)
		call("logging/setLevel", `{"level":"debug"}`)
		frames = nil
		f.forget = true
		if err := c.Notify(t.Context(), &runtime.Request{Method: "notifications/roots/list_changed"}); err != nil {
			t.Errorf("a notification in a lost session: %v", err)
		}
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if diff := cmp.Diff([]string{`logging/setLevel {"level":"debug"}`, `resources/subscribe {"uri":"b"}`}, frames); diff != "" {
			t.Errorf("restored (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{`resources/updated {"uri":"b"}`, "tools/list_changed", "prompts/list_changed", "resources/list_changed"}, h.take()); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	})
}

// TestOneEraOnEachConnection: a server that has been asked for its revisions may
// take that for the beginning of a modern connection.
func TestOneEraOnEachConnection(t *testing.T) {
	s := runtimetest.New()
	s.Versions = []string{"2026-07-28", "2025-06-18"}
	refused := false
	s.Methods = map[string]runtimetest.Func{"initialize": func(context.Context, *runtimetest.Call) (json.RawMessage, error) {
		if !refused {
			refused = true
			return nil, &runtime.Error{Message: "duplicate initialize"}
		}
		return json.RawMessage(`{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`), nil
	}}
	c, opened, err := connect(t.Context(), s, negotiate.Options{Legacy: true})
	require.NoError(t, err)
	defer c.Close()
	if c.Info.Version != "2025-06-18" || opened != 2 {
		t.Errorf("got %s over connection %d", c.Info.Version, opened)
	}
}
