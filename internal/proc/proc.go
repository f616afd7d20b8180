// Package proc runs child processes whose standard streams are pipes, each in
// a process group (Windows: a job object) of its own, and ends them with
// everything they have started.
//
// # Whose number is it
//
// A process group is signalled by a number, and numbers are reused. A group
// keeps its number as long as a process of it lives or its leader has not been
// waited for. So the leader, our child, is not waited for when it ends: it is
// looked at (waitid with WNOWAIT), and its status stays with the kernel until
// Stop has seen the end of the whole group. Every signal to the group is sent
// before that, so it cannot reach a stranger. Other processes than those of the
// group are signalled through a handle (Linux: a pidfd) which is opened first
// and used only where the process is still the one that was found.
package proc

import (
	"fmt"
	"os"
	"os/exec"
	"sync"

	"github.com/mcpctl/mcpctl/internal/guardian"
	"github.com/mcpctl/mcpctl/internal/proctree"
)

// Options say what to start.
type Options struct {
	// Command is looked up on PATH, Args are its arguments.
	Command string
	Args    []string
	// Env is the whole environment, as "K=V"; nil inherits ours.
	Env []string
	// Dir is the working directory, "" for ours.
	Dir string
	// NoTerminal keeps the child from opening our terminal.
	NoTerminal bool
	// Hurry is closed when there is no time left: what Stop would wait for is
	// killed at once. Nil is never.
	Hurry <-chan struct{}
	// Guard ends the child where this process is killed; nil: nothing does. It
	// adds one variable to the environment, see package guardian.
	Guard *guardian.Guard
}

// Process is a running child. Stdin and Stdout are our ends of its pipes;
// whoever uses them may close them at any time, Stop closes them as well. Stop
// must be called, also for a child that has ended.
type Process struct {
	Stdin, Stdout, Stderr *os.File

	child   proctree.Child
	tree    proctree.Tree
	guard   *guardian.Guard
	hurry   <-chan struct{}
	done    chan struct{} // closed once the child itself has ended
	status  string        // set before done is closed
	mayReap chan struct{} // closed when the child may be waited for
	reaped  chan struct{} // closed once it has been
	stop    sync.Once
}

// Start starts a child. With an error nothing is left of the attempt.
func Start(o Options) (*Process, error) {
	// The child's lifetime is Stop's business: no context ends it.
	cmd := exec.Command(o.Command, o.Args...) //nolint:noctx // running what the user configured is the purpose
	p := &Process{guard: o.Guard, hurry: o.Hurry, done: make(chan struct{}), mayReap: make(chan struct{}), reaped: make(chan struct{})}
	cmd.Env, cmd.Dir = o.Env, o.Dir
	var mark string
	if o.Guard != nil {
		cmd.Env, mark = o.Guard.Mark(o.Env)
	}
	theirs, err := p.pipes()
	if err != nil {
		return nil, err
	}
	defer closeAll(theirs[:])
	proctree.Prepare(cmd, o.NoTerminal)
	if p.child, err = proctree.Start(cmd, theirs); err != nil {
		p.closePipes()
		return nil, err
	}
	if p.tree, err = proctree.Adopt(p.child, mark); err != nil {
		p.child.Kill()
		_ = p.child.Wait()
		p.closePipes()
		return nil, fmt.Errorf("put %s into a job: %w", o.Command, err)
	}
	p.guard.Add(p.tree)
	go p.watch()
	return p, nil
}

// pipes opens the three streams and returns the child's ends. All are closed on
// exec, so no other child inherits them.
func (p *Process) pipes() (theirs [3]*os.File, err error) {
	if theirs[0], p.Stdin, err = os.Pipe(); err == nil {
		if p.Stdout, theirs[1], err = os.Pipe(); err == nil {
			p.Stderr, theirs[2], err = os.Pipe()
		}
	}
	if err != nil {
		p.closePipes()
		closeAll(theirs[:])
	}
	return theirs, err
}

// watch notes the end of the child, and waits for it when Stop lets it.
func (p *Process) watch() {
	p.status = await(p.child)
	close(p.done)
	<-p.mayReap
	_ = p.child.Wait() // how it ended is known
	close(p.reaped)
}

// PID is the child's process id.
func (p *Process) PID() int { return p.child.PID }

// Done is closed when the child itself has ended. Descendants may live on and
// hold its pipes until Stop.
func (p *Process) Done() <-chan struct{} { return p.done }

// Status returns how the child has ended, such as "exit status 3" or "signal:
// killed"; "running" before that.
func (p *Process) Status() string {
	if p.ended() {
		return p.status
	}
	return "running"
}

func (p *Process) closePipes() { closeAll([]*os.File{p.Stdin, p.Stdout, p.Stderr}) }

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
