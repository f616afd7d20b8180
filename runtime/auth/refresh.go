package auth

import (
	"context"
	"time"

	"github.com/mcpctl/mcpctl/internal/tokenstore"
)

// RefreshAhead is how long before its end a token is refreshed.
const RefreshAhead = 30 * time.Second

// soon reports whether a token is about to end: within RefreshAhead, or half of its
// time where that is shorter.
func soon(t tokenstore.Token) bool {
	return !t.Expires.IsZero() && time.Until(t.Expires) < min(RefreshAhead, t.Expires.Sub(t.Obtained)/2)
}

// refreshed returns a fresh token in the place of one that ends, or has been refused.
// One goroutine of one process asks; the others take what it got.
func (a *Authorizer) refreshed(ctx context.Context, old tokenstore.Token) (tokenstore.Token, error) {
	err := a.once(ctx, "refresh "+old.Refresh, func() bool {
		now := a.token()
		return now.Access != old.Access && now.Access != ""
	}, func(long context.Context) error { return a.refreshNow(ctx, long, old) })
	if err != nil {
		return tokenstore.Token{}, err
	}
	return a.token(), nil
}

// refreshNow has a fresh token used in the place of one that ends. ctx is that of the call
// that has come first, long goes on without it.
func (a *Authorizer) refreshNow(ctx, long context.Context, old tokenstore.Token) error {
	unlock, err := a.o.Store.LockRefresh(ctx)
	if err != nil && ctx.Err() != nil {
		return errGivenUp
	}
	if err != nil { // as where the folder cannot be written: better two refreshes than none
		a.o.Store.Warn(a.o.Logger, "a token is refreshed without a lock", err)
	} else {
		defer unlock()
		if stored, err := a.o.Store.Tokens(old.Server); err == nil {
			for _, t := range stored {
				if !t.Same(old) || t.Access == old.Access {
					continue
				}
				a.use(t) // another process has refreshed it
				if !soon(t) {
					return nil
				}
				old = t
				break
			}
		}
	}
	// The issuer may have ended the old refresh token with its answer: it is waited for,
	// and kept, also when nobody wants it any more.
	fresh, err := a.refresh(long, old)
	switch {
	case hasCode(err, "invalid_grant"):
		a.discard(long, old)
	case hasCode(err, "invalid_client"): // it has forgotten us: the next login registers again
		if dropped := a.o.Clients.DropClient(long, old.Issuer); dropped != nil {
			a.o.Store.Warn(a.o.Logger, "a registration that has ended is not removed", dropped)
		}
	}
	if err != nil {
		return err
	}
	a.keep(long, fresh)
	return nil
}

// refresh asks for a token with a refresh token. The secret of the entry's client goes to
// whom the entry names, also where it went elsewhere before.
func (a *Authorizer) refresh(ctx context.Context, old tokenstore.Token) (tokenstore.Token, error) {
	c := &a.o.Config
	old.ByEntry = old.ByEntry || c.Named() != "" && c.Named() == old.Issuer
	if s := old.Client.Secret; s != "" && s == c.ClientSecret.Reveal() && !old.ByEntry {
		return tokenstore.Token{}, newUnnamed(old.Issuer)
	}
	g, err := guardOf(ctx, old, c.TokenEndpoint)
	if err != nil {
		return tokenstore.Token{}, err
	}
	if a.o.AllowHTTP {
		g.clear = a.o.Server.Hostname()
	}
	return g.refresh(ctx, old, c.ExtraParams)
}

// keep uses a token and has it kept; where that fails it serves this process.
func (a *Authorizer) keep(ctx context.Context, t tokenstore.Token) {
	a.use(t)
	if err := a.o.Store.Put(context.WithoutCancel(ctx), t); err != nil {
		a.o.Store.Warn(a.o.Logger, "the token is not kept: the next command has to ask again", err)
	}
}
