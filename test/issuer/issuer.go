// Package issuer is an MCP server that wants a login, together with the authorization
// server that it names. Everybody who comes to the login page may log in. It remembers
// all secrets that it has given or been given, for tests of where these show up.
package issuer

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Server is one. Its fields are set before it is used, or with [Server.Set].
type Server struct {
	*httptest.Server
	// MCP answers those who have a token.
	MCP http.Handler
	// Bound has it want tokens that are bound to a key (DPoP).
	Bound bool
	// Lifetime is that of access tokens, in seconds; 0 says none.
	Lifetime int
	// Refuses has the token endpoint refuse everything, and say what it was sent.
	Refuses bool
	// SaysIssuer has answers of the login name this server (RFC 9207).
	SaysIssuer bool
	// Elsewhere is another server, to whose login page this one's leads people with the
	// same words; "" for none.
	Elsewhere string
	// Barred has the MCP server refuse everybody, and say the credential.
	Barred bool

	mu      sync.Mutex // guards the fields above and what follows
	valid   map[string]bool
	secrets map[string]string // a secret to what it is
	count   int
}

// New starts a server at a port of this machine. The caller closes it.
func New(mcp http.Handler) *Server {
	s := &Server{MCP: mcp, Lifetime: 3600, valid: map[string]bool{}, secrets: map[string]string{}}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.Start()
	return s
}

// Set changes the server.
func (s *Server) Set(change func(*Server)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// Expire ends all access tokens.
func (s *Server) Expire() { s.Set(func(s *Server) { clear(s.valid) }) }

// Admit lets those in who have one of some tokens.
func (s *Server) Admit(tokens ...string) {
	s.Set(func(s *Server) {
		for _, token := range tokens {
			s.valid[token] = true
		}
	})
}

// Secrets returns what must not be shown, by what it is.
func (s *Server) Secrets() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.secrets)
}

// made returns a secret that is like no other text.
func (s *Server) made(what string) string {
	text := "canary-" + strings.ReplaceAll(what, " ", "-") + "-" + rand.Text()
	s.secrets[text] = what
	return text
}

// seen notes a secret of the client's.
func (s *Server) seen(what, text string) {
	if text != "" {
		s.secrets[text] = what
	}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	var next http.Handler
	switch r.URL.Path {
	case "/.well-known/oauth-protected-resource/mcp":
		answer(w, 200, map[string]any{"resource": s.URL + "/mcp", "authorization_servers": []string{s.URL}, "dpop_bound_access_tokens_required": s.Bound})
	case "/.well-known/oauth-authorization-server":
		answer(w, 200, map[string]any{
			"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize", "token_endpoint": s.URL + "/token",
			"registration_endpoint": s.URL + "/register", "revocation_endpoint": s.URL + "/revoke", "device_authorization_endpoint": s.URL + "/device",
			"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"client_secret_post", "private_key_jwt"},
		})
	case "/register":
		s.count++
		answer(w, 201, map[string]any{"client_id": fmt.Sprint("client-", s.count), "client_secret": s.made("client secret"), "token_endpoint_auth_method": "client_secret_post"})
	case "/authorize":
		if s.Elsewhere != "" {
			http.Redirect(w, r, s.Elsewhere+"/authorize?"+r.URL.RawQuery, http.StatusFound)
			break
		}
		q := r.URL.Query()
		said := url.Values{"state": {q.Get("state")}, "code": {s.made("code")}}
		if s.SaysIssuer {
			said.Set("iss", s.URL)
		}
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+said.Encode(), http.StatusFound)
	case "/token":
		s.token(w, r)
	case "/device":
		answer(w, 200, map[string]any{"device_code": s.made("device code"), "user_code": "WDJB-MJHT", "verification_uri": s.URL + "/code", "expires_in": 60, "interval": 0.01})
	case "/revoke":
		w.WriteHeader(http.StatusOK)
	case "/mcp":
		if next = s.admitted(w, r); next != nil {
			break
		}
	default:
		http.NotFound(w, r)
	}
	s.mu.Unlock()
	if next != nil {
		next.ServeHTTP(w, r)
	}
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

// token answers a request for a token; the grant is not looked at.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	if r.ParseForm() != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	f := r.PostForm
	s.seen("verifier", f.Get("code_verifier"))
	s.seen("assertion", f.Get("client_assertion"))
	s.seen("assertion", f.Get("assertion"))
	if s.Refuses {
		var said []string
		for _, name := range []string{"code", "device_code", "code_verifier", "refresh_token", "client_secret", "client_assertion", "assertion"} {
			said = append(said, f.Get(name))
		}
		answer(w, 400, map[string]any{"error": "invalid_grant", "error_description": "not with " + strings.Join(said, " ")})
		return
	}
	access := s.made("access token")
	s.valid[access] = true
	out := map[string]any{"access_token": access, "token_type": "Bearer", "refresh_token": s.made("refresh token")}
	if s.Bound {
		out["token_type"] = "DPoP"
	}
	if s.Lifetime > 0 {
		out["expires_in"] = s.Lifetime
	}
	answer(w, 200, out)
}

// admitted returns the MCP server for who has a token; else it has answered.
func (s *Server) admitted(w http.ResponseWriter, r *http.Request) http.Handler {
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if s.valid[token] && !s.Barred {
		return s.MCP
	}
	said := ""
	if s.Barred {
		said = `, error_description="not with ` + r.Header.Get("Authorization") + `"`
	}
	w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+s.URL+`/.well-known/oauth-protected-resource/mcp"`+said)
	answer(w, http.StatusUnauthorized, map[string]any{"error": "no", "was": r.Header.Get("Authorization")})
	return nil
}

// Browse is what a browser does with a login page: it goes where it is sent.
func Browse(page string) error {
	resp, err := http.Get(page)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// Shown returns the secrets that a text shows, by what they are.
func (s *Server) Shown(text string) []string {
	var out []string
	for secret, what := range s.Secrets() {
		if strings.Contains(text, secret) && !slices.Contains(out, what) {
			out = append(out, what)
		}
	}
	slices.Sort(out)
	return out
}
