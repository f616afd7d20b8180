package transport_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mcpctl/mcpctl/internal/ability"
	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/transport"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
)

// TestHTTPSent: who wants to know hears that a call is on its way before its answer.
func TestHTTPSent(t *testing.T) {
	t.Parallel()
	sent := make(chan struct{}, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select { // no answer before it is told
		case <-sent:
		case <-r.Context().Done():
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	}))
	defer srv.Close()
	tr := newHTTP(t, srv.URL, transport.HTTPOptions{})
	ctx := wait.Context(t)
	_, err := tr.Call(ability.WithSent(ctx, func() { sent <- struct{}{} }), &runtime.Request{Method: "tools/call", Version: "2025-11-25"})
	require.NoError(t, err)
}
