package eras_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/seal"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

var (
	only  = flag.String("servers", "", "the servers of the random cases, with commas; \"\" is all")
	cases = flag.Int("cases", 400, "how many random cases TestNobodyElse has; make eras-random has 10,000")
	seed  = flag.Uint64("seed", 0, "of the random cases; 0 takes one at random")
)

// perMeeting is how many cases two clients have with each other before two
// others come.
const perMeeting = 40

// TestNobodyElse has two clients of endpoints chosen at random call servers chosen
// at random at the same time, with the same ids and the same progress tokens:
// no answer, progress, log line or question of one ever reaches the other.
func TestNobodyElse(t *testing.T) {
	t.Parallel()
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("seed %d, %d cases", *seed, *cases)
	r := rand.New(rand.NewPCG(*seed, 0))
	var servers []config.Entry
	back := map[string]backend{}
	for _, b := range backends() {
		if !slices.Contains([]string{"stdio", "http", "nosession", "sse", "modern-stdio", "modern-http", "dual", "dual-http"}, b.name) {
			continue
		}
		if *only != "" && !slices.Contains(strings.Split(*only, ","), b.name) {
			continue
		}
		entry, w, err := b.start()
		require.NoError(t, err)
		defer w.close()
		entry.Name = b.name
		back[b.name] = b
		servers = append(servers, entry)
	}
	p := &pair{ring: seal.NewKeyring()}
	var err error
	if p.proxy, p.guard, err = newProxy(p.ring, back, servers); err != nil {
		t.Fatal(err)
	}
	defer p.proxy.Close()
	p.serve()
	defer p.stopServing()

	var sum tally
	for done := 0; done < *cases; done += perMeeting {
		m := &meeting{p: p, servers: servers, r: r}
		if err := m.hold(min(perMeeting, *cases-done), &sum); err != nil {
			var stacks bytes.Buffer // a proxy that is stuck is so in this process
			_ = pprof.Lookup("goroutine").WriteTo(&stacks, 1)
			t.Fatalf("seed %d, cases from %d on: %v\n%s", *seed, done, err, stacks.String())
		}
	}
	require.NoError(t, p.held(slices.Collect(maps.Keys(back))...))
	t.Logf("%+v", sum)
	// Some questions must be refused: over stdio they name no call, and may be
	// those of one that was cancelled just now. Were most of them, this would
	// prove little.
	if sum.Answered*4 < sum.Asked || sum.Progress == 0 || sum.Logs == 0 {
		t.Errorf("too little has come through: %+v", sum)
	}
}

// tally counts what has come through.
type tally struct{ Calls, Asked, Answered, Refused, Cancelled, Progress, Logs int }

// serve puts the HTTP endpoints behind a listener.
func (p *pair) serve() {
	o := proxy.HTTPOptions{}
	if wire.Identity() {
		o.Authenticator = identityAuth()
	}
	p.http, p.sse = p.proxy.NewHTTPHandler(o), p.proxy.NewSSEHandler(proxy.SSEOptions{HTTPOptions: o})
	mux := http.NewServeMux()
	mux.Handle("/mcp", p.http)
	mux.Handle("/sse", p.sse)
	mux.Handle("/messages", p.sse.Messages())
	p.srv = httptest.NewServer(mux)
	if p.rec != nil {
		p.srv.Config.Handler = p.rec.handler(clientLeg, mux)
	}
	p.url = p.srv.URL
}

// stdio returns what serves stdio endpoints.
func (p *pair) stdio() stdioServer {
	if p.rec != nil {
		return recordedStdio{p.proxy, p.rec}
	}
	return p.proxy
}

func (p *pair) stopServing() {
	p.http.Close()
	p.sse.Close()
	p.srv.CloseClientConnections()
	p.srv.Close()
}

// meeting is two clients and what they do at the same time.
type meeting struct {
	p         *pair
	servers   []config.Entry
	r         *rand.Rand
	endpoints [2]endpoint
	clients   [2]*client
}

func (m *meeting) hold(n int, sum *tally) error {
	all := endpoints()
	for i := range m.clients {
		p := *m.p
		p.endpoint = all[m.r.IntN(len(all))]
		m.endpoints[i] = p.endpoint
		c, err := p.join(fmt.Sprintf("client%c%d", 'A'+i, m.r.IntN(1_000_000)))
		if err != nil {
			return err
		}
		defer c.close()
		m.clients[i] = c
		if !c.modern && p.endpoint.session {
			ctx, cancel := context.WithTimeout(context.Background(), *limit)
			_, err := c.roundTrip(ctx, ask{method: "logging/setLevel", members: `"level":"info"`})
			cancel()
			if err != nil {
				return err
			}
		}
	}
	for i := range n {
		if err := m.callBoth(i, sum); err != nil {
			return fmt.Errorf("%s and %s, case %d: %w", m.endpoints[0].name, m.endpoints[1].name, i, err)
		}
	}
	if err := m.checkNothingOfOther(sum); err != nil {
		return fmt.Errorf("%s and %s: %w", m.endpoints[0].name, m.endpoints[1].name, err)
	}
	return nil
}

// callBoth has both clients call with one id and one token.
func (m *meeting) callBoth(i int, sum *tally) error {
	ctx, cancel := context.WithTimeout(context.Background(), *limit)
	defer cancel()
	outcomes := make(chan error, len(m.clients))
	type plan struct{ ask, cancel bool }
	var plans [2]plan
	shared := m.r.IntN(3) == 0
	server := m.servers[m.r.IntN(len(m.servers))].Name
	for n, c := range m.clients {
		if !shared && n > 0 {
			server = m.servers[m.r.IntN(len(m.servers))].Name
		}
		plans[n] = plan{ask: m.r.IntN(2) == 0, cancel: m.r.IntN(8) == 0 && m.endpoints[n].name != "nosession"}
		arguments := fmt.Sprintf(`{"label":%q,"ask":%t}`, c.label, plans[n].ask)
		meta := `"progressToken":1`
		if c.modern {
			meta += `,"` + metaPrefix + `logLevel":"info"`
		}
		a := ask{method: "tools/call", members: fmt.Sprintf(`"name":%q,"arguments":%s`, server+"__tell", arguments), meta: meta, id: fmt.Sprint(i + 1000)}
		sum.Calls++
		if plans[n].ask {
			sum.Asked++
		}
		if plans[n].cancel {
			go func() { outcomes <- m.cancelled(ctx, n, a) }() // waited for below
			continue
		}
		go func() { // waited for below
			raw, err := c.request(ctx, a)
			outcomes <- m.checkOwn(n, plans[n].ask, raw, err)
		}()
	}
	var errs error
	for range m.clients {
		err := <-outcomes
		switch {
		case errors.Is(err, errRefused):
			sum.Refused++
		case errors.Is(err, errGone):
			sum.Cancelled++
		case errors.Is(err, errAnswered):
			sum.Answered++
		default:
			errs = errors.Join(errs, err)
		}
	}
	return errs
}

var (
	errRefused  = errors.New("the question was refused")
	errGone     = errors.New("the call was cancelled")
	errAnswered = errors.New("the question was answered")
)

// checkOwn checks that an answer is the client's own.
func (m *meeting) checkOwn(n int, asked bool, raw []byte, err error) error {
	c := m.clients[n]
	want := c.label + ": nothing"
	if asked {
		want = c.label + ": " + accepted(c.label)
	}
	var e *wire.RPCError
	switch other := m.clients[1-n].label; {
	case strings.Contains(string(raw), other) || err != nil && strings.Contains(err.Error(), other):
		return fmt.Errorf("%s got what is %s's: %s %w", c.label, other, raw, err)
	case err == nil && text(raw) == want && asked:
		return errAnswered
	case err == nil && text(raw) == want:
		return nil
	case asked && (errors.As(err, &e) || string(at(raw, "isError")) == "true"):
		return errRefused
	}
	return fmt.Errorf("%s got %.300s, %w; want %s", c.label, raw, err, want)
}

// cancelled cancels a call soon after it has begun; it may have been answered
// by then.
func (m *meeting) cancelled(ctx context.Context, n int, a ask) error {
	c := m.clients[n]
	k := c.start(a)
	time.Sleep(time.Duration(m.spread(n)) * time.Microsecond)
	if m.endpoints[n].modern && m.endpoints[n].http {
		k.hangUp()
	} else if err := c.notify("notifications/cancelled", `"requestId":`+a.id); err != nil {
		return err
	}
	// An answer after the cancel is no mistake: the two have passed each other.
	select {
	case <-k.answered:
		answer, err := k.wait(ctx)
		if err == nil && strings.Contains(string(answer.Result)+string(answer.Error), m.clients[1-n].label) {
			return fmt.Errorf("%s got what is the other's: %s%s", c.label, answer.Result, answer.Error)
		}
	case <-time.After(20 * time.Millisecond):
	}
	k.hangUp()
	return errGone
}

// spread is a pause that needs no lock: the random source is one goroutine's.
func (m *meeting) spread(n int) int { return 100 * (n + 1) * len(m.clients[n].label) }

// checkNothingOfOther checks that nothing that has come is the other client's.
func (m *meeting) checkNothingOfOther(sum *tally) error {
	time.Sleep(5 * time.Millisecond) // what is late may still come
	for n, c := range m.clients {
		other := m.clients[1-n].label
		c.mu.Lock()
		var all []message
		all = append(append(all, c.notes...), c.questions...)
		for _, k := range c.every {
			k.mu.Lock()
			all = append(all, k.notes...)
			k.mu.Unlock()
		}
		strays := strings.Join(c.strays, "; ")
		c.mu.Unlock()
		for _, x := range all {
			if strings.Contains(string(x.Params), other) {
				return fmt.Errorf("%s has heard what is %s's: %s %s", c.label, other, x.Method, x.Params)
			}
			switch x.Method {
			case "notifications/progress":
				sum.Progress++
			case "notifications/message":
				sum.Logs++
			}
		}
		if strings.Contains(strays, other) {
			return fmt.Errorf("%s has heard what is %s's: %s", c.label, other, strays)
		}
	}
	return nil
}
