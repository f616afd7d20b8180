package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcpctl/mcpctl/test/idp"
)

// Identity reports whether suites run with identity on: each serve over HTTP asks for a
// token, and each client has one. MCPCTL_TEST_IDENTITY=1 turns it on.
func Identity() bool { return os.Getenv("MCPCTL_TEST_IDENTITY") != "" }

// Token returns the token that all clients have, "" where identity is off.
func Token() string {
	if !Identity() {
		return ""
	}
	return idp.StaticToken("identity", strings.Repeat("I", 43))
}

// Credential returns the header line with the token and its end, "" where identity is
// off.
func Credential() string {
	if !Identity() {
		return ""
	}
	return "Authorization: Bearer " + Token() + "\r\n"
}

// Ask writes what has a serve ask for the token, where identity is on: config.yaml beside
// a servers.json, and the file of tokens into the folder of its state. Where policies are
// on, it has those and the lock, too: see [Decide].
func Ask(config, home string, locked map[string]json.RawMessage) error {
	if err := Decide(config, locked); err != nil || !Identity() {
		return err
	}
	sum := sha256.Sum256([]byte(Token()))
	tokens, err := json.Marshal(map[string]any{"tokens": []any{map[string]string{
		"id": "identity", "name": "suite", "sha256": hex.EncodeToString(sum[:]), "created": "2026-11-23T00:00:00Z",
	}}})
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(filepath.Dir(config), "config.yaml"), []byte(Always()+decided()), 0o600),
		os.WriteFile(filepath.Join(home, "access-tokens.json"), tokens, 0o600),
	)
}

// Authenticated returns a URL at which every request gets the token and goes on to the
// host of another URL, for clients that have none. close ends it. Where identity is off it
// is the other URL.
func Authenticated(to string) (at string, closeIt func(), err error) {
	if !Identity() {
		return to, func() {}, nil
	}
	u, err := url.Parse(to)
	if err != nil {
		return "", nil, err
	}
	s := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host = u.Scheme, u.Host
		r.Out.Header.Set("Authorization", "Bearer "+Token())
	}, ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }})
	return s.URL + u.Path, func() {
		s.CloseClientConnections()
		s.Close()
	}, nil
}
