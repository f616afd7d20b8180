package transport

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mcpctl/mcpctl/internal/ability"
	"github.com/mcpctl/mcpctl/internal/guardian"
	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/internal/proc"
	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/runtime"
)

// StdioOptions are what a stdio server is started with.
type StdioOptions struct {
	// Command is looked up on PATH, that of Env where it has one; Args are passed
	// as they are, no shell.
	Command string
	Args    []string
	// Env is added to the small set of variables of our own environment that
	// servers get, and wins.
	Env map[string]string
	// Dir is the working directory, "" for ours.
	Dir string
	// Handler gets what belongs to no call; nil is runtime.NopHandler.
	Handler runtime.Handler
	// Logger gets the server's stderr (debug) and its faults; nil discards.
	Logger *slog.Logger
	// MaxMessage bounds one message of the server, in bytes; 0 is 64 MiB. An
	// answer that is longer fails its call with a [*runtime.ProtocolError].
	MaxMessage int
	// StringIDs sends request ids as strings.
	StringIDs bool
	// Strict ends the connection, with a [*runtime.ProtocolError], at the first
	// line that is no message. Else such lines are left out.
	Strict bool
	// Grace is how long the server may take to end once its input is closed;
	// 0 is 500 ms. ShutdownTimeout is how long it may take after SIGTERM; 0 is
	// 5 s. Then it is killed, where ShutdownTimeout is negative by Hurry alone.
	Grace, ShutdownTimeout time.Duration
	// Hurry is closed when there is no time left: a server that is being ended
	// then is killed at once, whatever Grace and ShutdownTimeout say. Nil is
	// never.
	Hurry <-chan struct{}
	// Guard ends the server where this process is killed; nil: nothing does.
	Guard *Guard
	// Redactor replaces credentials in errors and in what the server writes to its
	// standard error. Results are not looked at. Nil replaces nothing.
	Redactor *secret.Redactor
}

// Stdio is a server run as a child process that speaks over its standard
// streams (specification, Transports, stdio). Any number of calls go through
// the one process at once.
type Stdio struct {
	o       StdioOptions
	process *proc.Process
	conn    *jsonrpc.Conn
	out     *jsonrpc.Writer
	stderr  *proc.StderrTail

	// lifetime ends the answers to server requests; it is the transport's own,
	// cancelled by Close.
	lifetime context.Context //nolint:containedctx // owned, see Close
	cancel   context.CancelFunc
	work     sync.WaitGroup // reader, stderr drain, watch, server requests

	requests chan struct{} // bounds server requests being answered

	alive signOfLife
	end   ending

	mu        sync.Mutex // guards what follows
	malformed malformedLines
	closing   bool
	listens   map[string]*runtime.Request // calls under way with an id and events of their own, by that id
}

// signOfLife is closed by the first of them.
type signOfLife struct {
	once sync.Once
	done chan struct{}
}

// ending is the end of a server's output.
type ending struct {
	output chan struct{} // closed when it has ended
	known  chan struct{} // closed when it is known why, which is cause
	cause  error
}

// malformedLines are those that were no messages.
type malformedLines struct {
	sample string // of the first
	count  int
}

// StartStdio starts the server. That it speaks MCP is found out by talking to
// it. A command that cannot be started is a *runtime.ConnectError.
func StartStdio(o StdioOptions) (*Stdio, error) {
	if o.Handler == nil {
		o.Handler = runtime.NopHandler{}
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.Grace, o.ShutdownTimeout = cmp.Or(o.Grace, 500*time.Millisecond), cmp.Or(o.ShutdownTimeout, 5*time.Second)
	o.MaxMessage = cmp.Or(o.MaxMessage, defaultMaxMessage)
	if o.ShutdownTimeout < 0 {
		o.ShutdownTimeout = 1000 * time.Hour
	}
	p, err := proc.Start(proc.Options{Command: proc.LookPath(o.Command, o.Env), Args: o.Args, Env: proc.ChildEnv(goruntime.GOOS, os.Environ(), o.Env), Dir: o.Dir, Hurry: o.Hurry, Guard: o.Guard})
	if err != nil {
		return nil, StartError(o, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Stdio{
		o: o, process: p, alive: signOfLife{done: make(chan struct{})}, end: ending{output: make(chan struct{}), known: make(chan struct{})},
		lifetime: ctx, cancel: cancel, requests: make(chan struct{}, maxServerRequests),
	}
	s.stderr = proc.NewStderrTail(o.Logger, o.Redactor, s.noteAlive)
	trace := newWireLog(o.Logger, o.Redactor)
	s.out = jsonrpc.NewWriter(trace.Writer(p.Stdin))
	s.conn = jsonrpc.NewConn(s.out, (*stdioPeer)(s), o.StringIDs)
	if o.Redactor != nil {
		s.conn.RewriteErrors(o.Redactor.JSON)
	}
	s.work.Go(func() { s.stderr.Drain(p.Stderr) })
	s.work.Go(s.watch)
	s.work.Go(func() { s.conn.Read(jsonrpc.NewLineReader(trace.Reader(p.Stdout), o.MaxMessage)) })
	return s, nil
}

// Call implements [runtime.Transport].
func (s *Stdio) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	q := jsonrpc.Call{Method: req.Method, Params: req.Params, Text: req.ID, Token: req.Token, Sent: ability.Sent(ctx)}
	var events func(jsonrpc.Event)
	if h := req.Events; h != nil {
		defer s.listen(req)()
		events = func(e jsonrpc.Event) { h.Notification(ctx, req, e.Method, e.Params) }
	}
	result, object, err := s.conn.Call(ctx, &q, events)
	switch {
	case err != nil && jsonrpc.IsNotSent(err):
		return nil, fmt.Errorf("%s: %w: %w", req.Method, runtime.ErrNotSent, s.refusal(ctx, err))
	case err != nil:
		return nil, s.failure(err)
	case object != nil:
		return nil, runtime.ParseError(object)
	}
	return result, nil
}

// listen makes messages that name the call by its id those of the call; the
// function ends that.
func (s *Stdio) listen(req *runtime.Request) func() {
	if req.ID == nil {
		return func() {}
	}
	id := string(req.ID)
	s.mu.Lock()
	if s.listens == nil {
		s.listens = map[string]*runtime.Request{}
	}
	s.listens[id] = req
	s.mu.Unlock()
	return func() {
		s.mu.Lock()
		delete(s.listens, id)
		s.mu.Unlock()
	}
}

// failure returns an error of the connection in the terms of package runtime.
func (s *Stdio) failure(err error) error {
	switch {
	case errors.Is(err, jsonrpc.ErrFull), errors.Is(err, jsonrpc.ErrBusy):
		return &runtime.ConnectError{Target: s.name(), Err: err}
	case errors.Is(err, jsonrpc.ErrUnreadable):
		return &runtime.ProtocolError{Reason: s.o.Redactor.String(err.Error())}
	case errors.Is(err, jsonrpc.ErrTooLong):
		return &runtime.ProtocolError{Reason: fmt.Sprintf("the answer of %s is larger than %d bytes", s.name(), s.o.MaxMessage)}
	case errors.Is(err, jsonrpc.ErrClosed), errors.Is(err, os.ErrClosed), errors.Is(err, io.ErrClosedPipe), errors.Is(err, syscall.EPIPE):
		return runtime.ErrClosed
	}
	return err
}

// refusal returns the reason why nothing more is sent. Where the server has just
// ended, that is how, which may have to be waited for.
func (s *Stdio) refusal(ctx context.Context, err error) error {
	if !errors.Is(err, jsonrpc.ErrClosed) && s.out.Err() == nil {
		return s.failure(err)
	}
	select {
	case <-s.end.known:
		return s.end.cause
	case <-s.lifetime.Done():
	case <-ctx.Done():
	}
	return runtime.ErrClosed
}

// Notify implements [runtime.Transport].
func (s *Stdio) Notify(_ context.Context, req *runtime.Request) error {
	if err := s.conn.Notify(req.Method, req.Params); err != nil {
		return s.failure(err)
	}
	return nil
}

var (
	_ ability.Pipeline = (*Stdio)(nil)
	_ ability.Alive    = (*Stdio)(nil)
	_ ability.PID      = (*Stdio)(nil)

	_ ability.MalformedLines = (*Stdio)(nil)
)

// Pipeline returns the asynchronous connection underneath, for callers inside
// this module that must not spend a goroutine on a call.
func (s *Stdio) Pipeline() *jsonrpc.Conn { return s.conn }

// Alive is closed once the server has written something to its standard error,
// or to its output other than an answer.
func (s *Stdio) Alive() <-chan struct{} { return s.alive.done }

func (s *Stdio) noteAlive() { s.alive.once.Do(func() { close(s.alive.done) }) }

// name is what errors call the server.
func (s *Stdio) name() string { return filepath.Base(s.o.Command) }

// PID is the server's process id.
func (s *Stdio) PID() int { return s.process.PID() }

// Close implements [runtime.Transport]: it ends the server's process with
// everything that it has started, see [StdioOptions.Grace].
func (s *Stdio) Close() error {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.cancel()
	s.process.Stop(s.o.Grace, s.o.ShutdownTimeout)
	s.out.Close()
	s.work.Wait()
	return nil
}

// Guard ends the processes of stdio servers, and what they have started, with
// this process, however that ends: also by SIGKILL. Any number of servers share
// one.
//
// On Linux and macOS that is the work of a guardian, a process that is started
// with the first server. On Windows it is that of a job object. Servers find a
// variable MCPCTL_GUARD in their environment, see docs/serve.md.
type Guard = guardian.Guard

// GuardOptions say how the guardian is started.
type GuardOptions struct {
	// Path is the executable, absolute, and Args its arguments with the name
	// first. Run so it must call [Guardian] with its standard input, and end.
	Path string
	Args []string
	// Short is for a process that is over in a moment: its guardian starts faster, as a
	// shell, /bin/sh, which becomes Path only where this process is killed.
	Short bool
	// Logger is told of a guardian that cannot be started or has ended before
	// its time; nil discards.
	Logger *slog.Logger
}

// GuardianVariable is set in a guardian's environment.
const GuardianVariable = guardian.Variable

// NewGuard returns a guard. Its Close is called when all servers have been closed.
// In a guardian, which has [GuardianVariable], it returns nil, which guards nothing.
func NewGuard(o GuardOptions) *Guard {
	return guardian.New(guardian.Options{Path: o.Path, Args: o.Args, Short: o.Short, Logger: o.Logger})
}

// Guardian is the life of a guardian: it returns when there is nothing left to
// watch.
func Guardian(pipe io.Reader) { guardian.Run(pipe) }

// ErrNoCommand is in the error of a command that is not there.
var ErrNoCommand = errors.New("command not found")

// StartError returns why a command could not be started, and what mends it. The
// system's own words name neither which of the files involved is meant nor what
// is wrong with it.
func StartError(o StdioOptions, err error) error {
	c := whyNotStarted(o, err)
	return &runtime.ConnectError{Target: o.Redactor.String(c.Target), Err: o.Redactor.Error(c.Err), Remedy: o.Redactor.String(c.Remedy)}
}

func whyNotStarted(o StdioOptions, err error) *runtime.ConnectError {
	c := &runtime.ConnectError{Target: o.Command, Err: err}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		c.Err = path.Err // the path is the target
	}
	if sys, ok := errors.AsType[*os.SyscallError](err); ok {
		c.Err = sys.Err
	}
	install := "install " + o.Command + ", or correct the command in servers.json"
	if words := strings.Fields(o.Command); len(words) > 1 && !strings.ContainsAny(words[0], `/\`) {
		install = fmt.Sprintf(`"command" is only the program; its arguments belong in "args": mcpctl add NAME -- %s`, o.Command)
	}
	if missing, ok := errors.AsType[*exec.Error](err); ok {
		c.Err, c.Remedy = ErrNoCommand, install
		if !errors.Is(err, exec.ErrNotFound) {
			c.Err = missing.Err
		}
		return c
	}
	if why := badDirectory(o.Dir); why != nil {
		c.Err, c.Remedy = why, "correct cwd in servers.json"
		return c
	}
	info, missing := os.Stat(o.Command)
	switch {
	case errors.Is(err, os.ErrNotExist) && missing != nil:
		c.Err, c.Remedy = ErrNoCommand, install
	case errors.Is(err, os.ErrNotExist):
		c.Err = errors.New("its interpreter is not there")
		c.Remedy = "install what the first line of " + o.Command + " names"
	case missing == nil && info.IsDir():
		c.Err, c.Remedy = errors.New("it is a directory"), "correct the command in servers.json"
	case errors.Is(err, os.ErrPermission):
		c.Err, c.Remedy = errors.New("permission denied"), "make it executable: chmod +x "+o.Command
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		c.Remedy = "let mcpctl open more files, as with ulimit -n"
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOMEM):
		c.Remedy = "there is no room for another process: end some, or raise the limit, as with ulimit -u"
	}
	return c
}

// badDirectory says what is wrong with a working directory, nil where it will
// do.
func badDirectory(dir string) error {
	if dir == "" {
		return nil
	}
	switch info, err := os.Stat(dir); {
	case errors.Is(err, os.ErrNotExist):
		return errors.New("working directory " + proc.StderrLine(dir) + " not found")
	case err != nil:
		return err
	case !info.IsDir():
		return errors.New("working directory " + proc.StderrLine(dir) + " is not a directory")
	}
	return nil
}
