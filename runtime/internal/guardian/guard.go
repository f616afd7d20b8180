// Package guardian ends the children of a process that is killed: [Guard] is
// its side in the process that has the children, [Run] the life of the process
// that watches.
package guardian

import (
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/runtime/internal/proctree"
)

// Guard ends the children with this process, however it ends: also by SIGKILL, which leaves no time to end anything, and with the children's
// descendants, whom no signal of a parent's death would reach.
//
// On Linux and macOS another process does it, the guardian: Options.Path
// run again. It holds the read end of a pipe whose write end is ours, and the
// list of process groups that we write there. When the pipe ends without a
// goodbye it ends the groups, see [Run].
//
// A child that has been started is in the list a moment later, and this process
// may be killed in between. So each child is told in its environment whose it
// is ([proctree.MarkVariable]), and the guardian looks for that, too. Between
// fork and exec, when a child has no environment of its own yet, it still holds
// a copy of the pipe's write end, which is closed on exec: the end of the pipe
// therefore means that every child which was ever begun shows its mark. The mark
// finds descendants that have left their group as well; the list finds those that
// have cleared their environment. What has done both escapes, and a child that
// clears its environment in its first moment, when this process is killed in
// that same moment, before the child is in the list.
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

	keeper keeper
}

// Options say how the guardian is started.
type Options struct {
	// Path is the executable, Args its arguments with the name first. Run so it
	// must call [Run] with its standard input and do nothing else.
	Path string
	Args []string
	// Logger; nil discards.
	Logger *slog.Logger
}

// New returns a guard. The guardian is started with the first child. Where it
// cannot be, a warning says so, once, and the next child tries again. Close ends
// it.
func New(o Options) *Guard {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	var id [8]byte
	_, _ = rand.Read(id[:]) // it does not fail
	return &Guard{o: o, id: hex.EncodeToString(id[:]), groups: map[int]uint64{}}
}

// begin starts the guardian unless that has been done.
func (g *Guard) begin() {
	g.first.Lock()
	defer g.first.Unlock()
	if g.begun {
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

// Mark returns a child's environment and the mark that is in it.
func (g *Guard) Mark(env []string) ([]string, string) {
	g.begin()
	if env == nil {
		env = os.Environ()
	}
	m := proctree.MarkFor(g.id, g.next.Add(1))
	return proctree.WithMark(env, m), m
}

// restartWait returns how long a guardian that has died again is waited with, by how
// often it has: the first time it is replaced at once.
func restartWait(deaths int) time.Duration {
	if deaths < 2 {
		return 0
	}
	return min(time.Second<<min(deaths-2, 10), time.Minute)
}
