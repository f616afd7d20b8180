package idp

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
)

// Server publishes the keys of an issuer, and answers who asks about its opaque tokens.
// Its fields are changed with [Server.Set] while it runs.
type Server struct {
	*httptest.Server
	// Keys are those that it publishes.
	Keys []*Key
	// Status is what it answers all requests with, 0 for as it should.
	Status int
	// Header are lines of all its answers.
	Header map[string]string
	// Tokens are opaque tokens, and what it says of them.
	Tokens map[string]Claims
	// Client and Secret are who may ask about tokens.
	Client, Secret string
	// More are members of its metadata.
	More Claims

	mu    sync.Mutex // guards what is above and what follows
	asked map[string]int
}

// NewServer starts a server at a port of this machine. The caller closes it.
func NewServer(keys ...*Key) *Server {
	s := &Server{Keys: keys, Tokens: map[string]Claims{}, Client: "mcpctl", Secret: "idp-secret-of-the-gateway", asked: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// Set changes the server.
func (s *Server) Set(change func(*Server)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// Asked returns how often a path was asked for.
func (s *Server) Asked(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[path]
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[r.URL.Path]++
	for name, value := range s.Header {
		w.Header().Set(name, value)
	}
	if s.Status != 0 {
		w.WriteHeader(s.Status)
		return
	}
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server":
		meta := Claims{"issuer": s.URL, "token_endpoint": s.URL + "/token", "jwks_uri": s.URL + "/jwks", "introspection_endpoint": s.URL + "/introspect"}
		maps.Copy(meta, s.More)
		answer(w, meta)
	case "/jwks":
		w.Header().Set("Content-Type", "application/jwk-set+json")
		_, _ = w.Write(Set(s.Keys...)) // the client may be gone
	case "/introspect":
		s.introspect(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (s *Server) introspect(w http.ResponseWriter, r *http.Request) {
	id, password, _ := r.BasicAuth()
	if r.Method != http.MethodPost || id != s.Client || password != s.Secret {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if claims := s.Tokens[r.PostFormValue("token")]; claims != nil {
		answer(w, claims)
		return
	}
	answer(w, Claims{"active": false})
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(body); err != nil {
		panic(fmt.Sprint("idp: ", err))
	}
}
