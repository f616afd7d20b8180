package negotiate_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/mcpctl/mcpctl/internal/negotiate"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/runtime/transport"
	"github.com/mcpctl/mcpctl/test/require"
)

// overtaken is an HTTP transport whose call "late" reaches the wire only when
// another call has begun to replace the session, and whose second handshake
// goes on only when that call has been through.
type overtaken struct {
	*transport.HTTP
	begun, reset, through chan struct{}

	mu         sync.Mutex // guards handshakes
	handshakes int
}

func (o *overtaken) Call(ctx context.Context, req *runtime.Request) (json.RawMessage, error) {
	switch {
	case req.Method == "initialize":
		o.mu.Lock()
		o.handshakes++
		second := o.handshakes == 2
		o.mu.Unlock()
		if second {
			<-o.through
		}
	case strings.Contains(string(req.Params), "late"):
		select {
		case <-o.begun: // sent again
		default:
			close(o.begun)
			<-o.reset
			defer close(o.through)
		}
	}
	return o.HTTP.Call(ctx, req)
}

func (o *overtaken) ResetSession() {
	o.HTTP.ResetSession()
	close(o.reset)
}

// TestCallWhileTheSessionIsReplaced: a call that has found the session in order
// and is overtaken by its end waits for the next session. It used to be sent
// without one, which servers refuse with HTTP 400.
func TestCallWhileTheSessionIsReplaced(t *testing.T) {
	s := runtimetest.New()
	srv := httptest.NewServer(s.Handler(runtimetest.HTTPOptions{Sessions: true}))
	defer srv.Close()
	bare, err := transport.NewHTTP(srv.URL, transport.HTTPOptions{})
	require.NoError(t, err)
	o := &overtaken{HTTP: bare, begun: make(chan struct{}), reset: make(chan struct{}), through: make(chan struct{})}
	c := connectTo(t, negotiate.Options{Client: runtime.Implementation{Name: "t", Version: "1"}, HTTP: true}, func() runtime.Transport { return o })
	echo := func(message string) error {
		raw, err := c.Call(t.Context(), &runtime.Request{Method: "tools/call", Params: json.RawMessage(`{"name":"echo","arguments":{"message":"` + message + `"}}`)})
		if err == nil && !strings.Contains(string(raw), message) {
			t.Errorf("%s: got %s", message, raw)
		}
		return err
	}
	late := make(chan error, 1)
	go func() { late <- echo("late") }()
	<-o.begun
	s.Drop()
	if err := echo("first"); err != nil {
		t.Errorf("the call that finds the session gone: %v", err)
	}
	if err := <-late; err != nil {
		t.Errorf("the call that is overtaken: %v", err)
	}
	if o.handshakes != 2 {
		t.Errorf("got %d handshakes, want 2", o.handshakes)
	}
}
