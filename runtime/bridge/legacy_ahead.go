package bridge

import (
	"context"
	"encoding/json"
	"sync/atomic"

	"github.com/mcpctl/mcpctl/runtime"
)

// ahead is the answer to a request that was sent before, past the connection's
// wrapper.
type ahead struct {
	taken  atomic.Bool
	result json.RawMessage
	err    error
}

type aheadKey struct{}

// Answered returns a context under which the first request of a call over t is not
// sent: it has been, and this is what the server has answered, a result or an
// error. What follows from it is the connection's to do. False where t cannot
// take that, and would send the request again.
func Answered(ctx context.Context, t runtime.Transport, result json.RawMessage, err error) (context.Context, bool) {
	if _, ok := t.(*legacyTransport); !ok {
		return ctx, false
	}
	return context.WithValue(ctx, aheadKey{}, &ahead{result: result, err: err}), true
}

// answeredAhead returns the answer of a request that was sent before.
func answeredAhead(ctx context.Context) *ahead {
	a, ok := ctx.Value(aheadKey{}).(*ahead)
	if !ok || a.taken.Swap(true) {
		return nil
	}
	return a
}
