//go:build faults && linux

package faults_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/faults/hostile"
)

// servers are the entries of a servers.json.
type servers map[string]map[string]any

// markName is the variable that every process of a test's servers has in its
// environment, whoever its parents are.
const markName = "MCPCTL_FAULTS_MARK"

// program gives the entry of the hostile server with some faults, "" for none.
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
	cmd    *exec.Cmd
	config string // its servers.json
	home   string // MCPCTL_HOME
	url    string // of the endpoint
	mark   string
	stderr *output
	exited chan struct{}
	start  usage // once it listened

	stopped bool
}

// serve starts mcpctl on a free port with nothing of this machine's settings;
// the test ends it, and looks at what it leaves.
func serve(t testing.TB, s servers, args ...string) *daemon {
	t.Helper()
	d := &daemon{mark: rand.Text(), stderr: &output{changed: make(chan struct{})}, exited: make(chan struct{})}
	d.config, d.home = filepath.Join(t.TempDir(), "servers.json"), t.TempDir()
	d.configure(t, d.config, s)
	d.cmd = exec.Command(*program, append([]string{"serve", "--http", "127.0.0.1:0"}, args...)...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "MCPCTL_") && !strings.HasPrefix(v, "GORACE=") {
			d.cmd.Env = append(d.cmd.Env, v)
		}
	}
	d.cmd.Env = append(d.cmd.Env, "MCPCTL_CONFIG="+d.config, "MCPCTL_HOME="+d.home, "HOME="+d.home, "GORACE=atexit_sleep_ms=0")
	d.cmd.Stderr = d.stderr
	d.cmd.WaitDelay = 10 * time.Second
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = d.cmd.Wait() // the state is in ProcessState
		close(d.exited)
	}()
	t.Cleanup(func() { d.stop(t) })
	d.url = d.stderr.line(t, "listening on ")
	d.start = d.usage(t)
	return d
}

func (d *daemon) configure(t testing.TB, path string, s servers) {
	t.Helper()
	for _, e := range s {
		if e["command"] != nil {
			env := map[string]string{markName: d.mark, hostile.Env: "1"}
			if own, ok := e["env"].(map[string]string); ok {
				maps.Copy(env, own)
			}
			e["env"] = env
		}
		if e["requestTimeout"] == nil {
			e["requestTimeout"] = requestTimeout.String()
		}
	}
	var b bytes.Buffer
	b.WriteString(`{"mcpServers":{`)
	for i, name := range slices.Sorted(maps.Keys(s)) {
		raw, err := json.Marshal(s[name])
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, "%q:%s", name, raw)
	}
	b.WriteString("}}\n")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// stop ends the daemon, which has to be there still, and waits until nothing is
// left of it and its servers.
func (d *daemon) stop(t testing.TB) {
	t.Helper()
	if d.stopped {
		return
	}
	d.stopped = true
	select {
	case <-d.exited:
		if d.cmd.ProcessState.ExitCode() != -1 { // the test has not killed it
			t.Errorf("mcpctl has ended on its own (%v):\n%s", d.cmd.ProcessState, d.stderr.tail())
		}
	default:
		_ = d.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-d.exited:
		case <-time.After(limit):
			_ = d.cmd.Process.Signal(syscall.SIGQUIT)
			<-d.exited
			t.Errorf("mcpctl does not end:\n%s", d.stderr)
		}
	}
	d.nothingLeft(t, time.Now())
	if text := d.stderr.String(); strings.Contains(text, "DATA RACE") || strings.Contains(text, "panic:") || strings.Contains(text, "fatal error:") {
		t.Errorf("mcpctl says:\n%s", text)
	}
}

// nothingLeft waits until no process of the servers is left.
func (d *daemon) nothingLeft(t testing.TB, since time.Time) {
	t.Helper()
	for {
		left := marked(d.mark)
		if len(left) == 0 {
			return
		}
		if time.Since(since) > gone {
			t.Errorf("left %s after mcpctl ended: %v", time.Since(since).Round(time.Millisecond), left)
			for _, p := range left {
				_ = syscall.Kill(p.pid, syscall.SIGKILL)
			}
			return
		}
		time.Sleep(20 * time.Millisecond) // nothing tells of the end of another's child
	}
}

// process is one with a mark.
type process struct {
	pid     int
	command string
}

// marked gives the processes that have a mark in their environment.
func marked(mark string) (out []process) {
	dirs, _ := os.ReadDir("/proc") // without it there is nothing to see
	for _, dir := range dirs {
		pid, err := strconv.Atoi(dir.Name())
		if err != nil {
			continue
		}
		environ, err := os.ReadFile(filepath.Join("/proc", dir.Name(), "environ"))
		if err != nil || !bytes.Contains(environ, []byte(markName+"="+mark)) {
			continue // it may have ended, and the dead have none
		}
		line, _ := os.ReadFile(filepath.Join("/proc", dir.Name(), "cmdline"))
		out = append(out, process{pid, strings.ReplaceAll(string(line), "\x00", " ")})
	}
	return out
}

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
		t.Fatalf("mcpctl is gone: %v\n%s", err, d.stderr.tail())
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

// output keeps what a process writes and tells of each piece.
type output struct {
	mu      sync.Mutex // guards the rest
	buf     []byte
	changed chan struct{} // closed with each write
}

// Write implements io.Writer. What is older than the last 4 MiB goes.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.changed)
	o.changed = make(chan struct{})
	o.buf = append(o.buf, p...)
	if over := len(o.buf) - 4<<20; over > 0 {
		o.buf = append(o.buf[:0], o.buf[over:]...)
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.buf)
}

func (o *output) tail() string {
	s := o.String()
	return s[max(0, len(s)-4000):]
}

// line waits for a line that begins with prefix and gives the rest of it.
func (o *output) line(t testing.TB, prefix string) string {
	t.Helper()
	end := time.NewTimer(limit)
	defer end.Stop()
	for {
		o.mu.Lock()
		text, changed := string(o.buf), o.changed
		o.mu.Unlock()
		for l := range strings.Lines(text) {
			if rest, found := strings.CutPrefix(l, prefix); found && strings.HasSuffix(rest, "\n") {
				return strings.TrimSpace(rest)
			}
		}
		select {
		case <-changed:
		case <-end.C:
			t.Fatalf("no line %q…:\n%s", prefix, text)
		}
	}
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
