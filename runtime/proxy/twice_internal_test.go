package proxy

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
	"github.com/mcpctl/mcpctl/test/require"
)

// callAny makes a call as an endpoint does: a fast one if it can be, else an ordinary
// one. Its answer is a result, or a failure in words.
func callAny(t *testing.T, p *Proxy, arguments string) string {
	t.Helper()
	line := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__x","arguments":` + arguments + `}}`)
	m := new(rawjson.Message)
	require.NoError(t, rawjson.Scan(line, m))
	to := &take{make(chan string, 2)}
	call := p.router.FastCall(line, m, to, time.Now())
	switch {
	case call.Err != nil:
		return failedText(call.Err)
	case call.Conn != nil:
		call.Conn.Flush()
		return <-to.answers
	}
	result, err := p.router.Answer(t.Context(), &router.Request{Line: line, Msg: m, Method: "tools/call", From: old(), Begun: call.Begun})
	if err != nil {
		return failedText(err)
	}
	return string(result)
}

func failedText(err error) string { return string(router.Failed("tools/call", err).Result) }

func newMortal(t *testing.T, m *mortal, set Server) *Proxy {
	t.Helper()
	set.Name = "a"
	p, err := newAllowed(Options{Servers: []Server{set}, Dial: m.dial})
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// interrupted is a fast call's client in whose call something happens in the
// moment between the choice of a connection and its use.
type interrupted struct {
	take
	then func()
}

func (to *interrupted) Client() *upstream.Client {
	to.then()
	return nil
}

// TestReapedBetweenChoiceAndUse: the call is made over the next connection, once.
func TestReapedBetweenChoiceAndUse(t *testing.T) {
	t.Parallel()
	for name, way := range map[string]func(p *Proxy, b *upstream.Backend, reap func()) (string, error){
		"fast": func(p *Proxy, b *upstream.Backend, reap func()) (string, error) {
			line := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__x","arguments":{}}}`)
			m := new(rawjson.Message)
			if err := rawjson.Scan(line, m); err != nil {
				return "", err
			}
			if call := p.router.FastCall(line, m, &interrupted{take{make(chan string, 1)}, sync.OnceFunc(reap)}, time.Now()); call.Conn != nil || call.Err != nil {
				return "", fmt.Errorf("a fast call was made: %v %w", call.Conn, call.Err)
			}
			return callAny(t, p, `{}`), nil // as the endpoint does
		},
		"ordinary": func(p *Proxy, b *upstream.Backend, reap func()) (string, error) {
			from := old()
			result, _, err := b.Call(t.Context(), &from, func(*upstream.Conn) (*runtime.Request, upstream.Waiter, error) {
				reap()
				return &runtime.Request{Method: "tools/call", Params: json.RawMessage(`{"name":"x","arguments":{}}`)}, &router.Relay{From: &from}, nil
			})
			return string(result), err
		},
	} {
		for _, plain := range []bool{false, true} {
			if plain && name == "fast" {
				continue
			}
			m := &mortal{plain: plain}
			p := newMortal(t, m, Server{IdleTimeout: 1})
			b := p.router.Set.All()[0]
			callAny(t, p, `{"n":1}`)
			times := 0
			got, err := way(p, b, func() {
				if times++; times <= 3 { // however often it happens
					b.Pool.Reap()
				}
			})
			if err != nil || !strings.Contains(got, `"said":{}`) || m.times(`{}`) != 1 {
				t.Errorf("%s, plain %t: made %d times: %s %v", name, plain, m.times(`{}`), got, err)
			}
			if want := min(int64(times), 3) + 1; m.dials.Load() != want {
				t.Errorf("%s, plain %t: connected %d times, want %d", name, plain, m.dials.Load(), want)
			}
		}
	}
}

// TestReapingAndCallingAtOnce: whichever of the two wins, the call is made once
// and answered.
func TestReapingAndCallingAtOnce(t *testing.T) {
	t.Parallel()
	for _, plain := range []bool{false, true} {
		m := &mortal{plain: plain}
		p := newMortal(t, m, Server{IdleTimeout: 1})
		b := p.router.Set.All()[0]
		for i := range 1000 {
			arguments := fmt.Sprintf(`{"n":%d}`, i)
			c, err := b.Primary.Acquire(t.Context())
			require.NoError(t, err)
			c.RecordClient(nil)
			var wg sync.WaitGroup
			wg.Go(reapSoon(b, i%50))
			got := callAny(t, p, arguments)
			wg.Wait()
			if !strings.Contains(got, `"said":`+arguments) || m.times(arguments) != 1 {
				t.Fatalf("plain %t: call %d was made %d times: %s", plain, i, m.times(arguments), got)
			}
		}
		t.Logf("plain %t: connected %d times", plain, m.dials.Load())
	}
}

// reapSoon reaps after a while that is measured in work.
func reapSoon(b *upstream.Backend, work int) func() {
	return func() {
		for range work * 100 {
			_ = b.LegacyShared.Load()
		}
		b.Pool.Reap()
	}
}

// TestNoCallIsMadeTwice: wherever a server dies over a call, the call is answered
// once, with its result or an error that says so, and was made at most once: a
// result says that it was made, and an error that it was not sent that it was not.
func TestNoCallIsMadeTwice(t *testing.T) {
	t.Parallel()
	for _, m := range []*mortal{{}, {plain: true}, {plain: true, revision: "2026-07-28"}} {
		for how := beforeRead; how < deaths; how++ {
			for _, callers := range []int{1, 8} {
				name := fmt.Sprintf("plain %t, %s, death %d, %d callers", m.plain, m.revision, how, callers)
				died := new(atomic.Int64)
				m := &mortal{plain: m.plain, revision: m.revision}
				p := newMortal(t, m, Server{})
				b := p.router.Set.All()[0]
				m.dies = func(n int64) death {
					if n%7 != 0 {
						return survives
					}
					died.Add(1)
					calm(b)
					return how
				}
				const each = 40
				var succeeded, failed, made atomic.Int64
				var wg sync.WaitGroup
				for i := range callers {
					wg.Go(func() {
						for j := range each {
							arguments := fmt.Sprintf(`{"n":"%d-%d"}`, i, j)
							got := callAny(t, p, arguments)
							times := m.times(arguments)
							made.Add(times)
							switch {
							case strings.Contains(got, `"said":`+arguments) && times == 1:
								succeeded.Add(1)
							case strings.Contains(got, `"isError":true`) && strings.Contains(got, `"server":"a"`) && strings.Contains(got, "a: ") && times <= 1:
								failed.Add(1)
							default:
								t.Errorf("%s: a call was made %d times: %s", name, times, got)
							}
						}
					})
				}
				wg.Wait()
				if n := succeeded.Load() + failed.Load(); n != int64(callers*each) {
					t.Errorf("%s: %d answers", name, n)
				}
				// What was never read can be told from what was not answered by nobody
				// but the server: an error is then right, a second call never.
				if made.Load() > int64(callers*each) || made.Load() < succeeded.Load() || died.Load() == 0 {
					t.Errorf("%s: made %d, succeeded %d, failed %d, died %d times", name, made.Load(), succeeded.Load(), failed.Load(), died.Load())
				}
				errs, deaths := failed.Load(), died.Load()
				switch {
				case callers > 1 || how == closesInput:
				case how == afterAnswer || how == beforeRead:
					// Nothing was in flight when it died, unless the next call was fast.
					if errs > deaths {
						t.Errorf("%s: %d errors for %d deaths", name, errs, deaths)
					}
				case errs != deaths:
					t.Errorf("%s: %d errors for %d deaths", name, errs, deaths)
				}
			}
		}
	}
}

// calm forgets how often the server has ended.
func calm(b *upstream.Backend) {
	b.Primary.ResetBreaker()
}

// TestResultsAreCounted: the size of each result once, whichever way its call takes.
func TestResultsAreCounted(t *testing.T) {
	t.Parallel()
	for _, plain := range []bool{false, true} {
		m := &mortal{plain: plain}
		p, err := NewAllowed(Options{Servers: []Server{{Name: "a"}}, Dial: m.dial})
		require.NoError(t, err)
		t.Cleanup(func() { _ = p.Close() })
		for range 5 {
			callAny(t, p, `{}`)
		}
		if n, p50, _ := StoredResults(p.router.Set.All()[0].Activity.Results.Encode()); n != 5 || p50 == 0 {
			t.Errorf("plain %v: %d results are counted, of %d bytes", plain, n, p50)
		}
	}
}
