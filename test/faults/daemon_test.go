//go:build faults && linux

package faults_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/test/faults/hostile"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// hostileEntry returns the entry of the hostile server with some faults, "" for none.
func hostileEntry(name, faults string, more ...string) map[string]any {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	args := append([]string{"-name", name, "-fault", faults}, more...)
	e := map[string]any{"command": exe, "args": args, "shutdownTimeout": "1s", "connectTimeout": "5s"}
	if faults == "" { // its callers say themselves what is too long
		e["requestTimeout"], e["connectTimeout"] = patient.String(), patient.String()
	}
	return e
}

// daemon is a running mcpctl serve.
type daemon struct {
	*wire.Daemon
	start usage // once it listened
}

// serve starts mcpctl; the test ends it, and looks at what it leaves.
func serve(t testing.TB, s wire.Servers, args ...string) *daemon {
	t.Helper()
	return serveAs(t, wire.Setup{Servers: s, Args: args})
}

func serveAs(t testing.TB, s wire.Setup) *daemon {
	t.Helper()
	s.Program, s.Each = *program, prepareEntry
	if wire.Policies() { // all the servers have the same tools, whatever else they do
		locked, err := lockedTools()
		require.NoError(t, err)
		s.Locked = map[string]json.RawMessage{}
		for name := range s.Servers {
			s.Locked[name] = locked
		}
	}
	d := &daemon{Daemon: wire.Serve(t, s)}
	d.start = d.usage(t)
	return d
}

// lockedTools is what is locked of a server without faults.
var lockedTools = sync.OnceValues(func() (json.RawMessage, error) {
	e := hostileEntry("good", "")
	prepareEntry(rand.Text(), e)
	return wire.Lock(*program, e)
})

// prepareEntry adds to an entry what makes it the hostile server, and a bound.
func prepareEntry(mark string, e map[string]any) {
	if e["command"] != nil {
		env := map[string]string{wire.MarkName: mark, hostile.Env: "1"}
		if own, ok := e["env"].(map[string]string); ok {
			maps.Copy(env, own)
		}
		e["env"] = env
	}
	if e["requestTimeout"] == nil {
		e["requestTimeout"] = requestTimeout.String()
	}
}

// usage is what a process uses: memory in MiB.
type usage struct{ rss, peak, files, threads int }

func (u usage) String() string {
	return fmt.Sprintf("%d MiB (peak %d), %d files, %d threads", u.rss, u.peak, u.files, u.threads)
}

func (d *daemon) usage(t testing.TB) usage {
	t.Helper()
	u := wire.ReadUsage(d.Cmd.Process.Pid)
	if u.Threads == 0 {
		t.Fatalf("mcpctl is gone:\n%s", d.Stderr.Tail())
	}
	return usage{int(u.KB >> 10), int(u.PeakKB >> 10), u.Files, u.Threads}
}

// lazyText is a text that is made when it is printed.
type lazyText func() string

func (s lazyText) String() string { return s() }
