package jsonrpc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/mcpctl/mcpctl/internal/jsonrpc"
	"github.com/mcpctl/mcpctl/internal/rawjson"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// peer records what belongs to no call.
type peer struct {
	mu        sync.Mutex
	notes     []string
	requests  []string
	malformed []string
	closed    atomic.Int32
	conn      *jsonrpc.Conn
}

func (p *peer) Notification(method string, params []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes = append(p.notes, method+string(params))
}

func (p *peer) Request(id []byte, method string, _ []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, string(id)+method)
	_ = p.conn.Respond(id, []byte(`{}`))
}

func (p *peer) Malformed(line []byte, _ error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.malformed = append(p.malformed, string(line))
	return nil
}

func (p *peer) Closed(err error) error {
	p.closed.Add(1)
	return err
}

// server is the far end of a connection: what the connection writes can be
// read line by line, and lines can be written to it.
type server struct {
	in  *bufio.Scanner
	out io.WriteCloser
	end io.Closer
}

func (s *server) next(t *testing.T) string {
	t.Helper()
	if !s.in.Scan() {
		t.Errorf("connection ended: %v", s.in.Err())
	}
	return s.in.Text()
}

func (s *server) send(line string) { _, _ = io.WriteString(s.out, line+"\n") }

// connect makes a connection over in-memory pipes, or over those of the
// system, which have non-blocking writes.
func connect(t *testing.T, system bool) (*jsonrpc.Conn, *peer, *server) {
	t.Helper()
	var toServer, toClient struct {
		r io.ReadCloser
		w io.WriteCloser
	}
	toServer.r, toServer.w = io.Pipe()
	toClient.r, toClient.w = io.Pipe()
	if system {
		var errs [2]error
		toServer.r, toServer.w, errs[0] = os.Pipe()
		toClient.r, toClient.w, errs[1] = os.Pipe()
		require.NoError(t, errors.Join(errs[:]...))
	}
	out := jsonrpc.NewWriter(toServer.w)
	p := &peer{}
	p.conn = jsonrpc.NewConn(out, p, false)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.conn.Read(jsonrpc.NewLineReader(toClient.r, 0))
	}()
	t.Cleanup(func() {
		_ = toClient.w.Close()
		<-done
		_ = toServer.w.Close()
		_ = toServer.r.Close()
		_ = toClient.r.Close()
		out.Close()
	})
	in := bufio.NewScanner(toServer.r)
	in.Buffer(nil, 1<<24)
	return p.conn, p, &server{in: in, out: toClient.w, end: toServer.r}
}

func TestCallKeepsBytes(t *testing.T) {
	conn, _, srv := connect(t, true)
	go func() {
		if got, want := srv.next(t), `{"jsonrpc":"2.0","id":1,"method":"m","params":{"n":9007199254740993,"f":1.0}}`; got != want {
			t.Errorf("sent %s, want %s", got, want)
		}
		srv.send(`{"x":[],"result":{"a" : 1.0,"b":9007199254740993},"id":1,"jsonrpc":"2.0"}`)
	}()
	res, object, err := conn.Call(t.Context(), &jsonrpc.Call{Method: "m", Params: []byte(`{"n":9007199254740993,"f":1.0}`)}, nil)
	if err != nil || object != nil || string(res) != `{"a" : 1.0,"b":9007199254740993}` {
		t.Errorf("got %s %s %v", res, object, err)
	}
}

func TestStartSplicesParams(t *testing.T) {
	conn, _, srv := connect(t, true)
	params := []byte("{\"name\":\"a__b\",\n\"x\":1}")
	r := receiver(make(chan jsonrpc.Answer, 1))
	q := &jsonrpc.Call{ID: conn.NextID(), Method: "m", Params: params, Receiver: r, Edits: []rawjson.Edit{{Span: rawjson.Span{Start: 8, End: 14}, New: []byte(`"b"`)}}}
	require.NoError(t, conn.Start(q))
	conn.Flush()
	if got, want := srv.next(t), `{"jsonrpc":"2.0","id":1,"method":"m","params":{"name":"b", "x":1}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	srv.send(`{"id":1,"error":{"code":7}}`)
	if a := <-r; string(a.Error) != `{"code":7}` || a.Err != nil {
		t.Errorf("got %+v", a)
	}
}

type receiver chan jsonrpc.Answer

func (r receiver) Finish(a jsonrpc.Answer) *jsonrpc.Writer {
	a.Result, a.Error = append([]byte(nil), a.Result...), append([]byte(nil), a.Error...)
	r <- a
	return nil
}

func (r receiver) Event(string, []byte) *jsonrpc.Writer { return nil }

// TestParallelCalls makes 1,000 calls at once over one connection; the server
// answers in random order.
func TestParallelCalls(t *testing.T) {
	for _, system := range []bool{true, false} {
		conn, _, srv := connect(t, system)
		const n = 1000
		go func() {
			var ids []json.RawMessage
			for range n {
				var m struct {
					ID     json.RawMessage
					Params json.RawMessage
				}
				if err := json.Unmarshal([]byte(srv.next(t)), &m); err != nil {
					t.Error(err)
				}
				ids = append(ids, json.RawMessage(fmt.Sprintf(`{"id":%s,"result":%s}`, m.ID, m.Params)))
			}
			rand.Shuffle(n, func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
			for _, a := range ids {
				srv.send(string(a))
			}
		}()
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				params := fmt.Sprintf(`{"i":%d}`, i)
				res, _, err := conn.Call(t.Context(), &jsonrpc.Call{Method: "m", Params: []byte(params)}, nil)
				if err != nil || string(res) != params {
					t.Errorf("got %s %v, want %s", res, err, params)
				}
			})
		}
		wg.Wait()
		if id, left := conn.Find(func(jsonrpc.Receiver) bool { return true }); left {
			t.Errorf("call %d is left pending", id)
		}
	}
}

func TestCancelTellsTheServer(t *testing.T) {
	conn, _, srv := connect(t, true)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, _, err := conn.Call(ctx, &jsonrpc.Call{Method: "m"}, nil)
		failed <- err
	}()
	srv.next(t)
	cancel()
	if got := srv.next(t); !strings.Contains(got, `"notifications/cancelled","params":{"requestId":1`) {
		t.Errorf("got %s", got)
	}
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	srv.send(`{"id":1,"result":{}}`) // late: ignored
	go func() {
		srv.next(t)
		srv.send(`{"id":2,"result":{"own":true}}`)
	}()
	if res, _, err := conn.Call(t.Context(), &jsonrpc.Call{Method: "m"}, nil); err != nil || string(res) != `{"own":true}` {
		t.Errorf("the call after a late answer got %s %v", res, err)
	}
}

func TestProgressGoesToItsCall(t *testing.T) {
	conn, p, srv := connect(t, true)
	go func() {
		srv.next(t)
		srv.send(`{"method":"notifications/progress","params":{"progressToken":"mine","progress":1}}`)
		srv.send(`{"method":"notifications/progress","params":{"progressToken":"other","progress":2}}`)
		srv.send(`{"id":"s","method":"ping"}`)
		srv.send(`rubbish`)
		srv.next(t) // the answer to ping
		srv.send(`{"id":1,"result":{}}`)
	}()
	var got []string
	_, _, err := conn.Call(t.Context(), &jsonrpc.Call{Method: "m", Token: []byte(`"mine"`)}, func(e jsonrpc.Event) { got = append(got, string(e.Params)) })
	if err != nil || len(got) != 1 || !strings.Contains(got[0], "mine") {
		t.Errorf("got %v %v", got, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.notes) != 1 || len(p.requests) != 1 || len(p.malformed) != 1 {
		t.Errorf("got notes %v, requests %v, malformed %v", p.notes, p.requests, p.malformed)
	}
}

// readPeer notes how many calls had begun when what it gets was read.
type readPeer struct {
	peer
	notified  uint64
	requested chan uint64
}

func (p *readPeer) Notification(string, []byte) { p.notified = p.conn.BegunAtRead() }

func (p *readPeer) Request([]byte, string, []byte) {
	ctx := p.conn.WithBegunAtRead(context.Background())
	p.conn.NextID() // while the request is worked on
	p.requested <- jsonrpc.BegunAtRead(ctx)
}

// following begins the next call as soon as the one before it has its answer.
type following struct {
	conn *jsonrpc.Conn
	next uint64
}

func (f *following) Finish(jsonrpc.Answer) *jsonrpc.Writer {
	f.next = f.conn.NextID()
	return nil
}

func (f *following) Event(string, []byte) *jsonrpc.Writer { return nil }

// TestBegunAtRead: what came with an answer was written before the peer could know of
// the call that followed the answer. The clock stands still between the readings, as coarse
// ones do.
func TestBegunAtRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in, peerOut := io.Pipe()
		out := jsonrpc.NewWriter(nopCloser{io.Discard})
		defer out.Close()
		p := &readPeer{requested: make(chan uint64, 1)}
		p.conn = jsonrpc.NewConn(out, p, false)
		f := &following{conn: p.conn}
		require.NoError(t, p.conn.Start(&jsonrpc.Call{ID: p.conn.NextID(), Method: "m", Receiver: f}))
		read := make(chan struct{})
		go func() {
			defer close(read)
			p.conn.Read(jsonrpc.NewLineReader(in, 0))
		}()
		_, _ = io.WriteString(peerOut, `{"id":1,"result":{}}`+"\n"+`{"method":"notifications/message"}`+"\n"+`{"id":"q","method":"elicitation/create"}`+"\n")
		if requested := <-p.requested; requested != 1 || p.notified != 1 || f.next != 2 {
			t.Errorf("of a request %d, of a notification %d, both want 1; the next call is %d, want 2", requested, p.notified, f.next)
		}
		_, _ = io.WriteString(peerOut, `{"method":"notifications/message"}`+"\n")
		_ = peerOut.Close()
		<-read
		if p.notified != 3 {
			t.Errorf("of what was read later %d, want 3", p.notified)
		}
	})
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func TestEndFailsWhatIsPending(t *testing.T) {
	conn, p, srv := connect(t, true)
	failed := make(chan error, 1)
	go func() {
		_, _, err := conn.Call(t.Context(), &jsonrpc.Call{Method: "m"}, nil)
		failed <- err
	}()
	srv.next(t)
	_ = srv.out.Close()
	if err := <-failed; !errors.Is(err, jsonrpc.ErrClosed) {
		t.Errorf("got %v", err)
	}
	if _, _, err := conn.Call(t.Context(), &jsonrpc.Call{Method: "m"}, nil); !jsonrpc.IsNotSent(err) {
		t.Errorf("a call after the end: got %v", err)
	}
	if p.closed.Load() != 1 {
		t.Errorf("Closed was called %d times", p.closed.Load())
	}
}

// TestSilentPeerHoldsNobody fills the connection of a server that reads
// nothing: starting calls never waits and in the end is refused.
func TestSilentPeerHoldsNobody(t *testing.T) {
	conn, _, _ := connect(t, true)
	big := append(append([]byte(`{"x":"`), make([]byte, 1<<20)...), `"}`...)
	for i := range big {
		if big[i] == 0 {
			big[i] = 'x'
		}
	}
	var err error
	for range 40 {
		r := receiver(make(chan jsonrpc.Answer, 1))
		if err = conn.Start(&jsonrpc.Call{ID: conn.NextID(), Method: "m", Params: big, Receiver: r}); err != nil {
			break
		}
		conn.Flush()
	}
	if !errors.Is(err, jsonrpc.ErrFull) {
		t.Errorf("got %v, want %v", err, jsonrpc.ErrFull)
	}
	// Nor do the answers to what such a server asks pile up.
	if err := conn.Respond([]byte("1"), big); !errors.Is(err, jsonrpc.ErrFull) {
		t.Errorf("an answer: got %v, want %v", err, jsonrpc.ErrFull)
	}
}

// TestNullBesideTheAnswer: servers of JSON-RPC 1.0 stock send both members.
func TestNullBesideTheAnswer(t *testing.T) {
	conn, _, srv := connect(t, true)
	for answer, want := range map[string][2]string{
		`"result":{"a":1},"error":null`:    {`{"a":1}`, ""},
		`"error":{"code":1},"result":null`: {"", `{"code":1}`},
		`"result":null`:                    {"null", ""},
	} {
		go func() {
			var m struct{ ID int }
			if err := json.Unmarshal([]byte(srv.next(t)), &m); err != nil {
				t.Error(err)
			}
			srv.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,%s}`, m.ID, answer))
		}()
		result, object, err := conn.Call(wait.Context(t), &jsonrpc.Call{Method: "m"}, nil)
		if err != nil || string(result) != want[0] || string(object) != want[1] {
			t.Errorf("%s: got %s %s %v", answer, result, object, err)
		}
	}
}

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, _, srv := connect(t, false)
		lines := make(chan string, 16)
		go func() {
			for srv.in.Scan() {
				lines <- srv.in.Text()
			}
		}()
		start := time.Now()
		r := receiver(make(chan jsonrpc.Answer, 1))
		id := conn.NextID()
		require.NoError(t, conn.Start(&jsonrpc.Call{ID: id, Method: "m", Limit: time.Second, Ceiling: 2500 * time.Millisecond, Receiver: r}))
		conn.Flush()
		<-lines
		for range 4 { // progress keeps it alive, until the ceiling
			time.Sleep(700 * time.Millisecond)
			srv.send(fmt.Sprintf(`{"method":"notifications/progress","params":{"progressToken":%d}}`, id))
		}
		if a := <-r; !errors.Is(a.Err, jsonrpc.ErrTimeout) {
			t.Errorf("got %v", a.Err)
		}
		if d := time.Since(start); d < 2500*time.Millisecond || d > 3*time.Second {
			t.Errorf("ended after %v, want 2.5 s", d)
		}
		if got := <-lines; !strings.Contains(got, "notifications/cancelled") {
			t.Errorf("got %s", got)
		}
		_ = srv.end.Close()
	})
}

// TestSuspend: while a person is asked only the ceiling counts, whatever the
// server says meanwhile; then the limit starts again.
func TestSuspend(t *testing.T) {
	for name, tt := range map[string]struct {
		ceiling, resume, want time.Duration // resume 0: never
	}{
		"resumed":             {time.Hour, time.Minute, time.Minute + time.Second},
		"never resumed":       {time.Minute, 0, time.Minute},
		"resumed, no ceiling": {0, time.Minute, time.Minute + time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, _, srv := connect(t, false)
				go func() {
					for srv.in.Scan() {
					}
				}()
				start := time.Now()
				r := receiver(make(chan jsonrpc.Answer, 1))
				id := conn.NextID()
				require.NoError(t, conn.Start(&jsonrpc.Call{ID: id, Method: "m", Limit: time.Second, Ceiling: tt.ceiling, Receiver: r}))
				conn.Flush()
				resume := conn.Suspend(id)
				srv.send(fmt.Sprintf(`{"method":"notifications/progress","params":{"progressToken":%d}}`, id))
				if tt.resume > 0 {
					time.Sleep(tt.resume)
					resume()
				}
				if a := <-r; !errors.Is(a.Err, jsonrpc.ErrTimeout) {
					t.Errorf("got %v", a.Err)
				}
				if d := time.Since(start); d < tt.want || d > tt.want+time.Second {
					t.Errorf("ended after %v, want %v", d, tt.want)
				}
				conn.Suspend(id)() // it has ended: nothing happens
				_ = srv.end.Close()
			})
		})
	}
}

// TestBusy: a peer that owes too many answers gets no more calls until it has
// given one.
func TestBusy(t *testing.T) {
	conn, _, srv := connect(t, false)
	go func() {
		for srv.in.Scan() {
		}
	}()
	r := receiver(make(chan jsonrpc.Answer, jsonrpc.MaxPending))
	start := func() error {
		return conn.Start(&jsonrpc.Call{ID: conn.NextID(), Method: "m", Receiver: r})
	}
	for range jsonrpc.MaxPending {
		require.NoError(t, start())
	}
	if err := start(); !errors.Is(err, jsonrpc.ErrBusy) {
		t.Errorf("got %v", err)
	}
	conn.Forget(1)
	if err := start(); err != nil {
		t.Error(err)
	}
	_ = srv.end.Close()
}

// TestUnreadableAnswer: an answer that is no valid JSON ends its call; what only
// looks like one does not.
func TestUnreadableAnswer(t *testing.T) {
	conn, _, srv := connect(t, false)
	go func() {
		for srv.in.Scan() {
		}
	}()
	r := receiver(make(chan jsonrpc.Answer, 2))
	id := conn.NextID()
	require.NoError(t, conn.Start(&jsonrpc.Call{ID: id, Method: "m", Receiver: r}))
	srv.send(fmt.Sprintf(`{"id":%d,"level":"info" a line of a log`, id))
	srv.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping" `, id))
	srv.send(`{"jsonrpc":"2.0","id":9999,"result":{`)
	srv.send(fmt.Sprintf("{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"text\":\"\xff\"}}", id))
	if a := wait.For(t, "the end of the call", r); !errors.Is(a.Err, jsonrpc.ErrUnreadable) || !strings.Contains(a.Err.Error(), "UTF-8") {
		t.Errorf("got %v", a.Err)
	}
	_ = srv.end.Close()
}
