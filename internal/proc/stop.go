package proc

import (
	"slices"
	"syscall"
	"time"

	"github.com/mcpctl/mcpctl/internal/proctree"
)

const (
	// lookFirst and lookMost are how often the rest of a tree is looked at:
	// nothing reports the end of a grandchild.
	lookFirst, lookMost = 2 * time.Millisecond, 50 * time.Millisecond
	// killWait bounds how long killed processes may take to go. Only one that
	// waits inside the kernel, such as for a disk that does not answer, takes
	// longer: it is left to the kernel.
	killWait = 2 * time.Second
	// blindWait is what descendants get to end where the system does not tell
	// which of them live.
	blindWait = 250 * time.Millisecond
)

// Stop ends the child and its descendants, and returns when they are gone:
// standard input is closed; after grace, or when the child has ended before,
// every process of the group is asked to end (SIGTERM), also where the leader
// has gone; after term they are killed. Of the latter only what hangs in the
// kernel can outlast killWait. Options.Hurry ends the first two waits. With a
// Guard, what has left the group and still carries the mark of this child is
// treated alike.
//
// It is idempotent; a second caller waits for the first.
func (p *Process) Stop(grace, term time.Duration) {
	p.stop.Do(func() {
		defer p.closePipes()
		_ = p.Stdin.Close()
		p.waitExit(grace)
		if proctree.Gentle {
			p.signalAndWait(syscall.SIGTERM, term, p.hurry)
		}
		p.signalAndWait(syscall.SIGKILL, killWait, nil)
		// From the moment the leader is waited for the number is not ours.
		p.guard.Remove(p.tree)
		p.tree.Release()
		close(p.mayReap)
		if p.ended() {
			<-p.reaped
		} // else it hangs in the kernel, and watch goes on waiting
	})
}

// LeftBehind reports whether processes that a child has started outlive it. Where the
// system does not tell, it is true.
func (p *Process) LeftBehind() bool {
	found, sees := p.tree.Look()
	return !sees || len(found) > 0
}

// waitExit waits for the end of the child itself, or until there is no time left.
func (p *Process) waitExit(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.done:
	case <-p.hurry:
	case <-t.C:
	}
}

func (p *Process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// signalAndWait sends a signal to the group, and to what is found to have left it, and
// waits for the end of all.
func (p *Process) signalAndWait(sig syscall.Signal, d time.Duration, hurry <-chan struct{}) {
	p.tree.Signal(sig)
	end := time.Now().Add(d)
	var (
		last   []proctree.Process
		asked  = map[proctree.Process]bool{}
		strays = false
		none   = 0 // looks in a row that found nobody
	)
	for step := lookFirst; ; step = min(2*step, lookMost) {
		ended := p.ended()
		if ended && !slices.ContainsFunc(last, proctree.Process.Lives) {
			found, sees := p.tree.Look()
			if !sees && sig == syscall.SIGKILL {
				return // the group has got it, and we cannot know more
			}
			if blind := time.Now().Add(blindWait); !sees && blind.Before(end) {
				end = blind
			}
			for _, k := range found {
				if k.Group != p.PID() && !asked[k] {
					strays, asked[k] = true, true
					k.Signal(sig)
				}
			}
			// A signal to a group misses nobody, however its members fork
			// meanwhile. Strays can be born behind the eyes of one look.
			if none++; !sees || len(found) > 0 {
				none = 0
			}
			if none > 0 && !strays || none > 1 {
				return
			}
			last = found
		}
		left := time.Until(end)
		if left <= 0 {
			return
		}
		done := p.done
		if ended {
			done = nil // only descendants are left
		}
		t := time.NewTimer(min(step, left))
		select {
		case <-done:
		case <-t.C:
		case <-hurry:
			t.Stop()
			return
		}
		t.Stop()
	}
}
