//go:build faults && linux

package faults_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/wire"
)

// TestStdioPipelined: a client on standard input that sends a great many
// requests before it reads anything gets every answer once, and its own; mcpctl
// does not grow with what it has not read.
func TestStdioPipelined(t *testing.T) {
	t.Parallel()
	n := 100_000
	if testing.Short() {
		n = 20_000
	}
	d := serveAs(t, wire.Setup{Stdio: true, Args: []string{"-q"}, Servers: wire.Servers{
		"good": hostileEntry("good", ""), "bad": hostileEntry("bad", "exit-at-once"),
	}})
	go func() {
		w := bufio.NewWriter(d.In)
		for i := range n {
			server := "good"
			if i%100 == 99 {
				server = "bad"
			}
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s__echo","arguments":{"message":"m%d."}}}`+"\n", i, server, i)
		}
		_ = w.Flush() // what is not taken is not answered: see below
		_ = d.In.Close()
	}()
	time.Sleep(2 * time.Second) // so long nothing is read
	unread := d.usage(t)
	seen := make([]bool, n)
	answers := bufio.NewScanner(d.Out)
	answers.Buffer(nil, 1<<20)
	count := 0
	for answers.Scan() {
		var m struct{ ID *int64 }
		if err := json.Unmarshal(answers.Bytes(), &m); err != nil || m.ID == nil || *m.ID < 0 || *m.ID >= int64(n) || seen[*m.ID] {
			t.Fatalf("after %d answers: %v, got %s", count, err, answers.Bytes())
		}
		seen[*m.ID] = true
		count++
		k, text := check(answers.Text(), fmt.Sprint(*m.ID), fmt.Sprintf("good: m%d.", *m.ID))
		if want := *m.ID%100 == 99; (k == failed) != want || k != failed && k != right {
			t.Fatalf("%d: %s %s", *m.ID, k, text)
		}
	}
	if err := d.Wait(); err != nil || count != n {
		t.Errorf("%v: %d answers for %d requests\n%s", err, count, n, d.Stderr.Tail())
	}
	d.Stop(t)
	t.Logf("%d answers; unread: %v", count, unread)
	if unread.rss > 150*factor() {
		t.Errorf("memory %v", unread)
	}
}
