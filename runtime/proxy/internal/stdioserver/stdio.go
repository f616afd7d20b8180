package stdioserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/audit/journal"
	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/internal/workers"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/client"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/endpoint"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

const (
	// maxInFlight bounds the requests of one client that are being served.
	// Beyond it nothing more is read until half of them are answered. It is less
	// than what a backend takes: one client alone is never refused.
	maxInFlight = 1024
	// maxHeld does the same for the bytes of those larger than limits.FreeBody.
	maxHeld = limits.MaxBodies
	// drainTime is how long requests may go on once the client has closed its
	// side: a script that pipes requests in wants the answers.
	drainTime = 30 * time.Second
	// takeTime is how long such a script may then take to read the rest.
	takeTime = 10 * time.Second
)

// load is what one client has in flight.
type load struct {
	inFlight atomic.Int64
	held     atomic.Int64  // bytes of requests that have a goroutine
	eased    chan struct{} // signalled when inFlight has fallen to half or to zero
	idle     chan struct{} // signalled when it has fallen to zero; nil without a queue
}

// full reports whether the client has too much in flight.
func (l *load) full() bool { return l.inFlight.Load() > maxInFlight || l.held.Load() > maxHeld }

// begin counts a request, of which size bytes are held; 0 for none.
func (l *load) begin(size int) {
	l.inFlight.Add(1)
	if size > limits.FreeBody {
		l.held.Add(int64(size))
	}
}

// end takes a begin back.
func (l *load) end(size int) {
	ease := false
	if size > limits.FreeBody {
		held := l.held.Add(-int64(size))
		ease = held <= maxHeld && held+int64(size) > maxHeld
	}
	n := l.inFlight.Add(-1)
	if n == 0 && l.idle != nil {
		select {
		case l.idle <- struct{}{}:
		default:
		}
	}
	if ease || n == 0 || n == maxInFlight/2 {
		select {
		case l.eased <- struct{}{}:
		default:
		}
	}
}

var (
	_ endpoint.Endpoint = (*server)(nil)
	_ router.ReplyTo    = (*server)(nil)
)

// Options say how a client is served.
type Options struct {
	// SingleClient declares that there is no other client.
	SingleClient bool
	// Single makes requests wait for the answer to initialize, which waits for the server.
	Single bool
	// Serial handles messages one after another: see queue.
	Serial bool
	// View is the name of the client's view, "" where that is chosen for it.
	View string
}

// server is one client on a pair of streams.
type server struct {
	sole
	p     *endpoint.Set
	o     Options
	out   *jsonrpc.Writer
	load  load
	work  workers.Pool // requests being served
	queue *queue       // nil unless Options.Serial

	// opening and sending are used by the goroutine that handles messages.
	opening opening
	sending sending

	lifetime context.Context //nolint:containedctx // the client's, ended when Serve returns
	serving  context.Context //nolint:containedctx // that of its requests, which end before it
	seen     atomic.Int64    // when the last message came, in seconds since 1970

	speaksModern atomic.Bool   // requests of the stateless era have come
	ending       chan struct{} // closed when the endpoint ends
	listens      listens
}

// listens are those of one client.
type listens struct {
	sync.WaitGroup
	n atomic.Int64
}

// Serve serves one client over a pair of streams, one JSON-RPC message a
// line, until the input ends, the output fails or ctx is done. Requests in
// flight when the input ends are answered first, for up to drainTime; those that are
// under way at the end are answered with an error that says so. Pipes are read and
// written without blocking, and put back at the end. A client that does not read is not
// read from, and holds up the answers of the stdio backends it has called.
func Serve(ctx context.Context, p *endpoint.Set, in io.Reader, out io.Writer, o Options) error {
	if f, ok := out.(*os.File); ok {
		nonblocking, restore := jsonrpc.Nonblocking(f)
		defer restore()
		out = nonblocking
	}
	if f, ok := in.(*os.File); ok {
		nonblocking, restore := jsonrpc.Nonblocking(f)
		defer restore()
		in = nonblocking
	}
	lifetime, end := context.WithCancel(ctx)
	defer end()
	serving := deadline.NewScope(context.WithoutCancel(ctx))
	defer serving.End(upstream.ErrProxyClosed)
	f := &server{
		p: p, o: o, out: jsonrpc.NewWriter(out), lifetime: lifetime, serving: serving, ending: make(chan struct{}),
		load: load{eased: make(chan struct{}, 1)},
	}
	f.sender = endpoint.Sender{Client: upstream.NewClient(func(frame []byte) error {
		f.send(frame)
		return f.out.Err()
	}), Owns: f.owns}
	f.sender.Client.SendLater = f.Notify
	if o.Single {
		f.sender.Before = func() { f.sending.wait(f.lifetime) }
	}
	if o.SingleClient {
		p.Router.Set.SingleClient.Store(f.sender.Client) // servers are first told what it says of itself
	}
	defer f.work.Refuse()
	defer f.out.Abandon() // frees whoever waits for a client that no longer reads
	seen, _ := p.Router.Views.Of(o.View, nil, "")
	if !o.SingleClient {
		p.Router.Start(seen)
	}
	defer p.Router.Join(f.sender.Client, seen, unasked{f})()
	defer p.Enter(f)()
	defer p.Router.AbandonFastCalls(f.owns) // they have no context of their own
	if o.Serial {
		f.queue, f.load.idle = newQueue(), make(chan struct{}, 1)
		go f.queue.serve(f) // ends with the queue
		defer f.queue.clear()
	}
	read := make(chan error, 1)
	// Ends with the input. Where ctx or the output ends first, it may be left in a
	// read that nothing can interrupt, unless the input is a pipe.
	go func() { read <- f.read(in) }()
	select {
	case err := <-read:
		f.sender.Client.State.End() // it can answer no question any more
		f.settle()
		f.refuseRest(serving.End)
		f.endListens()
		return errors.Join(err, f.finish(takeTime))
	case <-f.out.Failed():
		f.endListens()
		return fmt.Errorf("write to the client: %w", f.out.Err())
	case <-ctx.Done():
		f.refuseRest(serving.End)
		f.endListens()
		return f.finish(limits.LastWrite)
	}
}

// settle waits for the requests in flight.
func (f *server) settle() {
	t := time.NewTimer(drainTime)
	defer t.Stop()
	if f.queue != nil {
		f.queue.close()
		select {
		case <-f.queue.done:
		case <-f.out.Failed():
		case <-t.C:
			return
		case <-f.lifetime.Done():
		}
	}
	for f.load.inFlight.Load() > 0 {
		select {
		case <-f.load.eased:
		case <-f.out.Failed(): // nobody is there to be answered
			return
		case <-t.C:
			return
		case <-f.lifetime.Done():
			return
		}
	}
}

// finish sends what is buffered, for up to patience, and limits.LastWrite once the
// endpoint is told to end: a client that no longer reads gets nothing.
func (f *server) finish(patience time.Duration) error {
	drained := make(chan error, 1)
	go func() { drained <- f.out.Drain() }()
	t := time.NewTimer(patience)
	defer t.Stop()
	for over := f.lifetime.Done(); ; {
		select {
		case err := <-drained:
			if errors.Is(err, io.ErrClosedPipe) {
				return nil
			}
			return err
		case <-over:
			over = nil
			t.Reset(min(patience, limits.LastWrite))
		case <-t.C:
			return nil
		}
	}
}

// read handles the client's messages one after another. Output is flushed when
// the next message goes elsewhere and when no further one is here yet.
func (f *server) read(in io.Reader) error {
	r := jsonrpc.NewLineReader(in, 0)
	var dirty *jsonrpc.Conn
	flush := func(next *jsonrpc.Conn) {
		if dirty != nil && dirty != next {
			dirty.Flush()
		}
		dirty = next
	}
	defer flush(nil)
	for {
		line, err := r.Next()
		switch {
		case errors.Is(err, jsonrpc.ErrTooLong):
			f.send(endpoint.Invalid(nil, "message too large"))
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read from the client: %w", err)
		default:
			at := r.At()
			if s := at.Unix(); s != f.seen.Load() { // a load is cheaper than a store
				f.seen.Store(s)
			}
			if f.queue.waits(line) {
				continue
			}
			if conn := f.message(line, at); conn != nil {
				flush(conn)
			}
		}
		if !r.Buffered() || f.load.full() {
			flush(nil)
			if err := f.hold(); err != nil {
				return err
			}
		}
	}
}

// hold waits while the client has too much in flight or does not read.
func (f *server) hold() error {
	for f.load.full() {
		select {
		case <-f.load.eased:
		case <-f.lifetime.Done():
			return nil
		}
	}
	if err := f.out.Wait(); err != nil {
		return fmt.Errorf("write to the client: %w", err)
	}
	return nil
}

// message handles one line, read at now, and returns the backend connection that
// it has put a call into, to be flushed.
func (f *server) message(line []byte, now time.Time) *jsonrpc.Conn {
	var m rawjson.Message
	kind, refusal := endpoint.Classify(line, &m)
	switch {
	case kind == endpoint.Batch && f.Revision() == endpoint.BatchVersion:
		f.spawnBatch(line)
		return nil
	case refusal != nil:
		f.send(refusal.Frame())
		return nil
	case kind != endpoint.Request:
		f.p.Take(&f.sender, kind, line, &m)
		return nil
	case !f.p.Ready():
		f.send(jsonrpc.AppendError(nil, m.ID.Of(line), endpoint.DrainingError()))
		return nil
	case m.MetaVersion.Present() && endpoint.IsModern(line, &m, "", f.Revision() != ""):
		return f.modern(line, m, now)
	case string(m.Method.Of(line)) == `"tools/call"` && f.opening.over():
		f.load.begin(0)
		call := f.p.Router.FastCall(line, &m, f, now)
		if call.Conn != nil {
			return call.Conn
		}
		if call.Err != nil {
			f.respond(m.ID.Of(line), router.Failed(revision.MethodToolsCall, call.Err))
		} else {
			f.spawn(line, m, call.Begun)
		}
		f.load.end(0)
		return nil
	}
	f.spawn(line, m, journal.Ticket{})
	return nil
}

func (f *server) Ended(c *router.FastCall, cancelled bool) {
	if !cancelled {
		f.refuse(c.ID)
	}
	f.load.end(0)
}

func (f *server) Revision() string { return f.sender.Client.Revision() }

// spawn serves a request on a goroutine of its own. Its id is known before the
// next message is read, so that a cancellation finds it. begun is its record, if it has one.
func (f *server) spawn(line []byte, m rawjson.Message, begun journal.Ticket) {
	line = bytes.Clone(line)
	id := m.ID.Of(line)
	method, ok := rawjson.String(line, m.Method)
	if !ok {
		f.send(endpoint.Invalid(id, "method is not a string"))
		return
	}
	if method == "initialize" {
		if err := f.sender.Client.SetTerms(line, &m); err != nil { // before the next message is read
			f.respond(id, router.Failed(method, err))
			return
		}
		seen, _ := f.p.Router.Views.OfInitialize(f.o.View, nil, m.Params.Of(line))
		f.sender.Client.SetAudience(seen)
		f.p.Router.Start(f.sender.Client.Audience())
	}
	ctx, done := f.sender.InProgress.Start(f.serving, id)
	f.load.begin(len(line))
	if f.o.Single {
		ctx, done = f.sending.add(ctx, done)
	}
	r, serve := &router.Request{Line: line, Msg: &m, Method: method, From: f.Caller(), Begun: begun}, f.p.Router.Serve
	switch answered := f.opening; {
	case method == "initialize" && f.o.Single:
		opened := make(opening)
		f.opening = opened
		f.answer(ctx, func() { done(); close(opened) }, r, serve)
	case !answered.over():
		f.answer(ctx, done, r, func(ctx context.Context, r *router.Request) router.Answer {
			answered.wait(ctx)
			return serve(ctx, r)
		})
	default:
		f.answer(ctx, done, r, serve)
	}
}

// answer serves a request that load.begin has counted, on a goroutine that Serve
// settles or ends by f.serving. Done is called once the answer is written.
func (f *server) answer(ctx context.Context, done func(), r *router.Request, serve func(context.Context, *router.Request) router.Answer) {
	id, n := r.Msg.ID.Of(r.Line), len(r.Line) // serve may put another line there
	end := func() {
		done()
		f.load.end(n)
	}
	if !f.work.Go(func() {
		defer end()
		reply(ctx, f, id, serve(ctx, r))
	}) {
		end() // the endpoint has ended
	}
}

// peer returns the way on which all requests come.
func peer() client.Peer { return client.Peer{Transport: client.TransportStdio} }

// Caller returns the client as its requests carry it.
func (f *server) Caller() upstream.Caller {
	version, capabilities := f.sender.Client.TermsOf()
	return upstream.Caller{
		Version: version, Audience: f.Audience(), Capabilities: capabilities, Client: f.sender.Client, Emit: f.Notify, Peer: peer(),
		Ask: func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
			return f.sender.Client.Ask(ctx, f.sender.Client.Push, method, params)
		},
	}
}

func (f *server) Client() *upstream.Client { return f.sender.Client }

// sole is the one client, of whom all requests are. Who has started the program is not asked
// who they are.
type sole struct{ sender endpoint.Sender }

// Audience returns what it sees.
func (s *sole) Audience() upstream.Audience { return s.sender.Client.Audience() }

func (*sole) Peer() client.Peer { return peer() }

// owns reports whether a fast call is this client's to end. A parked one has a life
// of its own.
func (f *server) owns(r router.ReplyTo) bool {
	if d, ok := r.(*router.PendingFastCall); ok {
		l, ok := d.Responder.(*fastLine)
		return ok && l.f == f && !d.IsParked()
	}
	return r == f
}

// spawnBatch serves a batch on a goroutine of its own.
func (f *server) spawnBatch(line []byte) {
	line = bytes.Clone(line)
	all, _ := rawjson.Elements(line) // what is no array is one refusal
	requests, size := min(max(len(all), 1), endpoint.MaxBatch), len(line)
	f.load.begin(size)
	f.load.inFlight.Add(int64(requests - 1)) // each counts
	answered := f.opening
	go func() { // as in spawn
		defer f.load.end(size)
		defer func() {
			for range requests - 1 {
				f.load.end(0)
			}
		}()
		answered.wait(f.serving)
		f.send(f.p.Batch(f.serving, line, endpoint.Batcher{From: f.Caller(), Sender: &f.sender}))
	}()
}

// send writes frames. An output that has failed ends the reader.
func (f *server) send(frames []byte) {
	if len(frames) > 0 && f.out.Append(frames) == nil {
		f.out.Flush()
	}
}

// respond writes an answer straight into the output: the page of a list is large.
func (f *server) respond(id []byte, a router.Answer) {
	buf, err := f.out.Begin()
	if err != nil {
		return // the client is gone
	}
	f.out.End(router.Frame(buf, id, a))
	f.out.Flush()
}

func (f *server) Finished(c *router.FastCall, a jsonrpc.Answer) *jsonrpc.Writer {
	defer f.load.end(0)
	converted := c.Answer(a)
	buf, err := f.out.Begin()
	if err != nil {
		return nil // the client is gone
	}
	f.out.End(router.Frame(buf, c.ID, converted))
	return f.out
}

func (f *server) Progressed(_ *router.FastCall, params []byte) *jsonrpc.Writer {
	buf, err := f.out.Begin()
	if err != nil {
		return nil // the client is gone
	}
	f.out.End(jsonrpc.AppendNotification(buf, revision.NotificationProgress, params))
	return f.out
}

// Notify sends a notification. Log messages are dropped while the client is
// behind: a server may write them faster than any client reads.
func (f *server) Notify(method string, params []byte) {
	frame := jsonrpc.AppendNotification(nil, method, params)
	if method != revision.NotificationMessage {
		f.send(frame)
	} else if f.out.Offer(frame) == nil {
		f.out.Flush()
	}
}

func (f *server) Busy() int { return int(f.load.inFlight.Load()) }

func (f *server) Clients() ([]client.Info, endpoint.StatelessInfo) {
	s := f.sender.Client.Status("stdio")
	s.InFlight = f.Busy()
	if at := f.seen.Load(); at > 0 {
		s.LastSeen = time.Unix(at, 0)
	}
	return []client.Info{s}, endpoint.StatelessInfo{}
}

// Bounds returns the one at which hold keeps the client waiting.
func (f *server) Bounds() []limits.Bound {
	return []limits.Bound{{Name: "stdioRequests", Used: f.Busy(), Max: maxInFlight}}
}
