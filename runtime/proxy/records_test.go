package proxy_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/audit"
	recording "github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// stored is a log in memory.
type stored struct {
	mu      sync.Mutex // guards what follows
	raw     [][]byte
	records []audit.Record
	err     error // of Append
}

func (k *stored) Append(_ context.Context, b *audit.Batch) (int64, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err != nil {
		return 0, k.err
	}
	for _, text := range b.Records {
		r, err := audit.Parse(text)
		if err != nil {
			panic(err)
		}
		k.raw, k.records = append(k.raw, bytes.Clone(text)), append(k.records, r)
	}
	return 0, nil
}

func (k *stored) State(context.Context, string) ([]byte, error)  { return nil, nil }
func (k *stored) Checkpoint(context.Context) (_ []byte, _ error) { return nil, nil }

func (k *stored) all() []audit.Record {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.records)
}

// journaled returns a journal into a log in memory. Its requests wait for the log where
// durability says so.
func journaled(tb testing.TB, o recording.Options) (*recording.Journal, *stored) {
	tb.Helper()
	k := new(stored)
	o.Log = k
	o.Digest = func(dst, b []byte) []byte { return fmt.Appendf(dst, "hmac:%d", len(b)) }
	j, err := recording.Open(context.Background(), o)
	require.NoError(tb, err)
	tb.Cleanup(func() { closeJournal(tb, j) })
	return j, k
}

func closeJournal(tb testing.TB, j *recording.Journal) {
	tb.Helper()
	ctx, cancel := context.WithDeadline(context.Background(), wait.Deadline(tb))
	defer cancel()
	if err := j.Close(ctx); err != nil {
		tb.Error(err)
	}
}

// told returns records as lines: "call a/echo allow all ok", with the outcome at its
// decision. Lists, starts and stops are left out.
func told(all []audit.Record) []string {
	came := map[uint64]string{}
	for _, r := range all {
		if r.Kind == audit.KindDone {
			if came[r.Of] != "" {
				came[r.Of] += " AND "
			}
			came[r.Of] += r.Outcome.Out
		}
	}
	var out []string
	for _, r := range all {
		if slices.Contains([]audit.Kind{audit.KindDone, audit.KindList, audit.KindStart, audit.KindStop}, r.Kind) {
			continue
		}
		words := []string{string(r.Kind), r.Target.Server + "/" + r.Target.Item, r.Decision.Verdict, strings.Join(r.Decision.By, ","), r.Outcome.Out, came[r.N]}
		if r.Kind == audit.KindAuth {
			words = append(words, r.Text, fmt.Sprint(r.Count))
		}
		out = append(out, strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" || w == "/" }), " "))
	}
	return out
}

// way is a kind of client: what it asks, and gets, as lines.
type way struct {
	name, era, handler string
	// ask sends a request and returns its answer, "" once ctx has ended.
	ask func(ctx context.Context, method, params string) string
	// end ends the client.
	end func()
}

// waysTo returns a client of each kind, that is begun when it is asked for.
func waysTo(t *testing.T, p *proxy.Proxy) map[string]func() *way {
	t.Helper()
	post := func(ctx context.Context, url string, hc *http.Client, body string, head http.Header) (string, string) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
		require.NoError(t, err)
		req.Header = head
		resp, err := hc.Do(req)
		if err != nil {
			return "", ""
		}
		defer resp.Body.Close()
		out, _ := io.ReadAll(resp.Body)
		return string(out), resp.Header.Get("Mcp-Session-Id")
	}
	overHTTP := func() (url string, hc *http.Client, end func()) {
		handler := p.NewHTTPHandler(proxy.HTTPOptions{})
		s := serveHTTP(t, handler)
		return s.url, s.client(), sync.OnceFunc(func() {
			handler.Close()
			s.close()
		})
	}
	overStdio := func(name, era string, line func(id, method, params string) string, begin func(c *client)) *way {
		c := attach(t, p)
		c.note = func(string) {}
		begin(c)
		return &way{name, era, "stdio", func(ctx context.Context, method, params string) string {
			id := fmt.Sprint(c.next.Add(1))
			answer := c.expect(id)
			c.send(line(id, method, params))
			select {
			case got := <-answer:
				return got
			case <-ctx.Done():
				c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
				return ""
			}
		}, c.end}
	}
	return map[string]func() *way{
		"stdio": func() *way {
			return overStdio("stdio", "2025-11-25", func(id, method, params string) string {
				return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
			}, func(c *client) {
				c.result("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`)
				c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			})
		},
		"stdio, stateless": func() *way {
			return overStdio("stdio, stateless", "2026-07-28", func(id, method, params string) string {
				line, _ := stateless(id, method, params)
				return line
			}, func(*client) {})
		},
		"session": func() *way {
			url, hc, end := overHTTP()
			head := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
			_, id := post(t.Context(), url, hc, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, head)
			head.Set("Mcp-Session-Id", id)
			n := 0
			return &way{"session", "2025-11-25", "http", func(ctx context.Context, method, params string) string {
				n++
				got, _ := post(ctx, url, hc, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, n, method, params), head)
				if got == "" {
					_, _ = post(t.Context(), url, hc, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, n), head)
				}
				return got
			}, end}
		},
		"sse": func() *way {
			handler, mux := p.NewSSEHandler(proxy.SSEOptions{}), http.NewServeMux()
			mux.Handle("/sse", handler)
			mux.Handle("/messages", handler.Messages())
			server := serveHTTP(t, mux)
			s := &sseWay{waits: map[string]chan string{}}
			s.begin(t, server.client(), server.url)
			s.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, "0")
			s.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "")
			n := 0
			return &way{"sse", "2025-11-25", "http", func(ctx context.Context, method, params string) string {
				n++
				return s.ask(ctx, fmt.Sprint(n), method, params)
			}, sync.OnceFunc(func() {
				s.cancel()
				handler.Close()
				server.close()
			})}
		},
		"http, stateless": func() *way {
			url, hc, end := overHTTP()
			return &way{"http, stateless", "2026-07-28", "http", func(ctx context.Context, method, params string) string {
				body, head := stateless("1", method, params)
				got, _ := post(ctx, url, hc, body, head)
				return got
			}, end}
		},
	}
}

// stateless returns a request of the stateless era. Metadata may be the last member of params.
func stateless(id, method, params string) (string, http.Header) {
	params, meta, found := strings.Cut(params, `,"_meta":{`)
	if found {
		params, meta = params+"}", ","+strings.TrimSuffix(meta, "}}")
	}
	return request(id, method, params, `{}`, meta)
}

// sseWay is a client of the HTTP+SSE transport.
type sseWay struct {
	cancel func()
	to     func(body string)
	ended  chan struct{} // closed at the end of the stream

	mu    sync.Mutex // guards what follows
	waits map[string]chan string
}

// begin opens the stream, and reads it until cancel is called.
func (s *sseWay) begin(t *testing.T, hc *http.Client, url string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/sse", nil)
	require.NoError(t, err)
	resp, err := hc.Do(req)
	require.NoError(t, err)
	data := make(chan string)
	s.ended = make(chan struct{})
	go func() {
		defer close(s.ended)
		defer close(data)
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				data <- text
			}
		}
	}()
	endpoint := <-data
	s.to = func(body string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+endpoint, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		req.Header.Set("Content-Type", "application/json")
		if resp, err := hc.Do(req); err == nil {
			_ = resp.Body.Close()
		}
	}
	given := make(chan struct{})
	go func() {
		defer close(given)
		for text := range data {
			var m message
			if json.Unmarshal([]byte(text), &m) == nil && m.Method == "" {
				s.wait(string(m.ID)) <- text
			}
		}
	}()
	s.cancel = sync.OnceFunc(func() {
		cancel()
		<-s.ended
		<-given
	})
	t.Cleanup(s.cancel)
}

// wait returns where the answer with an id comes.
func (s *sseWay) wait(id string) chan string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waits[id] == nil {
		s.waits[id] = make(chan string, 1)
	}
	return s.waits[id]
}

// post sends a message, and waits for its answer if it has an id.
func (s *sseWay) post(body, id string) {
	s.to(body)
	if id != "" {
		<-s.wait(id)
	}
}

func (s *sseWay) ask(ctx context.Context, id, method, params string) string {
	s.to(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
	select {
	case got := <-s.wait(id):
		return got
	case <-s.ended:
		return ""
	case <-ctx.Done():
		s.to(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
		return ""
	}
}

// recordedPolicies are those of TestRecords.
const recordedPolicies = allowAll + `
@id("no") @reason("not that") forbid (principal, action == Action::"call", resource == Tool::"a/add") when {context.args has a && context.args.a == decimal("13.0")};
@id("hide") forbid (principal, action, resource == Tool::"a/paint");
@id("one") @over("1/h") forbid (principal, action, resource == Tool::"a/random");
@id("asks") @ask("May it?") forbid (principal, action, resource == Tool::"a/steps");
@id("withheld") forbid (principal, action == Action::"deliver", resource == Tool::"a/reflect") when {context.front != "none"};
@id("no-blob") forbid (principal, action == Action::"read", resource == Resource::"a/fake://blob") when {context.front != "none"};
@id("watch") @shadow forbid (principal, action == Action::"call", resource == Tool::"a/echo") when {context.front != "none"};
`

// TestRecords: each decision about a request and each outcome has one record, whatever the
// way, before and after the server is connected.
func TestRecords(t *testing.T) {
	t.Parallel()
	echo := `{"name":"a__echo","arguments":{"message":"canary-5512"}}`
	for _, row := range []struct {
		name   string
		asks   []string // METHOD PARAMS
		want   []string
		cut    bool // the client takes its request back
		leaves bool // the client ends instead
	}{
		{name: "allowed", asks: []string{"tools/call " + echo}, want: []string{"call a/echo allow all ok"}},
		{name: "allowed with arguments", asks: []string{`tools/call {"name":"a__add","arguments":{"a":1,"b":2}}`}, want: []string{"call a/add allow all ok"}},
		{name: "denied by arguments", asks: []string{`tools/call {"name":"a__add","arguments":{"a":13,"b":2}}`}, want: []string{"call a/add deny no"}},
		{name: "hidden", asks: []string{`tools/call {"name":"a__paint","arguments":{}}`}, want: []string{"call a/paint deny hide"}},
		{name: "unknown", asks: []string{`tools/call {"name":"a__nothing","arguments":{}}`}, want: []string{"call /a__nothing deny"}},
		{name: "limit", asks: []string{`tools/call {"name":"a__random"}`, `tools/call {"name":"a__random"}`}, want: []string{"call a/random allow all ok", "call a/random limit one"}},
		{name: "asks, unasked", asks: []string{`tools/call {"name":"a__steps","arguments":{"n":1}}`}, want: []string{"call a/steps deny asks"}},
		{name: "tool error", asks: []string{`tools/call {"name":"a__fail"}`}, want: []string{"call a/fail allow all toolerror"}},
		{name: "error", asks: []string{`tools/call {"name":"a__refuse"}`}, want: []string{"call a/refuse allow all error"}},
		{name: "not delivered", asks: []string{`tools/call {"name":"a__reflect","arguments":{}}`}, want: []string{"call a/reflect allow all ok", "deliver a/reflect deny withheld"}},
		{name: "timeout", asks: []string{`tools/call {"name":"slow__slow","arguments":{"ms":60000}}`}, want: []string{"call slow/slow allow all timeout"}},
		{name: "the server dies", asks: []string{`tools/call {"name":"a__exit","arguments":{}}`}, want: []string{"call a/exit allow all lost"}},
		{name: "no server", asks: []string{`tools/call {"name":"gone__x"}`}, want: []string{"call /gone__x error"}},
		{name: "cancelled", asks: []string{`tools/call {"name":"a__slow","arguments":{"ms":60000}}`}, want: []string{"call a/slow allow all cancelled"}, cut: true},
		{name: "the client ends", asks: []string{`tools/call {"name":"a__slow","arguments":{"ms":60000}}`}, want: []string{"call a/slow allow all cancelled"}, leaves: true},
		{name: "a prompt", asks: []string{`prompts/get {"name":"a__greet","arguments":{"who":"x"}}`}, want: []string{"get a/greet allow all ok"}},
		{name: "no prompt", asks: []string{`prompts/get {"name":"a__none"}`}, want: []string{"get /a__none deny"}},
		{name: "a resource", asks: []string{`resources/read {"uri":"fake://note"}`}, want: []string{"read a/fake://note allow all ok"}},
		{name: "a denied resource", asks: []string{`resources/read {"uri":"fake://blob"}`}, want: []string{"read a/fake://blob deny no-blob"}},
		{name: "no resource", asks: []string{`resources/read {"uri":"none://me:canary-5512@h/x?token=canary-5512#f"}`}, want: []string{"read /none://h/x error"}},
		{name: "completion", asks: []string{`completion/complete {"ref":{"type":"ref/prompt","name":"a__greet"},"argument":{"name":"who","value":"canary-5512"}}`}, want: []string{"get a/greet allow all ok"}},
		{name: "subscription", asks: []string{`resources/subscribe {"uri":"fake://note"}`, `resources/subscribe {"uri":"fake://blob"}`}, want: []string{"read a/fake://note allow all ok", "read a/fake://blob deny no-blob"}},
		{name: "nothing to record", asks: []string{`ping {}`, `tools/call {}`, `resources/read {"uri":1}`}, want: nil},
	} {
		for _, name := range []string{"stdio", "stdio, stateless", "session", "sse", "http, stateless"} {
			stateless := strings.HasSuffix(name, "stateless")
			if stateless && row.name == "subscription" || row.leaves && strings.HasPrefix(name, "stdio") {
				continue // it has another method, and waits for what is under way
			}
			for _, warm := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, warm %t", row.name, name, warm), func(t *testing.T) {
					t.Parallel()
					a := runtimetest.Full("2025-11-25")
					b := newPool(map[string]*runtimetest.Server{"a": a, "slow": {Tools: runtimetest.New().Tools}, "gone": runtimetest.New()})
					b.refuse = func(key proxy.Key) bool { return key.Server == "gone" }
					j, log := journaled(t, recording.Options{})
					servers := proxy.Named("a", "slow", "gone")
					servers[1].RequestTimeout = time.Second
					started := make(chan struct{}, 100)
					a.Seen = func(frame []byte) {
						if bytes.Contains(frame, []byte(`"tools/call"`)) {
							started <- struct{}{}
						}
					}
					p := b.serve(t, proxy.Options{Servers: servers, Gate: gated(t, recordedPolicies), Journal: j})
					w := waysTo(t, p)[name]()
					if warm {
						w.ask(t.Context(), "tools/list", `{}`)
						w.ask(t.Context(), "tools/call", echo)
						w.ask(t.Context(), "tools/call", `{"name":"slow__echo","arguments":{"message":"m"}}`)
						<-started
					}
					for _, ask := range row.asks {
						method, params, _ := strings.Cut(ask, " ")
						ctx, cancel := context.WithCancel(t.Context())
						done := make(chan string, 1)
						go func() { done <- w.ask(ctx, method, params) }()
						if row.cut || row.leaves {
							<-started
						}
						if row.cut {
							cancel()
						}
						if row.leaves {
							w.end()
						}
						checkRef(t, j, <-done)
						cancel()
					}
					want := row.want
					if warm {
						want = append([]string{"call a/echo allow all ok", "call slow/echo allow all ok"}, want...)
					}
					if row.cut {
						wait.Until(t, "the outcome", func() bool { got := told(log.all()); return slices.Contains(got, want[len(want)-1]) })
					}
					w.end()
					_ = p.Close()
					closeJournal(t, j)
					all := log.all()
					if got := told(all); !slices.Equal(got, want) {
						t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
					}
					for _, r := range all {
						checkRecord(t, w, r)
					}
					for _, text := range log.raw {
						if bytes.Contains(text, []byte("canary")) {
							t.Errorf("it is in the log: %s", text)
						}
					}
				})
			}
		}
	}
}

// checkRef checks that a denial names its record.
func checkRef(t *testing.T, j *recording.Journal, answer string) {
	t.Helper()
	if denied := strings.Contains(answer, `"code":-31009`) || strings.Contains(answer, `"code":-31029`); denied != strings.Contains(answer, `"record":"`+j.Run()+"-") {
		t.Errorf("got %s", answer)
	}
}

// checkRecord checks what each record of a request says of it.
func checkRecord(t *testing.T, w *way, r audit.Record) {
	t.Helper()
	if slices.Contains([]audit.Kind{audit.KindDone, audit.KindStart, audit.KindStop}, r.Kind) {
		return
	}
	if r.Kind == audit.KindList && (r.Count == 0 || r.Target.Definition == "" || r.Text != "tools/list") {
		t.Errorf("got %+v", r)
	}
	if r.Principal.ID != "local" || r.Target.Era != w.era || len(r.Principal.Flow) != 16 || (w.handler == "http") != r.Principal.Addr.IsLoopback() || !strings.HasPrefix(r.Decision.Generation, "sha256:") {
		t.Errorf("got %+v", r)
	}
	if listed := r.Kind == audit.KindCall && r.Decision.Verdict == audit.VerdictAllow && r.Target.Server != ""; listed && !strings.HasPrefix(r.Target.Definition, "sha256:") {
		t.Errorf("got %+v", r)
	}
	if r.Target.Item == "echo" && r.Target.Server == "a" && (!slices.Equal(r.Decision.Would, []string{"watch"}) || r.Arguments.Digest == "" || r.Arguments.Size != int64(len(`{"message":"canary-5512"}`))) {
		t.Errorf("got %+v", r)
	}
}

// reached counts the calls that servers get, and notes those of which there is no record yet.
type reached struct {
	j      *recording.Journal
	mu     sync.Mutex // guards what follows
	before uint64
	calls  int
	early  int
}

func (r *reached) watch(s *runtimetest.Server) {
	s.Seen = func(frame []byte) {
		if bytes.Contains(frame, []byte(`"tools/call"`)) || bytes.Contains(frame, []byte(`"prompts/get"`)) || bytes.Contains(frame, []byte(`"resources/read"`)) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.calls++
			now := r.j.Health().Records
			if now == r.before {
				r.early++
			}
			r.before = now
		}
	}
}

// TestRecordsComeFirst: a server gets nothing that is not recorded, and a client no answer
// whose outcome is not.
func TestRecordsComeFirst(t *testing.T) {
	t.Parallel()
	for _, durability := range []recording.Durability{recording.Process, recording.Logged, recording.Power} {
		for _, name := range []string{"stdio", "stdio, stateless", "session", "sse", "http, stateless"} {
			t.Run(fmt.Sprintf("%s, durability %d", name, durability), func(t *testing.T) {
				t.Parallel()
				a := runtimetest.Full("2025-11-25")
				j, log := journaled(t, recording.Options{Durability: durability})
				r := &reached{j: j}
				r.watch(a)
				b := newPool(map[string]*runtimetest.Server{"a": a})
				p := b.serve(t, proxy.Options{Journal: j})
				w := waysTo(t, p)[name]()
				for _, ask := range []string{
					`tools/call {"name":"a__slow","arguments":{"ms":1}}`, `tools/call {"name":"a__slow","arguments":{"ms":300}}`, `tools/call {"name":"a__slow","arguments":{"ms":300}}`,
					`prompts/get {"name":"a__greet","arguments":{"who":"x"}}`, `resources/read {"uri":"fake://note"}`,
				} {
					method, params, _ := strings.Cut(ask, " ")
					got := w.ask(t.Context(), method, params)
					at := j.Health().Records
					over := told(log.all())
					if !strings.Contains(got, `"result"`) {
						t.Errorf("got %s", got)
					}
					r.mu.Lock()
					if decided := r.before; strings.Contains(ask, "300") && durability == recording.Process && at != decided+1 { // the decision is in the log by then
						t.Errorf("the outcome is recorded too late: %d records, and %d when the server had it", at, decided)
					}
					r.mu.Unlock()
					if durability != recording.Process && (len(over) == 0 || !strings.HasSuffix(over[len(over)-1], " ok")) {
						t.Errorf("the log has %q", over)
					}
				}
				if r.calls != 5 || r.early != 0 {
					t.Errorf("the server got %d calls, %d of them before their record", r.calls, r.early)
				}
				w.end()
			})
		}
	}
}

// TestUnrecorded: what cannot be recorded is refused before the server hears of it. Lists and
// pings go on.
func TestUnrecorded(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"stdio", "stdio, stateless", "session", "sse", "http, stateless"} {
		for _, optional := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, optional %t", name, optional), func(t *testing.T) {
				t.Parallel()
				a := runtimetest.Full("2025-11-25")
				j, log := journaled(t, recording.Options{Optional: optional})
				b := newPool(map[string]*runtimetest.Server{"a": a})
				r := &reached{j: j}
				r.watch(a)
				p := b.serve(t, proxy.Options{Journal: j, Gate: gated(t, recordedPolicies)})
				w := waysTo(t, p)[name]()
				const echo = `{"name":"a__echo","arguments":{"message":"m"}}`
				if got := w.ask(t.Context(), "tools/call", echo); !strings.Contains(got, `"result"`) {
					t.Errorf("got %s", got)
				}
				log.mu.Lock()
				log.err = io.ErrShortWrite
				log.mu.Unlock()
				for j.Health().Err == nil {
					w.ask(t.Context(), "tools/call", echo)
				}
				before := r.calls
				for ask, fails := range map[string]bool{
					"tools/call " + echo: true, `prompts/get {"name":"a__greet","arguments":{"who":"x"}}`: true, `resources/read {"uri":"fake://note"}`: true,
					"tools/list {}": false,
				} {
					method, params, _ := strings.Cut(ask, " ")
					got := w.ask(t.Context(), method, params)
					if refused := strings.Contains(got, `"code":-31050`) && strings.Contains(got, `"kind":"unrecorded"`) && strings.Contains(got, "mcpctl doctor"); refused != (fails && !optional) || !refused && !strings.Contains(got, `"result"`) {
						t.Errorf("%s: got %s", ask, got)
					}
				}
				if n := r.calls - before; n != map[bool]int{true: 3}[optional] {
					t.Errorf("the server got %d calls", n)
				}
				log.mu.Lock()
				log.err = nil
				log.mu.Unlock()
				wait.Until(t, "an answer", func() bool { return strings.Contains(w.ask(t.Context(), "tools/call", echo), `"result"`) })
				w.end()
			})
		}
	}
}

// TestRecordsOfQuestions: a call that asks its client has one decision and one outcome,
// however many requests it takes, and so has each question. What was answered is in none.
func TestRecordsOfQuestions(t *testing.T) {
	t.Parallel()
	for _, version := range []string{runtimetest.RevNov, runtimetest.RevJuly} {
		for _, denied := range []bool{false, true} {
			text := allowAll
			if denied {
				text += `@id("no-questions") forbid (principal, action == Action::"question", resource);`
			}
			j, log := journaled(t, recording.Options{})
			b := newPool(map[string]*runtimetest.Server{"a": askingForm(version, nil)})
			p := b.serve(t, proxy.Options{Gate: gated(t, text), Journal: j})
			c := attach(t, p)
			c.note = func(string) {}
			c.answer = func(message) string { return `{"action":"accept","content":{"name":"canary-5512"}}` }
			c.result("tools/list", `{}`)
			const call = `{"name":"a__asks","arguments":{}}`
			got := c.july(`"x"`, "tools/call", call, canElicit)
			if strings.Contains(got, `"inputRequests"`) {
				state, key := cutOut(got, `"requestState":"`, `"`), cutOut(got, `"inputRequests":{"`, `"`)
				got = c.july(`"y"`, "tools/call", strings.TrimSuffix(call, "}")+`,"inputResponses":{"`+key+`":{"action":"accept","content":{"name":"canary-5512"}}},"requestState":"`+state+`"}`, canElicit)
			}
			if strings.Contains(got, `"error"`) != denied && version == runtimetest.RevJuly {
				t.Errorf("%s, denied %t: got %s", version, denied, got)
			}
			c.end()
			_ = p.Close()
			closeJournal(t, j)
			question := "question a/elicitation/create allow all ok"
			if denied {
				question = "question a/elicitation/create deny no-questions"
			}
			lines := told(log.all())
			calls := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !strings.HasPrefix(line, "call a/asks allow all ") })
			questions := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return line != question })
			want := 1
			if version == runtimetest.RevJuly && !denied {
				want = 2 // the server is called again with the answers
			}
			if len(calls) != want || len(questions) != 1 || len(lines) != want+1 || strings.HasSuffix(calls[0], "all ") {
				t.Errorf("%s, denied %t: got %q", version, denied, lines)
			}
			for _, text := range log.raw {
				if bytes.Contains(text, []byte("canary")) {
					t.Errorf("it is in the log: %s", text)
				}
			}
		}
	}
}

// TestRecordsOfCredentials: refused credentials are counted by address and reason, and
// recorded every ten seconds.
func TestRecordsOfCredentials(t *testing.T) {
	t.Parallel()
	j, log := journaled(t, recording.Options{})
	p := newPool(map[string]*runtimetest.Server{"a": runtimetest.New()}).serve(t, proxy.Options{Journal: j})
	told10 := func(want ...string) {
		t.Helper()
		_ = p.Close() // which records what was counted
		closeJournal(t, j)
		if got := told(log.all()); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
			t.Errorf("got %q", got)
		}
	}
	d, _, _, expired, revoked := newAuthenticator(t)
	b, closeServer := openServer(t, p, d)
	for range 20 {
		b.ask(expired, "tools/list", `{}`, "")
		b.ask(revoked, "tools/list", `{}`, "")
	}
	closeServer()
	told10("auth deny expired 20", "auth deny unknown 20")
	for _, r := range log.all() {
		if r.Kind == audit.KindAuth && !r.Principal.Addr.IsLoopback() {
			t.Errorf("got %+v", r)
		}
	}
}

// startTask calls the one tool of a proxy, and returns the id of the task that comes of it.
func startTask(ask func(method, members string) string) string {
	tool := cutOut(ask("tools/list", ""), `"name":"`, `"`)
	return cutOut(ask("tools/call", `,"name":"`+tool+`","arguments":{}`), `"taskId":"`, `"`)
}

// TestRecordsOfTasks: that there is a task is the outcome of its call, and its result is
// delivered in a record of its own. Who looks meanwhile is in none.
func TestRecordsOfTasks(t *testing.T) {
	t.Parallel()
	s, tasks := taskServer([]string{runtimetest.RevJuly}, "required")
	defer tasks.Close()
	j, log := journaled(t, recording.Options{})
	p := tasksEndpoint(t, map[string]*runtimetest.Server{"a": s}, proxy.Options{Gate: gated(t, allowAll), Journal: j})
	c := attach(t, p)
	ask := func(method, members string) string { return c.call(method, modern(takesTasks, members)) }
	id := startTask(ask)
	for range 3 {
		ask("tasks/get", `,"taskId":"`+id+`"`)
	}
	ask("tasks/cancel", `,"taskId":"`+id+`"`)
	c.end()
	_ = p.Close()
	closeJournal(t, j)
	if got := told(log.all()); !slices.Equal(got, []string{"call a/work allow all ok"}) {
		t.Errorf("got %q", got)
	}
}
