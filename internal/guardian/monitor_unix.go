//go:build unix

package guardian

import (
	"bufio"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcpctl/mcpctl/internal/proctree"
)

// How the guardian ends what is left: the end of their input has told the
// children already, as in Process.Stop of package proc. All within sweepEnd of the end of the pipe.
const (
	sweepTerm = 300 * time.Millisecond  // until SIGTERM
	sweepKill = 2300 * time.Millisecond // until SIGKILL
	sweepEnd  = 5 * time.Second         // then it gives up: what hangs in the kernel is left
	sweepStep = 50 * time.Millisecond
	// sweepQuiet is how long nothing may be found before it is done: a process
	// in the middle of exec shows no environment, and one may be born behind
	// the eyes of a look.
	sweepQuiet = 250 * time.Millisecond
)

// Run is the whole life of the guardian process: it reads from pipe what
// New's process writes, and ends what is left when the pipe ends without a
// goodbye. No signal that can be ignored ends it, and it outlives the other
// process by sweepEnd at most.
func Run(pipe io.Reader) {
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGTSTP, syscall.SIGUSR1, syscall.SIGUSR2)
	rename("mcp-guardian")
	closeInherited()
	debug.FreeOSMemory()
	m := monitor{groups: map[int]uint64{}}
	if !m.listen(pipe) {
		m.sweep()
	}
}

// monitor is what the guardian knows.
type monitor struct {
	guard  string
	groups map[int]uint64            // with when their leaders were started
	known  map[proctree.Process]bool // found in an earlier look
}

// listen follows the list until the pipe ends; true: with a goodbye.
func (m *monitor) listen(pipe io.Reader) bool {
	lines := bufio.NewScanner(pipe)
	lines.Buffer(make([]byte, 0, 256), 256)
	for lines.Scan() {
		word := strings.Fields(lines.Text())
		if len(word) == 0 {
			continue
		}
		switch {
		case word[0] == lineBye:
			return true
		case word[0] == lineGuard && len(word) == 2:
			m.guard = word[1]
		case word[0] == lineAdd && len(word) == 3:
			group, err := strconv.Atoi(word[1])
			started, err2 := strconv.ParseUint(word[2], 10, 64)
			if err == nil && err2 == nil && group > 1 {
				m.groups[group] = started
			}
		case word[0] == lineRemove && len(word) == 2:
			group, _ := strconv.Atoi(word[1]) // 0 is in no list
			delete(m.groups, group)
		}
	}
	return false
}

// sweep ends everything of the guard's.
func (m *monitor) sweep() {
	begun := time.Now()
	quiet := begun
	asked := map[proctree.Process]syscall.Signal{}
	for {
		now := time.Now()
		found, sees := m.scan()
		if len(found) > 0 {
			quiet = now
		}
		since := now.Sub(begun)
		sig := syscall.Signal(0)
		switch {
		case since >= sweepKill:
			sig = syscall.SIGKILL
		case since >= sweepTerm:
			sig = syscall.SIGTERM
		}
		if !sees {
			m.signalGroups(sig)
		}
		for _, k := range found {
			if sig != 0 && asked[k] != sig {
				asked[k] = sig
				k.Signal(sig)
			}
		}
		if since > sweepEnd || sees && now.Sub(quiet) >= sweepQuiet || !sees && sig == syscall.SIGKILL {
			return
		}
		time.Sleep(sweepStep)
	}
}

// scan finds what is the guard's, and forgets the groups whose number belongs
// to others by now. With the end of mcpctl the leaders are waited for by
// somebody else, as soon as they end, so a number can be reused: a group is
// still ours where its leader is the one that was registered, or has gone and a
// member is one that has been seen before or bears the mark. In the first look,
// a moment after the end, it is ours in any case.
func (m *monitor) scan() ([]proctree.Process, bool) {
	first := m.known == nil
	if first {
		m.known = map[proctree.Process]bool{}
	}
	for group, started := range m.groups {
		if leader, ok := proctree.Find(group); ok && leader.Started != started && started != 0 {
			delete(m.groups, group)
		}
	}
	in := func(group int) bool { _, ok := m.groups[group]; return ok }
	carries := func(value string) bool { return m.guard != "" && proctree.MarkedBy(value, m.guard) }
	found, sees := proctree.Look(in, carries, 0)
	if !sees {
		return nil, false
	}
	ours := map[int]bool{} // groups of which a member is certain
	for _, k := range found {
		if first || m.known[k] || k.PID == k.Group {
			ours[k.Group] = true
		}
	}
	out := found[:0]
	for _, k := range found {
		sure := !in(k.Group) || ours[k.Group]
		if !sure {
			value, ok := proctree.MarkOf(proctree.Environ(k.PID))
			sure = ok && carries(value)
		}
		if sure {
			out = append(out, k)
			m.known[k] = true
		}
	}
	return out, true
}

// signalGroups signals the groups where the system does not tell who lives: at
// once or not at all, while the numbers can be trusted.
func (m *monitor) signalGroups(sig syscall.Signal) {
	if sig == 0 {
		return
	}
	for group := range m.groups {
		_ = syscall.Kill(-group, sig)
	}
}

// rename sets the process's name to one that killall mcpctl and pkill mcpctl do not
// mean: the guardian has to outlive the one that it guards. Linux only.
func rename(name string) { _ = os.WriteFile("/proc/self/comm", []byte(name), 0) }

// closeInherited closes descriptors that whoever started mcpctl has left open
// for all its descendants. Ours are closed on exec, and so are the runtime's.
func closeInherited() {
	for _, dir := range []string{"/proc/self/fd", "/dev/fd"} {
		d, err := os.Open(dir)
		if err != nil {
			continue
		}
		names, _ := d.Readdirnames(-1)
		_ = d.Close()
		for _, name := range names {
			fd, err := strconv.Atoi(name)
			if err == nil && fd > 2 && inherited(fd) {
				_ = syscall.Close(fd)
			}
		}
		return
	}
}

// inherited reports whether a descriptor has come through exec: whatever Go
// opens is closed there.
func inherited(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	return err == nil && flags&unix.FD_CLOEXEC == 0
}
