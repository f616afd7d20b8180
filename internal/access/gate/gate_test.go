package gate_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/access/guards"
	"github.com/mcpctl/mcpctl/internal/access/policy"
	"github.com/mcpctl/mcpctl/test/require"
)

const (
	allowAll = `@id("all") permit(principal, action, resource);` + "\n"
	// noExfil is the rule of three: what has seen both asks before it sends.
	noExfil = `@id("no-exfil") @ask("Send {tool} to {server}?") @reason("private data") forbid(principal, action == Action::"call", resource in Label::"outbound") when { context.seen.containsAll(["untrusted", "private"]) };` + "\n"
)

var items = []policy.Item{
	{Kind: policy.Tool, Server: "web", Name: "fetch", Definition: []byte(`{"name":"fetch"}`)},
	{Kind: policy.Tool, Server: "fs", Name: "read", Definition: []byte(`{"name":"read"}`)},
	{Kind: policy.Tool, Server: "mail", Name: "send", Definition: []byte(`{"name":"send","inputSchema":{"type":"object","properties":{"to":{"type":"string"}}}}`)},
}

var alice = &access.Principal{ID: "idp|alice", Name: "alice", Provider: "jwt"}

// world is a gate and what one principal may do.
type world struct {
	*gate.Gate
	who  *access.Principal
	view *policy.View
}

func newWorld(t testing.TB, c gate.Config, who *access.Principal, texts ...string) *world {
	t.Helper()
	set, err := policy.Compile(policy.Config{
		Groups:  map[string][]string{"eng": {"idp|alice"}, "staff": {"eng"}},
		Labels:  map[string][]string{"untrusted": {"web"}, "private": {"fs"}, "outbound": {"mail/send*"}},
		Sources: []policy.Source{{Name: "test.cedar", Text: []byte(allowAll + strings.Join(texts, ""))}},
	})
	require.NoError(t, err)
	c.Set = set
	var servers []policy.Server
	for _, it := range items {
		servers = append(servers, policy.Server{Name: it.Server, Transport: "stdio"})
	}
	return &world{gate.New(c), who, set.Snapshot(servers, items).View(who)}
}

// use returns a use of item i in a conversation.
func (w *world) use(i int, flow, args string) *gate.Use {
	u := &gate.Use{Server: items[i].Server, Item: items[i].Name, Flow: flow}
	u.Principal, u.Transport = w.who, "http"
	if args != "" {
		u.Arguments = []byte(args)
	}
	return u
}

// decide asks for a call of item i now.
func (w *world) decide(t testing.TB, i int, flow, args string) (*gate.Question, error) {
	t.Helper()
	visible, c := w.view.Item(i)
	if !visible {
		t.Fatalf("%s is not visible", items[i].Name)
	}
	return w.Decide(c, w.use(i, flow, args))
}

// call makes a call of item i and has the result delivered.
func (w *world) call(t testing.TB, i int, flow string) {
	t.Helper()
	if q, err := w.decide(t, i, flow, ""); q != nil || err != nil {
		t.Fatalf("%s: %v, %v", items[i].Name, q, err)
	}
	if _, err := w.deliver(i, flow, `{"content":[]}`); err != nil {
		t.Fatal(err)
	}
}

func (w *world) deliver(i int, flow, result string) (string, error) {
	c, marks := w.view.Delivery(i)
	out, err := w.Deliver(c, marks, w.use(i, flow, ""), []byte(result))
	return string(out), err
}

// open reports that a call passes, "ask", or the error.
func (w *world) open(t testing.TB, i int, flow, args string) string {
	t.Helper()
	q, err := w.decide(t, i, flow, args)
	switch {
	case err != nil:
		return err.Error()
	case q != nil:
		return "ask: " + q.Text
	}
	return "pass"
}

func (w *world) want(t testing.TB, want string, i int, flow string) {
	t.Helper()
	if got := w.open(t, i, flow, ""); got != want {
		t.Errorf("%s in %s: got %q, want %q", items[i].Name, flow, got, want)
	}
}

const (
	fetch, read, send = 0, 1, 2
	asked             = "ask: Send send to mail?"
)

// TestFlow: only a conversation that has seen both asks, and forgets.
func TestFlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, gate.Config{}, alice, noExfil)
		w.call(t, fetch, "a")
		w.want(t, "pass", send, "a")
		w.call(t, read, "b")
		w.want(t, "pass", send, "b")
		w.call(t, read, "a")
		w.want(t, asked, send, "a")
		w.want(t, "pass", send, "b")
		w.want(t, "pass", send, "new")
		w.want(t, "pass", read, "a")
		time.Sleep(59 * time.Minute)
		w.want(t, asked, send, "a")
		time.Sleep(59 * time.Minute)
		w.want(t, asked, send, "a")
		time.Sleep(time.Hour)
		w.want(t, "pass", send, "a")

		w.Replace(gate.Config{Set: w.Set(), Forget: time.Minute})
		w.call(t, fetch, "a")
		w.call(t, read, "a")
		w.want(t, asked, send, "a")
		time.Sleep(time.Minute)
		w.want(t, "pass", send, "a")
	})
}

// TestDecidedBefore: a result that is not delivered yet marks nothing.
func TestDecidedBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gate.Config{}, alice, noExfil)
	w.call(t, fetch, "a")
	if q, err := w.decide(t, read, "a", ""); q != nil || err != nil {
		t.Fatal(q, err)
	}
	w.want(t, "pass", send, "a")
	if _, err := w.deliver(read, "a", `{}`); err != nil {
		t.Fatal(err)
	}
	w.want(t, asked, send, "a")
}

func tainted(t testing.TB, w *world, flow string) *gate.Question {
	t.Helper()
	w.call(t, fetch, flow)
	w.call(t, read, flow)
	q, err := w.decide(t, send, flow, `{"to":"eve"}`)
	if q == nil || err != nil {
		t.Fatalf("not asked: %v", err)
	}
	return q
}

func TestAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gate.Config{}, alice, noExfil)
	for want, a := range map[string]gate.Answer{
		"": gate.Yes,
		"denied: a person has said no (policy no-exfil)":                                                                                           gate.No,
		"denied: nobody has allowed it within 5 minutes; call again to be asked again (policy no-exfil)":                                           gate.TimedOut,
		"denied: a person has to allow it, and nobody can be asked here: use a client with elicitation, or mcpctl on a terminal (policy no-exfil)": gate.Unasked,
	} {
		err := w.Answered(tainted(t, w, "a"), a)
		d, denied := errors.AsType[*access.Denied](err)
		if denied != (want != "") || denied && (err.Error() != want || d.Code != access.CodeDenied || d.Server != "mail" || d.Item != "send") {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	// A yes without "per flow" counts once.
	w.want(t, asked, send, "a")
}

func TestPerFlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		perFlow := strings.Replace(noExfil, `to {server}?`, `to {server}? per flow`, 1)
		w := newWorld(t, gate.Config{}, alice, perFlow)
		q := tainted(t, w, "a")
		if !q.PerFlow {
			t.Errorf("%q is not for the conversation", q.Text)
		}
		require.NoError(t, w.Answered(q, gate.Yes))
		w.want(t, "pass", send, "a")
		if err := w.Answered(tainted(t, w, "b"), gate.No); err == nil {
			t.Error("no is yes")
		}
		w.want(t, asked, send, "b")

		// Other policies ask again.
		other := newWorld(t, gate.Config{}, alice, perFlow, `@id("x") forbid(principal, action, resource) when { false };`)
		w.Replace(gate.Config{Set: other.Set()})
		w.view = other.view
		w.want(t, asked, send, "a")

		time.Sleep(time.Hour)
		w.call(t, fetch, "a")
		w.call(t, read, "a")
		w.want(t, asked, send, "a")
	})
}

// TestAskedOnce: several policies are one question, and one that is remembered is left out.
func TestAskedOnce(t *testing.T) {
	t.Parallel()
	const more = `@id("one") @ask("Really? per flow") forbid(principal, action, resource in Label::"outbound");
		@id("two") @ask("Really?") forbid(principal, action, resource in Label::"outbound");
		@id("three") @ask("Send to {server}?") forbid(principal, action, resource in Label::"outbound");`
	w := newWorld(t, gate.Config{}, alice, more)
	q, err := w.decide(t, send, "a", "")
	if err != nil || q == nil || strings.Count(q.Text, "Really?") != 1 && q.Text != "Really?\nSend to mail?\nReally?" || q.PerFlow || len(q.IDs) != 3 {
		t.Fatalf("got %+v, %v", q, err)
	}
	require.NoError(t, w.Answered(q, gate.Yes))
	if q, err = w.decide(t, send, "a", ""); err != nil || q == nil || !slices.Equal(q.IDs, []string{"three", "two"}) {
		t.Errorf("got %+v, %v", q, err)
	}
}

// TestPage: who cannot be asked by the client gets a page, and the call that was allowed
// there passes once.
func TestPage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		page := func(id, principal string) string { return "https://gate.example/approve/" + id + "?" + principal }
		w := newWorld(t, gate.Config{}, alice, noExfil)
		w.SetPage(page)
		err := w.Answered(tainted(t, w, "a"), gate.Unasked)
		d, ok := errors.AsType[*access.Denied](err)
		if !ok || !strings.HasPrefix(d.URL, "https://gate.example/approve/") || !strings.HasSuffix(d.URL, "?idp|alice") || !strings.Contains(err.Error(), "to allow it, open "+d.URL) {
			t.Fatalf("got %v", err)
		}
		id := strings.TrimSuffix(strings.TrimPrefix(d.URL, "https://gate.example/approve/"), "?idp|alice")
		r, ok := w.Consent.Find(time.Now(), id, alice.ID)
		if !ok || r.Name != "alice" || string(r.Arguments) != `{"to":"eve"}` || r.Text != "Send send to mail?" || r.Item != "send" || r.Server != "mail" {
			t.Errorf("got %+v", r)
		}
		if got := w.open(t, send, "a", `{"to":"eve"}`); got != asked {
			t.Errorf("before an answer: %q", got)
		}
		if !w.Consent.Answer(time.Now(), id, alice.ID, true) {
			t.Fatal("nobody waits for an answer")
		}
		for args, want := range map[string]string{`{"to":"bob"}`: asked, `{"to": "eve"}`: asked} {
			if got := w.open(t, send, "a", args); got != want {
				t.Errorf("%s: got %q", args, got)
			}
		}
		if got := w.open(t, send, "a", `{"to":"eve"}`); got != "pass" {
			t.Errorf("after a yes: %q", got)
		}
		if got := w.open(t, send, "a", `{"to":"eve"}`); got != asked {
			t.Errorf("again: %q", got)
		}

		nobody := newWorld(t, gate.Config{}, nil, noExfil)
		nobody.SetPage(page)
		if d, _ := errors.AsType[*access.Denied](nobody.Answered(tainted(t, nobody, "a"), gate.Unasked)); d == nil || d.URL != "" {
			t.Errorf("who has no name gets a page: %v", d)
		}
		if err := w.Answered(tainted(t, w, "a"), gate.No); strings.Contains(err.Error(), "https") {
			t.Errorf("who has said no gets a page: %v", err)
		}
	})
}

// TestOrder: limits count only what would otherwise pass, and before a person is asked.
func TestOrder(t *testing.T) {
	t.Parallel()
	const two = `@id("two") @reason("slow down") @over("2/m per principal") forbid(principal, action, resource);`
	w := newWorld(t, gate.Config{}, alice, two, `@id("never") forbid(principal, action, resource) when { context.args has to && context.args.to == "eve" };`)
	for range 5 {
		if got := w.open(t, send, "a", `{"to":"eve"}`); got != "denied (policy never)" {
			t.Fatalf("got %q", got)
		}
	}
	w.want(t, "pass", fetch, "a")
	w.want(t, "pass", read, "b")
	_, err := w.decide(t, send, "a", "")
	d, _ := errors.AsType[*access.Denied](err)
	if d == nil || d.Code != access.CodeLimited || d.Policy != "two" || d.RetryAfter <= 29*time.Second || d.RetryAfter > 30*time.Second || !strings.HasPrefix(d.Error(), "too many requests: slow down, again in 30 s") {
		t.Errorf("got %+v", d)
	}
}

// TestLimitBeforeAsk: what is asked counts, and who is over the limit is not asked.
func TestLimitBeforeAsk(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gate.Config{}, alice, noExfil, `@id("one") @over("1/h") forbid(principal, action, resource in Label::"outbound");`)
	tainted(t, w, "a")
	if _, err := w.decide(t, send, "a", ""); err == nil || !strings.HasPrefix(err.Error(), "too many requests") {
		t.Errorf("got %v", err)
	}
}

func TestPer(t *testing.T) {
	t.Parallel()
	bob := &access.Principal{ID: "idp|bob", Name: "bob", Provider: "jwt"}
	type try struct {
		who  *access.Principal
		item int
		flow string
	}
	for per, want := range map[string]string{
		"": "1000000", " per principal": "1010001", " per server": "1001000", " per tool": "1001000", " per flow": "1100000", " per group": "1010001", " per principal, flow": "1110001", " per server, principal": "1011001",
	} {
		w := newWorld(t, gate.Config{}, alice, `@id("one") @over("1/h`+per+`") forbid(principal, action, resource);`)
		got := ""
		for _, c := range []try{{alice, fetch, "a"}, {alice, fetch, "b"}, {bob, fetch, "a"}, {alice, read, "a"}, {alice, fetch, "a"}, {bob, fetch, "a"}, {nil, fetch, "a"}} {
			u := w.use(c.item, c.flow, "")
			u.Principal = c.who
			_, conditions := w.view.Item(c.item)
			if _, err := w.Decide(conditions, u); err == nil {
				got += "1"
			} else {
				got += "0"
			}
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", per, got, want)
		}
	}
}

func TestGuards(t *testing.T) {
	t.Parallel()
	g, err := guards.New(guards.Config{Secrets: guards.Label, Hidden: guards.Redact, Canaries: []string{"blue-heron-42"}})
	require.NoError(t, err)
	w := newWorld(t, gate.Config{Guards: g}, alice,
		`@id("no-secrets") @reason("it has a secret") forbid(principal, action == Action::"deliver", resource) when { context.found.contains("secret") };`,
		`@id("no-leak") forbid(principal, action == Action::"call", resource in Label::"outbound") when { context.found.contains("secret") || context.seen.contains("hidden") };`)
	if out, err := w.deliver(read, "a", `{"text":"all is well"}`); err != nil || out != `{"text":"all is well"}` {
		t.Errorf("got %s, %v", out, err)
	}
	if out, err := w.deliver(read, "a", `{"text":"the blue-heron-42"}`); err == nil || out != "" || err.Error() != "denied: it has a secret (policy no-secrets)" {
		t.Errorf("got %s, %v", out, err)
	}
	w.want(t, "pass", send, "a") // what was held back was not seen
	if got := w.open(t, send, "a", `{"to":"blue-heron-42"}`); got != "denied (policy no-leak)" {
		t.Errorf("got %q", got)
	}
	if out, err := w.deliver(read, "a", `{"text":"a\u200bb"}`); err != nil || out != `{"text":"ab"}` {
		t.Errorf("got %s, %v", out, err)
	}
	w.want(t, "denied (policy no-leak)", send, "a")
	if !w.Guarded() || newWorld(t, gate.Config{}, alice).Guarded() {
		t.Error("Guarded is wrong")
	}
}

// TestDeliverAsks: what asks about results denies.
func TestDeliverAsks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gate.Config{}, alice, `@id("x") @ask("Show it?") forbid(principal, action == Action::"deliver", resource in Server::"fs");`)
	if out, err := w.deliver(read, "a", `{}`); err == nil || out != "" || err.Error() != "denied: nobody can be asked about a result (policy x)" {
		t.Errorf("got %s, %v", out, err)
	}
}

// TestAgreed: a policy about all actions asks once, and what it has let pass is delivered.
func TestAgreed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gate.Config{}, alice, `@id("x") @ask("Use {tool}?") forbid(principal, action, resource in Server::"fs");`, `@id("one") @over("1/h") forbid(principal, action, resource);`)
	_, c := w.view.Item(read)
	delivery, marks := w.view.Delivery(read)
	u := w.use(read, "a", "")
	q, err := w.Decide(c, u)
	if q == nil || err != nil {
		t.Fatalf("got %v, %v", q, err)
	}
	if _, err := w.Deliver(delivery, marks, u, []byte(`{}`)); err == nil {
		t.Error("delivered before an answer")
	}
	require.NoError(t, w.Answered(q, gate.Yes))
	if _, err := w.Deliver(delivery, marks, u, []byte(`{}`)); err != nil {
		t.Error(err)
	}
}

// TestPanic: what cannot be evaluated is denied.
func TestPanic(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gate.Config{}, alice)
	broken := new(policy.Conditions) // of no view
	for name, err := range map[string]error{
		"decide":  func() error { _, err := w.Decide(broken, w.use(send, "a", "")); return err }(),
		"deliver": func() error { _, err := w.Deliver(broken, nil, w.use(send, "a", ""), []byte(`{}`)); return err }(),
		"guard": func() error { // a use of nobody's
			g := gate.New(gate.Config{Guards: new(guards.Guards)})
			_, err := g.Deliver(broken, nil, w.use(send, "a", ""), []byte(`{`))
			return err
		}(),
	} {
		if d, ok := errors.AsType[*access.Denied](err); !ok || d.Code != access.CodeDenied {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestQuiet(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gate.Config{Quiet: true}, alice, `@id("never") @reason("because") forbid(principal, action, resource in Server::"fs") when { context.front == "http" };`, noExfil)
	w.want(t, "denied", read, "a")
	w = newWorld(t, gate.Config{Quiet: true}, alice, noExfil)
	q := tainted(t, w, "a")
	if err := w.Answered(q, gate.No); err == nil || err.Error() != "denied: a person has said no" || len(q.IDs) != 0 {
		t.Errorf("got %v of %q", err, q.IDs)
	}
}

func TestNil(t *testing.T) {
	t.Parallel()
	var g *gate.Gate
	if q, err := g.Decide(nil, nil); q != nil || err != nil || g.Set() != nil || g.Guarded() {
		t.Error("nil does not allow all")
	}
	if out, err := g.Deliver(nil, nil, nil, []byte("x")); string(out) != "x" || err != nil {
		t.Errorf("got %s, %v", out, err)
	}
}

// TestParallel: of parallel calls of one conversation as many pass as limits let, and those
// after the labels are all asked.
func TestParallel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, gate.Config{}, alice, noExfil, `@id("ten") @over("10/h per principal") forbid(principal, action, resource in Server::"web");`)
	var mu sync.Mutex // guards passed
	passed := 0
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			if q, err := w.decide(t, fetch, "a", ""); q == nil && err == nil {
				mu.Lock()
				passed++
				mu.Unlock()
				_, _ = w.deliver(fetch, "a", `{}`)
			}
			_, _ = w.deliver(read, "a", `{}`)
			w.want(t, asked, send, "a")
		})
	}
	all.Wait()
	if passed != 10 {
		t.Errorf("%d pass, want 10", passed)
	}
}

// stored is a keeper of one day.
type stored struct {
	mu     sync.Mutex // guards what follows
	counts map[string]int64
	fails  bool
}

func (k *stored) Counts(context.Context, int64) (map[string]int64, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return maps.Clone(k.counts), nil
}

func (k *stored) Add(_ context.Context, _ int64, counts map[string]int64) (map[string]int64, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fails {
		return nil, errors.New("disk full")
	}
	for key, n := range counts {
		k.counts[key] += n
	}
	return k.counts, nil
}

func TestKeepQuotas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const quota = `@id("day") @over("3/d per principal") forbid(principal, action, resource);`
		k := &stored{counts: map[string]int64{}}
		run := func(calls int, stay time.Duration, want string) {
			w := newWorld(t, gate.Config{}, alice, quota)
			ctx, cancel := context.WithCancel(t.Context())
			var failures int
			var done sync.WaitGroup
			if err := w.RestoreQuotas(ctx, k); err != nil {
				failures++
			}
			done.Go(func() { w.KeepQuotas(ctx, k, func(error) { failures++ }) })
			synctest.Wait()
			got := ""
			for range calls {
				if _, err := w.decide(t, fetch, "a", ""); err == nil {
					got += "1"
				} else {
					got += "0"
				}
			}
			time.Sleep(stay)
			cancel()
			done.Wait()
			if got != want || failures != map[bool]int{true: 3}[k.fails] {
				t.Errorf("got %s, want %s; %d failures", got, want, failures)
			}
		}
		run(1, 0, "1")                     // kept at the end
		run(1, 2*gate.SyncInterval+1, "1") // and at intervals, once
		k.fails = true
		run(1, 2*gate.SyncInterval+1, "1")
		k.fails = false
		run(2, 0, "10")
	})
}

func BenchmarkDecide(b *testing.B) {
	w := newWorld(b, gate.Config{}, alice, noExfil, `@id("many") @over("100000000/s burst 100000000 per principal, tool") forbid(principal, action, resource);`)
	_, c := w.view.Item(send)
	u := w.use(send, "a", `{"to":"bob"}`)
	b.ReportAllocs()
	for b.Loop() {
		if q, err := w.Decide(c, u); q != nil || err != nil {
			b.Fatal(q, err)
		}
	}
}
