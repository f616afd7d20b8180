package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	goruntime "runtime"
	"strings"
	"time"
)

// background is a server command that goes on while others run.
type background struct {
	r      *runner
	cmd    *exec.Cmd
	stop   context.CancelFunc
	index  int // of its step
	output strings.Builder
	copied chan struct{} // closed when its output has ended
}

// startLimit is how long a server may take to say where it listens.
const startLimit = 15 * time.Second

// start runs a command in the background and returns when it has printed a
// line with the prefix, and what follows that.
func (r *runner) start(ctx context.Context, c command, prefix string) (*background, string, error) {
	text := c.String() + " &"
	r.screen.command(text)
	fail := func(err error) (*background, string, error) {
		if ctx.Err() != nil {
			return nil, "", ctx.Err()
		}
		return nil, "", &StepError{Command: text, Exit: -1, Cause: err}
	}
	own, stop := context.WithCancel(ctx)
	b := &background{r: r, stop: stop, index: len(r.steps), copied: make(chan struct{})}
	b.cmd = r.prepare(own, c)
	pr, pw := io.Pipe()
	b.cmd.Stdout = pw
	b.cmd.Stderr = pw
	if err := b.cmd.Start(); err != nil {
		stop()
		return fail(err)
	}
	r.steps = append(r.steps, Step{Command: text})
	ended := make(chan error, 1)
	go func() {
		err := b.cmd.Wait()
		ended <- err
		_ = pw.Close()
	}()
	said := make(chan string, 1)
	go func() {
		defer close(b.copied)
		lines := bufio.NewReader(pr)
		for {
			line, err := lines.ReadString('\n')
			b.output.WriteString(line)
			_, _ = r.screen.Write([]byte(line)) // kept in screen.err
			if rest, ok := strings.CutPrefix(line, prefix); ok {
				select {
				case said <- strings.TrimSpace(rest):
				default:
				}
			}
			if err != nil {
				return
			}
		}
	}()
	timer := time.NewTimer(startLimit)
	defer timer.Stop()
	var err error
	select {
	case rest := <-said:
		return b, rest, nil
	case err = <-ended:
		err = fmt.Errorf("it has ended: %w", errors.Join(err, errors.New("not a word of "+prefix)))
	case <-timer.C:
		err = fmt.Errorf("no %q within %s", prefix, startLimit)
	case <-ctx.Done():
	}
	_ = b.end() // the error at hand is the first one
	return fail(err)
}

// end interrupts the command and waits until it has gone. Of a server that was
// up, an exit code other than 0 is a *StepError; where the system knows no
// interrupt, the code tells nothing. It may be called twice.
func (b *background) end() error {
	b.stop()
	<-b.copied
	step := &b.r.steps[b.index]
	step.Exit = b.cmd.ProcessState.ExitCode()
	step.Stderr = b.output.String()
	if step.Exit != 0 && goruntime.GOOS != "windows" {
		return &StepError{Command: step.Command, Exit: step.Exit}
	}
	return nil
}
