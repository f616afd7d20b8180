package runtimetest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
)

// Serve speaks newline-delimited JSON-RPC on r and w until r ends (nil), ctx
// ends (its error) or the script says so (an [*ExitError]). Requests run at
// the same time; Serve waits for them. Streams that are io.Closers are closed
// at the end; a reader that is not one must end by itself.
func (s *Server) Serve(ctx context.Context, r io.Reader, w io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer closeAll(r, w)
	if s.Faults.ExitAtOnce {
		return &ExitError{s.Faults.ExitCode}
	}
	n := newSession(ctx, s, cancel)
	defer s.world.leave(n)
	var wmu sync.Mutex
	out := func(b []byte) {
		wmu.Lock()
		defer wmu.Unlock()
		// A client that has gone shows as the end of r.
		_, _ = w.Write(b)
	}
	n.out = func(frame []byte) { out(append(bytes.Clone(frame), '\n')) }
	n.raw = out
	if err := sleep(ctx, s.Faults.StartDelay); err != nil {
		return err
	}
	n.rubbish()

	lines := make(chan []byte)
	done := make(chan struct{})
	go readLines(r, lines, done)
	defer close(done)
	for {
		select {
		case <-ctx.Done():
			closeAll(r, w) // a client that reads no more must not hold us
			n.wg.Wait()
			return context.Cause(ctx)
		case line, ok := <-lines:
			if !ok {
				// What was asked last may still be answered, if it is quick.
				t := time.AfterFunc(cmp.Or(s.Drain, 50*time.Millisecond), func() { cancel(nil) })
				n.wg.Wait()
				t.Stop()
				if exit := (*ExitError)(nil); errors.As(context.Cause(ctx), &exit) {
					return exit
				}
				return sleep(context.Background(), s.Faults.Linger) // the whole point is to stay when everyone wants it gone
			}
			n.handle(ctx, line)
		}
	}
}

func closeAll(streams ...any) {
	for _, s := range streams {
		if c, ok := s.(io.Closer); ok {
			_ = c.Close() // nothing can be done about it
		}
	}
}

// readLines sends the non-blank lines of r and closes the channel at its end.
func readLines(r io.Reader, lines chan<- []byte, done <-chan struct{}) {
	defer close(lines)
	br := bufio.NewReader(r)
	for {
		line, err := br.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			select {
			case lines <- line:
			case <-done:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// session is one connection, or over HTTP one session id.
type session struct {
	s    *Server
	life context.Context //nolint:containedctx // ended by stop
	stop context.CancelCauseFunc
	out  func(frame []byte) // sends one message
	raw  func(b []byte)     // writes bytes as they are; nil over HTTP
	wg   sync.WaitGroup

	mu    sync.Mutex // guards the rest
	first bool       // no message has come yet
	calls map[string]context.CancelCauseFunc
	asks  asks

	terms    terms
	watched  map[string]bool // URIs
	listens  map[string]*listen
	attached int  // GET streams
	shared   bool // by all clients: ids do not tell whose a call is
}

// asks are the requests to a client.
type asks struct {
	sent int
	open map[string]chan wireMessage // not answered yet
}

// terms are what a session has settled with its client.
type terms struct {
	version      string          // by initialize
	capabilities json.RawMessage // of the client
	level        string          // of log messages, "" for none
	modern       bool            // server/discover has come, see Faults.ModernDiscover
	ready        bool            // the client has sent notifications/initialized
}

// newSession returns a session that the server knows of until it leaves.
func newSession(ctx context.Context, s *Server, stop context.CancelCauseFunc) *session {
	n := &session{
		s: s, life: ctx, stop: stop, first: true,
		calls: map[string]context.CancelCauseFunc{}, asks: asks{open: map[string]chan wireMessage{}}, watched: map[string]bool{}, listens: map[string]*listen{},
	}
	s.world.join(n)
	return n
}

func (n *session) rubbish() {
	if n.raw == nil {
		return
	}
	for _, line := range n.s.Faults.Rubbish {
		n.raw([]byte(line + "\n"))
	}
}

// handle takes one message; requests get a goroutine.
func (n *session) handle(ctx context.Context, frame []byte) {
	if n.s.Seen != nil {
		n.s.Seen(frame)
	}
	f := &n.s.Faults
	if f.RubbishOnly {
		n.rubbish()
		return
	}
	if f.Silent {
		return
	}
	m, err := wireParse(frame)
	if err != nil {
		n.reply(n.out, json.RawMessage("null"), nil, err)
		return
	}
	n.mu.Lock()
	first := n.first
	n.first = false
	n.mu.Unlock()
	switch {
	case first && f.ExitOnProbe && m.Method != "initialize", f.ExitOnInitialize && m.Method == "initialize":
		n.stop(&ExitError{f.ExitCode})
	case m.Method == "":
		n.answered(m)
	case m.ID == nil:
		n.notified(ctx, m)
	case m.Method == "initialize": // what follows may rely on it
		n.serve(ctx, n.out, nil, m)
	default:
		n.wg.Go(func() { n.serve(ctx, n.out, nil, m) })
	}
}

// answered hands an answer of the client to whoever asked.
func (n *session) answered(m wireMessage) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if ch := n.asks.open[string(m.ID)]; ch != nil {
		delete(n.asks.open, string(m.ID))
		ch <- m // has room for one
	}
}

func (n *session) notified(ctx context.Context, m wireMessage) {
	switch m.Method {
	case "notifications/cancelled":
		var p struct {
			ID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(m.Params, &p) != nil {
			return
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		if cancel := n.calls[string(p.ID)]; cancel != nil && !n.shared {
			cancel(errCancelled)
		}
	case "notifications/initialized":
		n.mu.Lock()
		n.terms.ready = true
		n.mu.Unlock()
		for _, method := range n.s.Faults.Ask {
			n.askOutside(ctx, method)
		}
	case "notifications/roots/list_changed":
		n.s.world.count(func(st *Status) { st.RootsChanged++ })
	}
}

// askOutside asks the client outside of any call.
func (n *session) askOutside(ctx context.Context, method string) {
	if n.out == nil {
		return // there is no way to the client
	}
	n.wg.Go(func() {
		res, err := n.ask(ctx, n.out, method, nil)
		if err != nil {
			res = wireErrorObject(err)
		}
		n.s.world.count(func(st *Status) { st.Answers = append(st.Answers, res) })
	})
}

var errCancelled = errors.New("cancelled by the client")

// serve answers one request on out, and reports whether its stream ends then: not
// when the request stays open forever. cut ends the connection of the stream; nil
// if nothing can end it.
func (n *session) serve(ctx context.Context, out func([]byte), cut func(), m wireMessage) (end bool) {
	f := &n.s.Faults
	if slices.Contains(f.SilentMethods, m.Method) || f.SilentProbe && m.Method == "server/discover" {
		return false
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	n.mu.Lock()
	n.calls[string(m.ID)] = cancel
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		delete(n.calls, string(m.ID))
		n.mu.Unlock()
	}()
	if n.s.Delay != nil && sleep(ctx, n.s.Delay(m.Method)) != nil {
		return true
	}
	c := n.newCall(out, m)
	c.cut = cut
	res, err := n.s.answer(ctx, c)
	var exit *ExitError
	switch {
	case errors.As(err, &exit):
		n.stop(exit)
		return true
	case ctx.Err() != nil: // a cancelled request gets no answer
		return true
	case f.HalfAnswer && m.Method == "tools/call" && n.raw != nil:
		n.raw([]byte(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"content":[{"type":"te`))
		n.stop(&ExitError{f.ExitCode})
		return true
	}
	n.reply(out, m.ID, res, err)
	return true
}

// reply sends a result, or an error where err is one.
func (n *session) reply(out func([]byte), id, result json.RawMessage, err error) {
	f := &n.s.Faults
	if f.RubbishBetween {
		n.rubbish()
	}
	if f.UnknownIDs {
		out([]byte(`{"jsonrpc":"2.0","id":"nobody-asked","result":{}}`))
	}
	frame := wireAnswer(id, result, err)
	if err == nil && n.s.Grease && len(result) < greaseLimit {
		frame = wireWith(wireAnswer(id, wireGrease(result), nil), wireGreaseMember)
	}
	out(frame)
	if f.Twice {
		out(frame)
	}
}

// greaseLimit bounds the results that are read: larger ones are about size, and
// reading them takes longer than everything else. They get no grease.
const greaseLimit = 1 << 20

// ask sends a request to the client and waits for the answer.
func (n *session) ask(ctx context.Context, out func([]byte), method string, params json.RawMessage) (json.RawMessage, error) {
	ch := make(chan wireMessage, 1)
	n.mu.Lock()
	n.asks.sent++
	id := json.RawMessage(`"fake-` + strconv.Itoa(n.asks.sent) + `"`)
	n.asks.open[string(id)] = ch
	n.mu.Unlock()
	out(n.s.request(id, method, params))
	defer func() {
		n.mu.Lock()
		delete(n.asks.open, string(id))
		n.mu.Unlock()
	}()
	select {
	case m := <-ch:
		if m.Error != nil {
			return nil, runtime.ParseError(m.Error)
		}
		return m.Result, nil
	case <-ctx.Done():
		if n.life.Err() == nil { // the client is still there
			out(n.s.request(nil, "notifications/cancelled", wireObject("requestId", id)))
		}
		return nil, context.Cause(ctx)
	case <-n.life.Done():
		return nil, context.Cause(n.life)
	}
}
