package auth

import (
	"crypto/rand"
	"crypto/subtle"
	"html"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/mcpctl/mcpctl/templates"
)

// entrance is a page of ours that leads to the authorization server. Whoever follows
// its link says yes to a login that a client has asked for; the answer is taken from
// the same browser only, so that a link that is sent to somebody else binds nobody's
// account to it.
type entrance struct {
	path     string // secret: only who got the address comes here
	next     string // the page of the authorization server
	contents connectPage

	mu     sync.Mutex
	cookie string // of the browser that has gone on; "" for none yet
}

const (
	// entrancePath is what the path of an entrance begins with.
	entrancePath = "/connect/"
	cookieName   = "mcpctl_login"
)

type connectPage struct{ Server, Issuer string }

func (p connectPage) html() string {
	return strings.NewReplacer("{{server}}", html.EscapeString(p.Server), "{{issuer}}", html.EscapeString(p.Issuer)).Replace(templates.Connect)
}

// enter opens an entrance to a page, and returns its address.
func (l *listener) enter(next string, contents connectPage) string {
	l.entrance = &entrance{path: entrancePath + rand.Text(), next: next, contents: contents}
	return "http://" + l.Addr().String() + l.entrance.path
}

// serve shows the page, and sends who goes on to the authorization server.
func (e *entrance) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, e.contents.html())
		return
	}
	if !e.bind(w, r) {
		showPage(w, http.StatusForbidden, callbackPage{Title: "This login goes on in another browser", Text: "Ask your client for a new one.", Failed: true})
		return
	}
	http.Redirect(w, r, e.next, http.StatusSeeOther)
}

// bind binds the answer to the browser of a request. It reports false where it
// belongs to another.
func (e *entrance) bind(w http.ResponseWriter, r *http.Request) bool {
	if e.isBound(r) {
		return true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.cookie != "" {
		return false
	}
	e.cookie = rand.Text()
	// Lax: the authorization server's redirect brings it. Not Secure: the page is http on
	// loopback, where browsers differ in whether they keep such.
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: e.cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode}) //nolint:gosec // see above
	return true
}

// isBound reports whether a request comes from the browser that has gone on.
func (e *entrance) isBound(r *http.Request) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range r.CookiesNamed(cookieName) { // another login's may be there, too
		if e.cookie != "" && subtle.ConstantTimeCompare([]byte(c.Value), []byte(e.cookie)) == 1 {
			return true
		}
	}
	return false
}
