// Package guardian ends the children of a process that is killed: [Guard] is
// its side in the process that has the children, [Run] the life of the process
// that watches.
package guardian

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/proctree"
)

// Variable is set in the environment of a guardian. There is none on Windows.
const Variable = "MCPCTL_GUARDIAN"

// Guard ends the children and their descendants with this process, however it
// ends: also by SIGKILL, which leaves it no time to end anything.
//
// On Linux and macOS another process does it, the guardian: Options.Path run
// again. It reads the list of process groups from a pipe whose write end is ours.
// When the pipe ends without a goodbye it ends the groups, see [Run].
//
// This process may be killed before a child that it has started is in the list.
// So the environment of each child says whose it is ([proctree.MarkVariable]), and
// the guardian looks for that, too. Between fork and exec a child has no
// environment of its own yet, but still holds the pipe's write end, which is
// closed on exec: at the end of the pipe every child shows its mark. The mark
// also finds descendants that have left their group, the list those that have
// cleared their environment. What has done both escapes, and so does a child that
// has cleared its environment when this process is killed before the child is in
// the list.
//
// On Windows this process is put into a job object that ends with its last
// handle; there is no other process.
//
// A nil *Guard guards nothing.
type Guard struct {
	o    Options
	id   string
	next atomic.Uint64

	first  sync.Mutex // held while the guardian is started for the first time
	begun  bool       // it has been; guarded by first
	warned bool       // that it cannot be; guarded by first

	mu     sync.Mutex // guards what follows; writes to the pipe do not block
	groups map[int]uint64
	pipe   *os.File
	closed bool

	supervisor supervisor
}

// Options say how the guardian is started.
type Options struct {
	// Path is the executable, Args its arguments with the name first. Run so it
	// must call [Run] with its standard input and do nothing else.
	Path string
	Args []string
	// Short is for a process that is over in a moment. A shell, which starts in half a
	// millisecond, waits for the end of the pipe and becomes the guardian only where one
	// is needed. It is not replaced if it ends early, and Close does not wait for it.
	// Where there is no shell, it is a guardian from the beginning.
	Short bool
	// Logger; nil discards.
	Logger *slog.Logger
}

// New returns a guard. The guardian is started with the first child. Where it
// cannot be, a warning says so, once, and the next child tries again. Close ends
// it.
//
// In a guardian's own process New returns nil: a program that does not call [Run]
// where it should would otherwise start guardians without end.
func New(o Options) *Guard {
	if os.Getenv(Variable) != "" {
		return nil
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	var id [8]byte
	_, _ = rand.Read(id[:]) // it does not fail
	return &Guard{o: o, id: hex.EncodeToString(id[:]), groups: map[int]uint64{}}
}

// Start starts the guardian, which the first child does else. It may run beside the
// beginning of that: Mark waits for it.
func (g *Guard) Start() {
	if g == nil {
		return
	}
	g.first.Lock()
	defer g.first.Unlock()
	if g.begun || g.isClosed() {
		return
	}
	if err := g.start(); err != nil {
		if !g.warned {
			g.o.Logger.Warn("no guardian of child processes can be started: they outlive mcpctl where it is killed", "err", err)
		}
		g.warned = true
		return
	}
	g.begun = true
}

func (g *Guard) isClosed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed
}

// Mark returns a child's environment and the mark by which whoever stops the child finds
// what has left its group. With Options.Short only the guardian looks for that: what a
// command starts to outlive it does, as without a guard.
func (g *Guard) Mark(env []string) ([]string, string) {
	g.Start()
	if env == nil {
		env = os.Environ()
	}
	m := proctree.MarkFor(g.id, g.next.Add(1))
	env = proctree.WithMark(env, m)
	if g.o.Short {
		m = ""
	}
	return env, m
}

// restartWait returns how long to wait before a guardian is replaced, by how often
// one has died: the first is replaced at once.
func restartWait(deaths int) time.Duration {
	if deaths < 2 {
		return 0
	}
	return min(time.Second<<min(deaths-2, 10), time.Minute)
}
