package router

import (
	"context"
	"errors"

	"github.com/mcpctl/mcpctl/runtime"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/inventory"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/limits"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/upstream"
)

// only returns a connection to the server that the proxy stands for, nil where there is
// none or where a person has to log in first: the client's next request shows the page.
func (rt *Router) only(ctx context.Context, audience upstream.Audience) (*upstream.Conn, error) {
	b := rt.Catalog.Only(audience)
	if b == nil {
		return nil, nil
	}
	c, err := b.Primary.Acquire(ctx)
	if err == nil || rt.o.Login == nil || !isRefusal(err) {
		return c, failure(b, err)
	}
	if login, why := rt.o.Login(ctx, b.Name, nil, err); why == nil && login != nil {
		return nil, nil
	}
	return nil, failure(b, err)
}

// awaitList waits until the server that the proxy stands for is known, and returns why
// its list cannot be had.
func awaitList(ctx context.Context, rt *Router, audience upstream.Audience, k inventory.Kind) error {
	b := rt.Catalog.Only(audience)
	if b == nil {
		return nil
	}
	if rt.Catalog.Inventory(b) == nil {
		if _, err := b.Primary.Acquire(ctx); err != nil {
			return failure(b, err)
		}
	}
	return failure(b, rt.Catalog.Inventory(b).Failure(k))
}

// failure returns the error of a request for one of its server: the server's own
// answer, or a failure of the way there.
func failure(b *upstream.Backend, err error) error {
	if _, answered := errors.AsType[*runtime.Error](err); err == nil || answered && !isRefusal(err) {
		return err
	}
	return b.Fail(err)
}

// Notify passes a notification on to the server that the proxy stands for. It returns
// when that has it, so that the order of a client's messages stays.
func (rt *Router) Notify(from *upstream.Caller, method string, params []byte) {
	b := rt.Catalog.Only(from.Audience)
	if b == nil {
		return
	}
	ctx, cancel := context.WithTimeout(rt.Set.Lifetime, limits.NotifyTime)
	defer cancel()
	c, done, err := b.Pool.Acquire(ctx, from)
	if err == nil {
		defer done()
		err = c.Client.Transport().Notify(ctx, &runtime.Request{Method: method, Params: params})
	}
	if err != nil {
		b.Log.Warn("a notification was not delivered", "method", method, "err", err)
	}
}
