package upstream

import (
	"context"
	"encoding/json"
	"io"
	"testing"

	"github.com/mcpctl/mcpctl/internal/jsonrpc"
)

// request is one that a client has in flight.
type request struct {
	who    *Client
	stream stream
	ask    bool
}

type stream struct{ unread bool }

func (s *stream) Unread() bool { return s.unread }

func (r *request) Caller() Caller {
	o := Caller{Client: r.who, Stream: &r.stream}
	if r.ask {
		o.Ask = func(context.Context, string, json.RawMessage) (json.RawMessage, error) { return nil, nil }
	}
	return o
}

func (*request) OnEnd(func())             {}
func (*request) Ended()                   {}
func (*request) Suspend() (resume func()) { return func() {} }

func (*request) Finish(jsonrpc.Answer) *jsonrpc.Writer { return nil }
func (*request) Event(string, []byte) *jsonrpc.Writer  { return nil }

// TestSoleClientAtRead: a server cannot have written inside a request that began after it
// had been read from. Without a goroutine (in the pipe) a request counts by its id, with
// one by how many had begun before it.
func TestSoleClientAtRead(t *testing.T) {
	t.Parallel()
	out := jsonrpc.NewWriter(nopCloser{io.Discard})
	defer out.Close()
	conn := NewConn(nil, "")
	conn.Pipe = jsonrpc.NewConn(out, nil, false)
	first := &request{who: &Client{}}
	id := conn.Pipe.NextID()
	if err := conn.Pipe.Start(&jsonrpc.Call{ID: id, Method: "m", Receiver: first}); err != nil {
		t.Fatal(err)
	}
	second := &request{who: &Client{}}
	if _, err := conn.calls.begin(conn, second); err != nil {
		t.Fatal(err)
	}
	if a, several := conn.SoleClient(id-1, nil); a != nil || several {
		t.Errorf("before both: %v, several %t", a, several)
	}
	if a, several := conn.SoleClient(id, nil); a == nil || several || a.From.Client != first.who {
		t.Errorf("between them: %v, several %t", a, several)
	}
	if a, several := conn.SoleClient(id+1, nil); a != nil || !several {
		t.Errorf("after both: %v, several %t", a, several)
	}
	if a, several := conn.SoleClient(jsonrpc.AnyTime, nil); a != nil || !several {
		t.Errorf("at any time: %v, several %t", a, several)
	}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// TestAsksWhereItIsRead: of the requests of one client, a question belongs to one whose
// stream the client reads.
func TestAsksWhereItIsRead(t *testing.T) {
	t.Parallel()
	who := &Client{}
	live := &request{who: who, ask: true}
	left := &request{who: who, ask: true, stream: stream{unread: true}}
	mute := &request{who: who}
	cases := map[string]struct {
		in   []*request
		want *request
	}{
		"alone":                    {[]*request{left}, left},
		"one that was left":        {[]*request{left, live}, live},
		"one that cannot be asked": {[]*request{mute, live}, live},
		"all that there can be":    {[]*request{mute, left, live}, live},
		"none is read":             {[]*request{mute, left}, left},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 20 { // a map has no order
				conn := NewConn(nil, "")
				for _, r := range c.in {
					conn.calls.waiting[r] = 0
				}
				a, several := conn.SoleClient(jsonrpc.AnyTime, nil)
				if several || a == nil {
					t.Fatalf("several %t, %v", several, a)
				}
				if a.From.Stream != Stream(&c.want.stream) {
					t.Fatalf("asked in another request: %+v", a.From)
				}
			}
		})
	}
}
