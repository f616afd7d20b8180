package gateway

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpctl/mcpctl/cmd/internal/pages"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/internal/access/gate"
	"github.com/mcpctl/mcpctl/internal/access/link"
	"github.com/mcpctl/mcpctl/internal/authn"
	"github.com/mcpctl/mcpctl/internal/origin"
	"github.com/mcpctl/mcpctl/internal/plain"
)

// withPages puts the pages for people before a handler. endpoint is the URL that clients
// reach serve at. Where a browser could not keep a cookie secret there are no pages.
func (g *gateway) withPages(next http.Handler, d *authenticator, endpoint string) (http.Handler, error) {
	a := g.h.Settings.Serve.Access
	u, err := url.Parse(endpoint)
	if err != nil {
		return nil, err
	}
	party, err := newParty(a.Login, g.h.Getenv)
	switch {
	case err != nil:
		return nil, err
	case hasPages(u):
	case party != nil:
		return nil, &ui.Error{Kind: "config", Err: fmt.Errorf("serve.login: people cannot log in at %s, which is neither https nor on this machine", endpoint), Remedy: "set serve.url in config.yaml to the https URL that clients use"}
	default:
		if all := g.accounts.Linkable(); len(all) > 0 {
			g.h.UI.Say("warning: nobody can link an account with %s: set serve.url in config.yaml to the https URL that clients use", plain.JoinOr(all))
		}
		return next, nil
	}
	var asked *gate.Approvals
	if decides := g.policies.gate; decides != nil {
		asked = &decides.Consent
		decides.SetPage(func(id, principal string) string {
			return link.Approval{ID: id, Principal: principal}.Page(g.ring, u)
		})
	}
	p := pages.New(pages.Options{
		Consent: asked, Endpoint: u, Authenticator: d, Static: a.Providers.Token != nil, Party: party, Principal: newPerson(a.Login, a.Providers),
		Answered: answers{g.audit}.record, Linker: g.accounts, Ring: g.ring, Refused: d.refused(g.h.Log), Log: g.h.Log,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if pages.Has(r.URL.Path) {
			p.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	}), nil
}

// hasPages reports whether people reach pages at a URL, and a browser keeps their cookies
// secret there.
func hasPages(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	return u.Scheme == "https" && host != "0.0.0.0" && host != "::" || u.Scheme == "http" && origin.IsLoopback(host)
}

// newParty returns who logs people in, nil for nobody.
func newParty(l settings.Login, getenv func(string) string) (*authn.OpenID, error) {
	if l.Issuer == "" {
		return nil, nil
	}
	c := authn.OpenIDConfig{Issuer: l.Issuer, ClientID: l.ClientID, Scopes: l.Scopes}
	if l.ClientSecret != "" {
		var err error
		if c.ClientSecret, err = clientSecret("serve.login.clientSecret", l.ClientSecret, getenv); err != nil {
			return nil, err
		}
	}
	return authn.NewOpenID(c), nil
}

// newPerson returns what makes principals of those who have logged in. Their IDs are those
// of their clients' tokens.
func newPerson(l settings.Login, p settings.Providers) func(claims []byte) (*access.Principal, error) {
	all := p.Issuers()
	at := slices.IndexFunc(all, func(i settings.Issuer) bool { return i.Issuer == l.Issuer })
	if at < 0 { // nobody logs in: see settings
		return nil
	}
	rules := rulesOf("jwt", all[at], "")
	return func(claims []byte) (*access.Principal, error) {
		p, refusal := rules.Person(claims)
		if refusal != nil {
			return nil, refusal
		}
		return p, nil
	}
}
