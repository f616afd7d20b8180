package authn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/mcpctl/mcpctl/internal/origin"
)

const (
	// requestTime bounds one request to the provider.
	requestTime = 10 * time.Second
	// maxAnswer bounds an answer, in bytes.
	maxAnswer = 1 << 20
	// keepTime is how long the discovery document is used.
	keepTime = time.Hour
	// retryTime is how long after a failure the provider is left alone: anybody can open
	// the page that asks for it.
	retryTime = 5 * time.Second
)

// discovered is what a provider's discovery document says.
type discovered struct {
	provider   *oidc.Provider
	style      oauth2.AuthStyle
	saysIssuer bool // its answers have iss (RFC 9207)
}

// discovery gets the document of one issuer. One caller asks at a time, and the others
// wait for it.
type discovery struct {
	issuer string
	client *http.Client

	mu    sync.Mutex // guards what follows, and is not held while the provider is asked
	last  *discovered
	err   error // of the last request, nil for success
	next  time.Time
	doing chan struct{} // closed when the request that is under way has ended; nil for none
}

// get returns the document, or why there is none. An older one is used while the
// provider does not answer.
func (d *discovery) get(ctx context.Context) (*discovered, error) {
	for {
		d.mu.Lock()
		last, err, doing := d.last, d.err, d.doing
		fresh := time.Now().Before(d.next)
		if !fresh && doing == nil {
			d.doing = make(chan struct{})
		}
		d.mu.Unlock()
		switch {
		case last != nil && (fresh || doing != nil):
			return last, nil
		case fresh:
			return nil, err
		case doing == nil:
			return d.ask(ctx)
		}
		select {
		case <-doing:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// ask asks the provider, for all who wait.
func (d *discovery) ask(ctx context.Context) (*discovered, error) {
	// Others wait for the answer, too: it does not end with who has asked.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTime)
	defer cancel()
	got, err := d.fetch(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	wait := retryTime
	if err == nil {
		d.last, wait = got, keepTime
	}
	d.err, d.next = err, time.Now().Add(wait)
	close(d.doing)
	d.doing = nil
	if d.last != nil {
		return d.last, nil
	}
	return nil, err
}

func (d *discovery) fetch(ctx context.Context) (*discovered, error) {
	issuer, err := url.Parse(d.issuer)
	if err != nil {
		return nil, err
	}
	p, err := oidc.NewProvider(oidc.ClientContext(ctx, d.client), d.issuer)
	if err != nil { // its text may have the whole answer
		return nil, errors.New(clip(err.Error()))
	}
	var more struct {
		Keys       string   `json:"jwks_uri"`
		Methods    []string `json:"token_endpoint_auth_methods_supported"`
		SaysIssuer bool     `json:"authorization_response_iss_parameter_supported"`
	}
	if err := p.Claims(&more); err != nil {
		return nil, err
	}
	for _, endpoint := range []string{p.Endpoint().AuthURL, p.Endpoint().TokenURL, more.Keys} {
		if err := checkEndpoint(issuer, endpoint); err != nil {
			return nil, err
		}
	}
	// OpenID Connect Discovery, 3: client_secret_basic is the default.
	style := oauth2.AuthStyleInHeader
	if len(more.Methods) > 0 && !slices.Contains(more.Methods, "client_secret_basic") {
		style = oauth2.AuthStyleInParams
	}
	return &discovered{provider: p, style: style, saysIssuer: more.SaysIssuer}, nil
}

// checkEndpoint refuses an endpoint that is neither https nor, as its issuer, http on
// this machine.
func checkEndpoint(issuer *url.URL, endpoint string) error {
	u, err := url.Parse(endpoint)
	here := func(u *url.URL) bool { return origin.IsLoopback(strings.ToLower(u.Hostname())) }
	switch {
	case err != nil, u.Host == "", u.User != nil:
		return fmt.Errorf("%q is not an endpoint", clip(endpoint))
	case u.Scheme == "https" && (!here(u) || here(issuer)):
		return nil
	case u.Scheme == "http" && here(u) && here(issuer):
		return nil
	}
	return fmt.Errorf("%q is neither https nor on the issuer's machine", clip(endpoint))
}

// newClient returns the client for the provider. It follows no redirect to another
// origin, and reads no answer without a bound.
func newClient() *http.Client {
	base := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // it is one: see net/http
	base.ResponseHeaderTimeout = requestTime
	return &http.Client{
		Timeout: requestTime,
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if err := origin.CheckRedirect(req, via); err != nil {
				return err
			}
			if via[0].Method != http.MethodGet || !origin.Same(req.URL, via[0].URL) {
				return errors.New("a redirect to another origin is not followed")
			}
			return nil
		},
		Transport: bounded{base},
	}
}

// bounded ends answers that are too large.
type bounded struct{ next http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if err == nil {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxAnswer), resp.Body}
	}
	return resp, err
}
