package pages

import (
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/authn"
)

const (
	// sessionTime is how long a person stays logged in.
	sessionTime = time.Hour
	// maxSessions bounds the sessions of all people, and maxOwn those of one. The one
	// that ends first makes room.
	maxSessions = 10_000
	maxOwn      = 8
	// maxLinking bounds how many accounts a session links at once.
	maxLinking = 8
)

// session is a browser in which a person has logged in.
type session struct {
	principal    *access.Principal
	byCredential bool   // a credential has let them in, and may have changed its mind
	secret       string // the cookie
	ends         time.Time

	mu      sync.Mutex // guards linking
	linking []linking  // oldest first
}

// linking is an account that is being linked: where the browser has been sent, and with
// which state it comes back.
type linking struct{ server, state string }

// expect remembers a state that the browser may come back with.
func (s *session) expect(server, state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.linking) == maxLinking {
		s.linking = slices.Delete(s.linking, 0, 1)
	}
	s.linking = append(s.linking, linking{server, state})
}

// take reports whether a state is one that was expected, and forgets it.
func (s *session) take(server, state string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.Index(s.linking, linking{server, state})
	if at < 0 {
		return false
	}
	s.linking = slices.Delete(s.linking, at, at+1)
	return true
}

// sessions are those of all browsers. They are in memory: after a restart people log in
// again.
type sessions struct {
	mu  sync.Mutex                     // guards all
	all map[[sha256.Size]byte]*session // by the hash of the cookie, whose comparison takes no secret's time
}

func newSessions() sessions { return sessions{all: map[[sha256.Size]byte]*session{}} }

// add begins a session, of who has a credential or has logged in at the provider.
func (s *sessions) add(principal *access.Principal, byCredential bool, now time.Time) *session {
	one := &session{principal: principal, byCredential: byCredential, secret: rand.Text(), ends: now.Add(sessionTime)}
	if !principal.Expires.IsZero() && principal.Expires.Before(one.ends) {
		one.ends = principal.Expires
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var first, firstOwn *session // that end first
	earlier := func(a, b *session) bool { return b == nil || a.ends.Before(b.ends) }
	count := 0
	for key, other := range s.all {
		if !now.Before(other.ends) {
			delete(s.all, key)
			continue
		}
		if earlier(other, first) {
			first = other
		}
		if other.principal.ID == principal.ID {
			if count++; earlier(other, firstOwn) {
				firstOwn = other
			}
		}
	}
	switch {
	case count >= maxOwn:
		delete(s.all, keyOf(firstOwn.secret))
	case len(s.all) >= maxSessions:
		delete(s.all, keyOf(first.secret))
	}
	s.all[keyOf(one.secret)] = one
	return one
}

func keyOf(secret string) [sha256.Size]byte { return sha256.Sum256([]byte(secret)) }

// find returns the session of a cookie, nil for none.
func (s *sessions) find(secret string, now time.Time) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.all[keyOf(secret)]
	if one == nil || !now.Before(one.ends) {
		return nil
	}
	return one
}

// end ends a session.
func (s *sessions) end(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, keyOf(one.secret))
}

// The cookies, without the part that https adds.
const (
	cookieSession = "mcpctl"
	cookieVisit   = "mcpctl-visit" // binds forms to the browser of who is not logged in
	cookieLogin   = "mcpctl-login" // a login at the provider that is under way
)

// cookieName returns the name of a cookie. A browser takes __Host- only over https, only
// for this host, and from no other (RFC 6265bis, 4.1.3.2).
func (p *Pages) cookieName(name string) string {
	if p.secure {
		return "__Host-" + name
	}
	return name
}

// setCookie sets a cookie, or removes it where value is "".
func (v *visit) setCookie(name, value string, age time.Duration) {
	c := &http.Cookie{Name: v.cookieName(name), Value: value, Path: "/", MaxAge: int(age / time.Second), Secure: v.secure, HttpOnly: true, SameSite: http.SameSiteLaxMode} //nolint:gosec // not Secure on loopback without TLS
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(v.w, c)
}

// cookie returns the value of a cookie, "" for none and for two of one name.
func (v *visit) cookie(name string) string {
	all := v.r.CookiesNamed(v.cookieName(name))
	if len(all) != 1 {
		return ""
	}
	return all[0].Value
}

// known finds out who is there: by the credential that the connection or a proxy in front
// adds to each request, or by the cookie. It reports false where it has refused the
// request.
func (v *visit) known() bool {
	now := time.Now()
	if c := v.cookie(cookieSession); c != "" {
		v.s = v.sessions.find(c, now)
	}
	if v.s != nil && v.s.byCredential && !v.o.Authenticator.Valid(v.s.principal) {
		v.sessions.end(v.s)
		v.s = nil
	}
	principal, refusal := v.o.Authenticator.Who(v.r.Context(), v.credential())
	switch {
	case refusal == access.ErrNoCredential:
		return true
	case refusal != nil:
		v.o.Refused(v.r, refusal)
		v.fail(refusal.Status, "You are not let in", refusal.Description)
		return false
	case v.s == nil || v.s.principal.ID != principal.ID:
		v.enter(principal, true)
	}
	return true
}

// credential returns what of a request says who asks, without a token: a browser sends
// none by itself.
func (v *visit) credential() access.Credential {
	c := authn.CredentialOf(v.r)
	c.Header = v.r.Header.Clone()
	delete(c.Header, "Authorization")
	return c
}

// enter begins a session, in the place of one that there was.
func (v *visit) enter(principal *access.Principal, byCredential bool) {
	if v.s != nil {
		v.sessions.end(v.s)
	}
	v.s = v.sessions.add(principal, byCredential, time.Now())
	v.setCookie(cookieSession, v.s.secret, time.Until(v.s.ends))
	v.o.Log.Info("logged in on the pages", "principal", principal.ID)
}

func (v *visit) logout() {
	v.sessions.end(v.s)
	v.o.Log.Info("logged out of the pages", "principal", v.s.principal.ID)
	v.s = nil
	v.setCookie(cookieSession, "", 0)
	v.write(http.StatusOK, done, "You are logged out", "Accounts that you have linked stay linked.")
}
