package gosdk

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcpctl/mcpctl/runtime"
)

// Progress passes the progress messages of a client of the SDK to the calls that
// they belong to. The zero value is ready to use, for all sessions of a client.
//
//	progress := new(gosdk.Progress)
//	client := mcp.NewClient(implementation, &mcp.ClientOptions{ProgressNotificationHandler: progress.Handle})
type Progress struct {
	mu    sync.Mutex
	last  uint64
	calls map[string]func(runtime.Progress) // by token
}

// Handle is a ProgressNotificationHandler. It ignores progress of calls that were
// not made through a [Caller].
func (p *Progress) Handle(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
	if r == nil || r.Params == nil {
		return
	}
	token, ok := r.Params.ProgressToken.(string)
	if !ok {
		return
	}
	p.mu.Lock()
	tell := p.calls[token]
	p.mu.Unlock()
	if tell == nil {
		return
	}
	v := runtime.Progress{Progress: r.Params.Progress, Message: r.Params.Message}
	if r.Params.Total != 0 { // which the SDK has for "unknown"
		v.Total = &r.Params.Total
	}
	tell(v)
}

// expect returns a token for a call.
func (p *Progress) expect(tell func(runtime.Progress)) (token string, forget func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	token = "mcpctl-" + strconv.FormatUint(p.last, 10)
	if p.calls == nil {
		p.calls = map[string]func(runtime.Progress){}
	}
	p.calls[token] = tell
	return token, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.calls, token)
	}
}

// clock bounds a call: limit from its last sign of life, ceiling in all.
type clock struct {
	limit, ceiling time.Duration
	silence, end   *time.Timer
}

var (
	errSilent  = errors.New("no sign of life")
	errTooLong = errors.New("too long in all")
)

func start(limit, ceiling time.Duration) *clock { return &clock{limit: limit, ceiling: ceiling} }

// bound returns the context of the call. Call stop once.
func (c *clock) bound(ctx context.Context) (_ context.Context, stop func()) {
	if c.limit < 0 {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	c.silence = time.AfterFunc(c.limit, func() { cancel(errSilent) })
	c.end = time.AfterFunc(c.ceiling, func() { cancel(errTooLong) })
	return ctx, func() {
		c.silence.Stop()
		c.end.Stop()
		cancel(nil)
	}
}

// alive restarts the limit, unless it has expired.
func (c *clock) alive() {
	if c.silence != nil && c.silence.Stop() {
		c.silence.Reset(c.limit)
	}
}

// expired returns the bound that was reached, 0 for none.
func (c *clock) expired(ctx context.Context) time.Duration {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errSilent):
		return c.limit
	case errors.Is(cause, errTooLong):
		return c.ceiling
	default:
		return 0
	}
}
