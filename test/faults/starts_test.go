//go:build faults && linux

package faults_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// lister is a client on standard input that lists tools.
type lister struct {
	*daemon
	out *bufio.Scanner
}

func newLister(t *testing.T, servers wire.Servers) *lister {
	t.Helper()
	d := serveAs(t, wire.Setup{Stdio: true, Servers: servers, Env: []string{"MCPCTL_LIST_GRACE=2s"}})
	out := bufio.NewScanner(d.Out)
	out.Buffer(nil, 1<<20)
	return &lister{d, out}
}

// list returns how many tools there are, and who is missing.
func (l *lister) list(t *testing.T) (tools int, partial string) {
	t.Helper()
	_, err := l.In.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n"))
	require.NoError(t, err)
	for l.out.Scan() {
		var m struct {
			ID     int
			Result struct {
				Tools []struct{ Name string }
				Meta  map[string]json.RawMessage `json:"_meta"`
			}
		}
		require.NoError(t, json.Unmarshal(l.out.Bytes(), &m))
		if m.ID == 1 {
			return len(m.Result.Tools), string(m.Result.Meta["dev.mcpctl/partial"])
		}
	}
	t.Fatalf("mcpctl has ended:\n%s", l.Stderr.Tail())
	return 0, ""
}

// awaitAll lists again whenever the client is told of changes, until there are so many
// tools.
func (l *lister) awaitAll(t *testing.T, want int) (partial string) {
	t.Helper()
	tools, partial := l.list(t)
	for tools < want && l.out.Scan() {
		if strings.Contains(l.out.Text(), "tools/list_changed") {
			tools, partial = l.list(t)
		}
	}
	return partial
}

// TestFirstListBesideAHungServer: with one of twenty servers hung, the first list is
// answered without it, and is complete once that is there after all.
func TestFirstListBesideAHungServer(t *testing.T) {
	servers := wire.Servers{}
	for i := range 19 {
		servers[fmt.Sprint("s", i)] = hostileEntry(fmt.Sprint("s", i), "")
	}
	awake := filepath.Join(t.TempDir(), "awake")
	servers["slow"] = hostileEntry("slow", "", "-until", awake)
	l := newLister(t, servers)
	start := time.Now()
	tools, partial := l.list(t)
	took := time.Since(start)
	const slow = `{"server":"slow","kind":"connecting"}`
	if took > wait.FirstList || !strings.Contains(partial, slow) {
		t.Errorf("after %s: %d tools, %s", took, tools, partial)
	}
	if partial = l.awaitAll(t, 2*19); partial != "["+slow+"]" {
		t.Errorf("without one: %s", partial)
	}
	require.NoError(t, os.WriteFile(awake, nil, 0o600))
	if partial = l.awaitAll(t, 2*20); partial != "" {
		t.Errorf("at the end: %s", partial)
	}
	t.Logf("the first list after %s, all of it after %s", took, time.Since(start))
}

// TestManyStartsAtOnce: twenty servers, each of which takes a second of processor time
// to start, all come up with the default connect timeout.
func TestManyStartsAtOnce(t *testing.T) {
	servers := wire.Servers{}
	for i := range 20 {
		e := hostileEntry(fmt.Sprint("s", i), "", "-burn", "1s")
		delete(e, "connectTimeout")
		servers[fmt.Sprint("s", i)] = e
	}
	l := newLister(t, servers)
	start := time.Now()
	tools, partial := l.list(t)
	if took := time.Since(start); took > wait.FirstList || !strings.Contains(partial, "connecting") {
		t.Errorf("the first list after %s: %d tools, %s", took, tools, partial)
	}
	if partial = l.awaitAll(t, 2*20); partial != "" {
		t.Errorf("at the end: %s", partial)
	}
	if text := l.Stderr.String(); strings.Contains(text, "cannot be used") {
		t.Errorf("mcpctl says:\n%s", text)
	}
	t.Logf("all have come after %s", time.Since(start))
}
