package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/mcpctl/mcpctl/internal/authconfig"
	"github.com/mcpctl/mcpctl/internal/deadline"
	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
)

// Options are settings of an [Authorizer].
type Options struct {
	// Server is the configured address.
	Server *url.URL
	// Name is what messages and commands call the server; "" is its address.
	Name   string
	Config authconfig.Config
	Store  *tokenstore.Store
	// Clients keeps registrations; nil: Store does.
	Clients *tokenstore.Store
	// Principal is whose credentials these are, by the ID; "" is this machine's user.
	Principal string
	// Subject returns the token that the principal has come with, the zero Text for none
	// of an issuer; nil: nobody is asked who they are. It is handed to the issuer that the
	// configuration names, and to nobody else.
	Subject func() secret.Text
	// Exchanged remembers what tokens were exchanged for.
	Exchanged *tokenstore.Memory
	// Prompter can log in; nil: nobody can, and a server that wants it is an error.
	Prompter Prompter
	// AllowHTTP sends credentials also over http to another machine.
	AllowHTTP bool
	Logger    *slog.Logger
	// Redactor gets each token that is used, with its key and the client's secret. Nil: none.
	Redactor *secret.Redactor
	// Given is the access token that another Authorizer's login has just obtained: if it is
	// refused at its first use, no refresh and no other login is tried. "" is none.
	Given string
}

// Authorizer adds a server's credentials to requests, and obtains them where the
// server asks for any: the token that is kept, a refreshed one, or a new one. All
// methods may be called concurrently. It implements transport.Authorizer.
type Authorizer struct {
	o    Options
	init sync.Once
	warn sync.Once // that credentials are sent over http

	unlinked error // tokens are where this program cannot read them; set by init

	mu      sync.Mutex // guards what follows; held for memory work only
	current tokenstore.Token
	rounds  int       // authorizations for more scopes
	nonce   string    // that the server wants in proofs, "" for none
	read    time.Time // when the token was last read, see reread
	fresh   string    // the access token of the last refresh that a challenge led to
	given   string    // the access token that a login has obtained
	sent    sent      // the token that requests carry

	asking *semaphore.Weighted // held while a token is obtained: one asks, the others wait
	failed failure             // guarded by asking
}

// sent is how often a token was sent.
type sent struct {
	access string
	times  int
}

// New returns the authorizer of a server.
func New(o Options) *Authorizer {
	o.Name = cmp.Or(o.Name, o.Server.Host)
	if o.Clients == nil {
		o.Clients = o.Store
	}
	if o.Exchanged == nil {
		o.Exchanged = &tokenstore.Memory{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Authorizer{o: o, given: o.Given, asking: semaphore.NewWeighted(1)}
}

// maxRounds bounds authorizations for more scopes: a server that goes on asking never
// has enough.
const maxRounds = 3

// Authorize adds the token, refreshed where it is about to end.
func (a *Authorizer) Authorize(ctx context.Context, req *http.Request) error {
	if a.insecure() {
		return nil // and a challenge is answered with why
	}
	t, err := a.usable(ctx)
	if err != nil {
		return err
	}
	if t.Access == "" {
		return nil // the server says whether it wants any
	}
	if Cleartext(a.o.Server) {
		a.warn.Do(func() { a.o.Logger.Warn("credentials are sent over http: others on the way can read them") })
	}
	req.Header.Set("Authorization", cmp.Or(t.Type, "Bearer")+" "+t.Access)
	a.mu.Lock()
	if a.sent.access != t.Access {
		a.sent = sent{access: t.Access}
	}
	a.sent.times++
	nonce := a.nonce
	a.mu.Unlock()
	if t.Type != schemeDPoP {
		return nil
	}
	p, err := dpopProof(t.Key, req.Method, req.URL.String(), t.Access, nonce)
	if err != nil {
		return err
	}
	req.Header.Set("DPoP", p)
	return nil
}

// usable returns the token to use now, refreshed where it is about to end.
func (a *Authorizer) usable(ctx context.Context) (tokenstore.Token, error) {
	a.init.Do(a.load)
	a.reread()
	t := a.token()
	switch {
	case isExternal(&a.o.Config) && (t.Access == "" || soon(t)):
		return a.external(ctx, t.Access)
	case exchanges(&a.o.Config) && (t.Access == "" || soon(t)):
		return exchange(ctx, a, t.Access)
	case a.unlinked != nil && t.Access == "":
		return tokenstore.Token{}, a.unlinked
	case t.Access != "" && soon(t) && t.Refresh != "":
		fresh, err := a.refreshed(ctx, t)
		if err == nil {
			return fresh, nil
		}
		if ctx.Err() != nil {
			return tokenstore.Token{}, ctx.Err()
		}
		a.o.Logger.Info("the token cannot be refreshed", "err", err) // it may still do
	}
	return t, nil
}

// isExternal reports whether the token comes from a command or a file, before the
// server has asked for any.
func isExternal(c *authconfig.Config) bool {
	return len(c.Command) > 0 || c.TokenFile != "" && needsPerson(c)
}

// external reads the token again from where the entry says, unless somebody has in place
// of the one that was used.
func (a *Authorizer) external(ctx context.Context, used string) (tokenstore.Token, error) {
	renewed := func() bool { return a.token().Access != used }
	err := a.once(ctx, "external", renewed, func(context.Context) error {
		t, err := externalToken(ctx, a.o.Config.Command, a.o.Config.TokenFile) // a command ends with the call that it was run for
		if err != nil && ctx.Err() != nil {
			return errGivenUp
		}
		if err != nil {
			return fmt.Errorf("%s: %w", a.o.Name, err)
		}
		a.use(t)
		return nil
	})
	if err != nil {
		return tokenstore.Token{}, err
	}
	return a.token(), nil
}

// Cleartext reports whether what is sent to a server can be read on the way: over http
// to another machine.
func Cleartext(server *url.URL) bool {
	return strings.EqualFold(server.Scheme, "http") && !isLoopback(server)
}

// insecure reports whether credentials must not be sent.
func (a *Authorizer) insecure() bool { return Cleartext(a.o.Server) && !a.o.AllowHTTP }

// guard returns the client for what the server names.
func (a *Authorizer) guard(ctx context.Context) *guard {
	g := newGuard(ctx, a.o.Server)
	if a.o.AllowHTTP {
		g.clear = a.o.Server.Hostname()
	}
	return g
}

// errInsecure is a server that credentials are not sent to.
var errInsecure = errors.New("credentials are not sent over http to another machine")

// AllowHTTPHint says how credentials are sent to a server that has no https.
const AllowHTTPHint = "use https; in a network that you trust, --allow-insecure-http or \"allowInsecureHttp\": true in the entry"

// load reads the token that is kept.
func (a *Authorizer) load() {
	all, err := a.o.Store.Tokens(Canonical(a.o.Server))
	if errors.Is(err, tokenstore.ErrNotLinked) {
		a.unlinked = err
		return
	}
	if err != nil {
		a.o.Store.Warn(a.o.Logger, "tokens that are kept cannot be read, and none is kept", err)
		return
	}
	if t, ok := a.choose(all); ok {
		a.use(t)
	}
}

// rereadTime is how often the token of a principal is read again, who may have taken it
// back in another process.
const rereadTime = 2 * time.Second

// reread reads the token of a principal again where that is due.
func (a *Authorizer) reread() {
	if a.o.Principal == "" || exchanges(&a.o.Config) {
		return
	}
	now := time.Now()
	a.mu.Lock()
	due := a.read.IsZero() || now.Sub(a.read) >= rereadTime
	if due {
		a.read = now
	}
	a.mu.Unlock()
	if !due || !a.asking.TryAcquire(1) { // what is being obtained is newer than what is kept
		return
	}
	defer a.asking.Release(1)
	all, err := a.o.Store.Tokens(Canonical(a.o.Server))
	if err != nil {
		return // the one that is there goes on
	}
	if t, _ := a.choose(all); t.Access != a.token().Access {
		a.use(t)
	}
}

// choose returns the first token of an issuer that may be used, false for none.
func (a *Authorizer) choose(all []tokenstore.Token) (tokenstore.Token, bool) {
	named := a.o.Config.Named()
	for _, t := range all {
		if t.Principal == a.o.Principal && (named == "" || t.Issuer == named || t.Source == tokenstore.SourceManual) {
			return t, true
		}
	}
	return tokenstore.Token{}, false
}

// Keeps reports whether there is a token, or may be one in the keyring that this program
// cannot read. It is read where it has not been yet.
func (a *Authorizer) Keeps() bool {
	a.init.Do(a.load)
	return a.unlinked != nil || a.token().Access != ""
}

func (a *Authorizer) token() tokenstore.Token {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.current
}

// use has requests carry a token from now on.
func (a *Authorizer) use(t tokenstore.Token) {
	if a.o.Redactor != nil {
		a.o.Redactor.Refresh(secret.New(t.Client.Secret), secret.New(t.Key), secret.New(t.Refresh), secret.New(t.Access))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.current = t
}

// Challenged obtains other credentials for a request that was refused. Its error is an
// [*Error].
func (a *Authorizer) Challenged(ctx context.Context, resp *http.Response) (retry bool, err error) {
	_, used, _ := strings.Cut(resp.Request.Header.Get("Authorization"), " ")
	headers := resp.Header.Values("Www-Authenticate")
	if nonce := resp.Header.Get("DPoP-Nonce"); nonce != "" && bearerOf(headers)["error"] == "use_dpop_nonce" {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.nonce = nonce
		return true, nil
	}
	if err := a.answer(ctx, used, headers, resp.StatusCode == http.StatusForbidden); err != nil {
		failed := newError(a.o.Name, resp.StatusCode, a.o.Redactor.String(strings.Join(headers, ", ")), err)
		failed.principal, failed.used = a.o.Principal, used
		return false, failed
	}
	return true, nil
}

// answer obtains a token in the place of the one that was used, by a refresh where that
// can help.
func (a *Authorizer) answer(ctx context.Context, used string, headers []string, more bool) error {
	t := a.token()
	if t.Access != used && t.Access != "" {
		return nil // somebody has obtained another meanwhile
	}
	switch {
	case a.insecure():
		return errInsecure
	case isExternal(&a.o.Config):
		now, err := a.external(ctx, used)
		if err == nil && now.Access == used {
			err = errors.New("it refuses the token of the entry's auth")
		}
		return err
	case exchanges(&a.o.Config):
		now, err := exchange(ctx, a, used)
		if err == nil && now.Access == used {
			err = errors.New("it refuses the token that was exchanged for it")
		}
		return err
	}
	params := bearerOf(headers)
	if stored, ok := a.newer(used, strings.Fields(params["scope"])); ok {
		a.use(stored)
		return nil
	}
	a.mu.Lock()
	useless := !more && needsPerson(&a.o.Config) && t.Source != tokenstore.SourceManual && used != "" && used == a.given && a.sent == sent{used, 1}
	refreshes := !more && t.Refresh != "" && t.Access != a.fresh
	a.mu.Unlock()
	if useless {
		return errJustGiven
	}
	var failed error // to refresh
	if refreshes {
		fresh, err := a.refreshed(ctx, t)
		if failed = err; err == nil {
			a.mu.Lock()
			a.fresh = fresh.Access // if that is refused, too, the server wants another login
			a.mu.Unlock()
			return nil
		}
		a.o.Logger.Info("the token cannot be refreshed", "err", err)
	}
	renewed := func() bool {
		now := a.token()
		return now.Access != used && now.Access != ""
	}
	d := demand{params: params, more: more, refused: t.Access != "" && t.Source == tokenstore.SourceManual && !more}
	obtain := func(ctx context.Context) error {
		if d.refused {
			a.discard(ctx, t)
		}
		return a.obtain(ctx, d)
	}
	var err error
	if needsPerson(&a.o.Config) {
		resume := deadline.Suspend(ctx) // a person may take their time
		gone := a.asking.Acquire(ctx, 1) != nil
		resume()
		if gone {
			return context.Cause(ctx)
		}
		defer a.asking.Release(1)
		if renewed() {
			return nil
		}
		err = a.oneLogin(ctx, used, params, obtain)
	} else {
		err = a.once(ctx, fmt.Sprintf("%q", []string{"grant", used, params["scope"], params["resource_metadata"]}), renewed, obtain)
	}
	switch {
	case err == nil:
		return nil
	case d.refused && !errors.Is(err, errToken):
		return fmt.Errorf("%w: %w", errToken, err)
	case errors.Is(err, errNobody) && failed != nil:
		return fmt.Errorf("%w, since the token cannot be refreshed: %w", err, failed)
	}
	return err
}
