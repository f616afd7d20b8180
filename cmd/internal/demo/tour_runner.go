package demo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"time"
)

const (
	// stepLimit bounds a command of mcpctl's, buildLimit the Go compiler, which
	// may start with an empty cache.
	stepLimit  = time.Minute
	buildLimit = 10 * time.Minute
	// stepGrace is how long a command has to end after it was interrupted: it
	// has servers of its own to end.
	stepGrace = 5 * time.Second
	// interrupted is how mcpctl and shells tell of a SIGINT.
	interrupted = 130
)

// Step is one command of a tour and what came of it.
type Step struct {
	// Command is the line as a shell takes it.
	Command string `json:"command"`
	Exit    int    `json:"exit"`
	// Stdout and Stderr are the bytes of the command.
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
}

// StepError is a command of the tour that did not end as it should.
type StepError struct {
	Command string
	// Exit is its exit code, -1 where it could not be run or was killed.
	Exit, Want int
	// Cause says more, nil where the exit code says all.
	Cause error
}

func (e *StepError) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("demo: %s: %v", e.Command, e.Cause)
	}
	return fmt.Sprintf("demo: %s ended with exit code %d, want %d", e.Command, e.Exit, e.Want)
}

// Hint says how to look into it.
func (*StepError) Hint() string { return "mcpctl demo --keep leaves its directory to look at" }

// runner runs the commands of a tour, one after another, in one directory.
type runner struct {
	dir    string
	bin    string // holds mcpctl; first on the commands' PATH
	env    []string
	screen *screen
	apart  bool // keep stdout and stderr apart, for Step
	steps  []Step
}

// newRunner makes the directory ready: bin/mcpctl is the program itself.
func newRunner(dir string, o TourOptions, out *screen) (*runner, error) {
	r := &runner{dir: dir, bin: filepath.Join(dir, "bin"), screen: out, apart: o.JSON}
	for _, d := range []string{r.bin, filepath.Join(dir, "home")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return nil, fmt.Errorf("demo: %w", err)
		}
	}
	if err := place(o.Executable, filepath.Join(r.bin, program("mcpctl"))); err != nil {
		return nil, fmt.Errorf("demo: put mcpctl on the PATH: %w", err)
	}
	path := ""
	for _, kv := range o.Environ {
		name, value, _ := strings.Cut(kv, "=")
		upper := name
		if goruntime.GOOS == "windows" {
			upper = strings.ToUpper(name)
		}
		switch {
		case upper == "PATH":
			path = value
		case strings.HasPrefix(upper, "MCPCTL_"), upper == "GOWORK":
			// The tour's own settings hold, and its module stands alone.
		default:
			r.env = append(r.env, kv)
		}
	}
	r.env = append(r.env, "PATH="+strings.TrimSuffix(r.bin+string(filepath.ListSeparator)+path, string(filepath.ListSeparator)))
	return r, nil
}

// program is the file name of a program.
func program(name string) string {
	if goruntime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

// place makes a program appear under another path: a link where the system
// gives one, a copy elsewhere.
func place(from, to string) error {
	if os.Symlink(from, to) == nil || os.Link(from, to) == nil {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700) //nolint:gosec // it is a program
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// export sets a variable for the commands that follow, and shows how.
func (r *runner) export(name, value string) {
	r.env = append(r.env, name+"="+value) // of two, the last one counts
	r.screen.styled("\x1b[1m", "$ %s", exportLine(goruntime.GOOS, name, value))
}

// command is one command to run.
type command struct {
	// words are the program and its arguments. A program of the tour's
	// directory is written ./name.
	words []string
	// stdin is one line for its standard input; "" is none.
	stdin string
	// want is the exit code it has to end with.
	want int
	// limit is how long it may take; 0 is stepLimit.
	limit time.Duration
}

// String is the command as a shell takes it.
func (c command) String() string { return c.shell(goruntime.GOOS) }

func (c command) shell(goos string) string {
	quoted := make([]string, len(c.words))
	for i, w := range c.words {
		quoted[i] = shellWord(goos, w)
	}
	s := strings.Join(quoted, " ")
	if c.stdin != "" {
		s = "echo " + shellWord(goos, c.stdin) + " | " + s
	}
	return s
}

// run runs a command, shows its bytes as they come, and fails unless it ends
// as wanted.
func (r *runner) run(ctx context.Context, c command) error {
	r.screen.command(c.String())
	limit := c.limit
	if limit == 0 {
		limit = stepLimit
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := r.prepare(limited, c)
	if c.stdin != "" {
		cmd.Stdin = strings.NewReader(c.stdin + "\n")
	}
	step := Step{Command: c.String()}
	var stdout, stderr bytes.Buffer
	if r.apart {
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
	} else {
		// One writer for both is one pipe: the order is the command's own.
		cmd.Stdout = r.screen
		cmd.Stderr = r.screen
	}
	err := cmd.Run()
	step.Exit = -1 // also of one that a signal has ended
	if cmd.ProcessState != nil {
		step.Exit = cmd.ProcessState.ExitCode()
	}
	step.Stdout, step.Stderr = stdout.String(), stderr.String()
	r.steps = append(r.steps, step)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var exit *exec.ExitError
	switch failed := (&StepError{Command: step.Command, Exit: step.Exit, Want: c.want}); {
	case limited.Err() != nil:
		failed.Cause = fmt.Errorf("not done after %s", limit)
		return failed
	case err != nil && !errors.As(err, &exit), step.Exit < 0:
		failed.Cause = err
		return failed
	case step.Exit == interrupted: // somebody has interrupted the command itself
		return context.Canceled
	case step.Exit != c.want:
		return failed
	}
	if step.Exit != 0 {
		r.screen.line("[exit code %d]", step.Exit)
	}
	return nil
}

// prepare makes a process of a command. It has a process group of its own: a
// Ctrl+C reaches the tour alone, which passes it on when ctx ends, so that
// there is no telling a failed command from an interrupted one by luck.
func (r *runner) prepare(ctx context.Context, c command) *exec.Cmd {
	path := c.words[0]
	switch local, ok := strings.CutPrefix(path, "./"); {
	case ok:
		path = filepath.Join(r.dir, program(local))
	case path == "mcpctl":
		path = filepath.Join(r.bin, program(path))
	}
	cmd := exec.CommandContext(ctx, path, c.words[1:]...)
	cmd.Args[0] = c.words[0]
	cmd.Dir, cmd.Env = r.dir, r.env
	apart(cmd)
	cmd.Cancel = func() error { return interrupt(cmd.Process) }
	cmd.WaitDelay = stepGrace
	return cmd
}

// exportLine sets a variable in the shell of a system: PowerShell on Windows.
func exportLine(goos, name, value string) string {
	if goos == "windows" {
		return "$env:" + name + " = '" + strings.ReplaceAll(value, "'", "''") + "'"
	}
	return "export " + name + "=" + shellWord(goos, value)
}

// shellWord quotes a word for the shell of a system where it needs it.
func shellWord(goos, w string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=+%"
	extra, quote := "@,", `'\''`
	if goos == "windows" {
		extra, quote = `\`, "''"
	}
	if w != "" && strings.Trim(w, plain+extra) == "" {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", quote) + "'"
}

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
