//go:build unix

package transport_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/transport"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestStdioListen: what names a listen by its id goes to its events, the rest
// to the connection's handler.
func TestStdioListen(t *testing.T) {
	free, own := newRecorder(), newRecorder()
	s, err := transport.StartStdio(transport.StdioOptions{Command: "sh", Handler: free, Args: []string{"-c", `read line
say() { echo '{"jsonrpc":"2.0","method":"'$1'","params":'"$2"'}'; }
say notifications/subscriptions/acknowledged '{"notifications":{},"_meta":{"io.modelcontextprotocol/subscriptionId":"l-1"}}'
say notifications/tools/list_changed '{"_meta":{"io.modelcontextprotocol/subscriptionId":"l-2"}}'
say notifications/tools/list_changed '{}'
say notifications/prompts/list_changed '{"_meta":{"io.modelcontextprotocol/subscriptionId":"l-1"}}'
say notifications/cancelled '{"requestId":"other"}'
say notifications/cancelled '{"requestId":"l-1"}'
echo '{"jsonrpc":"2.0","id":"l-1","result":{}}'
say notifications/resources/list_changed '{"_meta":{"io.modelcontextprotocol/subscriptionId":"l-1"}}'
read line`}})
	require.NoError(t, err)
	defer s.Close()
	req := &runtime.Request{Method: "subscriptions/listen", ID: json.RawMessage(`"l-1"`), Events: own}
	if _, err := s.Call(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	take := func(r *recorder, n int, call *runtime.Request) (out []string) {
		for range n {
			got := r.next(t)
			if got.call != call {
				t.Errorf("%s: call %v", got.method, got.call)
			}
			out = append(out, got.method)
		}
		return out
	}
	if diff := cmp.Diff([]string{"notifications/subscriptions/acknowledged", "notifications/prompts/list_changed", "notifications/cancelled"}, take(own, 3, req)); diff != "" {
		t.Errorf("own (-want +got):\n%s", diff)
	}
	// The last one may come before or after the call has been forgotten.
	if diff := cmp.Diff([]string{"notifications/tools/list_changed", "notifications/tools/list_changed", "notifications/cancelled"}, take(free, 3, nil)); diff != "" {
		t.Errorf("free (-want +got):\n%s", diff)
	}
}
