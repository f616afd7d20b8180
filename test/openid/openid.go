// Package openid is an OpenID provider. It logs in at once whoever Person names, and can
// be made to do wrong what a relying party has to notice.
package openid

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/idp"
)

// The client that the provider knows.
const (
	ClientID     = "mcpctl-pages"
	ClientSecret = "a secret of 128 bits or more"
)

// Provider is one. Its fields are changed with [Provider.Set].
type Provider struct {
	*httptest.Server
	// Person is the subject of who logs in.
	Person string
	// Claims changes an ID token before it is signed.
	Claims func(claims map[string]any)
	// Signs changes its text.
	Signs func(header, claims map[string]any, sign func(header, claims map[string]any) string) string
	// Answer changes what the browser comes back with.
	Answer func(query url.Values)
	// Metadata changes the discovery document.
	Metadata func(doc map[string]any)
	// Status has the token endpoint fail.
	Status int
	// Public has the client have no secret.
	Public bool

	mu      sync.Mutex // guards all fields
	key     *idp.Key
	codes   map[string]url.Values // the requests that codes were made for
	fetched map[string]int        // by path
}

// New starts a provider, which ends with the test.
func New(t testing.TB) *Provider {
	t.Helper()
	p := &Provider{Person: "8f3a", key: idp.NewKey("1", "EdDSA"), codes: map[string]url.Values{}, fetched: map[string]int{}}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(p.Close)
	return p
}

// Set changes the provider.
func (p *Provider) Set(change func(*Provider)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}

// Fetched returns how often a path was asked for.
func (p *Provider) Fetched(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fetched[path]
}

func (p *Provider) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fetched[r.URL.Path]++
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		doc := map[string]any{
			"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/jwks",
			"authorization_response_iss_parameter_supported": true, "id_token_signing_alg_values_supported": []string{"EdDSA"},
		}
		if p.Metadata != nil {
			p.Metadata(doc)
		}
		answer(w, http.StatusOK, doc)
	case "/jwks":
		answer(w, http.StatusOK, map[string]any{"keys": []any{p.key.JWK()}})
	case "/authorize":
		p.authorize(w, r)
	case "/token":
		p.token(w, r)
	default:
		http.NotFound(w, r)
	}
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

// authorize sends the browser back.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("client_id") != ClientID || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("nonce") == "" || q.Get("state") == "" {
		http.Error(w, "not a request of the client", http.StatusBadRequest)
		return
	}
	code := rand.Text()
	p.codes[code] = q
	back := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {p.URL}}
	if p.Answer != nil {
		p.Answer(back)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

// token takes a code, once.
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	if p.Status != 0 {
		answer(w, p.Status, map[string]any{"error": "server_error", "error_description": "not with " + r.FormValue("code")})
		return
	}
	id, secret, basic := r.BasicAuth()
	if p.Public {
		id, secret, basic = r.PostFormValue("client_id"), ClientSecret, true
	}
	if raw, err := url.QueryUnescape(secret); err == nil {
		secret = raw
	}
	if !basic || id != ClientID || secret != ClientSecret {
		answer(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
		return
	}
	code := r.PostFormValue("code")
	request := p.codes[code]
	delete(p.codes, code)
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if request == nil || request.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) || request.Get("redirect_uri") != r.PostFormValue("redirect_uri") {
		answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		return
	}
	now := time.Now()
	header := map[string]any{"alg": "EdDSA", "kid": "1"}
	claims := map[string]any{
		"iss": p.URL, "sub": p.Person, "aud": ClientID, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(), "nonce": request.Get("nonce"),
		"preferred_username": p.Person + " of the provider",
	}
	if p.Claims != nil {
		p.Claims(claims)
	}
	token := p.sign(header, claims)
	if p.Signs != nil {
		token = p.Signs(header, claims, p.sign)
	}
	answer(w, http.StatusOK, map[string]any{"access_token": "access-" + rand.Text(), "token_type": "Bearer", "expires_in": 3600, "id_token": token})
}

// sign returns a JWT.
func (p *Provider) sign(header, claims map[string]any) string {
	return p.key.SignBoth(text(header), text(claims))
}

func text(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("openid: " + err.Error())
	}
	return string(raw)
}
