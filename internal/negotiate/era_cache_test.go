package negotiate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestAnswersToTheProbe: what proves a modern server, and what does not.
func TestAnswersToTheProbe(t *testing.T) {
	fail := func(code int64, data string) error {
		e := &runtime.Error{Code: code, Message: "no"}
		if data != "" {
			e.Data = json.RawMessage(data)
		}
		return e
	}
	for name, c := range map[string]struct {
		result string
		err    error
		again  string // the result from the second time on
		want   string // the methods that came, and the error
	}{
		"malformed":                      {result: `{"supportedVersions":7}`, want: "discover initialize"},
		"no object":                      {result: `[]`, want: "discover initialize"},
		"anything":                       {result: `{}`, want: "discover initialize"},
		"legacy versions only":           {result: `{"supportedVersions":["2025-06-18","2024-11-05"]}`, want: "discover initialize 2025-06-18"},
		"no version in common":           {result: `{"supportedVersions":["2027-01-01"]}`, want: "discover: no protocol revision in common: the server speaks 2027-01-01, mcpctl 2026-07-28, 2025-11-25"},
		"wants a capability":             {err: fail(-32021, `{"requiredCapabilities":{"sampling":{}}}`), want: "discover: no (-32021)"},
		"draft, wants a capability":      {err: fail(-32003, `{"requiredCapabilities":{"sampling":{}}}`), want: "discover: no (-32003)"},
		"-32003 of its own":              {err: fail(-32003, `{"why":1}`), want: "discover initialize"},
		"headers at odds":                {err: fail(-32020, ``), want: "discover: no (-32020)"},
		"-32001 of its own":              {err: fail(-32001, ``), want: "discover initialize"},
		"draft, versions":                {err: fail(-32004, `{"supported":["2025-06-18"],"requested":"2026-07-28"}`), want: "discover initialize 2025-06-18"},
		"-32004 of its own":              {err: fail(-32004, `{"supported":["2025-06-18"]}`), want: "discover initialize"},
		"lists what it refuses":          {err: fail(-32022, `{"supported":["2026-07-28"]}`), again: `{"supportedVersions":["2026-07-28"],"capabilities":{}}`, want: "discover discover"},
		"refuses what it lists for good": {err: fail(-32022, `{"supported":["2026-07-28","2025-06-18"]}`), want: "discover discover initialize 2025-06-18"},
		"-32601":                         {err: fail(-32601, ``), want: "discover initialize"},
		"-32602":                         {err: fail(-32602, ``), want: "discover initialize"},
		"-32600":                         {err: fail(-32600, ``), want: "discover initialize"},
		"-32000":                         {err: fail(-32000, ``), want: "discover initialize"},
		"-32002":                         {err: fail(-32002, ``), want: "discover initialize"},
		"0":                              {err: fail(0, ``), want: "discover initialize"},
	} {
		var came []string
		s := runtimetest.New()
		n := 0
		s.Methods = map[string]runtimetest.Func{"server/discover": func(context.Context, *runtimetest.Call) (json.RawMessage, error) {
			came = append(came, "discover")
			if n++; n > 1 && c.again != "" {
				return json.RawMessage(c.again), nil
			}
			return json.RawMessage(c.result), c.err
		}}
		s.Seen = func(frame []byte) {
			if _, offer, ok := strings.Cut(string(frame), `"initialize","params":{"protocolVersion":"`); ok {
				came = append(came, strings.TrimSuffix("initialize "+offer[:10], " 2025-11-25"))
			}
		}
		conn, _, err := connect(t.Context(), s, negotiate.Options{})
		if err == nil {
			_ = conn.Close()
		}
		got := strings.Join(came, " ")
		if err != nil {
			got += ": " + err.Error()
		}
		if got != c.want && !(err != nil && strings.HasPrefix(got, c.want)) {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// connections makes connections one after the other to servers that share a
// key, and gives what each of them began with.
func connections(t *testing.T, v negotiate.EraCache, o negotiate.Options, servers ...*runtimetest.Server) (out []string) {
	t.Helper()
	o.Eras, o.Key = v, "k"
	for _, s := range servers {
		var came []string
		s.Seen = func(frame []byte) {
			for _, method := range []string{"initialize", "server/discover"} {
				if strings.Contains(string(frame), `"`+method+`"`) {
					came = append(came, method)
				}
			}
		}
		c, _, err := connect(t.Context(), s, o)
		line := strings.Join(came, " ")
		if err != nil {
			line += ": " + err.Error()
		} else {
			_ = c.Close()
		}
		out = append(out, line)
	}
	return out
}

func TestEraIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kind := func(f runtimetest.Faults, versions ...string) *runtimetest.Server {
			s := runtimetest.New()
			s.Faults, s.Versions = f, versions
			return s
		}
		legacy, modern := kind(runtimetest.Faults{}), kind(runtimetest.Faults{}, runtimetest.RevJuly)
		both := kind(runtimetest.Faults{}, runtimetest.RevJuly, runtimetest.RevNov)
		killed := kind(runtimetest.Faults{ExitOnProbe: true})
		slow := kind(runtimetest.Faults{}, runtimetest.RevJuly, runtimetest.RevNov)
		slow.Delay = func(method string) time.Duration {
			return map[string]time.Duration{"server/discover": 20 * time.Second}[method]
		}
		onlyModern := kind(runtimetest.Faults{}, runtimetest.RevJuly)
		onlyModern.Methods = map[string]runtimetest.Func{"initialize": func(context.Context, *runtimetest.Call) (json.RawMessage, error) {
			return nil, &runtimetest.ExitError{Code: 1}
		}}
		for name, c := range map[string]struct {
			servers []*runtimetest.Server
			legacy  bool
			want    []string
		}{
			"legacy":           {[]*runtimetest.Server{legacy, legacy}, false, []string{"server/discover initialize", "initialize"}},
			"modern":           {[]*runtimetest.Server{modern, modern}, false, []string{"server/discover", "server/discover"}},
			"both":             {[]*runtimetest.Server{both, both}, true, []string{"server/discover initialize", "server/discover initialize"}},
			"killed":           {[]*runtimetest.Server{killed, killed}, false, []string{"server/discover initialize", "initialize"}},
			"upgraded":         {[]*runtimetest.Server{legacy, modern, modern}, false, []string{"server/discover initialize", "initialize server/discover", "server/discover"}},
			"upgraded, ends":   {[]*runtimetest.Server{killed, onlyModern, modern}, false, []string{"server/discover initialize", "initialize server/discover", "server/discover"}},
			"downgraded":       {[]*runtimetest.Server{modern, legacy, legacy}, false, []string{"server/discover", "server/discover initialize", "initialize"}},
			"modern, slow now": {[]*runtimetest.Server{both, slow}, false, []string{"server/discover", "server/discover"}},
		} {
			if diff := cmp.Diff(c.want, connections(t, &negotiate.MemoryCache{}, negotiate.Options{Legacy: c.legacy}, c.servers...)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
		// A legacy era holds for a day, that of a server that the probe kills for ever.
		for s, want := range map[*runtimetest.Server]string{legacy: "server/discover initialize", killed: "initialize"} {
			v := &negotiate.MemoryCache{}
			connections(t, v, negotiate.Options{}, s)
			time.Sleep(negotiate.LegacyEraLife - time.Second)
			if got := connections(t, v, negotiate.Options{}, s)[0]; got != "initialize" {
				t.Errorf("within a day: got %s", got)
			}
			time.Sleep(2 * time.Second)
			if got := connections(t, v, negotiate.Options{}, s)[0]; got != want {
				t.Errorf("after a day: got %s, want %s", got, want)
			}
		}
	})
}

// statused is an error with an HTTP status around one of JSON-RPC.
type statused struct {
	error
	status int
}

func (s statused) HTTPStatus() int { return s.status }
func (s statused) Unwrap() error   { return s.error }

// replaced is a transport whose server is replaced by another one, which answers
// calls with an error.
type replaced struct {
	runtime.Transport
	fail  error
	probe error // the answer to server/discover from then on, nil for that of before
	asked int
}

func (r *replaced) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	switch {
	case r.fail == nil:
	case req.Method == "server/discover" && r.probe != nil:
		r.asked++
		return nil, r.probe
	case req.Method == "tools/call", req.Method == "completion/complete", req.Method == "initialize":
		return nil, r.fail
	}
	return r.Transport.Call(ctx, req)
}

// TestServerBehindAURLIsReplaced: the connection says so, and that the call may
// be made over another one.
func TestServerBehindAURLIsReplaced(t *testing.T) {
	rpc := func(code int64, message, data string) error {
		e := &runtime.Error{Code: code, Message: message}
		if data != "" {
			e.Data = json.RawMessage(data)
		}
		return e
	}
	gone := rpc(-32601, "Method not found", "")
	for name, c := range map[string]struct {
		version string
		method  string
		fail    error
		probe   error
		stale   bool
	}{
		"refuses the revision":             {runtimetest.RevJuly, "tools/call", rpc(-32022, "no", `{"supported":["2025-11-25"]}`), nil, true},
		"refuses it and lists it":          {runtimetest.RevJuly, "tools/call", rpc(-32022, "no", `{"supported":["2026-07-28"]}`), nil, false},
		"does not know the method":         {runtimetest.RevJuly, "tools/call", gone, gone, true},
		"does not know this method alone":  {runtimetest.RevJuly, "tools/call", gone, nil, false},
		"never offered the method":         {runtimetest.RevJuly, "completion/complete", gone, gone, false},
		"404 without a message":            {runtimetest.RevJuly, "tools/call", statused{errors.New("404"), 404}, statused{errors.New("404"), 404}, true},
		"wants a session":                  {runtimetest.RevJuly, "tools/call", statused{rpc(-32000, "Bad Request: no valid session", ""), 400}, gone, true},
		"invalid params":                   {runtimetest.RevJuly, "tools/call", statused{rpc(-32602, "no", ""), 400}, gone, false},
		"down":                             {runtimetest.RevJuly, "tools/call", statused{errors.New("503"), 503}, gone, false},
		"404, and then down":               {runtimetest.RevJuly, "tools/call", statused{errors.New("404"), 404}, statused{errors.New("503"), 503}, false},
		"legacy, refuses the revision":     {runtimetest.RevNov, "tools/call", statused{rpc(-32000, "Bad Request: Unsupported protocol version", ""), 400}, nil, true},
		"legacy, lost and not to be had":   {runtimetest.RevNov, "tools/call", expired{statused{rpc(-32601, "no such method", ""), 404}}, nil, true},
		"legacy, an error of the server's": {runtimetest.RevNov, "tools/call", gone, nil, false},
	} {
		s := runtimetest.New()
		s.Versions = []string{c.version}
		r := &replaced{Transport: s.Connect(nil)}
		v := &negotiate.MemoryCache{}
		conn, err := negotiate.Connect(t.Context(), negotiate.Options{Key: "k", Eras: v, Open: func(context.Context) (runtime.Transport, error) { return r, nil }})
		require.NoError(t, err)
		r.fail, r.probe = c.fail, c.probe
		for range 2 {
			_, err = conn.Call(t.Context(), &runtime.Request{Method: c.method, Params: json.RawMessage(`{"name":"echo"}`)})
			if !c.stale && !errors.Is(err, c.fail) && fmt.Sprint(err) != c.fail.Error() {
				t.Errorf("%s: got %v", name, err)
			}
			if c.stale {
				break
			}
		}
		if _, stale := errors.AsType[*negotiate.SessionError](err); stale != c.stale {
			t.Errorf("%s: got %v", name, err)
		}
		if forgotten := v.Get("k") == (negotiate.KnownEra{}); forgotten != c.stale {
			t.Errorf("%s: era forgotten %v", name, forgotten)
		}
		if r.asked > 1 {
			t.Errorf("%s: asked %d times", name, r.asked)
		}
		_ = conn.Close()
	}
}

// slowStart is a process that shows a sign of life after a while, and answers
// nothing before the handshake.
type slowStart struct {
	runtime.Transport
	alive chan struct{}
	tried time.Duration
	begin time.Time
}

func (s *slowStart) Alive() <-chan struct{} { return s.alive }

func (s *slowStart) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	if req.Method == "initialize" && s.tried == 0 {
		s.tried = time.Since(s.begin)
	}
	return s.Transport.Call(ctx, req)
}

// TestProbeTimeBeginsWithTheFirstSignOfLife, but a handshake has to be possible
// yet.
func TestProbeTimeBeginsWithTheFirstSignOfLife(t *testing.T) {
	for _, c := range []struct{ alive, budget, want time.Duration }{
		{0, time.Minute, 5 * time.Second},
		{4 * time.Second, time.Minute, 9 * time.Second},
		{time.Hour, time.Minute, 10 * time.Second},
		{4 * time.Second, 8 * time.Second, 4 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := runtimetest.New()
			s.Faults.SilentProbe = true
			slow := &slowStart{Transport: s.Connect(nil), alive: make(chan struct{}), begin: time.Now()}
			timer := time.AfterFunc(c.alive, func() { close(slow.alive) })
			defer timer.Stop()
			ctx, cancel := context.WithTimeout(t.Context(), c.budget)
			defer cancel()
			conn, err := negotiate.Connect(ctx, negotiate.Options{Open: func(context.Context) (runtime.Transport, error) { return slow, nil }})
			require.NoError(t, err)
			defer conn.Close()
			if slow.tried != c.want {
				t.Errorf("alive after %s: handshake after %s, want %s", c.alive, slow.tried, c.want)
			}
		})
	}
}

// TestInfoOfADualServer: its revisions are known, whatever it is spoken to in.
func TestInfoOfADualServer(t *testing.T) {
	for _, preferLegacy := range []bool{false, true} {
		s := runtimetest.New()
		s.Versions = []string{runtimetest.RevJuly, runtimetest.RevNov}
		c, _, err := connect(t.Context(), s, negotiate.Options{Legacy: preferLegacy})
		require.NoError(t, err)
		if !slices.Equal(c.Info.Versions, s.Versions) || (c.Info.Version == runtimetest.RevNov) != preferLegacy {
			t.Errorf("got %+v", c.Info)
		}
		_ = c.Close()
	}
}
