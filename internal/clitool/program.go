package clitool

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/proc"
	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/runtime/transport"
)

// Program is how the tool is started.
type Program struct {
	// Command is looked up on PATH, that of Env where it has one; Args go before the
	// words of each call.
	Command string
	Args    []string
	// Env is added to the variables of our own environment that servers get.
	Env map[string]string
	// Dir is the working directory, "" for ours.
	Dir string
	// Shutdown is how long a run that is ended may take after SIGTERM; 0 is 500 ms.
	Shutdown time.Duration
	// Hurry is closed when there is no time left: runs that are being ended are killed
	// at once. Nil is never.
	Hurry <-chan struct{}
	// Guard ends runs where this process is killed; nil: nothing does.
	Guard *transport.Guard
	// Redactor replaces credentials in what the tool writes to its standard error.
	Redactor *secret.Redactor
	// Logger gets standard error (debug); nil discards.
	Logger *slog.Logger
}

const (
	// defaultShutdown is Shutdown.
	defaultShutdown = 500 * time.Millisecond
	// lingering is how long the output of a run may stay open after its end: by
	// processes that it has left behind, which are ended then.
	lingering = 250 * time.Millisecond
	// lingeringMost is how often that is waited for where nothing is left behind.
	lingeringMost = 20
)

// outcome is how one run went.
type outcome struct {
	stdout  []byte
	stderr  string // its end, for display
	raw     []byte // of a help: standard error as it was written
	status  string // as proc words it
	code    int    // -1: it was ended by a signal
	flooded bool   // more than the bound was written, and the run was ended
	left    bool   // processes that it had left behind were ended
}

// base is what errors call the program.
func (p *Program) base() string {
	return strings.TrimSuffix(filepath.Base(p.Command), ".exe")
}

// environment is what makes tools write plain text and ask nobody. The entry's
// variables go before it.
func (p *Program) environment(more map[string]string) []string {
	env := map[string]string{"PAGER": "cat", "GIT_PAGER": "cat", "MANPAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "NO_COLOR": "1", "TERM": "dumb"}
	maps.Copy(env, more)
	maps.Copy(env, p.Env)
	return proc.ChildEnv(goruntime.GOOS, os.Environ(), env)
}

// run is one run of a program.
type run struct {
	words []string
	env   map[string]string // besides that of the program, which goes before it
	most  int               // bytes of the output that are kept
	help  bool              // standard error may be the help, and is kept as it is
	// chunks is told of the output as it comes, complaints of the lines of standard error;
	// nil: nobody is.
	chunks     func([]byte)
	complaints func(line string)
}

// run runs the program once, with nothing on its standard input and without a terminal.
// When ctx ends, so does the run with everything that it has started, and the error is
// that of ctx.
func (p *Program) run(ctx context.Context, r run) (outcome, error) {
	if err := ctx.Err(); err != nil {
		return outcome{}, err
	}
	child, err := proc.Start(proc.Options{
		Command: proc.LookPath(p.Command, p.Env), Args: slices.Concat(p.Args, r.words),
		Env: p.environment(r.env), Dir: p.Dir, NoTerminal: true, Hurry: p.Hurry, Guard: p.Guard,
	})
	if err != nil {
		return outcome{}, transport.StartError(transport.StdioOptions{Command: p.Command, Dir: p.Dir, Redactor: p.Redactor}, err)
	}
	_ = child.Stdin.Close()
	tail := proc.NewStderrTail(cmp.Or(p.Logger, slog.New(slog.DiscardHandler)), p.Redactor, func() {})
	tail.Each = r.complaints
	help := &collector{most: r.most, full: make(chan struct{}), done: make(chan struct{})}
	if r.help {
		go help.read(child.Stderr)
	} else {
		close(help.done)
		go tail.Drain(child.Stderr) // ends with the pipe, which Stop closes
	}
	out := &collector{most: r.most, chunks: r.chunks, full: make(chan struct{}), done: make(chan struct{})}
	go out.read(child.Stdout)

	select {
	case <-child.Done():
	case <-out.full:
	case <-ctx.Done():
	}
	o := outcome{flooded: out.flooded()}
	if ctx.Err() == nil && !o.flooded {
		for range lingeringMost {
			if out.wait(lingering) {
				break
			}
			// This process may be slow, and a child that it is just starting holds the
			// pipe, too.
			if o.left = child.LeftBehind(); o.left {
				break
			}
		}
		if !r.help {
			tail.Wait(lingering)
		} else {
			help.wait(lingering)
		}
	}
	child.Stop(0, cmp.Or(p.Shutdown, defaultShutdown))
	<-out.done
	<-help.done
	if r.help {
		tail.Drain(bytes.NewReader(help.buf.Bytes()))
	}
	tail.Wait(lingering)
	if err := ctx.Err(); err != nil {
		return outcome{}, err
	}
	o.flooded = out.flooded()
	o.stdout, o.stderr, o.status = out.buf.Bytes(), tail.Last(), child.Status()
	o.raw, o.code = help.buf.Bytes(), exitCode(o.status)
	return o, nil
}

// exitCode returns the code in a status, -1 for the end by a signal.
func exitCode(status string) int {
	text, ok := strings.CutPrefix(status, "exit status ")
	code, err := strconv.Atoi(text)
	if !ok || err != nil {
		return -1
	}
	return code
}

// collector keeps the output of a run. Buf belongs to read until done is closed.
type collector struct {
	buf        bytes.Buffer
	most       int
	chunks     func([]byte)
	full, done chan struct{} // closed when there is more than most; when read has ended
}

// read reads to the end of the stream, so that a run never waits for us. What is above
// the bound is dropped.
func (c *collector) read(from *os.File) {
	defer close(c.done)
	chunk := make([]byte, 32<<10)
	for {
		n, err := from.Read(chunk)
		if space := c.most - c.buf.Len(); n > space {
			c.buf.Write(chunk[:space])
			if !c.flooded() {
				close(c.full)
			}
		} else {
			c.buf.Write(chunk[:n])
		}
		if n > 0 && c.chunks != nil {
			c.chunks(chunk[:n])
		}
		if err != nil {
			return
		}
	}
}

func (c *collector) flooded() bool {
	select {
	case <-c.full:
		return true
	default:
		return false
	}
}

// wait waits for the end of the stream, and reports whether it has come in time.
func (c *collector) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c.done:
		return true
	case <-timer.C:
		return false
	}
}

// check returns why the program cannot be started, nil if it seems that it can; its file
// otherwise.
func (p *Program) check() (string, error) {
	path := proc.LookPath(p.Command, p.Env)
	file, err := lookPath(path, p.Dir)
	if err == nil && p.Dir != "" {
		_, err = os.Stat(p.Dir)
	}
	if err != nil {
		return "", transport.StartError(transport.StdioOptions{Command: p.Command, Dir: p.Dir, Redactor: p.Redactor}, err)
	}
	return file, nil
}
