package gen_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcpctl/mcpctl/test/load/echo"
	"github.com/mcpctl/mcpctl/test/load/gen"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// attach connects to a server of package echo in this process.
func attach(t *testing.T, o echo.Options, target gen.Target) *gen.Conn {
	t.Helper()
	return attachTo(t, target, func(in io.Reader, out io.Writer) { _ = echo.Serve(in, out, o) })
}

func attachTo(t *testing.T, target gen.Target, serve func(in io.Reader, out io.Writer)) *gen.Conn {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		serve(in, out)
		_ = out.Close()
		_ = in.Close()
	}()
	c, err := gen.Attach(t.Context(), fromServer, toServer, target)
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		<-done
	})
	return c
}

func open(t *testing.T, h http.Handler, target gen.Target) *gen.Conn {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	target.URL = s.URL + "/mcp"
	c, err := gen.Open(t.Context(), target)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestRunCountsCalls(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{gen.Session, gen.Stateless} {
		target := gen.Target{Revision: revision, Sessions: 3}
		for name, c := range map[string]*gen.Conn{
			"streams": attach(t, echo.Options{}, target),
			"HTTP":    open(t, echo.Handler(echo.Options{}), target),
		} {
			t.Run(name+" "+revision, func(t *testing.T) {
				for _, size := range []int{1, 100, 10_000} {
					r, err := c.Run(t.Context(), gen.Work{Callers: 7, Count: 150, Warmup: 7, Size: size})
					require.NoError(t, err)
					if r.Calls != 150 || r.Err() != nil {
						t.Errorf("size %d: got %d calls, %v; want 150", size, r.Calls, r.Err())
					}
					if r.P50 <= 0 || r.P50 > r.P99 || r.P99 > r.Max || r.PerSecond <= 0 {
						t.Errorf("size %d: got p50 %v, p99 %v, max %v, %v calls/s", size, r.P50, r.P99, r.Max, r.PerSecond)
					}
				}
			})
		}
	}
}

// TestRunEnds after its time, with calls that take some.
func TestRunEnds(t *testing.T) {
	t.Parallel()
	c := attach(t, echo.Options{}, gen.Target{})
	r, err := c.Run(t.Context(), gen.Work{Callers: 2, Duration: 50 * time.Millisecond})
	if err != nil || r.Err() != nil {
		t.Fatal(err, r.Err())
	}
	if r.Seconds < 0.05 {
		t.Errorf("got a run of %v s, want one of 0.05", r.Seconds)
	}
}

// TestEveryCallerCalls: also where the time is over before it has begun.
func TestEveryCallerCalls(t *testing.T) {
	c := attach(t, echo.Options{}, gen.Target{})
	r, err := c.Run(t.Context(), gen.Work{Callers: 3, Duration: time.Nanosecond, Warmup: -1})
	require.NoError(t, err)
	if r.Calls != 3 || r.Err() != nil {
		t.Errorf("got %d calls, %v; want one for each of 3 callers", r.Calls, r.Err())
	}
}

func TestWrongAnswersAreFound(t *testing.T) {
	t.Parallel()
	// isError and two texts come from handlers that write what no echo says.
	says := func(result string) func(in io.Reader, out io.Writer) {
		return func(in io.Reader, out io.Writer) { rewrite(in, out, result) }
	}
	stream := func(body string) http.Handler { return sse(body) }
	tests := []struct {
		name  string
		conn  func(t *testing.T) *gen.Conn
		wrong bool // a wrong answer, rather than none
		want  string
	}{
		{"another's text, streams", func(t *testing.T) *gen.Conn { return attach(t, echo.Options{Wrong: 10}, gen.Target{}) }, true, "got the text"},
		{"another's text, HTTP", func(t *testing.T) *gen.Conn { return open(t, echo.Handler(echo.Options{Wrong: 10}), gen.Target{}) }, true, "got the text"},
		{"another id, HTTP", func(t *testing.T) *gen.Conn { return open(t, echo.Handler(echo.Options{WrongID: 10}), gen.Target{}) }, true, "it has the id"},
		{"twice", func(t *testing.T) *gen.Conn { return attachTo(t, gen.Target{}, twice) }, true, "nobody waits for"},
		{"an error of the tool", func(t *testing.T) *gen.Conn {
			return attachTo(t, gen.Target{}, says(`{"content":[{"type":"text","text":"%s"}],"isError":true}`))
		}, false, "reported an error"},
		{"two texts", func(t *testing.T) *gen.Conn {
			return attachTo(t, gen.Target{}, says(`{"content":[{"type":"text","text":"%s"},{"type":"text","text":""}]}`))
		}, true, "not one text"},
		{"no result", func(t *testing.T) *gen.Conn { return attachTo(t, gen.Target{}, says(`{}`)) }, true, "not one text"},
		{"a stream without it", func(t *testing.T) *gen.Conn { return open(t, stream("data: \n\n"), gen.Target{}) }, true, "ended without it"},
		{"a stream with two", func(t *testing.T) *gen.Conn { return open(t, stream("data: %s\n\ndata: %s\n\n"), gen.Target{}) }, true, "nobody waits for"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := tt.conn(t)
			r, err := c.Run(t.Context(), gen.Work{Callers: 4, Count: 100, Warmup: -1})
			require.NoError(t, err)
			err = r.Err()
			if err == nil || !strings.Contains(err.Error(), tt.want) || errors.Is(err, gen.ErrWrong) != tt.wrong {
				t.Errorf("got %v, want %q, wrong: %v", err, tt.want, tt.wrong)
			}
		})
	}
}

// TestLongTextsAreChecked though they are not decoded.
func TestLongTextsAreChecked(t *testing.T) {
	t.Parallel()
	c := attach(t, echo.Options{Wrong: 5}, gen.Target{})
	r, err := c.Run(t.Context(), gen.Work{Callers: 2, Count: 20, Warmup: -1, Size: 64 << 10})
	require.NoError(t, err)
	if r.Wrong != 4 || r.Calls != 16 {
		t.Errorf("got %d right and %d wrong answers, want 16 and 4", r.Calls, r.Wrong)
	}
}

// TestWrongIDLeavesACallOpen: its answer went to nobody, which is told at the
// end of the run's patience.
func TestWrongIDLeavesACallOpen(t *testing.T) {
	t.Parallel()
	c := attach(t, echo.Options{WrongID: 10}, gen.Target{})
	r, err := c.Run(t.Context(), gen.Work{Callers: 1, Duration: time.Millisecond, Count: 50, Warmup: -1, Grace: 100 * time.Millisecond})
	require.NoError(t, err)
	if r.Wrong == 0 && r.Calls >= 10 {
		t.Errorf("got %d calls and no wrong answer", r.Calls)
	}
}

func TestServerEnds(t *testing.T) {
	t.Parallel()
	c := attachTo(t, gen.Target{}, func(in io.Reader, out io.Writer) {
		_ = echo.Serve(io.LimitReader(in, 4_000), out, echo.Options{})
	})
	r, err := c.Run(t.Context(), gen.Work{Callers: 3, Count: 1_000_000, Warmup: -1})
	require.NoError(t, err)
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("got %v, want an error that says closed", err)
	}
}

func TestServerSaysNo(t *testing.T) {
	t.Parallel()
	c := attach(t, echo.Options{}, gen.Target{})
	_, err := c.Call(t.Context(), "tools/call", []byte(`{"name":"nothing"}`))
	var e *wire.RPCError
	if !errors.As(err, &e) || e.Code != -32602 || e.Message != "Unknown tool" {
		t.Errorf("got %v, want the server's -32602", err)
	}
	if _, err := c.Run(t.Context(), gen.Work{Count: 1, Tool: "sleep"}); err != nil {
		t.Errorf("got %v after it", err)
	}
}

// TestContextEndsARun whose calls are not answered.
func TestContextEndsARun(t *testing.T) {
	t.Parallel()
	c := attachTo(t, gen.Target{}, func(in io.Reader, out io.Writer) { rewrite(in, out, "") })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	r, err := c.Run(ctx, gen.Work{Callers: 2, Duration: time.Hour, Warmup: -1})
	require.NoError(t, err)
	if r.Errors != 2 || r.Calls != 0 {
		t.Errorf("got %d errors and %d calls, want 2 and 0", r.Errors, r.Calls)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	pages := []string{
		`{"tools":[{"name":"a"},{"name":"b"}],"nextCursor":"two \"2\""}`,
		`{"tools":[{"name":"c","description":"\"nextCursor\":\"x\""}]}`,
	}
	c := attachTo(t, gen.Target{}, func(in io.Reader, out io.Writer) { paged(in, out, pages) })
	l, err := c.List(t.Context())
	require.NoError(t, err)
	if got := strings.Join(l.Names, " "); got != "a b c" || l.Pages != 2 || l.Bytes != len(pages[0])+len(pages[1]) {
		t.Errorf("got %q on %d pages of %d bytes, want a b c on 2 of %d", got, l.Pages, l.Bytes, len(pages[0])+len(pages[1]))
	}
	if l.First > l.Took {
		t.Errorf("the first page took %v, all %v", l.First, l.Took)
	}
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	var hundred []time.Duration
	for i := range 101 {
		hundred = append(hundred, time.Duration(i))
	}
	tests := []struct {
		of   []time.Duration
		q    float64
		want time.Duration
	}{
		{nil, .5, 0},
		{[]time.Duration{7}, 0, 7},
		{[]time.Duration{7}, .99, 7},
		{[]time.Duration{1, 2}, .5, 1},
		{[]time.Duration{1, 2, 3}, .5, 2},
		{hundred, .5, 50},
		{hundred, .99, 99},
		{hundred, 1, 100},
	}
	for _, tt := range tests {
		if got := gen.Quantile(tt.of, tt.q); got != tt.want {
			t.Errorf("quantile %v of %d values: got %d, want %d", tt.q, len(tt.of), got, tt.want)
		}
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	for _, target := range []gen.Target{
		{},
		{URL: "http://127.0.0.1:1/mcp", Command: []string{"x"}},
		{URL: "http://127.0.0.1:1/mcp"},
		{Command: []string{"./no-such-command"}},
	} {
		if c, err := gen.Open(t.Context(), target); err == nil {
			t.Errorf("%+v: got a connection", target)
			_ = c.Close()
		}
	}
}

func sse(body string) http.Handler {
	h := echo.Handler(echo.Options{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		answer := rec.Body.String()
		if !strings.Contains(answer, "content") {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(rec.Code)
			_, _ = io.WriteString(w, answer)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, strings.ReplaceAll(body, "%s", answer))
	})
}
