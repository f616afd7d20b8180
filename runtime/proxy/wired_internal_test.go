package proxy

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

	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/client"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// mortal is a server that counts how often each call was made, and that dies as
// asked to. Its connections have what stdio's have: fast calls, unless they
// are plain, and their end is that of a process.
type mortal struct {
	plain bool
	// dies returns where the server dies over a call, by its number since the
	// start; nil: nowhere.
	dies func(n int64) death
	// revision is what it speaks, "" for 2025-11-25.
	revision string

	n        atomic.Int64
	dials    atomic.Int64
	executed sync.Map // how often a call was made, by its arguments
}

// death is where a server dies.
type death int

const (
	survives    death = iota
	beforeRead        // before it reads another message: nothing of the call has reached it
	afterRead         // it has read the call, and done nothing
	afterAct          // it has done what was asked, and not answered
	midAnswer         // it has written half of the answer
	afterAnswer       // and all of it
	closesInput       // it closes its input, and lives on
	deaths
)

func (m *mortal) dial(_ context.Context, _ Key, h runtime.Handler) (*runtime.Client, error) {
	m.dials.Add(1)
	sr, cw := io.Pipe()
	cr, sw := io.Pipe()
	w := &wired{h: h, in: cw, fromServer: cr, read: make(chan struct{}), served: make(chan struct{}), plain: m.plain}
	w.out = jsonrpc.NewWriter(cw)
	w.conn = jsonrpc.NewConn(w.out, w, false)
	go func() {
		defer close(w.read)
		w.conn.Read(jsonrpc.NewLineReader(cr, 0))
	}()
	go func() { // as transports of processes do
		<-w.out.Failed()
		w.h.Closed(errDied)
	}()
	go func() {
		defer close(w.served)
		if m.serve(sr, sw) == closesInput {
			_ = sr.CloseWithError(io.ErrClosedPipe)
			<-w.read // it lives on until it is ended
		}
		_ = sr.CloseWithError(io.ErrClosedPipe)
		_ = sw.Close()
	}()
	version := m.revision
	if version == "" {
		version = "2025-11-25"
	}
	return runtime.NewClient(w, runtime.ClientOptions{Info: runtime.ServerInfo{Version: version, Capabilities: json.RawMessage(`{"tools":{}}`)}}), nil
}

// serve is one life of the server, and how it has ended.
func (m *mortal) serve(r io.Reader, w io.Writer) death {
	in := bufio.NewReader(r)
	ended := survives
	for ended == survives || buffered(in) {
		line, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		var q struct {
			ID     json.RawMessage
			Method string
			Params struct{ Arguments json.RawMessage }
		}
		if json.Unmarshal(line, &q) != nil || q.ID == nil {
			continue
		}
		if q.Method == "tools/list" {
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}}`+"\n", q.ID)
			continue
		}
		how := survives
		if n := m.n.Add(1); m.dies != nil {
			how = m.dies(n)
		}
		if how == afterRead {
			return how
		}
		times, _ := m.executed.LoadOrStore(string(q.Params.Arguments), new(atomic.Int64))
		times.(*atomic.Int64).Add(1)
		answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[],"said":%s}}`+"\n", q.ID, q.Params.Arguments)
		if how == afterAct {
			return how
		}
		if how == midAnswer {
			_, _ = io.WriteString(w, answer[:len(answer)/2])
			return how
		}
		if _, err := io.WriteString(w, answer); err != nil {
			return how
		}
		switch how {
		case survives:
		case closesInput:
			ended = how // what it has read by then it answers: nobody else could tell that it did not
		default:
			return how
		}
	}
	return ended
}

// buffered reports whether a whole line has been read ahead.
func buffered(in *bufio.Reader) bool {
	ahead, _ := in.Peek(in.Buffered())
	return bytes.IndexByte(ahead, '\n') >= 0
}

// times is how often a call was made.
func (m *mortal) times(arguments string) int64 {
	if n, ok := m.executed.Load(arguments); ok {
		return n.(*atomic.Int64).Load()
	}
	return 0
}

// wired is a connection to a mortal.
type wired struct {
	conn         *jsonrpc.Conn
	out          *jsonrpc.Writer
	h            runtime.Handler
	in           io.Closer
	fromServer   io.Closer
	read, served chan struct{}
	plain        bool
}

func (w *wired) Notification(method string, params []byte) {
	w.h.Notification(context.Background(), nil, method, params)
}
func (w *wired) Request([]byte, string, []byte) {}
func (w *wired) Malformed([]byte, error) error  { return nil }

var errDied = fmt.Errorf("a ended (signal: killed): %w", runtime.ErrClosed)

func (w *wired) Closed(error) error {
	w.h.Closed(errDied)
	return errDied
}

func (w *wired) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	result, object, err := w.conn.Call(ctx, &jsonrpc.Call{Method: req.Method, Params: req.Params}, nil)
	switch {
	case object != nil:
		return nil, runtime.ParseError(object)
	case jsonrpc.IsNotSent(err) && (errors.Is(err, jsonrpc.ErrClosed) || errors.Is(err, io.ErrClosedPipe)):
		return nil, fmt.Errorf("%w: %w", runtime.ErrNotSent, runtime.ErrClosed)
	case jsonrpc.IsNotSent(err):
		return nil, fmt.Errorf("%w: %w", runtime.ErrNotSent, err)
	}
	return result, err
}

func (w *wired) Notify(_ context.Context, req *runtime.Request) error {
	return w.conn.Notify(req.Method, req.Params)
}

func (w *wired) Pipeline() *jsonrpc.Conn {
	if w.plain {
		return nil
	}
	return w.conn
}

// Close ends the server as closing a process does.
func (w *wired) Close() error {
	_ = w.in.Close()
	_ = w.fromServer.Close()
	<-w.served
	<-w.read
	w.out.Close()
	return nil
}

// take is a client that gets answers of fast calls.
type take struct{ answers chan string }

func (to *take) Revision() string { return "" }

func (to *take) Ended(*router.FastCall, bool) {}

func (to *take) Finished(c *router.FastCall, answered jsonrpc.Answer) *jsonrpc.Writer {
	a := c.Answer(answered)
	to.answers <- string(a.Result) + string(a.Object)
	return nil
}
func (*take) Progressed(*router.FastCall, []byte) *jsonrpc.Writer { return nil }
func (*take) Caller() upstream.Caller                             { return old() }
func (*take) Client() *upstream.Client                            { return nil }
func (*take) Peer() client.Peer                                   { return client.Peer{} }
func (*take) Audience() upstream.Audience                         { return upstream.Audience{} }
