//go:build unix

package guardian

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mcpctl/mcpctl/internal/proctree"
)

// Lines of the pipe to the guardian. The first is the guard's id.
const (
	lineGuard  = "guard"  // ID
	lineAdd    = "add"    // GROUP STARTED
	lineRemove = "remove" // GROUP
	lineBye    = "bye"    // nothing is left to be ended
)

// byeWait is how long a guardian may take to go.
const byeWait = 2 * time.Second

// supervisor keeps a guardian running.
type supervisor struct {
	stop chan struct{}
	work sync.WaitGroup
	cmd  *exec.Cmd // the present one; guarded by Guard.mu
}

// start starts the first guardian and keeps one from then on.
func (g *Guard) start() error {
	if g.o.Short && g.startShort() == nil {
		return nil
	}
	ended, err := g.launch()
	if err != nil {
		return err
	}
	g.supervisor.stop = make(chan struct{})
	g.supervisor.work.Go(func() { g.keep(ended) })
	return nil
}

// launch starts a guardian and tells it everything; ended is closed when it has
// been waited for.
func (g *Guard) launch() (ended chan struct{}, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd := &exec.Cmd{
		Path: g.o.Path, Args: g.o.Args, Env: environment(os.Environ()), Dir: "/", Stdin: r,
		// A session of its own: no terminal's signals, no job control.
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := cmd.Start(); err != nil {
		_ = w.Close()
		return nil, err
	}
	g.mu.Lock()
	g.pipe, g.supervisor.cmd = w, cmd
	text := []byte(lineGuard + " " + g.id + "\n")
	for group, started := range g.groups {
		text = append(text, addLine(group, started)...)
	}
	g.write(text)
	if g.closed { // meanwhile
		g.goodbye()
	}
	g.mu.Unlock()
	ended = make(chan struct{})
	g.supervisor.work.Go(func() {
		_ = cmd.Wait()
		close(ended)
	})
	return ended, nil
}

// environment returns that of the guardian. It needs none of ours, in which
// the credentials of all servers are, but for the mark by which the guard of a
// process above finds it, and what the runtime of a program that was built for
// coverage or race detection wants.
func environment(ours []string) []string {
	// One processor: it sleeps, and looks at processes once in its life.
	env := []string{Variable + "=1", "GOMAXPROCS=1"}
	for _, line := range ours {
		switch name, _, _ := strings.Cut(line, "="); name {
		case proctree.MarkVariable, "GOCOVERDIR", "GORACE":
			env = append(env, line)
		}
	}
	return env
}

// keep replaces a guardian that ends before its time. What is started
// meanwhile is in the list that the next one gets.
func (g *Guard) keep(ended chan struct{}) {
	for deaths := 1; ; deaths++ {
		since := time.Now()
		select {
		case <-g.supervisor.stop:
			return
		case <-ended:
		}
		g.mu.Lock()
		stop := g.closed
		if !stop {
			_ = g.pipe.Close()
			g.pipe = nil
		}
		g.mu.Unlock()
		if stop {
			return
		}
		if time.Since(since) > time.Minute {
			deaths = 1
		}
		g.o.Logger.Warn("the guardian of child processes has ended: starting another", "status", g.supervisor.cmd.ProcessState.String(), "times", deaths)
		for {
			if !g.pause(restartWait(deaths)) {
				return
			}
			var err error
			if ended, err = g.launch(); err == nil {
				break
			}
			g.o.Logger.Warn("no guardian of child processes can be started", "err", err)
			deaths++
		}
	}
}

// pause waits; false: the guard is closed.
func (g *Guard) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-g.supervisor.stop:
		return false
	case <-t.C:
		return true
	}
}

// write writes whole lines; the caller holds the lock. It does not block: a
// guardian that does not read, because somebody has stopped it, is of no use
// and is replaced.
func (g *Guard) write(text []byte) {
	if g.pipe == nil {
		return
	}
	conn, err := g.pipe.SyscallConn()
	n := 0
	if err == nil {
		cerr := conn.Write(func(fd uintptr) bool {
			for {
				n, err = syscall.Write(int(fd), text)
				if !errors.Is(err, syscall.EINTR) {
					return true
				}
			}
		})
		if err == nil {
			err = cerr
		}
	}
	if err == nil && n == len(text) {
		return
	}
	if g.supervisor.cmd != nil {
		_ = g.supervisor.cmd.Process.Kill() // keep notices
	}
}

// Add registers a child's group, before anything is asked of the child.
func (g *Guard) Add(t proctree.Tree) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.groups[t.Group] = t.Started
	g.write(addLine(t.Group, t.Started))
}

func addLine(group int, started uint64) []byte {
	return fmt.Appendf(nil, "%s %d %d\n", lineAdd, group, started)
}

// Remove takes a group back that is gone. The leader has not been waited for
// yet, so no other group can have the number.
func (g *Guard) Remove(t proctree.Tree) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.groups, t.Group)
	g.write([]byte(lineRemove + " " + strconv.Itoa(t.Group) + "\n"))
}

// PID is the process id of the guardian, 0 while there is none of its own.
func (g *Guard) PID() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pipe == nil || g.supervisor.cmd == nil {
		return 0
	}
	return g.supervisor.cmd.Process.Pid
}

// Close ends the guard, when all children have been stopped. A guardian that
// hears of children that have not been ends them.
func (g *Guard) Close() {
	if g == nil {
		return
	}
	g.first.Lock() // a guardian is not just being started, and none is from now on
	g.mu.Lock()
	g.first.Unlock()
	if g.closed {
		g.mu.Unlock()
		g.supervisor.work.Wait()
		return
	}
	g.closed = true
	g.goodbye()
	wait := byeWait
	if len(g.groups) > 0 {
		wait += sweepEnd
	}
	if g.supervisor.stop != nil {
		close(g.supervisor.stop)
	}
	g.mu.Unlock()
	timeout := time.AfterFunc(wait, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.supervisor.cmd != nil {
			_ = g.supervisor.cmd.Process.Kill()
		}
	})
	defer timeout.Stop()
	g.supervisor.work.Wait()
}

// goodbye ends the pipe; the caller holds the lock.
func (g *Guard) goodbye() {
	if g.pipe == nil {
		return
	}
	if len(g.groups) == 0 {
		g.write([]byte(lineBye + "\n"))
	}
	_ = g.pipe.Close()
	g.pipe = nil
}
