// Package pages has the pages of serve that people open in a browser: they log in, see
// the accounts that they have linked with servers, link one, and unlink it, and say whether
// a call may be made that policies ask about.
//
// A page knows a person by a cookie of an hour, which stands for the principal that
// their clients are. Nothing but these pages takes the cookie, and these pages take no
// Authorization header. Each form has a token that is bound to the browser, the session
// and the form. The pages have no scripts.
package pages

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/access/link"
	"github.com/mcpctl/mcpctl/internal/authn"
	"github.com/mcpctl/mcpctl/internal/seal"
)

// Options are what pages need. All fields are required but those that say so.
type Options struct {
	// Endpoint is the URL that clients reach serve at. It is https, or http on loopback.
	Endpoint      *url.URL
	Authenticator Authenticator
	// Static reports that static tokens are accepted: people can log in with one.
	Static bool
	// Party logs people in at an OpenID provider, and Principal makes principals of the
	// claims that it returns. Both are nil for no provider.
	Party     *authn.OpenID
	Principal func(claims []byte) (*access.Principal, error)
	// Linker links accounts; nil: no server wants one.
	Linker link.Linker
	// Consent has the calls that people are asked about; nil: about none.
	Consent *gate.Approvals
	// Answered is called with what a person has answered; nil: nobody is told.
	Answered func(principal *access.Principal, call gate.ApprovalRequest, yes bool)
	// Ring is the one that links to these pages are sealed with.
	Ring *seal.Keyring
	// Refused is called with each request that is not let in, and why.
	Refused func(r *http.Request, refusal *access.Refusal)
	Log     *slog.Logger
}

// Authenticator says who sends a request; see [authn.Authenticator].
type Authenticator interface {
	Who(ctx context.Context, c access.Credential) (*access.Principal, *access.Refusal)
	// Valid reports whether a principal is still let in.
	Valid(p *access.Principal) bool
}

// Pages is the handler of /connect, of all paths below it, and of /approve.
type Pages struct {
	o        Options
	root     string // the address before /connect
	secure   bool   // over https
	sessions sessions
}

// New returns the pages.
func New(o Options) *Pages {
	return &Pages{o: o, root: link.Root(o.Endpoint), secure: o.Endpoint.Scheme == "https", sessions: newSessions()}
}

// Has reports whether a path is of these pages.
func Has(path string) bool {
	return path == link.Path || strings.HasPrefix(path, link.Path+"/") || path == link.ApprovePath
}

// own is the part of the paths that no server has: names begin with a letter or digit.
const own = link.Path + "/-/"

const (
	pathStyle  = own + "style.css"
	pathLogin  = own + "login" // POST begins a login at the provider, which sends the browser back with GET
	pathToken  = own + "token"
	pathLogout = own + "logout"
)

// maxForm bounds the body of a request, in bytes.
const maxForm = 16 << 10

// askTime bounds what is asked of others for one page.
const askTime = 15 * time.Second

// ServeHTTP implements [http.Handler].
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	protect(w.Header())
	if why := p.foreign(r); why != "" {
		p.o.Refused(r, &access.Refusal{Status: http.StatusForbidden, Description: why, Reason: "origin"})
		http.Error(w, why, http.StatusForbidden)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), askTime)
	defer cancel()
	r = r.WithContext(ctx)
	v := &visit{Pages: p, w: w, r: r}
	switch r.Method {
	case http.MethodGet:
		v.get()
	case http.MethodPost:
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if err := r.ParseForm(); err != nil {
			v.fail(http.StatusBadRequest, "This form cannot be read", "Go back and send it again.")
			return
		}
		v.post()
	default:
		w.Header().Set("Allow", "GET, POST")
		http.Error(w, "only GET and POST", http.StatusMethodNotAllowed)
	}
}

// protect sets the headers that each answer has.
func protect(h http.Header) {
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
}

// foreign returns why a request is refused that the browser has not sent for the person
// who looks at it, "" for none.
func (p *Pages) foreign(r *http.Request) string {
	if !sameHost(r.Host, p.o.Endpoint) {
		return "these pages are at another address: see serve.url"
	}
	site, dest := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Sec-Fetch-Dest")
	if r.Method == http.MethodPost {
		// Referrer-Policy: no-referrer makes the Origin of these pages' own forms "null".
		if o := r.Header.Values("Origin"); len(o) > 1 || len(o) == 1 && o[0] != "null" && o[0] != originOf(p.o.Endpoint) {
			return "a page of another site has sent this"
		}
		if site != "" && site != "same-origin" {
			return "a page of another site has sent this"
		}
	}
	switch {
	case dest == "" || dest == "document":
	case dest == "style" && site == "same-origin" && r.URL.Path == pathStyle:
	default:
		return "this page cannot be part of another"
	}
	return ""
}

// sameHost reports whether a Host header is that of an address.
func sameHost(host string, u *url.URL) bool {
	if strings.EqualFold(host, u.Host) {
		return true
	}
	port := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	full := func(h string) string {
		if _, _, err := net.SplitHostPort(h); err == nil {
			return h
		}
		return h + ":" + port
	}
	return strings.EqualFold(full(host), full(u.Host))
}

// originOf returns the origin of an address as browsers write it.
func originOf(u *url.URL) string {
	host := strings.ToLower(u.Host)
	if port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]; port != "" {
		host = strings.TrimSuffix(host, port)
	}
	return u.Scheme + "://" + host
}

// visit is one request of a browser.
type visit struct {
	*Pages
	w http.ResponseWriter
	r *http.Request
	s *session // nil for nobody who is logged in
}

func (v *visit) get() {
	path := v.r.URL.Path
	switch path {
	case pathStyle:
		sendStyle(v.w)
		return
	case pathLogin:
		v.returned()
		return
	}
	if !v.known() {
		return
	}
	server, what, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(path, link.Path), "/"), "/")
	switch {
	case v.s == nil && what == "callback":
		v.fail(http.StatusForbidden, "You are not logged in", "The login has ended, or began in another browser. Begin again.")
	case v.s == nil:
		v.login(http.StatusOK, here(v.r.URL))
	case path == link.ApprovePath:
		v.approval()
	case server == "" && what == "":
		v.list()
	case what == "":
		account{v, server}.page()
	case what == "callback":
		account{v, server}.returned()
	default:
		v.missing()
	}
}

func (v *visit) post() {
	path := v.r.URL.Path
	switch path {
	case pathLogin:
		v.begin()
		return
	case pathToken:
		v.token()
		return
	}
	if !v.known() {
		return
	}
	if v.s == nil {
		v.fail(http.StatusForbidden, "You are not logged in", "The login has ended. Log in and send the form again.")
		return
	}
	carried, ok := v.form(v.s.secret)
	if !ok {
		return
	}
	server, what, _ := strings.Cut(strings.TrimPrefix(path, link.Path+"/"), "/")
	switch {
	case path == pathLogout:
		v.logout()
	case path == link.ApprovePath:
		v.answer(carried)
	case what == "":
		account{v, server}.link()
	case what == "unlink":
		account{v, server}.unlink()
	default:
		v.missing()
	}
}

// here returns the path and query of a page, to come back to after a login.
func here(u *url.URL) string {
	to := u.EscapedPath()
	if u.RawQuery != "" {
		to += "?" + u.RawQuery
	}
	if len(to) > maxHere {
		return link.Path
	}
	return to
}

// maxHere bounds what is carried through a login, in bytes: a cookie has 4,096.
const maxHere = 1280

// missing says that there is no such page.
func (v *visit) missing() {
	v.fail(http.StatusNotFound, "There is no such page", "No server of this name is used with an account of your own.")
}
