package auth

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/runtime"
)

// Logins are the logins of people who are not at this process's terminal: the users of
// the clients that a proxy serves. Each has a page on this machine that leads to the
// authorization server. Of one server there is at most one at a time. All methods may
// be called concurrently.
type Logins struct {
	life context.Context //nolint:containedctx // ended by Close
	end  context.CancelFunc
	work sync.WaitGroup

	mu   sync.Mutex // guards what follows
	last map[string]*Login
}

// Login is one of them.
type Login struct {
	z     *Authorizer
	begun time.Time

	// shown is closed when id and url are known, ended when err is.
	shown, ended chan struct{}
	id, url      string
	err          error
}

// roundsTime is how long logins to one server count as rounds of one attempt; see
// maxRounds.
const roundsTime = 10 * time.Minute

// NewLogins returns none.
func NewLogins() *Logins {
	l := &Logins{last: map[string]*Login{}}
	l.life, l.end = context.WithCancel(context.Background())
	return l
}

// Close ends all logins and returns when they have ended.
func (l *Logins) Close() {
	l.mu.Lock()
	l.end() // under the lock: none begins from now on
	l.mu.Unlock()
	l.work.Wait()
}

// Answers reports whether a login of a person can answer a failure: the server has
// refused a request, and nothing but a person was missing.
func Answers(err error) bool {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.NeedsPerson()
	}
	refused, ok := errors.AsType[*runtime.AuthError](err)
	return ok && (refused.Status == http.StatusUnauthorized || wantsMore(bearerOf([]string{refused.Challenge})))
}

// wantsMore reports whether a challenge asks for other scopes than those granted.
func wantsMore(params map[string]string) bool { return params["error"] == "insufficient_scope" }

// Start returns the login under way for a server, or starts one, once its page can be
// opened; nil where it is not for a person to log in. key names the server and its
// settings, newAuthorizer returns what logs in, nil where nothing can. cause is the
// failure that the login answers. The login goes on when ctx ends, for 5 minutes at most.
func (l *Logins) Start(ctx context.Context, key string, cause error, newAuthorizer func() *Authorizer) (*Login, error) {
	login, err := l.begin(key, cause, newAuthorizer)
	if err != nil || login == nil {
		return nil, err
	}
	select {
	case <-login.shown:
		return login, nil
	case <-login.ended:
		return nil, login.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *Logins) begin(key string, cause error, newAuthorizer func() *Authorizer) (*Login, error) {
	challenge := ""
	if refused, ok := errors.AsType[*runtime.AuthError](cause); ok {
		challenge = refused.Challenge
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.life.Err() != nil {
		return nil, runtime.ErrClosed
	}
	before := l.last[key]
	if before != nil && !before.hasEnded() {
		return before, nil
	}
	for k, old := range l.last {
		if old.hasEnded() && time.Since(old.begun) > roundsTime {
			delete(l.last, k)
		}
	}
	var z *Authorizer
	if before = l.last[key]; before != nil {
		z = before.z
	} else if z = newAuthorizer(); z == nil || isExternal(&z.o.Config) || !needsPerson(&z.o.Config) {
		return nil, nil
	}
	login := &Login{z: z, begun: time.Now(), shown: make(chan struct{}), ended: make(chan struct{})}
	l.last[key] = login
	l.work.Go(func() { // ended by loginTime, or Close
		login.z.Attend(&visitor{login: login})
		_, login.err = login.z.Login(l.life, challenge)
		close(login.ended)
	})
	return login, nil
}

func (l *Login) hasEnded() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

// ID returns what no other login has.
func (l *Login) ID() string { return l.id }

// URL returns the address of the page: http, on this machine.
func (l *Login) URL() string { return l.url }

// Principal returns "": the credentials are those of all.
func (*Login) Principal() string { return "" }

// Wait returns when the login has ended, with why it failed; or the error of ctx.
func (l *Login) Wait(ctx context.Context) error {
	select {
	case <-l.ended:
		return l.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// visitor is a person elsewhere, who comes to our page.
type visitor struct{ login *Login }

// errAgain is a login whose first page was of no use: its address is out already.
var errAgain = errors.New("the authorization server has forgotten this client: log in again")

// Show notes the address of the page.
func (v *visitor) Show(_ context.Context, page string) (paste bool, err error) {
	if v.login.url != "" {
		return false, errAgain
	}
	v.login.id, v.login.url = rand.Text(), page
	close(v.login.shown)
	return false, nil
}

// Paste is never asked for.
func (v *visitor) Paste(context.Context) (string, error) { return "", errNobody }
