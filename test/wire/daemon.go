//go:build linux

package wire

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
	"strings"
	"syscall"
	"testing"
	"time"
)

// Servers are the entries of a servers.json, by their names.
type Servers map[string]map[string]any

// Daemon is a running mcpctl serve --http.
type Daemon struct {
	Cmd  *exec.Cmd
	URL  string // of the endpoint
	Mark string // of its servers, see MarkName
	// Config and Home are its servers.json and the folder of everything else.
	Config, Home string
	Stderr       *Output
	Exited       chan struct{} // closed when it has ended
	// Stopped says that the test has looked at its end itself: Stop does nothing.
	Stopped bool
}

// Setup is how a Daemon is started.
type Setup struct {
	Program string // an executable
	Servers Servers
	// Each, where it is not nil, adds to an entry what the suite needs; it gets
	// the mark.
	Each func(mark string, entry map[string]any)
	Args []string // after serve --http 127.0.0.1:0
	Env  []string // added to that of this process, which loses MCPCTL_*
}

// Serve starts mcpctl on a free port with nothing of this machine's settings.
// The test ends it, and looks at what it leaves.
func Serve(t testing.TB, s Setup) *Daemon {
	t.Helper()
	d := &Daemon{Mark: rand.Text(), Home: t.TempDir(), Stderr: NewOutput(), Exited: make(chan struct{})}
	d.Config = filepath.Join(t.TempDir(), "servers.json")
	d.Configure(t, s)
	d.Cmd = exec.Command(s.Program, append([]string{"serve", "--http", "127.0.0.1:0"}, s.Args...)...)
	d.Cmd.Env = append(Environment(d.Config, d.Home), s.Env...)
	d.Cmd.Stderr = d.Stderr
	d.Cmd.WaitDelay = 10 * time.Second
	if err := d.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = d.Cmd.Wait() // the state is in ProcessState
		close(d.Exited)
	}()
	t.Cleanup(func() { d.Stop(t) })
	d.URL = d.Stderr.Line(t, "listening on ")
	return d
}

// Environment returns this process's environment without settings of mcpctl, but
// for the servers.json and the folder of everything else.
func Environment(config, home string) (env []string) {
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "MCPCTL_") && !strings.HasPrefix(v, "GORACE=") {
			env = append(env, v)
		}
	}
	return append(env, "MCPCTL_CONFIG="+config, "MCPCTL_HOME="+home, "HOME="+home, "GORACE=atexit_sleep_ms=0")
}

// Configure writes the servers.json.
func (d *Daemon) Configure(t testing.TB, s Setup) {
	t.Helper()
	if s.Each != nil {
		for _, e := range s.Servers {
			s.Each(d.Mark, e)
		}
	}
	if err := os.WriteFile(d.Config, s.Servers.JSON(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// JSON returns the text of a servers.json with the servers in it, an entry a
// line.
func (s Servers) JSON() []byte {
	var b bytes.Buffer
	b.WriteString(`{"mcpServers":{`)
	for i, name := range slices.Sorted(maps.Keys(s)) {
		raw, err := json.Marshal(s[name])
		if err != nil {
			panic("wire: an entry has no JSON form: " + err.Error())
		}
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, "%q:%s", name, raw)
	}
	b.WriteString("}}\n")
	return b.Bytes()
}

// Stop ends the daemon, which has to be there still, and waits until nothing is
// left of it and its servers.
func (d *Daemon) Stop(t testing.TB) {
	t.Helper()
	if d.Stopped {
		return
	}
	d.Stopped = true
	select {
	case <-d.Exited:
		if d.Cmd.ProcessState.ExitCode() != -1 { // the test has not killed it
			t.Errorf("mcpctl has ended on its own (%v):\n%s", d.Cmd.ProcessState, d.Stderr.Tail())
		}
	default:
		_ = d.Cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-d.Exited:
		case <-time.After(Limit):
			_ = d.Cmd.Process.Signal(syscall.SIGQUIT)
			<-d.Exited
			t.Errorf("mcpctl does not end:\n%s", d.Stderr)
		}
	}
	NothingLeft(t, d.Mark, time.Now())
	if text := d.Stderr.String(); strings.Contains(text, "DATA RACE") || strings.Contains(text, "panic:") || strings.Contains(text, "fatal error:") {
		t.Errorf("mcpctl says:\n%s", text)
	}
}
