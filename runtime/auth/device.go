package auth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/tokenstore"
)

// grantTypeDevice is that of RFC 8628, 3.4.
const grantTypeDevice = "urn:ietf:params:oauth:grant-type:device_code"

const (
	// codeTime bounds how long a code is waited for.
	codeTime = 15 * time.Minute
	// pollTime is how long to wait between two requests where the issuer does not say
	// (RFC 8628, 3.2); slowDown is added where it asks for that (3.5).
	pollTime = 5 * time.Second
	slowDown = 5 * time.Second
)

// DeviceCode is what a person enters on another device to log in.
type DeviceCode struct {
	// Page is where Code is entered; Complete has the code in it, "" for none.
	Page, Complete, Code string
}

// errCodeExpired is a code that nobody has entered in time.
var errCodeExpired = errors.New("the code has expired before anybody has entered it")

// byDevice reports whether the login goes on on another device.
func (f *flow) byDevice(d *discovered) (bool, error) {
	person, ok := f.person.(TerminalPrompter)
	if !ok {
		return false, nil
	}
	offered, only := person.OtherDevice()
	if only && d.Device == "" {
		return false, fmt.Errorf("authorization server %s offers no login with a code (RFC 8628)", d.Issuer)
	}
	return (offered || only) && d.Device != "", nil
}

// device has a person enter a code on another device, and waits for the token.
func (f *flow) device(ctx context.Context, d *discovered, scopes []string) (tokenstore.Token, error) {
	person, ok := f.person.(TerminalPrompter)
	if !ok {
		return tokenstore.Token{}, errNobody
	}
	// One registration serves the browser, too: it has a redirect.
	before, _ := f.store.Client(d.Issuer)
	client, err := f.clientFor(ctx, &d.issuer, cmp.Or(before.Redirect, "http://127.0.0.1:"+strconv.Itoa(firstPort)+redirectPath))
	if err != nil {
		return tokenstore.Token{}, err
	}
	res := cmp.Or(f.config.Resource, d.resource.Resource)
	form := url.Values{}
	setGiven(form, "resource", res)
	setGiven(form, "audience", f.config.Audience)
	if len(scopes) > 0 {
		form.Set("scope", strings.Join(scopes, " "))
	}
	code, err := f.guard.deviceCode(ctx, grant{endpoint: d.Device, form: form, client: client, extra: f.config.ExtraParams})
	if err != nil {
		return tokenstore.Token{}, err
	}
	if err := person.ShowCode(ctx, code.DeviceCode); err != nil {
		return tokenstore.Token{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, code.lifetime, errCodeExpired)
	defer cancel()
	a, err := poll(ctx, code.interval, func(ctx context.Context) (*answer, error) {
		form := url.Values{"grant_type": {grantTypeDevice}, "device_code": {code.secret}}
		setGiven(form, "resource", res)
		return f.guard.request(ctx, grant{endpoint: d.Token, form: form, client: client, key: f.key, extra: f.config.ExtraParams})
	})
	if err != nil {
		return tokenstore.Token{}, err
	}
	return f.granted(a, d, client, res, scopes), nil
}

// deviceCode is the answer of a device authorization endpoint (RFC 8628, 3.2).
type deviceCode struct {
	DeviceCode
	secret             string
	interval, lifetime time.Duration
}

func (g *guard) deviceCode(ctx context.Context, of grant) (*deviceCode, error) {
	status, _, body, err := g.post(ctx, of)
	if err != nil {
		return nil, err
	}
	if status/100 != 2 {
		return nil, refusalOf(status, body)
	}
	var a struct {
		Secret   string          `json:"device_code"`
		Code     string          `json:"user_code"`
		Page     string          `json:"verification_uri"`
		URL      string          `json:"verification_url"` // of drafts
		Complete string          `json:"verification_uri_complete"`
		Expires  json.RawMessage `json:"expires_in"`
		Interval json.RawMessage `json:"interval"`
	}
	if err := json.Unmarshal(body, &a); err != nil || a.Secret == "" || a.Code == "" {
		return nil, fmt.Errorf("the answer of %s has no code", clip(of.endpoint))
	}
	page := cmp.Or(a.Page, a.URL)
	for _, at := range []string{page, a.Complete} {
		if at == "" && page != "" {
			continue
		}
		u, err := g.safe(at)
		if err == nil {
			err = g.mayBeShown(ctx, u)
		}
		if err != nil {
			return nil, fmt.Errorf("the page for the code: %w", err)
		}
	}
	c := &deviceCode{DeviceCode: DeviceCode{Page: page, Complete: a.Complete, Code: a.Code}, secret: a.Secret}
	c.interval = cmp.Or(tokenstore.Seconds(a.Interval), pollTime)
	c.lifetime = min(cmp.Or(tokenstore.Seconds(a.Expires), codeTime), codeTime)
	return c, nil
}

// poll asks for a token until the person has decided, or ctx ends.
func poll(ctx context.Context, interval time.Duration, ask func(context.Context) (*answer, error)) (*answer, error) {
	for {
		select {
		case <-time.After(interval):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		a, err := ask(ctx)
		timeout, isNet := errors.AsType[net.Error](err)
		switch {
		case hasCode(err, "authorization_pending"):
		case hasCode(err, "slow_down"):
			interval += slowDown
		case isNet && timeout.Timeout(): // RFC 8628, 3.5: less often, then
			interval *= 2
		case hasCode(err, "expired_token"):
			return nil, errCodeExpired
		default:
			return a, err
		}
	}
}
