package wire

import (
	"bytes"
	"cmp"
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

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// Servers are the entries of a servers.json, by their names.
type Servers map[string]map[string]any

// Daemon is a running mcpctl serve, or bridge.
type Daemon struct {
	*Process
	Mark string // of its servers, see MarkName
	// Config and Home are its servers.json and the folder of everything else.
	Config, Home string
	// Stopped says that the test has looked at its end itself: Stop does nothing.
	Stopped bool
	told    bool // to end, by the test
}

// Setup is how a Daemon is started.
type Setup struct {
	Program string // an executable
	Command string // of it; serve without
	Servers Servers
	// Each, where it is not nil, adds to an entry what the suite needs; it gets
	// the mark.
	Each func(mark string, entry map[string]any)
	// Locked is what is locked of Servers where suites run with policies on: what is not
	// as it is locked is held back then. Nil, or without a server: all that it offers is
	// new, and shown.
	Locked map[string]json.RawMessage
	// Config is a servers.json in place of Servers, or where these are to be written.
	// Home is a folder that is there.
	Config, Home string
	Stdio        bool     // serve standard input and output; a free port otherwise
	Args         []string // more words of the command
	Env          []string // added to that of this process, which loses MCPCTL_*
}

// Serve starts mcpctl serve, or bridge, with nothing of this machine's settings. The
// test ends it, and looks at what it leaves.
func Serve(t testing.TB, s Setup) *Daemon {
	t.Helper()
	d := &Daemon{Mark: rand.Text(), Config: s.Config, Home: s.Home}
	if d.Home == "" {
		d.Home = t.TempDir()
	}
	if d.Config == "" {
		d.Config = filepath.Join(t.TempDir(), "servers.json")
	}
	if s.Config == "" || s.Servers != nil {
		d.Configure(t, s)
	}
	switch {
	case cmp.Or(s.Command, "serve") != "serve":
	case s.Stdio:
		require.NoError(t, Decide(d.Config, s.Locked))
	default:
		require.NoError(t, Ask(d.Config, d.Home, s.Locked))
	}
	cmd := exec.Command(s.Program, cmp.Or(s.Command, "serve"))
	cmd.Env, cmd.WaitDelay = append(Environment(d.Config, d.Home), s.Env...), 10*time.Second
	var err error
	if s.Stdio {
		cmd.Args = append(cmd.Args, s.Args...)
		d.Process, err = Start(cmd)
	} else {
		cmd.Args = slices.Concat(cmd.Args, []string{"--http", "127.0.0.1:0"}, s.Args)
		d.Process, err = Launch(cmd, "listening on ")
	}
	require.NoError(t, err)
	t.Cleanup(func() {
		d.Stop(t)
		if cmp.Or(s.Command, "serve") == "serve" && s.Config == "" {
			require.NoError(t, Verify(s.Program, d.Config, d.Home))
		}
	})
	return d
}

// Signal sends the daemon a signal, from which it has to end.
func (d *Daemon) Signal(sig os.Signal) {
	d.told = true
	_ = d.Cmd.Process.Signal(sig) // it may have ended
}

// Environment returns this process's environment without settings of mcpctl, but
// for the servers.json and the folder of everything else. Lists wait for all servers:
// on a busy machine one may start slowly.
func Environment(config, home string) (env []string) {
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "MCPCTL_") && !strings.HasPrefix(v, "GORACE=") {
			env = append(env, v)
		}
	}
	return append(env, "MCPCTL_CONFIG="+config, "MCPCTL_HOME="+home, "HOME="+home, "MCPCTL_LIST_GRACE=never", "GORACE=atexit_sleep_ms=20")
}

// Configure writes the servers.json.
func (d *Daemon) Configure(t testing.TB, s Setup) {
	t.Helper()
	if s.Each != nil {
		for _, e := range s.Servers {
			s.Each(d.Mark, e)
		}
	}
	for name := range s.Locked {
		if e := s.Servers[name]; e != nil {
			e["pin"] = "hold"
		}
	}
	require.NoError(t, os.WriteFile(d.Config, s.Servers.JSON(), 0o600))
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

// Stop ends the daemon, which has to be there still unless the test has ended it,
// and waits until nothing is left of it and its servers.
func (d *Daemon) Stop(t testing.TB) {
	t.Helper()
	if d.Stopped {
		return
	}
	d.Stopped = true
	select {
	case <-d.Exited:
	default:
		if d.told = d.In == nil; !d.told {
			_ = d.In.Close()
		} else if d.Cmd.Process.Signal(syscall.SIGTERM) != nil { // the system cannot
			_ = d.Cmd.Process.Kill()
		}
		select {
		case <-d.Exited:
		case <-time.After(time.Until(wait.Deadline(t))):
			d.Signal(syscall.SIGQUIT)
			<-d.Exited
			t.Errorf("mcpctl does not end:\n%s", d.Stderr)
		}
	}
	// One that the test has killed has no exit code, one whose input has ended 0.
	if code := d.Cmd.ProcessState.ExitCode(); !d.told && code != -1 && (code != 0 || d.In == nil) {
		t.Errorf("mcpctl has ended on its own (%v):\n%s", d.Cmd.ProcessState, d.Stderr.Tail())
	}
	NothingLeft(t, d.Mark, time.Now())
	if text := d.Stderr.String(); strings.Contains(text, "DATA RACE") || strings.Contains(text, "panic:") || strings.Contains(text, "fatal error:") {
		t.Errorf("mcpctl says:\n%s", text)
	}
}
