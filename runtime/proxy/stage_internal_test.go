package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/router"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// stage is a proxy over fake servers in memory, none of which is connected yet,
// and what has become of their connections. It works in a bubble.
type stage struct {
	t       *testing.T
	p       *Proxy
	servers map[string]*runtimetest.Server

	mu      sync.Mutex // guards what follows
	fail    error      // dialling does
	closing time.Duration
	dialled map[string]int
	open    map[*tracked]string // those that are not closed, by their server
	log     []time.Duration     // when something was dialled, since the start
	start   time.Time
}

// tracked is a connection that the stage knows of.
type tracked struct {
	runtime.Transport
	s *stage
	h runtime.Handler
}

// Close takes as long as the stage says.
func (c *tracked) Close() error {
	c.s.mu.Lock()
	takes := c.s.closing
	c.s.mu.Unlock()
	time.Sleep(takes) // as time goes in a bubble
	c.s.mu.Lock()
	delete(c.s.open, c)
	c.s.mu.Unlock()
	return c.Transport.Close()
}

// newStage makes a proxy whose jitter is none.
func newStage(t *testing.T, o Options, servers map[string]*runtimetest.Server) *stage {
	t.Helper()
	s := &stage{t: t, servers: servers, dialled: map[string]int{}, open: map[*tracked]string{}, start: time.Now()}
	o.Dial = s.dial
	p, err := newAllowed(o)
	require.NoError(t, err)
	p.router.Set.Random = func() float64 { return 0 }
	s.p = p
	t.Cleanup(func() { _ = p.Close() })
	return s
}

func (s *stage) dial(ctx context.Context, key Key, h runtime.Handler) (*runtime.Client, error) {
	s.mu.Lock()
	fail := s.fail
	s.dialled[key.Server]++
	s.log = append(s.log, time.Since(s.start))
	s.mu.Unlock()
	if fail != nil {
		return nil, fail
	}
	var t *tracked
	return ConnectAs(ctx, key, h, negotiate.Options{ProbeTimeout: time.Second}, func(h runtime.Handler) (runtime.Transport, error) {
		t = &tracked{s.servers[key.Server].Connect(h), s, h}
		s.mu.Lock()
		s.open[t] = key.Server
		s.mu.Unlock()
		return t, nil
	})
}

// ConnectAs connects as a proxy's Dial has to, with some options besides.
func ConnectAs(ctx context.Context, key Key, h runtime.Handler, o negotiate.Options, open func(runtime.Handler) (runtime.Transport, error)) (*runtime.Client, error) {
	var last *established
	o.Open = func(context.Context) (runtime.Transport, error) {
		last = &established{Handler: h}
		return open(last)
	}
	o.Legacy, o.Capabilities, o.Handler = key.Legacy, json.RawMessage(key.Capabilities), h
	c, err := negotiate.Connect(ctx, o)
	if err != nil {
		return nil, err
	}
	last.keep()
	return runtime.NewClient(c.Transport, runtime.ClientOptions{Info: c.Info}), nil
}

// established tells of a connection's end once there is one: finding the era may have
// taken others.
type established struct {
	runtime.Handler

	mu            sync.Mutex // guards what follows
	stored, ended bool
	err           error
}

func (e *established) keep() {
	e.mu.Lock()
	e.stored = true
	ended := e.ended
	e.mu.Unlock()
	if ended {
		e.Handler.Closed(e.err)
	}
}

func (e *established) Closed(err error) {
	e.mu.Lock()
	e.ended, e.err = true, err
	stored := e.stored
	e.mu.Unlock()
	if stored {
		e.Handler.Closed(err)
	}
}

// fails has dialling fail from now on, nil: succeed.
func (s *stage) fails(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = err
}

// kill ends all connections to a server as if it had ended on its own.
func (s *stage) kill(server string, err error) {
	s.mu.Lock()
	var all []*tracked
	for c, name := range s.open {
		if name == server {
			all = append(all, c)
		}
	}
	s.mu.Unlock()
	for _, c := range all {
		c.h.Closed(err)
	}
}

// alive counts the connections to a server that are not closed.
func (s *stage) alive(server string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range s.open {
		if name == server {
			n++
		}
	}
	return n
}

// dials counts the connections to a server ever asked for.
func (s *stage) dials(server string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dialled[server]
}

func (s *stage) backend(name string) *upstream.Backend {
	for _, b := range s.p.router.Set.All() {
		if b.Name == name {
			return b
		}
	}
	s.t.Fatalf("no server %s", name)
	return nil
}

// local has a server taken for a process of ours.
func (s *stage) local(name string) {
	s.backend(name).Pool.SetRemote(false)
}

// old is a client of the handshake era without a session.
func old() upstream.Caller {
	return upstream.Caller{Version: "2025-11-25", Emit: func(string, []byte) {}}
}

// try serves a request of a client.
func (s *stage) try(ctx context.Context, from upstream.Caller, method, params string) (string, error) {
	line := []byte(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`)
	r := router.Request{Line: line, Msg: new(rawjson.Message), Method: method, From: from}
	if err := rawjson.Scan(line, r.Msg); err != nil {
		return "", err
	}
	var result []byte
	var err error
	if from.Modern() {
		result, err = s.p.router.AnswerModern(ctx, &r)
	} else {
		result, err = s.p.router.Answer(ctx, &r)
	}
	return string(result), err
}

// do is try where nothing may go wrong.
func (s *stage) do(from upstream.Caller, method, params string) string {
	s.t.Helper()
	result, err := s.try(s.t.Context(), from, method, params)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, params, err)
	}
	return result
}

const echoCall = `{"name":"a__echo","arguments":{"message":"hi"}}`

// waiting is a server whose tool "linger" waits until it is released.
func waiting() (s *runtimetest.Server, release chan struct{}) {
	s = runtimetest.Full("2025-11-25")
	release = make(chan struct{})
	s.Tools = append(s.Tools, runtimetest.Tool{
		Definition: json.RawMessage(`{"name":"linger","inputSchema":{"type":"object"}}`),
		Call: func(ctx context.Context, _ *runtimetest.Call) (json.RawMessage, error) {
			select {
			case <-release:
			case <-ctx.Done():
			}
			return runtimetest.Text("waited"), nil
		},
	})
	return s, release
}

var errKilled = errors.New("a ended (signal: killed): out of memory")
