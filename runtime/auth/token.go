package auth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
)

// Ways in which a client says who it is at the token endpoint.
const (
	methodNone  = "none"
	methodBasic = "client_secret_basic"
	methodPost  = "client_secret_post"
	methodJWT   = "private_key_jwt"
)

// schemeDPoP is the type of a token that is bound to a key (RFC 9449).
const schemeDPoP = "DPoP"

// OAuthError is what an authorization server answers in the place of a token
// (RFC 6749, 5.2).
type OAuthError struct {
	Code        string `json:"error"`
	Description string `json:"error_description"`
	Status      int    `json:"-"`
	// RetryAfter is when it wants to be asked again, 0 where it does not say.
	RetryAfter time.Duration `json:"-"`
}

func (e *OAuthError) Error() string {
	switch {
	case e.Code == "":
		return fmt.Sprintf("the authorization server answers HTTP %d", e.Status)
	case e.Description == "":
		return "the authorization server refuses: " + clip(e.Code)
	}
	return "the authorization server refuses: " + clip(e.Code) + ": " + clip(e.Description)
}

// grant is what a token is asked for with.
type grant struct {
	endpoint string
	form     url.Values
	client   tokenstore.Client
	// sign adds what proves who the client is with a key; nil for none.
	sign func(form url.Values) error
	// key is the one that the token is bound to, "" for none.
	key string
	// extra are parameters of the entry.
	extra map[string]secret.Text
}

// answer is that of a token endpoint.
type answer struct {
	Access  string          `json:"access_token"`
	Type    string          `json:"token_type"`
	Refresh string          `json:"refresh_token"`
	Scope   string          `json:"scope"`
	Expires json.RawMessage `json:"expires_in"` // some send text
	// Issued is what kind of token an exchange has come to.
	Issued string `json:"issued_token_type"`
}

// isAccess returns an error for the answer to an exchange that is no access token (RFC
// 8693, 2.2.1).
func (a *answer) isAccess() error {
	if a.Issued != tokenTypeAccess {
		return fmt.Errorf("the answer is no access token: its issued_token_type is %q", clip(a.Issued))
	}
	if strings.EqualFold(a.Type, "n_a") {
		return errors.New("the answer is no access token: its token_type is N_A")
	}
	return nil
}

// request asks for a token.
func (g *guard) request(ctx context.Context, of grant) (*answer, error) {
	status, header, body, err := g.post(ctx, of)
	if err != nil {
		return nil, err
	}
	if status/100 != 2 {
		e := refusalOf(status, body)
		e.RetryAfter = retryAfter(header)
		return nil, e
	}
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, fmt.Errorf("the answer of %s is not a token", clip(of.endpoint))
	}
	if a.Access == "" {
		if e := refusalOf(status, of.redactor().JSON(body)); e.Code != "" { // some answer errors with 200
			return nil, e
		}
		return nil, fmt.Errorf("the answer of %s has no access token", clip(of.endpoint))
	}
	if t := a.Type; t != "" && !strings.EqualFold(t, "bearer") && !strings.EqualFold(t, schemeDPoP) && !strings.EqualFold(t, "n_a") {
		return nil, fmt.Errorf("the token's type is %q, which is not supported", clip(of.redactor().String(t)))
	}
	return &a, nil
}

func refusalOf(status int, body []byte) *OAuthError {
	e := &OAuthError{Status: status}
	_ = json.Unmarshal(body, e) // else the status says enough
	return e
}

// post sends a form as a client. An endpoint that wants a nonce in the proof gets it.
func (g *guard) post(ctx context.Context, of grant) (status int, header http.Header, body []byte, err error) {
	form := of.form
	method := of.client.Method
	if method == "" {
		method = methodNone
		if of.client.Secret != "" {
			method = methodBasic
		}
	}
	basic := false
	switch method {
	case methodBasic:
		basic = of.client.Secret != ""
		if !basic {
			form.Set("client_id", of.client.ID)
		}
	case methodPost:
		form.Set("client_id", of.client.ID)
		form.Set("client_secret", of.client.Secret)
	case methodJWT:
	default:
		if of.client.ID != "" {
			form.Set("client_id", of.client.ID)
		}
	}
	for name, value := range of.extra {
		form.Set(name, value.Reveal())
	}
	if of.sign != nil {
		if err := of.sign(form); err != nil {
			return 0, nil, nil, err
		}
	}
	for nonce, again := "", true; ; again = false {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, of.endpoint, strings.NewReader(form.Encode()))
		if err != nil {
			return 0, nil, nil, err
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if basic { // RFC 6749, 2.3.1: encoded as in a form first
			req.SetBasicAuth(url.QueryEscape(of.client.ID), url.QueryEscape(of.client.Secret))
		}
		if of.key != "" {
			p, err := dpopProof(of.key, http.MethodPost, of.endpoint, "", nonce)
			if err != nil {
				return 0, nil, nil, err
			}
			req.Header.Set("DPoP", p)
		}
		if status, header, body, err = g.do(req); err != nil {
			return 0, nil, nil, err
		}
		wants := header.Get("DPoP-Nonce")
		if !again || of.key == "" || wants == "" || status != http.StatusBadRequest {
			break
		}
		nonce = wants
	}
	if status/100 != 2 { // what it says may be what it was sent
		body = of.redactor().JSON(body)
	}
	return status, header, body, nil
}

// redactor redacts the secrets of a request.
func (of *grant) redactor() *secret.Redactor {
	r := secret.NewRedactor(secret.New(of.client.Secret))
	for _, name := range []string{"code", "code_verifier", "refresh_token", "assertion", "client_assertion", "subject_token", "actor_token", "device_code", "token", "password"} {
		r.Add(secret.New(of.form.Get(name)))
	}
	for name, value := range of.extra {
		if secret.LooksName(name) {
			r.Add(value)
		}
	}
	return r
}

// token returns what is to be kept of an answer. asked are the scopes that were asked
// for: an answer that names none has granted them (RFC 6749, 5.1).
func (a *answer) token(asked []string) tokenstore.Token {
	now := time.Now()
	t := tokenstore.Token{Access: a.Access, Refresh: a.Refresh, Type: a.Type, Scopes: asked, Expires: tokenstore.Expiry(a.Expires, now), Obtained: now.UTC().Truncate(time.Second), Source: tokenstore.SourceOAuth}
	if a.Scope != "" {
		t.Scopes = strings.Fields(a.Scope)
	}
	switch {
	case strings.EqualFold(t.Type, "bearer"), strings.EqualFold(t.Type, "n_a"):
		t.Type = ""
	case strings.EqualFold(t.Type, schemeDPoP):
		t.Type = schemeDPoP
	}
	return t
}

// setGiven sets a parameter of a request that has a value.
func setGiven(form url.Values, name, value string) {
	if value != "" {
		form.Set(name, value)
	}
}

// refresh asks for a token with a refresh token.
func (g *guard) refresh(ctx context.Context, t tokenstore.Token, extra map[string]secret.Text) (tokenstore.Token, error) {
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {t.Refresh}}
	setGiven(form, "resource", t.Resource)
	a, err := g.request(ctx, grant{endpoint: t.TokenURL, form: form, client: t.Client, key: t.Key, extra: extra})
	if err != nil {
		return tokenstore.Token{}, err
	}
	fresh := a.token(t.Scopes)
	if fresh.Refresh == "" { // it goes on holding
		fresh.Refresh = t.Refresh
	}
	t.Access, t.Refresh, t.Type, t.Scopes, t.Expires, t.Obtained = fresh.Access, fresh.Refresh, fresh.Type, fresh.Scopes, fresh.Expires, fresh.Obtained
	return t, nil
}

// guardOf returns the client for what issues a token, which may be no further inside than
// what the entry names, else than the server. endpoint is where the entry has tokens
// issued, "" for where the issuer says.
func guardOf(ctx context.Context, t tokenstore.Token, endpoint string) (*guard, error) {
	issuer := t.Server
	if t.ByEntry {
		issuer = cmp.Or(endpoint, t.Issuer)
	}
	u, err := url.Parse(issuer)
	if err != nil {
		return nil, err
	}
	return newGuard(ctx, u), nil
}

// Revoke revokes a token at its issuer (RFC 7009). It returns false where the issuer
// offers no way to.
func Revoke(ctx context.Context, t tokenstore.Token) (bool, error) {
	if t.RevokeURL == "" {
		return false, nil
	}
	g, err := guardOf(ctx, t, "")
	if err != nil {
		return false, err
	}
	for hint, text := range map[string]string{"refresh_token": t.Refresh, "access_token": t.Access} {
		if text == "" {
			continue
		}
		form := url.Values{"token": {text}, "token_type_hint": {hint}}
		status, _, body, err := g.post(ctx, grant{endpoint: t.RevokeURL, form: form, client: t.Client})
		if err != nil {
			return false, err
		}
		if status/100 != 2 {
			return false, refusalOf(status, body)
		}
	}
	return true, nil
}

// hasCode reports whether an authorization server has answered with an error.
func hasCode(err error, codes ...string) bool {
	var e *OAuthError
	return errors.As(err, &e) && slices.Contains(codes, e.Code)
}
