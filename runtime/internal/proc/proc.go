// Package proc runs child processes whose standard streams are pipes, each in
// a process group (Windows: a job object) of its own, and ends them with
// everything they have started.
package proc

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"
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
	// Hurry is closed when there is no time left: what Stop would wait for is
	// killed at once. Nil is never.
	Hurry <-chan struct{}
}

// Process is a running child. Stdin and Stdout are our ends of its pipes;
// whoever uses them may close them at any time, Stop closes them as well.
type Process struct {
	Stdin, Stdout, Stderr *os.File

	cmd   *exec.Cmd
	hurry <-chan struct{}
	tree  tree
	done chan struct{} // closed once the child itself has been reaped
	stop sync.Once
}

// Start starts a child.
func Start(o Options) (*Process, error) {
	// The child's lifetime is Stop's business: no context ends it.
	cmd := exec.Command(o.Command, o.Args...) //nolint:noctx // running what the user configured is the purpose
	cmd.Env, cmd.Dir = o.Env, o.Dir
	p := &Process{cmd: cmd, hurry: o.Hurry, done: make(chan struct{})}
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			_ = f.Close()
		}
	}()
	pipe := func(ours **os.File, childReads bool) (*os.File, error) {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		child := w
		*ours = r
		if childReads {
			child, *ours = r, w
		}
		theirs = append(theirs, child)
		return child, nil
	}
	in, err := pipe(&p.Stdin, true)
	if err != nil {
		return nil, err
	}
	out, err := pipe(&p.Stdout, false)
	if err != nil {
		p.closePipes()
		return nil, err
	}
	errs, err := pipe(&p.Stderr, false)
	if err != nil {
		p.closePipes()
		return nil, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	prepare(cmd)
	if err := cmd.Start(); err != nil {
		p.closePipes()
		return nil, err
	}
	if p.tree, err = adopt(cmd); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		p.closePipes()
		return nil, fmt.Errorf("put %s into a job: %w", o.Command, err)
	}
	go func() {
		_ = cmd.Wait() // the status is in ProcessState
		close(p.done)
	}()
	return p, nil
}

// PID is the child's process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the child itself has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Status tells how the child has ended, such as "exit status 3"; "running"
// before that.
func (p *Process) Status() string {
	select {
	case <-p.done:
		return p.cmd.ProcessState.String()
	default:
		return "running"
	}
}

// Stop ends the child and its descendants and returns when the child has been
// reaped: standard input is closed; after grace the whole group is asked to
// end (SIGTERM), even where its leader has gone; after term it is killed. Both
// waits end with Options.Hurry. It is idempotent; a second caller waits for the
// first.
func (p *Process) Stop(grace, term time.Duration) {
	p.stop.Do(func() {
		defer p.closePipes()
		_ = p.Stdin.Close()
		p.wait(grace)
		if p.tree.terminate() {
			p.waitTree(term)
		}
		p.tree.kill()
		<-p.done
	})
}

func (p *Process) wait(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.done:
	case <-p.hurry:
	case <-t.C:
	}
}

// waitTree waits for the group to be gone, asking every few milliseconds:
// nothing else tells of the end of a grandchild.
func (p *Process) waitTree(d time.Duration) {
	const step = 5 * time.Millisecond
	for end := time.Now().Add(d); time.Now().Before(end); {
		p.wait(step)
		if !p.tree.alive() {
			return
		}
		select {
		case <-p.hurry:
			return
		default:
		}
		select {
		case <-p.done:
			time.Sleep(step) // only descendants are left
		default:
		}
	}
}

func (p *Process) closePipes() {
	for _, f := range []*os.File{p.Stdin, p.Stdout, p.Stderr} {
		if f != nil {
			_ = f.Close()
		}
	}
}
