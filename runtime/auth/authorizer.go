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
	"github.com/mcpctl/mcpctl/runtime"
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

// RefreshAhead is how long before its end a token is refreshed.
const RefreshAhead = 30 * time.Second

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
	has := func() bool { return a.token().Access != used }
	err := a.once(ctx, "external", has, func(context.Context) error {
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

// soon reports whether a token is about to end: within RefreshAhead, or half of its
// time where that is shorter.
func soon(t tokenstore.Token) bool {
	return !t.Expires.IsZero() && time.Until(t.Expires) < min(RefreshAhead, t.Expires.Sub(t.Obtained)/2)
}

// load reads the token that is kept.
func (a *Authorizer) load() {
	all, err := a.o.Store.Tokens(Canonical(a.o.Server))
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

// Keeps reports whether there is a token, which is read where it has not been yet.
func (a *Authorizer) Keeps() bool {
	a.init.Do(a.load)
	return a.token().Access != ""
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
	has := func() bool {
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
		if has() {
			return nil
		}
		err = a.oneLogin(ctx, used, params, obtain)
	} else {
		err = a.once(ctx, fmt.Sprintf("%q", []string{"grant", used, params["scope"], params["resource_metadata"]}), has, obtain)
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

// Error says why a server's credentials could not be obtained.
type Error struct {
	runtime.AuthError
	Server string // its name
	Err    error
	// principal is whose credentials they are, "" for this machine's user.
	principal string
	used      string // the token that was refused, "" for none
}

func newError(server string, status int, challenge string, err error) *Error {
	return &Error{AuthError: runtime.AuthError{Status: status, Challenge: challenge}, Server: server, Err: err}
}

// Error returns why.
func (e *Error) Error() string {
	return "the server wants authorisation: " + e.Err.Error()
}

// Unwrap returns the refusal and why it could not be answered.
func (e *Error) Unwrap() []error { return []error{&e.AuthError, e.Err} }

// Hint returns the command that mends it.
func (e *Error) Hint() string {
	unnamed, ok := errors.AsType[*UnnamedError](e.Err)
	switch {
	case ok:
		return unnamed.hint(e.Server)
	case e.principal != "":
		return "" // no command of theirs obtains them
	case errors.Is(e.Err, errNobody):
		return LoginCommand(e.Server)
	case errors.Is(e.Err, errInsecure):
		return AllowHTTPHint
	case errors.Is(e.Err, errToken):
		return LoginCommand(e.Server)
	case e.noOAuth():
		return "where the server takes a token that is made by hand: " + LoginCommand(e.Server) + " --token-stdin"
	}
	return ""
}

func (e *Error) noOAuth() bool {
	_, ok := errors.AsType[noOAuth](e.Err)
	return ok
}

// NeedsPerson reports whether a person has to log in, or to type a token.
func (e *Error) NeedsPerson() bool {
	return errors.Is(e.Err, errNobody) || e.principal == "" && e.noOAuth()
}

// LoginCommand returns the command that logs in to a server, by its name, or by its
// address where it is in no configuration.
func LoginCommand(server string) string {
	if strings.Contains(server, "://") {
		return "mcpctl --url " + server + " auth login"
	}
	return "mcpctl auth login " + server
}
