package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// Process is a program that was started.
type Process struct {
	Cmd *exec.Cmd
	// In and Out are its standard input and output, of one that Start has started.
	In  io.WriteCloser
	Out io.ReadCloser
	// Stderr has what it writes to standard error, and of one that Launch has
	// started to standard output, too.
	Stderr *Output
	URL    string        // where it listens, of one that Launch has started
	Exited chan struct{} // closed when it has ended
	err    error
}

// Start starts a command with pipes for its standard input and output. What it
// has written can be read after its end. Standard error is kept, unless the
// command says where it goes.
func Start(cmd *exec.Cmd) (*Process, error) {
	stdin, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, stdin.Close(), in.Close())
	}
	p := &Process{Cmd: cmd, In: in, Out: out, Stderr: NewOutput()}
	cmd.Stdin, cmd.Stdout = stdin, stdout
	if cmd.Stderr == nil {
		cmd.Stderr = p.Stderr
	}
	err = p.start()
	_, _ = stdin.Close(), stdout.Close() // they are the process's
	if err != nil {
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	return p, nil
}

// Launch starts a command and waits for a line that begins with ready, the rest
// of which is its URL. What it writes is copied to copies.
func Launch(cmd *exec.Cmd, ready string, copies ...io.Writer) (*Process, error) {
	p := &Process{Cmd: cmd, Stderr: NewOutput(copies...)}
	cmd.Stdout, cmd.Stderr = p.Stderr, p.Stderr
	if cmd.WaitDelay == 0 {
		cmd.WaitDelay = 10 * time.Second
	}
	err := p.start()
	if err != nil {
		return nil, err
	}
	if p.URL, err = p.Stderr.find(Limit, p.Exited, lineWith(ready)); err != nil {
		p.Stop(time.Second)
		return nil, fmt.Errorf("%s: no line %s…: %w\n%s", filepath.Base(cmd.Path), ready, err, p.Stderr.Tail())
	}
	return p, nil
}

func (p *Process) start() error {
	if err := p.Cmd.Start(); err != nil {
		return err
	}
	p.Exited = make(chan struct{})
	go func() { // ends with the process
		p.err = p.Cmd.Wait()
		close(p.Exited)
	}()
	return nil
}

// Wait waits for the end, and returns how it ended.
func (p *Process) Wait() error {
	<-p.Exited
	return p.err
}

// End closes the input, waits for the end, and reports whether that came within a
// limit: after it the process is killed.
func (p *Process) End(limit time.Duration) bool {
	_ = p.In.Close() // it may be closed already
	late := time.AfterFunc(limit, func() { _ = p.Cmd.Process.Kill() })
	<-p.Exited
	return late.Stop()
}

// Stop interrupts the process and waits for its end. One that has not ended
// within a limit is killed.
func (p *Process) Stop(limit time.Duration) {
	late := time.AfterFunc(limit, func() { _ = p.Cmd.Process.Kill() })
	defer late.Stop()
	if p.Cmd.Process.Signal(os.Interrupt) != nil { // it has ended, or the system cannot
		_ = p.Cmd.Process.Kill()
	}
	<-p.Exited
}

// Build compiles a package, or files, into a program, and returns its path.
func Build(ctx context.Context, program, what string, flags ...string) (string, error) {
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	args := slices.Concat([]string{"build"}, flags, []string{"-o", program, what})
	if out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", what, err, out)
	}
	return program, nil
}
