package pages

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/authn"
	"github.com/mcpctl/mcpctl/internal/seal"
)

// formTime is how long a form can be sent after it was shown.
const formTime = seal.StateTTL

// formPurpose returns the purpose that the token of a form is sealed for: it is worth
// nothing for another form, or in another browser.
func formPurpose(path, bound string) string { return "form of a page\x00" + path + "\x00" + bound }

// formToken returns the hidden field of a form. It carries a text.
func (v *visit) formToken(path, bound, carried string) markup {
	return fill(`<input type="hidden" name="form" value="{{value}}">`, "value", v.o.Ring.Seal(formPurpose(path, bound), []byte(carried), formTime))
}

// form checks the token of the form that was sent, and returns the text that it carries.
// It reports false where it has refused the request.
func (v *visit) form(bound string) (carried string, ok bool) {
	all := v.r.PostForm["form"]
	if len(all) != 1 || bound == "" {
		all = []string{""}
	}
	plain, err := v.o.Ring.Open(formPurpose(v.r.URL.Path, bound), all[0])
	if err != nil {
		v.fail(http.StatusForbidden, "This form is not valid any more", "It is too old, or was not shown in this browser. Open the page again.")
		return "", false
	}
	return string(plain), true
}

// login shows the ways to log in. back is the page to come back to.
func (v *visit) login(status int, back string) {
	bound := v.cookie(cookieVisit)
	if bound == "" {
		bound = rand.Text()
	}
	v.setCookie(cookieVisit, bound, formTime)
	var ways markup
	if v.o.Party != nil {
		ways += fill(template("page_provider.html"), "action", v.prefix(pathLogin), "token", v.formToken(pathLogin, bound, back), "issuer", shortIssuer(v.o.Party.Issuer()))
	}
	if v.o.Static {
		ways += fill(template("page_static.html"), "action", v.prefix(pathToken), "token", v.formToken(pathToken, bound, back))
	}
	if ways == "" {
		v.fail(http.StatusForbidden, "You are not let in", "Nobody can log in here with a browser: see serve.login.")
		return
	}
	v.show(status, page{title: "Log in to mcpctl", content: fill(template("page_login.html"), "ways", ways)})
}

// shortIssuer returns an issuer without its scheme, as people know it.
func shortIssuer(issuer string) string {
	return strings.TrimSuffix(strings.TrimPrefix(issuer, "https://"), "/")
}

// token logs in with a static token.
func (v *visit) token() {
	back, ok := v.form(v.cookie(cookieVisit))
	if !ok {
		return
	}
	text := strings.TrimSpace(v.r.PostForm.Get("token"))
	if !v.o.Static || !access.IsToken(text) {
		v.fail(http.StatusForbidden, "You are not logged in", "This is not a token of mcpctl access token add.")
		return
	}
	principal, refusal := v.o.Authenticator.Who(v.r.Context(), access.Credential{Bearer: text, Peer: v.r.RemoteAddr})
	if refusal != nil {
		v.o.Refused(v.r, refusal)
		v.fail(refusal.Status, "You are not logged in", sentence(refusal.Description))
		return
	}
	v.arrive(principal, true, back)
}

// arrive begins the session of who has logged in, and sends the browser to the page that
// it came for.
func (v *visit) arrive(principal *access.Principal, byCredential bool, back string) {
	v.enter(principal, byCredential)
	v.setCookie(cookieVisit, "", 0)
	http.Redirect(v.w, v.r, v.root+back, http.StatusSeeOther)
}

// attempt is a login at the provider that is under way, sealed in a cookie.
type attempt struct {
	authn.LoginAttempt
	Back string `json:"b"`
}

// loginPurpose keeps such cookies apart from what else is sealed.
const loginPurpose = "login of a page"

// begin sends the browser to the provider.
func (v *visit) begin() {
	back, ok := v.form(v.cookie(cookieVisit))
	if !ok {
		return
	}
	if v.o.Party == nil {
		v.missing()
		return
	}
	to, a, err := v.o.Party.Start(v.r.Context(), v.root+pathLogin)
	if err != nil {
		v.loginFailed(err)
		return
	}
	plain, err := json.Marshal(attempt{a, back})
	if err != nil {
		v.loginFailed(err)
		return
	}
	v.setCookie(cookieLogin, v.o.Ring.Seal(loginPurpose, plain, formTime), formTime)
	v.onward(to, v.o.Party.Issuer())
}

// returned takes what the provider says of a login.
func (v *visit) returned() {
	var a attempt
	plain, err := v.o.Ring.Open(loginPurpose, v.cookie(cookieLogin))
	if err != nil || v.o.Party == nil || json.Unmarshal(plain, &a) != nil {
		v.loginFailed(authn.ErrState)
		return
	}
	claims, err := v.o.Party.Finish(v.r.Context(), a.LoginAttempt, v.r.URL.Query())
	if errors.Is(err, authn.ErrState) { // the login that is under way may still end
		v.loginFailed(err)
		return
	}
	v.setCookie(cookieLogin, "", 0)
	if err != nil {
		v.loginFailed(err)
		return
	}
	principal, err := v.o.Principal(claims)
	if err != nil {
		v.o.Log.Warn("who has logged in on the pages is not let in", "err", err)
		v.fail(http.StatusForbidden, "You are not let in", "The login provider knows you, but mcpctl does not let you in.")
		return
	}
	v.arrive(principal, false, a.Back)
}

// loginFailed says why nobody is logged in. What others have said is for the log.
func (v *visit) loginFailed(err error) {
	v.o.Log.Warn("a login on the pages has failed", "err", err)
	for _, e := range []struct {
		cause  error
		status int
	}{{authn.ErrUnavailable, http.StatusServiceUnavailable}, {authn.ErrState, http.StatusBadRequest}, {authn.ErrIssuer, http.StatusBadRequest}, {authn.ErrRefused, http.StatusForbidden}, {authn.ErrToken, http.StatusForbidden}} {
		if errors.Is(err, e.cause) {
			v.fail(e.status, "You are not logged in", sentence(e.cause.Error()))
			return
		}
	}
	v.fail(http.StatusInternalServerError, "You are not logged in", "Try again.")
}
