//go:build keycloak

package login_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
)

// company is the identity provider of a company, as far as Keycloak is none: it gives out
// assertions for other authorization servers. Its key is also that of the client robot.
type company struct {
	*httptest.Server
	t   *testing.T
	key *ecdsa.PrivateKey
}

// companyID is the identity token of the person, at the company.
const companyID = "identity-token-of-ada"

func newCompany(t *testing.T) *company {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	c := &company{t: t, key: key}
	c.Server = httptest.NewServer(http.HandlerFunc(c.answer))
	t.Cleanup(c.Close)
	return c
}

func (c *company) answer(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	port, isClient := strings.CutPrefix(r.URL.Path, "/client/")
	switch at := r.URL.Path; {
	case at == "/keys":
		_, _ = w.Write([]byte(c.keys()))
	case isClient: // mcpctl's metadata document
		_, _ = w.Write(jsonOf(c.t, map[string]any{
			"client_id": c.URL + r.URL.Path, "client_name": "mcpctl", "token_endpoint_auth_method": "none",
			"redirect_uris": []string{"http://127.0.0.1:" + port + "/callback"},
			"grant_types":   []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"},
		}))
	case at == "/token":
		_ = r.ParseForm() // what is missing is noticed below
		for name, want := range map[string]string{
			"grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "client_id": "mcpctl", "subject_token": companyID,
			"requested_token_type": "urn:ietf:params:oauth:token-type:id-jag", "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
		} {
			if got := r.PostForm.Get(name); got != want {
				c.t.Errorf("the company is sent %s %q, want %q", name, got, want)
			}
		}
		_, _ = w.Write(jsonOf(c.t, map[string]any{
			"access_token": c.assertion(r.PostForm.Get("audience"), "oauth-id-jag+jwt"), "token_type": "N_A",
			"issued_token_type": "urn:ietf:params:oauth:token-type:id-jag", "expires_in": 60,
		}))
	default:
		http.NotFound(w, r)
	}
}

// assertion returns what the company says to an authorization server about the person.
func (c *company) assertion(audience, typ string) string {
	now := time.Now().Unix()
	enc := base64.RawURLEncoding.EncodeToString
	text := enc(jsonOf(c.t, map[string]any{"alg": "ES256", "typ": typ, "kid": "company"})) + "." + enc(jsonOf(c.t, map[string]any{
		"iss": c.URL, "sub": "ada@company", "aud": audience, "client_id": "agent", "jti": rand.Text(), "iat": now, "exp": now + 60,
	}))
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, c.key, sum[:])
	require.NoError(c.t, err)
	return text + "." + enc(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...))
}

// private returns the key as PEM.
func (c *company) private() string {
	raw, err := x509.MarshalPKCS8PrivateKey(c.key)
	require.NoError(c.t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))
}

// keys returns the set of the public key.
func (c *company) keys() string {
	point, err := c.key.PublicKey.Bytes() // 0x04, x, y
	require.NoError(c.t, err)
	enc := base64.RawURLEncoding.EncodeToString
	return string(jsonOf(c.t, map[string]any{"keys": []map[string]string{
		{"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": "company", "x": enc(point[1:33]), "y": enc(point[33:])},
	}}))
}

func jsonOf(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return raw
}
