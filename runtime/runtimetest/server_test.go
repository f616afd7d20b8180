package runtimetest_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

func connect(t *testing.T, s *runtimetest.Server) *runtime.Client {
	t.Helper()
	c := runtime.NewClient(s.Connect(nil), runtime.ClientOptions{})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestResultsReachTheWireByteForByte(t *testing.T) {
	t.Parallel()
	c := connect(t, runtimetest.New())
	res, err := c.CallTool(t.Context(), "exact", nil, nil)
	require.NoError(t, err)
	if diff := cmp.Diff(runtimetest.ExactResult, string(res.Raw)); diff != "" {
		t.Error(diff)
	}
	args := `{ "big" : 9007199254740993, "f":1.0 , "s":"\u00e9" }`
	res, err = c.CallTool(t.Context(), "reflect", json.RawMessage(args), nil)
	require.NoError(t, err)
	if string(res.Structured) != args {
		t.Errorf("arguments came back as %s, want %s", res.Structured, args)
	}
	tools, err := c.ListTools(t.Context())
	require.NoError(t, err)
	found := false
	for _, tool := range tools {
		found = found || string(tool.Raw) == runtimetest.ExactTool
	}
	if !found {
		t.Error("the list does not hold ExactTool byte for byte")
	}
}

func TestGreaseIsEverywhereButInSchemas(t *testing.T) {
	t.Parallel()
	s := runtimetest.New()
	s.Grease = true
	c := connect(t, s)
	raw, err := c.Call(t.Context(), "tools/list", nil, nil)
	require.NoError(t, err)
	var list struct {
		Grease json.RawMessage `json:"x-grease"`
		Tools  []struct {
			Grease json.RawMessage `json:"x-grease"`
			Schema json.RawMessage `json:"inputSchema"`
		} `json:"tools"`
	}
	require.NoError(t, json.Unmarshal(raw, &list))
	if list.Grease == nil || list.Tools[0].Grease == nil {
		t.Errorf("no grease in %.200s", raw)
	}
	if bytes.Contains(list.Tools[0].Schema, []byte("x-grease")) {
		t.Errorf("grease inside a schema: %s", list.Tools[0].Schema)
	}
	// Without the grease, the bytes are those of a clean server.
	clean, err := connect(t, runtimetest.New()).Call(t.Context(), "tools/list", nil, nil)
	require.NoError(t, err)
	member := `"x-grease":` + string(list.Grease)
	plain := strings.ReplaceAll(strings.ReplaceAll(string(raw), member+",", ""), member, "")
	if diff := cmp.Diff(string(clean), plain); diff != "" {
		t.Error(diff)
	}
}

func TestAThousandCallsGetTheirOwnAnswers(t *testing.T) {
	t.Parallel()
	c := connect(t, runtimetest.New())
	var wg sync.WaitGroup
	for i := range 1000 {
		wg.Go(func() {
			want := "m" + strconv.Itoa(i)
			res, err := c.CallTool(t.Context(), "random", json.RawMessage(`{"message":"`+want+`"}`), nil)
			if err != nil {
				t.Error(err)
			} else if res.Text() != want {
				t.Errorf("got %q, want %q", res.Text(), want)
			}
		})
	}
	wg.Wait()
}

func TestProgressGoesToItsCall(t *testing.T) {
	t.Parallel()
	c := connect(t, runtimetest.New())
	var got []float64
	_, err := c.CallTool(t.Context(), "steps", json.RawMessage(`{"n":3}`), &runtime.CallOptions{
		Progress: func(p runtime.Progress) { got = append(got, p.Progress) },
	})
	require.NoError(t, err)
	if diff := cmp.Diff([]float64{1, 2, 3}, got); diff != "" {
		t.Error(diff)
	}
}

func TestCancelledCallGetsNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := runtimetest.New()
		var seen []string
		var mu sync.Mutex
		s.Seen = func(b []byte) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, string(b))
		}
		c := runtime.NewClient(s.Connect(nil), runtime.ClientOptions{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := c.CallTool(ctx, "slow", json.RawMessage(`{"ms":3600000}`), nil)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want a deadline", err)
		}
		synctest.Wait()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if d := time.Since(start); d > 2*time.Second {
			t.Errorf("the server held the call for %s after the cancel", d)
		}
		mu.Lock()
		defer mu.Unlock()
		if last := seen[len(seen)-1]; !strings.Contains(last, "notifications/cancelled") {
			t.Errorf("last message is %s, want a cancel", last)
		}
	})
}

func TestAskReachesTheHandler(t *testing.T) {
	t.Parallel()
	c := connect(t, runtimetest.New())
	for method, want := range map[string]string{"ping": "{}", "roots/list": "error: method not found: roots/list (-32601)"} {
		res, err := c.CallTool(t.Context(), "ask", json.RawMessage(`{"method":"`+method+`"}`), nil)
		require.NoError(t, err)
		if res.Text() != want {
			t.Errorf("%s: got %q, want %q", method, res.Text(), want)
		}
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	s := runtimetest.New()
	s.PageSize = 3
	c := connect(t, s)
	tools, err := c.ListTools(t.Context())
	require.NoError(t, err)
	if len(tools) != len(s.Tools) {
		t.Errorf("got %d tools, want %d", len(tools), len(s.Tools))
	}
	bad := runtimetest.New()
	bad.Faults.BadCursor = true
	var pe *runtime.ProtocolError
	if _, err := connect(t, bad).ListTools(t.Context()); !errors.As(err, &pe) {
		t.Errorf("got %v, want a protocol error for a repeated cursor", err)
	}
	for _, cursor := range []string{"p-1", "p999", "x"} {
		_, err := c.Call(t.Context(), "tools/list", json.RawMessage(`{"cursor":"`+cursor+`"}`), nil)
		var re *runtime.Error
		if !errors.As(err, &re) || re.Code != runtime.CodeInvalidParams {
			t.Errorf("cursor %q: got %v, want -32602", cursor, err)
		}
	}
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

func TestEras(t *testing.T) {
	t.Parallel()
	both := []string{runtimetest.RevJuly, runtimetest.RevNov}
	tests := []struct {
		name     string
		versions []string
		faults   runtimetest.Faults
		method   string
		params   string
		want     string // a piece of the result or the error
	}{
		{"legacy handshake echoes", nil, runtimetest.Faults{}, "initialize", `{"protocolVersion":"2025-06-18"}`, `"protocolVersion":"2025-06-18"`},
		{"legacy handshake answers its newest", both, runtimetest.Faults{}, "initialize", `{"protocolVersion":"2026-07-28"}`, `"protocolVersion":"2025-11-25"`},
		{"legacy refuses the probe", nil, runtimetest.Faults{}, "server/discover", `{` + modernMeta + `}`, "(-32601)"},
		{"modern answers the probe", both, runtimetest.Faults{}, "server/discover", `{` + modernMeta + `}`, `"supportedVersions":["2026-07-28","2025-11-25"]`},
		{"modern-only refuses the handshake", both[:1], runtimetest.Faults{}, "initialize", `{"protocolVersion":"2025-11-25"}`, "(-32022)"},
		{"modern-only wants _meta", both[:1], runtimetest.Faults{}, "tools/list", `{}`, "(-32602)"},
		{"modern result has its members", both, runtimetest.Faults{}, "tools/list", `{` + modernMeta + `}`, `{"resultType":"complete","ttlMs":60000,"cacheScope":"public","tools":[`},
		{"modern has no ping", both, runtimetest.Faults{}, "ping", `{` + modernMeta + `}`, "(-32601)"},
		{"legacy result has not", both, runtimetest.Faults{}, "tools/list", `{}`, `{"tools":[`},
		{"unknown version", both, runtimetest.Faults{}, "tools/list", strings.Replace(`{`+modernMeta+`}`, "2026-07-28", "1900-01-01", 1), "(-32022)"},
		{"told to", both, runtimetest.Faults{Unsupported: json.RawMessage(`{"supported":["2025-11-25"]}`)}, "server/discover", `{` + modernMeta + `}`, "(-32022)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := runtimetest.New()
			s.Versions, s.Faults = tt.versions, tt.faults
			raw, err := connect(t, s).Call(t.Context(), tt.method, json.RawMessage(tt.params), nil)
			got := string(raw)
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, tt.want) {
				t.Errorf("got %.300s, want %s in it", got, tt.want)
			}
		})
	}
}

// talk sends lines to a server over memory and returns what it printed and
// what Serve returned.
func talk(t *testing.T, s *runtimetest.Server, lines ...string) ([]string, error) {
	t.Helper()
	st := s.Streams()
	var wg sync.WaitGroup
	wg.Go(func() {
		for _, l := range lines {
			if _, err := io.WriteString(st, l+"\n"); err != nil {
				return
			}
		}
		_ = st.CloseWrite()
	})
	var got []string
	sc := bufio.NewScanner(st)
	for sc.Scan() {
		got = append(got, sc.Text())
	}
	err := st.Wait()
	wg.Wait()
	return got, errors.Join(err, st.Close())
}

func TestFaults(t *testing.T) {
	t.Parallel()
	init := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`
	probe := `{"jsonrpc":"2.0","id":"p","method":"server/discover"}`
	call := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hi"}}}`
	tests := []struct {
		name   string
		faults runtimetest.Faults
		in     []string
		want   []string // beginnings of the lines
		exit   int      // 0: none
	}{
		{"exits at once", runtimetest.Faults{ExitAtOnce: true, ExitCode: 3}, nil, nil, 3},
		{"exits on a probe", runtimetest.Faults{ExitOnProbe: true, ExitCode: 4}, []string{probe}, nil, 4},
		{"but not on initialize", runtimetest.Faults{ExitOnProbe: true, ExitCode: 4}, []string{init}, []string{`{"jsonrpc":"2.0","id":1,"result"`}, 0},
		{"silent on a probe", runtimetest.Faults{SilentProbe: true}, []string{probe, init}, []string{`{"jsonrpc":"2.0","id":1,"result"`}, 0},
		{"silent", runtimetest.Faults{Silent: true}, []string{init, call}, nil, 0},
		{"silent on one method", runtimetest.Faults{SilentMethods: []string{"tools/call"}}, []string{call}, nil, 0},
		{"rubbish first", runtimetest.Faults{Rubbish: []string{"hello"}}, []string{init}, []string{"hello", `{"jsonrpc"`}, 0},
		{"rubbish only", runtimetest.Faults{Rubbish: []string{"hello"}, RubbishOnly: true}, []string{init}, []string{"hello", "hello"}, 0},
		{"rubbish between", runtimetest.Faults{Rubbish: []string{"x"}, RubbishBetween: true}, []string{init}, []string{"x", "x", `{"jsonrpc"`}, 0},
		{"half an answer", runtimetest.Faults{HalfAnswer: true, ExitCode: 5}, []string{call}, []string{`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"te`}, 5},
		{"unknown ids", runtimetest.Faults{UnknownIDs: true}, []string{init}, []string{`{"jsonrpc":"2.0","id":"nobody`, `{"jsonrpc":"2.0","id":1`}, 0},
		{"twice", runtimetest.Faults{Twice: true}, []string{init}, []string{`{"jsonrpc":"2.0","id":1`, `{"jsonrpc":"2.0","id":1`}, 0},
		{"asks", runtimetest.Faults{Ask: []string{"roots/list"}}, []string{`{"jsonrpc":"2.0","method":"notifications/initialized"}`}, []string{`{"jsonrpc":"2.0","id":"fake-1","method":"roots/list"}`}, 0},
		{"no JSON", runtimetest.Faults{}, []string{"what?"}, []string{`{"jsonrpc":"2.0","id":null,"error":{"code":-32700`}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := runtimetest.New()
			s.Faults = tt.faults
			got, err := talk(t, s, tt.in...)
			var exit *runtimetest.ExitError
			if errors.As(err, &exit) != (tt.exit != 0) || exit != nil && exit.Code != tt.exit {
				t.Errorf("ended with %v, want code %d", err, tt.exit)
			}
			if len(got) != len(tt.want) {
				t.Fatalf("got %q, want beginnings %q", got, tt.want)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], tt.want[i]) {
					t.Errorf("line %d: got %s, want %s…", i, got[i], tt.want[i])
				}
			}
		})
	}
}

func TestClosedConnection(t *testing.T) {
	t.Parallel()
	tr := runtimetest.New().Connect(nil)
	if _, err := tr.Call(t.Context(), &runtime.Request{Method: "tools/call", Params: json.RawMessage(`{"name":"exit"}`)}); !errors.Is(err, runtime.ErrClosed) || errors.Is(err, runtime.ErrNotSent) {
		t.Errorf("call on a dying server: got %v, want ErrClosed of a sent call", err)
	}
	if err := errors.Join(tr.Close(), tr.Close()); err != nil {
		t.Error(err)
	}
	if _, err := tr.Call(t.Context(), &runtime.Request{Method: "ping"}); !errors.Is(err, runtime.ErrNotSent) || !errors.Is(err, runtime.ErrClosed) {
		t.Errorf("call after Close: got %v, want ErrNotSent", err)
	}
}
