package transport

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/internal/proc"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/runtime"
)

const (
	// maxServerRequests bounds what a server may have asked without an answer;
	// beyond it a request is refused at once.
	maxServerRequests = 64
	// exitWait is how long the end of a server's output waits for its exit
	// status, to report both in one sentence.
	exitWait = 500 * time.Millisecond
	// lineSample bounds how much of a bad line is shown.
	lineSample = 120
)

// stdioPeer is the side of Stdio that its reader calls.
type stdioPeer Stdio

func (p *stdioPeer) Notification(method string, params []byte) {
	(*Stdio)(p).noteAlive()
	p.o.Logger.Debug("notification", "method", method)
	if method == revision.NotificationMessage {
		params = p.o.Redactor.JSON(params)
	}
	call, h := p.named(method, params), p.o.Handler
	if call != nil {
		h = call.Events
	}
	h.Notification(p.lifetime, call, method, params)
}

// named returns the call that a notification names by its id, as those of a
// listen do, and the end of a listen (2026-07-28, Cancellation); nil for none.
func (p *stdioPeer) named(method string, params []byte) *runtime.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.listens) == 0 {
		return nil
	}
	var at [2]rawjson.Span
	if rawjson.Fields(params, at[:], "_meta", "requestId") != nil {
		return nil
	}
	if method == revision.NotificationCancelled {
		return p.listens[string(at[1].Of(params))]
	}
	id, err := rawjson.Field(at[0].Of(params), revision.MetaSubscription)
	if err != nil {
		return nil
	}
	return p.listens[string(id.Of(at[0].Of(params)))]
}

func (p *stdioPeer) Request(id []byte, method string, params []byte) {
	(*Stdio)(p).noteAlive()
	p.o.Logger.Debug("server request", "method", method, "id", string(id))
	id, params = bytes.Clone(id), bytes.Clone(params)
	select {
	case p.requests <- struct{}{}:
	default:
		_ = p.conn.RespondError(id, jsonrpc.ErrorObject(runtime.CodeInternalError, "too many requests are waiting", nil))
		return
	}
	ctx := p.conn.WithBegunAtRead(p.lifetime)
	p.work.Go(func() {
		defer func() { <-p.requests }()
		result, err := p.o.Handler.Request(ctx, nil, method, params)
		if err != nil {
			_ = p.conn.RespondError(id, errorObject(err))
			return
		}
		_ = p.conn.Respond(id, result)
	})
}

// errorObject returns the JSON-RPC error object of an error.
func errorObject(err error) []byte {
	var e *runtime.Error
	if !errors.As(err, &e) {
		return jsonrpc.ErrorObject(runtime.CodeInternalError, err.Error(), nil)
	}
	switch {
	case e.Raw != nil:
		return e.Raw
	case e.Data != nil:
		return jsonrpc.HandlerError(e.Code, e.Message, e.Data)
	}
	return jsonrpc.ErrorObject(e.Code, e.Message, e.Data)
}

// Malformed counts a line that is no message; the connection lives on unless it is
// strict, because a stray print is a common fault of servers.
func (p *stdioPeer) Malformed(line []byte, err error) error {
	(*Stdio)(p).noteAlive()
	sample := p.o.Redactor.Beginning(string(line[:min(len(line), lineSample+p.o.Redactor.Longest())]), lineSample)
	p.mu.Lock()
	p.malformed.count++
	level := slog.LevelDebug
	if p.malformed.sample == "" {
		p.malformed.sample = sample
		level = slog.LevelWarn // once: a server that prints goes on printing
	}
	p.mu.Unlock()
	p.o.Logger.Log(p.lifetime, level, "server wrote a line that is not a message", "sample", sample, "err", err)
	return p.strict()
}

// Closed finds out how the server ended.
func (p *stdioPeer) Closed(cause error) error {
	close(p.end.output)
	p.mu.Lock()
	closing := p.closing
	p.mu.Unlock()
	if strict := p.strict(); strict != nil && !closing {
		return p.closed(strict)
	}
	t := time.NewTimer(exitWait)
	defer t.Stop()
	select {
	case <-p.process.Done():
	case <-t.C:
	}
	p.stderr.Wait(exitWait)
	e := &ExitError{
		Command: (*Stdio)(p).name(), Status: p.process.Status(), InputClosed: p.out.Err() != nil,
		Stderr: p.stderr.Last(), Received: p.conn.Received(),
	}
	p.mu.Lock()
	e.Malformed, e.Dropped = p.malformed.sample, p.malformed.count
	p.mu.Unlock()
	var err error = e
	if closing {
		err = runtime.ErrClosed
	} else {
		p.o.Logger.Info("server has ended", "status", e.Status, "err", cause, "stderr", e.Stderr)
	}
	return p.closed(err)
}

// closed reports why the connection has ended.
func (p *stdioPeer) closed(err error) error {
	p.end.cause = err
	close(p.end.known)
	p.o.Handler.Closed(err)
	return err
}

// strict returns the error of a server that must not write what is no message and
// has; nil for others.
func (p *stdioPeer) strict() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.o.Strict || p.malformed.count == 0 {
		return nil
	}
	return &strictError{&runtime.ProtocolError{Reason: (*Stdio)(p).name() + " wrote a line that is not a message, which its entry does not allow (strict)", Sample: p.malformed.sample}}
}

// strictError is the end of a connection by a line that is no message.
type strictError struct{ line *runtime.ProtocolError }

func (e *strictError) Error() string { return e.line.Error() }

// Unwrap returns what was wrong, and that the connection has ended.
func (e *strictError) Unwrap() []error { return []error{e.line, runtime.ErrClosed} }

// watch ends a connection that is of no use any more although something holds
// the server's output open: the server itself has ended, and only what it has
// started lives; or it takes no input. What it has said before is still read.
func (s *Stdio) watch() {
	select {
	case <-s.process.Done():
	case <-s.out.Failed():
	case <-s.end.output:
		return
	}
	t := time.NewTimer(exitWait)
	defer t.Stop()
	select {
	case <-s.end.output:
	case <-s.lifetime.Done():
	case <-t.C:
		_ = s.process.Stdout.Close() // the reader closes the connection
	}
}

// Malformed reports whether the server has written lines that are no messages and
// not one message, with a sample of the first.
func (s *Stdio) Malformed() (sample string, only bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.malformed.sample, s.malformed.count > 0 && !s.conn.Received()
}

// Stderr returns the last of what the server wrote to standard error.
func (s *Stdio) Stderr() string { return s.stderr.Last() }

// ExitError says that a server has ended on its own.
type ExitError struct {
	Command string
	// Status is such as "exit status 1", or "running" where it only closed its
	// output or, with InputClosed, its input.
	Status      string
	InputClosed bool
	// Stderr is the last of what it wrote there: up to 50 lines, without control
	// characters.
	Stderr string
	// Malformed is a sample of the first line that was no message, "" for none;
	// Dropped counts such lines.
	Malformed string
	Dropped   int
	// Received reports whether any message ever came.
	Received bool
}

// Error returns the status and the line of standard error that says most.
func (e *ExitError) Error() string {
	msg := e.Command + " ended (" + e.Status + ")"
	switch {
	case e.Status != "running":
	case e.InputClosed:
		msg = e.Command + " closed its input"
	default:
		msg = e.Command + " closed its output"
	}
	if line := proc.TellingLine(e.Stderr); line != "" {
		msg += ": " + line
	}
	return msg
}

// StderrLines returns the last lines of standard error, at most 50.
func (e *ExitError) StderrLines() []string {
	if e.Stderr == "" {
		return nil
	}
	return strings.Split(e.Stderr, "\n")
}

// Unwrap makes errors.Is(err, runtime.ErrClosed) hold.
func (e *ExitError) Unwrap() error { return runtime.ErrClosed }

// MalformedLines returns how many lines of the server were no messages.
func (s *Stdio) MalformedLines() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.malformed.count
}
