//go:build faults && linux

package faults_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/faults/hostile"
	"github.com/mcpctl/mcpctl/test/wire"
)

// servers are the entries of a servers.json.
type servers = wire.Servers

// hostileEntry gives the entry of the hostile server with some faults, "" for none.
func hostileEntry(name, faults string, more ...string) map[string]any {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	args := append([]string{"-name", name, "-fault", faults}, more...)
	e := map[string]any{"command": exe, "args": args, "shutdownTimeout": "1s", "connectTimeout": "5s"}
	if faults == "" {
		e["requestTimeout"] = patient.String() // its callers say themselves what is too long
	}
	return e
}

// daemon is a running mcpctl serve --http.
type daemon struct {
	*wire.Daemon
	cmd    *exec.Cmd
	config string // its servers.json
	home   string // MCPCTL_HOME
	url    string // of the endpoint
	mark   string
	stderr *output
	exited chan struct{}
	start  usage // once it listened
}

// serve starts mcpctl on a free port with nothing of this machine's settings;
// the test ends it, and looks at what it leaves.
func serve(t testing.TB, s servers, args ...string) *daemon {
	t.Helper()
	w := wire.Serve(t, wire.Setup{Program: *program, Servers: s, Each: equip, Args: args})
	d := &daemon{Daemon: w, cmd: w.Cmd, config: w.Config, home: w.Home, url: w.URL, mark: w.Mark, stderr: w.Stderr, exited: w.Exited}
	d.start = d.usage(t)
	return d
}

// equip adds to an entry what makes it the hostile server, and a bound.
func equip(mark string, e map[string]any) {
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

// stop ends the daemon and waits until nothing is left of it and its servers.
func (d *daemon) stop(t testing.TB) {
	t.Helper()
	d.Stop(t)
}

// nothingLeft waits until no process of the servers is left.
func (d *daemon) nothingLeft(t testing.TB, since time.Time) {
	t.Helper()
	wire.NothingLeft(t, d.mark, since)
}

// marked returns the processes that have a mark in their environment.
func marked(mark string) []wire.Process { return wire.Marked(mark) }

// output keeps what a process writes.
type output = wire.Output

// usage is what a process uses: memory in MiB.
type usage struct{ rss, peak, files, threads int }

func (u usage) String() string {
	return fmt.Sprintf("%d MiB (peak %d), %d files, %d threads", u.rss, u.peak, u.files, u.threads)
}

func (d *daemon) usage(t testing.TB) usage {
	t.Helper()
	proc := fmt.Sprintf("/proc/%d/", d.cmd.Process.Pid)
	status, err := os.ReadFile(proc + "status")
	if err != nil {
		t.Fatalf("mcpctl is gone: %v\n%s", err, d.stderr.Tail())
	}
	var u usage
	for line := range strings.Lines(string(status)) {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		n, _ := strconv.Atoi(words[1]) // of lines that have none nothing is read
		switch words[0] {
		case "VmRSS:":
			u.rss = n >> 10
		case "VmHWM:":
			u.peak = n >> 10
		case "Threads:":
			u.threads = n
		}
	}
	files, _ := os.ReadDir(proc + "fd")
	u.files = len(files)
	return u
}

// eventually polls for what has no event of its own.
func eventually(t testing.TB, within time.Duration, what func() string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(within); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("not within %s: %s", within, what())
			return
		}
	}
}
