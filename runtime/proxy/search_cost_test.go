package proxy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/search"
	"github.com/mcpctl/mcpctl/internal/views"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// costVariable has TestSearchCost run, corpusVariable names the folder of published tools
// that it takes instead of those of internal/search.
const (
	costVariable   = "MCPCTL_SEARCH_COST"
	corpusVariable = "MCPCTL_TOOL_CORPUS"
)

// manyTools returns so many tools of servers. They are those of a corpus, several times if
// there are fewer.
func manyTools(t *testing.T, count int) map[string]*runtimetest.Server {
	t.Helper()
	type tool struct{ server, definition string }
	var all []tool
	if dir := os.Getenv(corpusVariable); dir != "" {
		raw, err := os.ReadFile(filepath.Join(dir, "tools.jsonl"))
		require.NoError(t, err)
		for line := range bytes.Lines(raw) {
			var in struct{ Server string }
			require.NoError(t, json.Unmarshal(line, &in))
			all = append(all, tool{in.Server, strings.TrimSpace(string(line))})
		}
	} else {
		raw, err := os.ReadFile("../search/testdata/tools.txt")
		require.NoError(t, err)
		server := ""
		for line := range strings.Lines(string(raw)) {
			part := strings.SplitN(strings.TrimSpace(line), " | ", 3)
			switch {
			case line[0] == '#' || part[0] == "":
			case line[0] != ' ':
				server = part[0]
			default:
				properties := "{"
				if len(part) == 3 {
					for i, name := range strings.Fields(part[2]) {
						properties += strings.Repeat(",", min(i, 1)) + fmt.Sprintf(`%q:{"type":"string"}`, name)
					}
				}
				all = append(all, tool{server, fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object","properties":%s}}`, part[0], strings.TrimSuffix(part[1], " |"), properties+"}")})
			}
		}
	}
	echo := office()["shop"].Tools[0].Call
	servers := map[string]*runtimetest.Server{}
	for i := range count {
		one, turn := all[i%len(all)], i/len(all)
		if turn > 0 {
			one.server += fmt.Sprint("-", turn)
		}
		if servers[one.server] == nil {
			servers[one.server] = runtimetest.New()
		}
		servers[one.server].Tools = append(servers[one.server].Tools, runtimetest.Tool{Definition: json.RawMessage(one.definition), Call: echo})
	}
	return servers
}

// sorted are durations in their order.
type sorted []time.Duration

func (s sorted) at(percent int) time.Duration { return s[(len(s)-1)*percent/100] }

// row is a row of a table, in milliseconds.
func (s sorted) row() string {
	return fmt.Sprintf("p50 %.2f ms, p99 %.2f ms of %d", s.at(50).Seconds()*1000, s.at(99).Seconds()*1000, len(s))
}

// timed does something until a time, with a pause, and returns how long each took.
func timed(until time.Time, pause time.Duration, do func()) (out sorted) {
	for time.Now().Before(until) {
		start := time.Now()
		do()
		out = append(out, time.Since(start))
		time.Sleep(pause)
	}
	slices.Sort(out)
	return out
}

var costQueries = []string{"refund a payment", "take a picture of the screen", "who is on call", "create_issue", "get rid of a document", "book a flight to Lisbon", "list the open pull requests", "translate a text"}

// TestSearchCost measures what searches cost, and what they cost others: make search-cost.
// Its bounds are for a machine that does nothing else.
func TestSearchCost(t *testing.T) {
	if os.Getenv(costVariable) == "" {
		t.Skip("make search-cost runs it: it needs a quiet machine")
	}
	search.Default() // is read once, by nobody's search
	for _, c := range []struct {
		tools int
		most  time.Duration // of a search, p99
	}{{1_399, 10 * time.Millisecond}, {20_000, 60 * time.Millisecond}} {
		t.Run(fmt.Sprint(c.tools), func(t *testing.T) {
			servers := manyTools(t, c.tools)
			names := make([]string, 0, len(servers))
			for name := range servers {
				names = append(names, name)
			}
			slices.Sort(names)
			quick := runtimetest.New()
			quick.Tools = []runtimetest.Tool{office()["shop"].Tools[0]}
			servers["quick"] = quick
			names = append(names, "quick")
			if c.tools < 2_000 {
				firstLists(t, servers, names)
			}
			engine := &search.Engine{Vocabulary: search.Default()}
			o := proxy.Options{Servers: proxy.Named(names...), Search: proxy.Search{List: views.ListSearch, Engine: engine}}
			p, client := start(t, &backends{servers: servers}, o)
			client.result("initialize", hi)
			call := func() { client.result("tools/call", `{"name":"quick__refund"}`) }
			call()
			client.result("tools/list", `{}`)
			begin := time.Now()
			n := 0
			ask := func() {
				n++
				client.result("tools/call", `{"name":"search_tools","arguments":{"queries":["`+costQueries[n%len(costQueries)]+`"]}}`)
			}
			ask()
			first := time.Since(begin)
			engine.Wait(t.Context())
			index := time.Since(begin)
			alone := timed(time.Now().Add(3*time.Second), 0, ask)
			t.Logf("%d tools of %d servers: first search %s, all indexed after %s at most; a search: %s", c.tools, len(names), first.Round(time.Millisecond), index.Round(time.Millisecond), alone.row())
			if alone.at(99) > c.most {
				t.Errorf("p99 of a search is %s, want %s at most", alone.at(99), c.most)
			}
			if c.tools < 2_000 {
				if index > 500*time.Millisecond {
					t.Errorf("indexed after %s, want 500ms at most", index)
				}
				crowd(t, p, o.Servers, call)
			}
		})
	}
}

// firstLists compares how long clients wait for the first list in both forms.
func firstLists(t *testing.T, servers map[string]*runtimetest.Server, names []string) {
	t.Helper()
	took := map[views.Form]sorted{}
	for range 12 {
		for _, form := range []views.Form{views.ListAll, views.ListSearch} {
			begin := time.Now()
			p, c := start(t, &backends{servers: servers}, proxy.Options{Servers: proxy.Named(names...), Search: proxy.Search{List: form}})
			c.result("initialize", hi)
			c.result("tools/list", `{}`)
			took[form] = append(took[form], time.Since(begin))
			c.end()
			_ = p.Close()
		}
	}
	for _, s := range took {
		slices.Sort(s)
	}
	all, found := took[views.ListAll].at(50), took[views.ListSearch].at(50)
	t.Logf("start to first list: %s as all, %s as search (p50 of 12)", all.Round(time.Millisecond), found.Round(time.Millisecond))
	if found > all+all/10 {
		t.Errorf("the first list takes %s in search mode, %s without", found, all)
	}
}

// crowd measures calls while 32 clients search, and a server is replaced ten times a second.
func crowd(t *testing.T, p *proxy.Proxy, servers []proxy.Server, call func()) {
	t.Helper()
	const pause, lasts = 2 * time.Millisecond, 8 * time.Second
	before := timed(time.Now().Add(lasts), pause, call)
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var searches, failed atomic.Int64
	var gone atomic.Bool // and has been before a search begins
	for i := range 32 {
		c := attach(t, p)
		c.note = func(string) {}
		c.result("initialize", hi)
		all.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				was := gone.Load()
				got := c.call("tools/call", `{"name":"search_tools","arguments":{"queries":["`+costQueries[n%len(costQueries)]+`"]}}`)
				searches.Add(1)
				if !strings.Contains(got, `"result"`) || was && gone.Load() && strings.Contains(got, servers[0].Name+"__") {
					failed.Add(1)
				}
			}
		})
	}
	replaced := 0
	all.Go(func() {
		for ticks := time.NewTicker(100 * time.Millisecond); ; replaced++ {
			select {
			case <-ctx.Done():
				ticks.Stop()
				return
			case <-ticks.C:
			}
			gone.Store(false)
			_, err := p.Reconfigure(servers[replaced%2:]) // without the first, and with it
			if err != nil {
				failed.Add(1)
			}
			gone.Store(replaced%2 == 1)
		}
	})
	during := timed(time.Now().Add(lasts), pause, call)
	stop()
	all.Wait()
	t.Logf("a call alone: %s; with 32 searchers (%d searches a second) and %d replacements: %s", before.row(), int(float64(searches.Load())/lasts.Seconds()), replaced, during.row())
	if failed.Load() > 0 {
		t.Errorf("%d searches failed, or found a server that was gone", failed.Load())
	}
	if moved := during.at(99) - before.at(99); moved > 5*time.Millisecond {
		t.Errorf("p99 of calls moves by %s, want 5ms at most", moved)
	}
}
