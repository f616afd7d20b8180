package proxy_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(wire.Recording{M: m}) }

// piped is a transport over in-memory streams with the asynchronous connection
// that the stdio transport has. Without it (plain) calls take the slow way.
type piped struct {
	conn    *jsonrpc.Conn
	out     *jsonrpc.Writer
	st      *runtimetest.Streams
	h       runtime.Handler
	plain   bool
	delayed bool // nobody hears of the connection's end
	done    chan struct{}

	life  context.Context //nolint:containedctx // the connection's, ended by Close
	end   context.CancelFunc
	asked sync.WaitGroup // questions of the server
}

func newPiped(w io.Writer, h runtime.Handler) *piped {
	t := &piped{h: h, done: make(chan struct{}), out: jsonrpc.NewWriter(w)}
	t.life, t.end = context.WithCancel(context.Background())
	t.conn = jsonrpc.NewConn(t.out, t, false)
	return t
}

// read receives from a server until it ends.
func (t *piped) read(r io.Reader) {
	go func() {
		defer close(t.done)
		t.conn.Read(jsonrpc.NewLineReader(r, 0))
	}()
}

func (t *piped) Notification(method string, params []byte) {
	t.h.Notification(context.Background(), nil, method, params)
}

func (t *piped) Request(id []byte, method string, params []byte) {
	id, params = bytes.Clone(id), bytes.Clone(params)
	t.asked.Go(func() { // ends with the connection, or the client's
		result, err := t.h.Request(t.life, nil, method, params)
		var rpc *runtime.Error
		switch {
		case errors.As(err, &rpc):
			_ = t.conn.RespondError(id, jsonrpc.ErrorObject(rpc.Code, rpc.Message, rpc.Data))
		case err != nil:
			_ = t.conn.RespondError(id, jsonrpc.ErrorObject(runtime.CodeInternalError, err.Error(), nil))
		default:
			_ = t.conn.Respond(id, result)
		}
	})
}

func (t *piped) Malformed([]byte, error) error { return nil }
func (t *piped) Closed(error) error {
	if !t.delayed {
		t.h.Closed(runtime.ErrClosed)
	}
	return runtime.ErrClosed
}

func (t *piped) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	var events func(jsonrpc.Event)
	if req.Events != nil {
		events = func(e jsonrpc.Event) { req.Events.Notification(ctx, req, e.Method, e.Params) }
	}
	res, object, err := t.conn.Call(ctx, &jsonrpc.Call{Method: req.Method, Params: req.Params, Token: req.Token}, events)
	if object != nil {
		return nil, runtime.ParseError(object)
	}
	if jsonrpc.IsNotSent(err) {
		err = fmt.Errorf("%w: %w", runtime.ErrNotSent, err)
	}
	return res, err
}

func (t *piped) Notify(_ context.Context, req *runtime.Request) error {
	return t.conn.Notify(req.Method, req.Params)
}

func (t *piped) Close() error {
	t.end()
	_ = t.st.Close()
	t.out.Close()
	<-t.done
	t.asked.Wait()
	return nil
}

func (t *piped) Pipeline() *jsonrpc.Conn {
	if t.plain {
		return nil
	}
	return t.conn
}

// backends dials fake servers and counts the connections made.
type backends struct {
	servers map[string]*runtimetest.Server
	fail    map[string]error
	hold    map[string]chan struct{} // connecting waits for it
	plain   bool
	delayed bool
	dials   atomic.Int64

	mu   sync.Mutex
	open []*piped
}

func (b *backends) dial(ctx context.Context, key proxy.Key, h runtime.Handler) (*runtime.Client, error) {
	name := key.Server
	b.dials.Add(1)
	if hold := b.hold[name]; hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if err := b.fail[name]; err != nil {
		return nil, err
	}
	s := b.servers[name]
	if s == nil {
		return nil, errors.New("no such server")
	}
	st := s.Streams()
	t := newPiped(st, h)
	t.st, t.plain, t.delayed = st, b.plain, b.delayed
	t.read(st)
	raw, err := t.Call(ctx, &runtime.Request{Method: "initialize", Params: json.RawMessage(`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)})
	if err != nil {
		_ = t.Close()
		return nil, err
	}
	var r struct{ Capabilities json.RawMessage }
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, err
	}
	_ = t.Notify(ctx, &runtime.Request{Method: "notifications/initialized"})
	b.mu.Lock()
	b.open = append(b.open, t)
	b.mu.Unlock()
	return runtime.NewClient(t, runtime.ClientOptions{Info: runtime.ServerInfo{Version: "2025-11-25", Capabilities: r.Capabilities}}), nil
}

// start makes a proxy over backends and a client of its stdio endpoint.
func start(t *testing.T, b *backends, o proxy.Options) (*proxy.Proxy, *client) {
	t.Helper()
	o.Dial = b.dial
	if o.Info.Name == "" {
		o.Info = runtime.Implementation{Name: "mcpctl", Version: "test"}
	}
	p, err := proxy.NewAllowed(o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	return p, attach(t, p)
}

// client is a client of a stdio endpoint that matches answers by id.
type client struct {
	t    *testing.T
	in   io.WriteCloser
	next atomic.Int64
	// end closes the client's side and waits for the endpoint to end.
	end func()

	mu    sync.Mutex
	wait  map[string]chan string
	notes chan string
	// answer gives the result for a question; nil: questions go to notes.
	answer func(message) string
	// note takes what is no answer and no question; nil: it goes to notes.
	note func(line string)
}

func attach(t *testing.T, p *proxy.Proxy) *client {
	t.Helper()
	toProxy, in := io.Pipe()
	out, fromProxy := io.Pipe()
	c := &client{t: t, in: in, wait: map[string]chan string{}, notes: make(chan string, 100)}
	served := make(chan error, 1)
	go func() {
		served <- p.ServeStdio(context.Background(), toProxy, fromProxy)
		_ = fromProxy.Close()
	}()
	read := make(chan struct{})
	go func() {
		defer close(read)
		s := bufio.NewScanner(out)
		s.Buffer(nil, 1<<26)
		for s.Scan() {
			c.deliver(s.Text())
		}
	}()
	c.end = sync.OnceFunc(func() {
		_ = in.Close()
		if err := <-served; err != nil {
			t.Errorf("front: %v", err)
		}
		<-read
	})
	t.Cleanup(c.end)
	return c
}

func (c *client) deliver(line string) {
	var m message
	if err := json.Unmarshal([]byte(line), &m); err != nil && line[0] != '[' {
		c.t.Errorf("not JSON: %s", line)
		return
	}
	c.mu.Lock()
	ch := c.wait[string(m.ID)]
	answer, note := c.answer, c.note
	c.mu.Unlock()
	if m.Method != "" && m.ID != nil && answer != nil {
		go func() { // ends with the test
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, answer(m)))
		}()
		return
	}
	if m.Method != "" && note != nil {
		note(line)
		return
	}
	if m.Method != "" || ch == nil {
		c.notes <- line
		return
	}
	ch <- line
}

func (c *client) send(line string) { _, _ = io.WriteString(c.in, line+"\n") }

// expect gives where the answer with a raw id comes.
func (c *client) expect(id string) chan string {
	ch := make(chan string, 1)
	c.mu.Lock()
	c.wait[id] = ch
	c.mu.Unlock()
	return ch
}

// begin sends a request with a raw id and gives where its answer comes.
func (c *client) begin(id, method, params string) chan string {
	ch := c.expect(id)
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
	return ch
}

// call sends a request and gives the whole answer line.
func (c *client) call(method, params string) string {
	id := fmt.Sprint(c.next.Add(1))
	return <-c.begin(id, method, params)
}

// result gives the raw result of a request, failing the test on an error.
func (c *client) result(method, params string) string {
	c.t.Helper()
	var m struct{ Result, Error json.RawMessage }
	line := c.call(method, params)
	if err := json.Unmarshal([]byte(line), &m); err != nil || m.Error != nil {
		c.t.Fatalf("%s: got %s", method, line)
	}
	return string(m.Result)
}

// listThatChanges answers tools/list with one tool more once changed is set.
func listThatChanges(mu *sync.Mutex, changed *bool) runtimetest.Func {
	return func(context.Context, *runtimetest.Call) (json.RawMessage, error) {
		mu.Lock()
		defer mu.Unlock()
		more := ""
		if *changed {
			more = `,{"name":"later","inputSchema":{"type":"object"}}`
		}
		return json.RawMessage(`{"tools":[{"name":"change","inputSchema":{"type":"object"}}` + more + `]}`), nil
	}
}
