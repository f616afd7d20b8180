package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

const (
	readyTimeout = 20 * time.Second
	stopTimeout  = 5 * time.Second // from SIGTERM to SIGKILL
)

// process is a server that was started for a row of the table.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when its output has ended
	stop context.CancelFunc
	// URL is where it said to listen.
	URL string
}

// start runs a program until stop, in a process group of its own, and waits
// for a line of its output that begins with ready: the rest is its URL. All
// output goes to log as well.
func start(ctx context.Context, log io.Writer, ready string, env []string, program string, args ...string) (*process, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &process{cmd: group(exec.CommandContext(ctx, program, args...)), done: make(chan struct{}), stop: cancel}
	p.cmd.Stdout, p.cmd.Stderr = w, w
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.WaitDelay = stopTimeout
	err = p.cmd.Start()
	_ = w.Close()
	if err != nil {
		cancel()
		_ = r.Close()
		return nil, err
	}
	urls := make(chan string, 1)
	go func() {
		defer close(p.done)
		defer r.Close()
		lines := bufio.NewReader(r)
		for {
			line, err := lines.ReadString('\n')
			_, _ = io.WriteString(log, line)
			if url, ok := strings.CutPrefix(line, ready); ok {
				select {
				case urls <- strings.TrimSpace(url):
				default: // it has said so already
				}
			}
			if err != nil {
				return
			}
		}
	}()
	select {
	case p.URL = <-urls:
		return p, nil
	case <-p.done:
		err = fmt.Errorf("%s ended before it was ready", program)
	case <-time.After(readyTimeout):
		err = fmt.Errorf("%s was not ready within %v", program, readyTimeout)
	case <-ctx.Done():
		err = ctx.Err()
	}
	p.Stop()
	return nil, err
}

// Stop ends the process and all that it has started.
func (p *process) Stop() {
	p.stop()
	_ = p.cmd.Wait() // it was told to end: how it did is no matter
	killGroup(p.cmd)
	<-p.done
}
