//go:build integration && unix

package peers_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// alive reports whether a process runs; one that is dead and not reaped does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		if _, after, found := strings.Cut(string(stat), ") "); found && strings.HasPrefix(after, "Z") {
			return false
		}
	}
	return true
}

var digits = regexp.MustCompile(`\d+`)

// pidOf asks a fake server for its process id.
func pidOf(t *testing.T, c caller, server string) int {
	t.Helper()
	pid, err := strconv.Atoi(digits.FindString(result(t, c, "tools/call", `{"name":"`+server+`__pid"}`)))
	require.NoError(t, err)
	return pid
}

// pidIn reads a process id from a file.
func pidIn(t *testing.T, file string) int {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	require.NoError(t, err)
	return pid
}

// family is the processes of a server that resists: it and its child ignore
// SIGTERM.
func family(t *testing.T, c caller, file string) []int {
	t.Helper()
	pids := []int{pidOf(t, c, "stubborn"), pidIn(t, file), pidOf(t, c, "fake")}
	for _, pid := range pids {
		if !alive(pid) {
			t.Fatalf("process %d is not there", pid)
		}
	}
	return pids
}

func noneLeft(t *testing.T, pids []int, since time.Time, within time.Duration) {
	t.Helper()
	for _, pid := range pids {
		for alive(pid) {
			if time.Since(since) > within {
				t.Fatalf("process %d outlives mcpctl by %s", pid, within)
			}
			time.Sleep(10 * time.Millisecond) // nothing reports the end of another's child
		}
	}
	t.Logf("all ended after %s", time.Since(since).Round(time.Millisecond))
}

// TestNoProcessIsLeft ends mcpctl serve in each of its ways, with a call in
// flight, over a server that ignores SIGTERM with a child that does, too.
func TestNoProcessIsLeft(t *testing.T) {
	t.Parallel()
	setup := func(t *testing.T) (config, pidFile string) {
		pidFile = filepath.Join(t.TempDir(), "pid")
		stubborn := fake("stubborn", "-ignore-term", "-linger", "30s", "-grandchild", pidFile)
		// A second less than the default, for machines under load.
		stubborn.object["shutdownTimeout"] = "4s"
		return configure(t, stubborn, fake("fake")), pidFile
	}
	for name, c := range map[string]struct {
		end  func(*lines)
		code int
	}{
		"input closed": {func(l *lines) { _ = l.In.Close() }, 0},
		"SIGTERM":      {func(l *lines) { _ = l.Cmd.Process.Signal(syscall.SIGTERM) }, 130},
		"SIGINT":       {func(l *lines) { _ = l.Cmd.Process.Signal(syscall.SIGINT) }, 130},
	} {
		t.Run("stdio "+name, func(t *testing.T) {
			t.Parallel()
			config, pidFile := setup(t)
			l, _ := serveStdio(t, config)
			result(t, l, "tools/list", `{}`)
			pids := family(t, l, pidFile)
			within := wait.Gone
			if name != "input closed" { // requests in flight are answered first there
				within = wait.GoneBusy
				l.start(`"long"`, "tools/call", `{"name":"fake__slow","arguments":{"ms":60000}}`)
				result(t, l, "ping", `{}`)
			}
			start := time.Now()
			c.end(l)
			noneLeft(t, pids, start, within)
			<-l.Exited
			if code := l.Cmd.ProcessState.ExitCode(); code != 0 && code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
		})
	}
	for name, sig := range map[string]syscall.Signal{"SIGTERM": syscall.SIGTERM, "SIGINT": syscall.SIGINT} {
		t.Run("http "+name, func(t *testing.T) {
			t.Parallel()
			config, pidFile := setup(t)
			d := serveHTTP(t, config)
			p := post(t, d.URL)
			result(t, p, "tools/list", `{}`)
			pids := family(t, p, pidFile)
			start := time.Now()
			d.Signal(sig)
			noneLeft(t, pids, start, wait.Gone)
			<-d.Exited
		})
	}
	t.Run("http call in flight", func(t *testing.T) {
		t.Parallel()
		config, pidFile := setup(t)
		d := serveHTTP(t, config)
		p := post(t, d.URL)
		result(t, p, "tools/list", `{}`)
		pids := family(t, p, pidFile)
		answered := make(chan wire.Message, 1)
		go func() {
			q := session(d.URL, p.Session)
			r, err := q.Exchange(context.WithoutCancel(t.Context()), `"long"`, "tools/call", `{"name":"fake__slow","arguments":{"ms":60000}}`)
			if err != nil {
				t.Errorf("the call in flight: %v", err)
			}
			answered <- r
		}()
		// The same pipe carries both calls: answered, this one is behind.
		result(t, p, "tools/call", `{"name":"fake__slow","arguments":{"ms":200}}`)
		start := time.Now()
		d.Signal(syscall.SIGTERM)
		noneLeft(t, pids, start, wait.GoneBusy)
		<-d.Exited
		if r := <-answered; string(r.ID) != `"long"` || !strings.Contains(string(r.Error), "shutting down") {
			t.Errorf("the call in flight: got %s %s %s", r.ID, r.Result, r.Error)
		}
	})
}

// TestKilledInMidCall kills a server under a call: that call says so within a
// second, others go on, the next one has a new process.
func TestKilledInMidCall(t *testing.T) {
	t.Parallel()
	config := configure(t, fake("victim"), fake("fake"))
	stdio, _ := serveStdio(t, config)
	d := serveHTTP(t, config)
	web := post(t, d.URL)
	t.Run("stdio", func(t *testing.T) {
		old := pidOf(t, stdio, "victim")
		lost := stdio.start(`"lost"`, "tools/call", `{"name":"victim__slow","arguments":{"ms":60000}}`)
		other := stdio.start(`"other"`, "tools/call", `{"name":"fake__slow","arguments":{"ms":1500}}`)
		result(t, stdio, "tools/call", `{"name":"victim__echo","arguments":{"message":"it has the call"}}`)
		start := time.Now()
		_ = syscall.Kill(old, syscall.SIGKILL)
		r := stdio.await(t, lost, time.Second)
		t.Logf("told after %s: %s", time.Since(start).Round(time.Millisecond), r.Result)
		for _, want := range []string{`"isError":true`, "victim: ", "killed", `"kind":"connect"`} {
			if !strings.Contains(string(r.Result), want) {
				t.Errorf("the answer does not say %q: %s %s", want, r.Result, r.Error)
			}
		}
		if now := pidOf(t, stdio, "victim"); now == old {
			t.Error("the process is the same")
		}
		if r := stdio.await(t, other, wire.Limit); !strings.Contains(string(r.Result), "done") {
			t.Errorf("another server's call: got %s %s", r.Result, r.Error)
		}
	})
	t.Run("http", func(t *testing.T) {
		old := pidOf(t, web, "victim")
		told := make(chan string, 1)
		go func() {
			q := session(d.URL, web.Session)
			r, err := q.Exchange(t.Context(), `"lost"`, "tools/call", `{"name":"victim__slow","arguments":{"ms":60000}}`)
			told <- fmt.Sprint(string(r.Result), string(r.Error), err)
		}()
		// The same pipe carries both calls: answered, this one is behind.
		result(t, web, "tools/call", `{"name":"victim__slow","arguments":{"ms":200}}`)
		_ = syscall.Kill(old, syscall.SIGKILL)
		select {
		case got := <-told:
			if !strings.Contains(got, `"isError":true`) || !strings.Contains(got, "killed") {
				t.Errorf("got %s", got)
			}
		case <-time.After(wait.Killed):
			t.Errorf("no answer within %s", wait.Killed)
		}
		if now := pidOf(t, web, "victim"); now == old {
			t.Error("the process is the same")
		}
	})
}

// TestKilledOverAndOver: a server that is killed again and again is there
// again for the next call, as long as it does not end five times in 30 s.
func TestKilledOverAndOver(t *testing.T) {
	t.Parallel()
	l, _ := serveStdio(t, configure(t, fake("fake")))
	for range 3 {
		pid := pidOf(t, l, "fake")
		held := l.start(`"held"`, "tools/call", `{"name":"fake__slow","arguments":{"ms":60000}}`)
		result(t, l, "tools/call", `{"name":"fake__echo","arguments":{"message":"the call before is there"}}`)
		_ = syscall.Kill(pid, syscall.SIGKILL)
		l.await(t, held, wire.Limit)
	}
	if r := l.call(t, "tools/call", `{"name":"fake__exit","arguments":{"code":7}}`); !strings.Contains(string(r.Result), "exit status 7") {
		t.Errorf("got %s %s", r.Result, r.Error)
	}
	pidOf(t, l, "fake")
}

// TestClientThatDoesNotRead asks for far more than any pipe holds and reads
// nothing. mcpctl must not keep it all; once the client reads again everything
// comes, and other servers answer.
func TestClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	const n, size = 150, 1 << 20
	cmd, _ := command(context.WithoutCancel(t.Context()), t, configure(t, fake("fake"), fake("other")), "serve")
	l := startUnread(t, cmd)
	in := bufio.NewReaderSize(l.Out, 64<<10)
	shaken := l.start("0", "initialize", wire.Hello)
	l.one(t, in)
	<-shaken
	known := l.start("1", "tools/list", `{}`)
	l.one(t, in)
	<-known
	answers := make([]<-chan wire.Message, n)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for i := range n {
			answers[i] = l.start(fmt.Sprint(i+2), "tools/call", fmt.Sprintf(`{"name":"fake__huge","arguments":{"bytes":%d}}`, size))
		}
	}()
	peak := 0
	if runtime.GOOS == "linux" {
		// Its memory grows until it holds back; then it stays for a second.
		last, since := 0, time.Now()
		wait.Until(t, "memory stands still", func() bool {
			now := resident(t, cmd.Process.Pid)
			peak = max(peak, now)
			if now > last+(1<<20) {
				last, since = now, time.Now()
			}
			return time.Since(since) > time.Second
		})
		t.Logf("%d MB asked for, %d MB resident", n*size>>20, peak>>20)
	}
	go l.readFrom(in)
	<-sent
	start := time.Now()
	if r := l.await(t, l.start(`"after"`, "tools/call", `{"name":"other__echo","arguments":{"message":"hi"}}`), wire.Limit); !strings.Contains(string(r.Result), `"hi"`) {
		t.Errorf("other: got %s %s", r.Result, r.Error)
	}
	refused := 0
	for i, ch := range answers {
		if r := l.await(t, ch, wire.Limit); len(r.Result) < size && !strings.Contains(string(r.Result), `"isError":true`) {
			t.Errorf("call %d: got %.200s %s", i, r.Result, r.Error)
		} else if len(r.Result) < size {
			refused++
		}
	}
	t.Logf("%d calls refused, everything %s after reading again", refused, time.Since(start).Round(time.Millisecond))
	if bound := 256 << 20; peak > bound {
		t.Errorf("mcpctl held %d MB for a client that does not read, want at most %d", peak>>20, bound>>20)
	}
}

// resident returns a process's resident memory, in bytes.
func resident(t *testing.T, pid int) int {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	require.NoError(t, err)
	pages, err := strconv.Atoi(strings.Fields(string(raw))[1])
	require.NoError(t, err)
	return pages * os.Getpagesize()
}

// TestEndUnderAFullPipe ends mcpctl while answers wait for a client that does
// not read them.
func TestEndUnderAFullPipe(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*lines){
		"SIGTERM":      func(l *lines) { _ = l.Cmd.Process.Signal(syscall.SIGTERM) },
		"output gone":  func(l *lines) { _ = l.Out.Close() },
		"both closed":  func(l *lines) { _ = l.In.Close(); _ = l.Out.Close() },
		"input closed": func(l *lines) { _ = l.In.Close(); _ = l.Cmd.Process.Signal(syscall.SIGINT) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "pid")
			cmd, stderr := command(context.WithoutCancel(t.Context()), t, configure(t, fake("fake", "-grandchild", file)), "serve")
			l := startUnread(t, cmd)
			in := bufio.NewReaderSize(l.Out, 64<<10)
			shaken := l.start("0", "initialize", wire.Hello)
			known := l.start("1", "tools/call", `{"name":"fake__pid"}`)
			l.one(t, in)
			l.one(t, in)
			<-shaken
			pid, err := strconv.Atoi(digits.FindString(string((<-known).Result)))
			require.NoError(t, err)
			child := pidIn(t, file)
			for i := range 60 {
				l.start(fmt.Sprint(i+2), "tools/call", `{"name":"fake__huge","arguments":{"bytes":1048576}}`)
			}
			// Something of the answers is here: the pipe fills.
			if _, err := in.Peek(1 << 10); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			end(l)
			select {
			case <-l.Exited:
			case <-time.After(wait.GoneBusy):
				_ = cmd.Process.Signal(syscall.SIGQUIT)
				t.Fatal("mcpctl does not end")
			}
			t.Logf("ended after %s: %v", time.Since(start).Round(time.Millisecond), cmd.ProcessState)
			noneLeft(t, []int{pid, child}, time.Now(), wait.Gone)
			if code := cmd.ProcessState.ExitCode(); code != 0 && code != 130 || strings.Contains(stderr.String(), "EPIPE") || strings.Contains(stderr.String(), "broken pipe") {
				t.Errorf("exit code %d\n%s", code, stderr)
			}
		})
	}
}

// TestSilentConnectionHoldsUpNothing: a connection on which nothing was ever
// asked, as clients open them ahead of need, does not keep serve from ending.
func TestSilentConnectionHoldsUpNothing(t *testing.T) {
	t.Parallel()
	d := serveHTTP(t, configure(t, fake("fake")))
	p := post(t, d.URL)
	pid := pidOf(t, p, "fake")
	silent, err := wire.Dial(d.URL)
	require.NoError(t, err)
	defer silent.Close()
	result(t, p, "ping", `{}`) // accepted after it
	start := time.Now()
	d.Signal(syscall.SIGTERM)
	<-d.Exited
	if took := time.Since(start); took > wait.EndedAtOnce {
		t.Errorf("serve took %s to end", took)
	}
	if alive(pid) {
		t.Errorf("process %d is left", pid)
	}
}
