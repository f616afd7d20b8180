package auth

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/mcpctl/mcpctl/internal/authconfig"
	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
)

// flow is one authorization of a person in the browser.
type flow struct {
	server *url.URL
	config authconfig.Config
	store  *tokenstore.Store
	guard  *guard
	log    *slog.Logger
	person Prompter
	key    string // the token is bound to, "" for none
	// principal is whose token it will be, "" is this machine's user; subject what they
	// have come with, where that is handed in.
	principal string
	subject   secret.Text
}

// Prompter is whoever can be shown a page to log in on.
type Prompter interface {
	// Show opens a page in the browser, or shows its address. paste reports whether
	// Paste can be asked for the address that the browser ends at.
	Show(ctx context.Context, page string) (paste bool, err error)
	// Paste returns the address that the browser has ended at. It ends with ctx.
	Paste(ctx context.Context) (string, error)
}

// errNobody is a server that wants a person where there is none.
var errNobody = errors.New("it wants a person to log in")

// authorize has a person grant access, with the scopes that were asked for and those
// before them.
func (f *flow) authorize(ctx context.Context, d *discovered, scopes []string) (tokenstore.Token, error) {
	switch device, err := f.byDevice(d); {
	case err != nil:
		return tokenstore.Token{}, err
	case device:
		return f.known(ctx, d, scopes, f.device)
	}
	if err := d.takesCodes(); err != nil {
		return tokenstore.Token{}, noOAuth{err}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, loginTime, errors.New("nobody has logged in within 5 minutes"))
	defer cancel()
	return f.known(ctx, d, scopes, f.once)
}

// known logs in, once more where the issuer does not know our registration.
func (f *flow) known(ctx context.Context, d *discovered, scopes []string, login func(context.Context, *discovered, []string) (tokenstore.Token, error)) (tokenstore.Token, error) {
	for again := true; ; again = false {
		t, err := login(ctx, d, scopes)
		if again && hasCode(err, "invalid_client", "unauthorized_client") && f.config.ClientID == "" {
			if dropped := f.store.DropClient(ctx, d.Issuer); dropped == nil {
				continue // the issuer has forgotten us
			}
		}
		return t, err
	}
}

func (f *flow) once(ctx context.Context, d *discovered, scopes []string) (tokenstore.Token, error) {
	before, _ := f.store.Client(d.Issuer)
	l, err := listen(ctx, redirectPort(before.Redirect), f.config.CallbackPort)
	if err != nil {
		return tokenstore.Token{}, err
	}
	defer l.Close()
	b, err := f.begin(ctx, d, scopes, l.uri())
	if err != nil {
		return tokenstore.Token{}, err
	}
	page := b.page
	if err := f.checkKnown(ctx, b, before); err != nil {
		return tokenstore.Token{}, err
	}
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	if _, ok := f.person.(*visitor); ok {
		page = l.enter(page, connectPage{Server: f.server.Host, Issuer: d.Issuer})
	}
	l.serve(waiting, b.state, f.server.Host)
	got, err := f.wait(ctx, l, page, b.state)
	if err != nil {
		return tokenstore.Token{}, err
	}
	return f.finish(ctx, b, got)
}

// begun is an authorization that waits for the browser to come back.
type begun struct {
	d               *discovered
	client          tokenstore.Client
	scopes          []string
	resource        string
	redirect        string // where the browser comes back to
	page            string // where it goes
	state, verifier string
}

// begin returns an authorization whose page is still to be shown.
func (f *flow) begin(ctx context.Context, d *discovered, scopes []string, redirectURI string) (*begun, error) {
	client, err := f.clientFor(ctx, &d.issuer, redirectURI)
	if err != nil {
		return nil, err
	}
	b := &begun{
		d: d, client: client, scopes: scopes, resource: cmp.Or(f.config.Resource, d.resource.Resource), redirect: redirectURI,
		state: rand.Text(), verifier: oauth2.GenerateVerifier(),
	}
	o := oauth2.Config{ClientID: client.ID, RedirectURL: redirectURI, Scopes: scopes, Endpoint: oauth2.Endpoint{AuthURL: d.Authorization}}
	params := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(b.verifier)}
	for name, value := range map[string]string{"resource": b.resource, "audience": f.config.Audience} {
		if value != "" {
			params = append(params, oauth2.SetAuthURLParam(name, value))
		}
	}
	if slices.Contains(scopes, "offline_access") { // it is ignored otherwise (OpenID Connect Core, 11)
		params = append(params, oauth2.SetAuthURLParam("prompt", "consent"))
	}
	for name, value := range f.config.ExtraParams {
		if !secret.LooksName(name) { // the address is shown, and the browser keeps it
			params = append(params, oauth2.SetAuthURLParam(name, value.Reveal()))
		}
	}
	b.page = o.AuthCodeURL(b.state, params...)
	return b, nil
}

// checkKnown returns an error where the issuer does not know a registration any more that
// was made before.
func (f *flow) checkKnown(ctx context.Context, b *begun, before tokenstore.Client) error {
	if b.client.ID != before.ID || time.Since(b.client.Registered) <= knownTime {
		return nil
	}
	return f.guard.stillKnown(ctx, b.page)
}

// finish asks for the token that the browser has come back with a code for.
func (f *flow) finish(ctx context.Context, b *begun, got redirect) (tokenstore.Token, error) {
	d := b.d
	// RFC 9207, before anything else of the answer is used or shown.
	switch {
	case got.hasIss && got.iss != d.Issuer && !d.anonymous:
		return tokenstore.Token{}, fmt.Errorf("the answer is of another issuer than %s: %q", d.Issuer, clip(got.iss))
	case !got.hasIss && d.SaysIssuer:
		return tokenstore.Token{}, fmt.Errorf("the answer does not say that it is of %s, which always says so", d.Issuer)
	case got.err != nil:
		return tokenstore.Token{}, got.err
	}
	form := url.Values{
		"grant_type": {"authorization_code"}, "code": {got.code}, "redirect_uri": {b.redirect}, "code_verifier": {b.verifier},
	}
	setGiven(form, "resource", b.resource)
	a, err := f.guard.request(ctx, grant{endpoint: d.Token, form: form, client: b.client, key: f.key, extra: f.config.ExtraParams})
	if err != nil {
		return tokenstore.Token{}, err
	}
	return f.granted(a, d, b.client, b.resource, b.scopes), nil
}

// granted returns what is kept of a login.
func (f *flow) granted(a *answer, d *discovered, client tokenstore.Client, res string, scopes []string) tokenstore.Token {
	t := a.token(scopes)
	t.Principal = f.principal
	t.Server, t.Issuer, t.ByEntry, t.TokenURL, t.RevokeURL, t.Resource, t.Client = Canonical(f.server), d.Issuer, d.byEntry, d.Token, d.Revocation, res, client
	return t
}

// wait shows the page and waits for the browser to come back, or for its address.
func (f *flow) wait(ctx context.Context, l *listener, page, state string) (redirect, error) {
	paste, err := f.person.Show(ctx, page)
	if err != nil {
		return redirect{}, err
	}
	pasted, ended := make(chan redirect, 1), make(chan error, 1)
	if paste {
		reading, stop := context.WithCancel(ctx)
		done := make(chan struct{})
		defer func() { // the terminal is as it was then
			stop()
			<-done
		}()
		go func() {
			defer close(done)
			for {
				text, err := f.person.Paste(reading)
				if err != nil {
					ended <- err
					return
				}
				u, err := url.Parse(strings.TrimSpace(text))
				if err != nil {
					continue
				}
				if got, err := readRedirect(u.Query(), state); err == nil {
					pasted <- got
					return
				}
				f.log.Warn("that is not the address that the login ends at")
			}
		}()
	}
	select {
	case got := <-l.got:
		return got, nil
	case got := <-pasted:
		return got, nil
	case err := <-ended: // as by Ctrl+C
		return redirect{}, err
	case <-ctx.Done():
		return redirect{}, context.Cause(ctx)
	}
}

// scopesFor chooses what to ask for: what the challenge names, else all that the server
// has, else nothing; and for a person a refresh token, where the issuer lists the scope
// for it.
func scopesFor(c *authconfig.Config, challenged string, d *discovered) []string {
	scopes := c.Scopes
	if len(scopes) == 0 {
		if scopes = strings.Fields(challenged); len(scopes) == 0 {
			scopes = slices.Clone(d.resource.Scopes)
		}
	}
	again := []string{authconfig.GrantClientCredentials, authconfig.GrantJWTBearer, authconfig.GrantEnterprise, authconfig.GrantTokenExchange, authconfig.GrantPassword} // in the place of a refresh
	if !slices.Contains(again, c.Grant) && slices.Contains(d.Scopes, "offline_access") && !slices.Contains(scopes, "offline_access") {
		scopes = append(slices.Clip(scopes), "offline_access")
	}
	return scopes
}

// union returns the scopes of both, in order.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
