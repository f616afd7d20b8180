//go:build faults && linux

package faults_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/faults/hostile"
	"github.com/mcpctl/mcpctl/test/wire"
)

// counters count what happens, by name.
type counters struct {
	mu sync.Mutex // guards m
	m  map[string]int
}

func (c *counters) add(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil {
		c.m = map[string]int{}
	}
	c.m[name]++
}

func (c *counters) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	all := 0
	for _, name := range slices.Sorted(maps.Keys(c.m)) {
		out = append(out, fmt.Sprintf("%s %d", name, c.m[name]))
		all += c.m[name]
	}
	return fmt.Sprintf("%d (%s)", all, strings.Join(out, ", "))
}

// TestSoak has servers and clients misbehave at random for as long as -soak
// says, beside some that do not.
func TestSoak(t *testing.T) {
	length := *soak
	if length == 0 {
		t.Skip("runs with -soak DURATION")
	}
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", *seed)
	log := filepath.Join(t.TempDir(), "faults")
	s := wire.Servers{"good": hostileEntry("good", "")}
	remotes := hostile.HTTPFaults()
	var bad []string
	for i := range 10 {
		name := fmt.Sprint("bad", i)
		bad = append(bad, name)
		s[name] = hostileEntry(name, "random", "-log", log)
		s[name]["requestTimeout"] = "2s"
	}
	for i := range 3 {
		name := fmt.Sprint("remote", i)
		bad = append(bad, name)
		s[name] = map[string]any{"url": changingServer(t, name, remotes, uint64(i)).URL + "/mcp", "connectTimeout": "5s"}
	}
	d := serve(t, s)
	g := startCallers(t, d, "good", 4, 2*time.Millisecond)
	time.Sleep(2 * time.Second) // what it needs when nobody disturbs it
	start := d.usage(t)
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	var answers, attacks counters
	var work sync.WaitGroup
	each := func(n uint64, do func(r *rand.Rand)) {
		r := rand.New(rand.NewPCG(*seed, n))
		work.Go(func() {
			for ctx.Err() == nil {
				do(r)
			}
		})
	}
	for i := range uint64(6) {
		each(i, func(r *rand.Rand) {
			time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond) // some fail at once
			server := bad[r.IntN(len(bad))]
			begun := time.Now()
			k, text := attempt(d, server, r.IntN(2000))
			answers.add(string(k))
			if took := time.Since(begun); k == wrong || k == unheard || took > wire.Limit-time.Second {
				t.Errorf("%s: %s after %s: %.300s", server, k, took, text)
			}
		})
	}
	each(100, func(r *rand.Rand) { // processes are killed
		time.Sleep(time.Duration(r.IntN(1500)) * time.Millisecond)
		all := slices.DeleteFunc(wire.Marked(d.Mark), func(p wire.MarkedProcess) bool {
			return strings.Contains(p.Command, "-name good") || !strings.Contains(p.Command, "-name")
		})
		if len(all) > 0 {
			_ = syscall.Kill(all[r.IntN(len(all))].PID, syscall.SIGKILL)
			attacks.add("process killed")
		}
	})
	for i := range uint64(3) {
		each(200+i, func(r *rand.Rand) {
			time.Sleep(time.Duration(r.IntN(200)) * time.Millisecond)
			attacks.add(misbehave(d, r, bad[r.IntN(len(bad))]))
		})
	}
	if wire.Identity() {
		each(300, func(r *rand.Rand) { attacks.add(visit(t, d, r, bad[r.IntN(len(bad))])) })
	}
	each(400, func(r *rand.Rand) { attacks.add(repolicy(t, d, r, bad)) })
	peak := 0
	for ctx.Err() == nil {
		peak = max(peak, d.usage(t).rss)
		time.Sleep(200 * time.Millisecond) // so often it is looked at
	}
	work.Wait()
	g.finish()
	end := d.usage(t)
	// Connections time out, and memory is given back, which serve looks at every 20 s.
	for settle := time.Now(); time.Since(settle) < wire.Limit && (end.files > start.files+40 || end.rss > start.rss+returned*factor()/2); end = d.usage(t) {
		time.Sleep(100 * time.Millisecond) // nothing tells
	}
	var faults counters
	raw, _ := os.ReadFile(log) // empty where none has started
	for line := range strings.Lines(string(raw)) {
		faults.add(cmp.Or(strings.TrimSpace(line), "none"))
	}
	d.Stop(t)
	left := len(wire.Marked(d.Mark))
	t.Logf("after %s, seed %d:\n  calls to servers that behave: %d, all right, the slowest %s\n  calls to others: %v\n  faults of servers, one a start: %v\n  faults of clients: %v\n  processes left: %d\n  memory: %d MiB at the start, %d at most, %d at the end\n  files: %d at the start, %d at the end",
		length, *seed, g.calls.Load(), slices.Max(g.took).Round(time.Millisecond), &answers, &faults, &attacks, left, start.rss, max(peak, end.peak), end.rss, start.files, end.files)
	if end.files > start.files+60 || end.rss > start.rss+returned*factor() {
		t.Errorf("%v at the end, %v at the start", end, start)
	}
}

// repolicy replaces the policies: by others that hide, deny or limit what servers that
// misbehave offer, by none or by a text that is none. The one that behaves stays allowed.
func repolicy(t *testing.T, d *daemon, r *rand.Rand, bad []string) string {
	time.Sleep(time.Duration(300+r.IntN(1000)) * time.Millisecond) // so long they count
	path := filepath.Join(filepath.Dir(d.Config), "config.yaml")
	what, text := "no policies", ""
	switch r.IntN(5) {
	case 0:
		what, text = "policies broken", "access: {rules: [{deny: "
	case 1:
		what, text = "policies that limit", `access: {default: allow, rules: [{limit: "*", to: `+bad[r.IntN(len(bad))]+`, over: 5/s}]}`
	case 2:
		what, text = "policies about arguments", `access: {default: allow, rules: [{deny: "*", to: `+bad[r.IntN(len(bad))]+`/echo, when: {args.message: {like: "*1*"}}}]}`
	case 3:
		what, text = "policies that hide", `access: {default: deny, rules: [{allow: "*", to: [good, `+bad[r.IntN(len(bad))]+`]}]}`
	}
	if err := os.WriteFile(path+".new", []byte(wire.Always()+text+"\n"), 0o600); err != nil {
		t.Error(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Error(err)
	}
	return what
}

// changingServer is a server over HTTP with another fault every few seconds.
func changingServer(t *testing.T, name string, faults []string, n uint64) *httptest.Server {
	r := rand.New(rand.NewPCG(*seed, 1000+n))
	var mu sync.Mutex // guards what follows
	var current http.Handler
	var until time.Time
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		mu.Lock()
		if time.Now().After(until) {
			current, until = hostile.Handler(name, faults[r.IntN(len(faults))]), time.Now().Add(3*time.Second)
		}
		h := current
		mu.Unlock()
		h.ServeHTTP(w, req)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// misbehave does one of the things that clients should not do, and says which.
func misbehave(d *daemon, r *rand.Rand, server string) string {
	ctx, cancel := context.WithTimeout(context.Background(), wire.Limit)
	defer cancel()
	send := func(text string, stay time.Duration) {
		c, err := wire.Dial(d.URL)
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = io.WriteString(c, text) // whoever is refused is refused
		time.Sleep(stay)
	}
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + server + `__echo","arguments":{"message":"m"}}}`
	whole := fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", postHead, len(call), call)
	short := time.Duration(r.IntN(300)) * time.Millisecond
	switch r.IntN(8) {
	case 0:
		send(whole, 0)
		return "post aborted"
	case 1:
		send(whole[:r.IntN(len(whole))], short)
		return "half a request"
	case 2:
		send(strings.Repeat(whole, 20), short)
		return "answers not read"
	case 3:
		send(postHead+"Content-Length: 50000000\r\n\r\n{", short)
		return "body claimed"
	case 4:
		c := newCaller(d)
		defer c.Close()
		_ = c.initialize(ctx) // refused or not
		return "session forgotten"
	case 5:
		c := newCaller(d)
		defer c.Close()
		if c.initialize(ctx) == nil {
			send("GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\nMcp-Session-Id: "+c.Session+"\r\n"+wire.Credential()+"\r\n", short)
		}
		return "stream not read"
	case 6:
		c := newCaller(d)
		defer c.Close()
		c.Session = fmt.Sprint("guess", r.Uint64())
		_, _ = c.call(ctx, server, "echo", 0, 0)
		return "session guessed"
	}
	garbage := make([]byte, r.IntN(5000))
	for i := range garbage {
		garbage[i] = byte(r.Uint32())
	}
	c := newCaller(d)
	defer c.Close()
	_, _ = c.Post(ctx, string(garbage))
	return "garbage"
}
