package upstream

import (
	"context"
	"encoding/json"
	"testing"
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
					conn.calls.waiting[r] = struct{}{}
				}
				a, several := conn.SoleClient(nil)
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
