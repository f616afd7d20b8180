package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/authconfig"
	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
)

// loginWait bounds how long a process waits for the logins of others.
const loginWait = 2 * loginTime

// oneLogin has a person log in, in one process at a time: the others, which wait as long as
// their calls do, take what that one got in the place of the token that was used. The
// caller holds asking.
func (a *Authorizer) oneLogin(ctx context.Context, used string, params map[string]string, login func(context.Context) error) error {
	a.mu.Lock()
	alone := a.o.Prompter == nil
	a.mu.Unlock()
	if alone {
		return login(ctx)
	}
	server := Canonical(a.o.Server)
	unlock, err := a.o.Store.LockLogin(ctx, server, time.Millisecond)
	if errors.Is(err, tokenstore.ErrLocked) {
		a.o.Logger.Warn("another process logs in to the server: waiting for it", "server", a.o.Name)
		unlock, err = a.o.Store.LockLogin(ctx, server, loginWait)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil: // as where the folder cannot be written: better two logins than none
		a.o.Store.Warn(a.o.Logger, "a login begins without a lock", err)
	default:
		defer unlock()
		if t, ok := a.newer(used, strings.Fields(params["scope"])); ok {
			a.use(t)
			return nil
		}
	}
	defer deadline.Suspend(ctx)()
	if err := login(ctx); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.given = a.current.Access
	return nil
}

// errJustGiven is a server that refuses what its authorization server has just given.
var errJustGiven = errors.New("it refuses the token that it was just given")

// newer returns the token that another process, or another login of this one, has
// obtained in the place of the one that was used, with some scopes at least; false
// where there is none.
func (a *Authorizer) newer(used string, scopes []string) (tokenstore.Token, bool) {
	all, err := a.o.Store.Tokens(Canonical(a.o.Server))
	if err != nil {
		return tokenstore.Token{}, false // the login that follows says so
	}
	t, ok := a.choose(all)
	return t, ok && t.Access != used && !soon(t) && len(union(t.Scopes, scopes)) == len(t.Scopes)
}

// Login obtains a token, whether or not there is one. challenge is the header that
// asked for it, "" for none.
func (a *Authorizer) Login(ctx context.Context, challenge string) (tokenstore.Token, error) {
	return a.login(ctx, challenge, nil)
}

// LoginAfter is Login where a connection has failed for want of credentials. A token that
// another process has obtained meanwhile is one.
func (a *Authorizer) LoginAfter(ctx context.Context, failure *Error) (tokenstore.Token, error) {
	return a.login(ctx, failure.Challenge, failure)
}

// login obtains a token. failure is what asked for it, nil for nothing.
func (a *Authorizer) login(ctx context.Context, challenge string, failure *Error) (tokenstore.Token, error) {
	a.init.Do(a.load)
	if a.asking.Acquire(ctx, 1) != nil {
		return tokenstore.Token{}, context.Cause(ctx)
	}
	defer a.asking.Release(1)
	if a.insecure() {
		return tokenstore.Token{}, newError(a.o.Name, http.StatusUnauthorized, a.o.Redactor.String(challenge), errInsecure)
	}
	params := bearerOf([]string{challenge})
	d := demand{params: params, more: wantsMore(params), refused: failure != nil && errors.Is(failure.Err, errToken)}
	obtain := func(ctx context.Context) error { return a.obtain(ctx, d) }
	var err error
	if failure != nil && needsPerson(&a.o.Config) {
		err = a.oneLogin(ctx, failure.used, params, obtain)
	} else {
		err = obtain(ctx)
	}
	if err != nil {
		return tokenstore.Token{}, newError(a.o.Name, http.StatusUnauthorized, a.o.Redactor.String(challenge), err)
	}
	return a.token(), nil
}

// Current returns a token that can be used for a while, refreshed where it is about to
// end; the zero Token where there is none.
func (a *Authorizer) Current(ctx context.Context) (tokenstore.Token, error) {
	t, err := a.usable(ctx)
	if err != nil || t.Expires.IsZero() || time.Now().Before(t.Expires) {
		return t, err
	}
	return tokenstore.Token{}, nil
}

// Attend has a person log in from now on where the server wants one to; nil has nobody.
func (a *Authorizer) Attend(p Prompter) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.o.Prompter = p
}

// byOAuth gets a token by the configured grant. params are those of the challenge. The
// caller holds asking.
func (a *Authorizer) byOAuth(ctx context.Context, params map[string]string, more bool) error {
	before := a.token()
	scopes := strings.Fields(params["scope"])
	a.mu.Lock()
	if more {
		a.rounds++
	}
	rounds, person := a.rounds, a.o.Prompter
	a.mu.Unlock()
	if more && rounds > maxRounds {
		return fmt.Errorf("it asks for other scopes again and again: %s", clip(strings.Join(scopes, " ")))
	}
	if person == nil && needsPerson(&a.o.Config) {
		return errNobody
	}
	d, asked, err := a.discover(ctx, params)
	if err != nil {
		return err
	}
	if more {
		asked = union(before.Scopes, asked)
	}
	f := &flow{server: a.o.Server, config: a.o.Config, store: a.o.Clients, guard: d.guard, log: a.o.Logger, person: person, principal: a.o.Principal}
	if f.config.HandsIn() {
		if f.subject, err = a.o.subject(); err != nil {
			return err
		}
	}
	t, err := f.token(ctx, d, asked)
	if err != nil {
		return err
	}
	a.keep(ctx, t)
	return nil
}

// needsPerson reports whether a person grants access.
func needsPerson(c *authconfig.Config) bool { return c.Grant == "" || c.Grant == authconfig.GrantCode }

// token asks for a token by the configured grant, bound to a key where the entry or the
// server wants that.
func (f *flow) token(ctx context.Context, d *discovered, scopes []string) (tokenstore.Token, error) {
	if err := f.bind(d); err != nil {
		return tokenstore.Token{}, err
	}
	t, err := f.obtain(ctx, d, scopes)
	t.Key = f.key
	return t, err
}

// bind makes the key that the token will be bound to, where the entry or the server wants
// that.
func (f *flow) bind(d *discovered) (err error) {
	if f.config.DPoP || d.resource.Bound {
		f.key, err = newProofKey()
	}
	return err
}

func (f *flow) obtain(ctx context.Context, d *discovered, scopes []string) (tokenstore.Token, error) {
	switch f.config.Grant {
	case authconfig.GrantClientCredentials:
		return f.clientCredentials(ctx, d, scopes)
	case authconfig.GrantJWTBearer:
		return f.jwtBearer(ctx, d, scopes)
	case authconfig.GrantEnterprise:
		return f.enterprise(ctx, d, scopes)
	case authconfig.GrantPassword:
		return f.password(ctx, d, scopes)
	case authconfig.GrantRefreshToken:
		return f.refreshToken(ctx, d)
	}
	return f.authorize(ctx, d, scopes)
}
