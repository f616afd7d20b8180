//go:build unix

package main_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/idp"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wire"
)

// exchangeServer is the token endpoint of an identity provider, and a server that takes
// what it issues.
type exchangeServer struct {
	*httptest.Server

	mu     sync.Mutex // guards what follows
	valid  map[string]bool
	handed []string            // subject tokens
	seen   map[string][]string // all that a caller's requests came with, by the message
}

func newExchangeServer(t *testing.T) *exchangeServer {
	t.Helper()
	s := &exchangeServer{valid: map[string]bool{}, seen: map[string][]string{}}
	mcp := runtimetest.New().Handler(runtimetest.HTTPOptions{})
	mux := http.NewServeMux()
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		id, secret, _ := r.BasicAuth()
		subject := r.PostFormValue("subject_token")
		s.handed = append(s.handed, subject)
		w.Header().Set("Content-Type", "application/json")
		if id != "gateway" || secret != "canary-of-the-client" || r.PostFormValue("resource") != s.URL+"/mcp" {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":"invalid_client"}`)
			return
		}
		parts := strings.Split(subject, ".")
		access := "canary-exchanged-" + parts[len(parts)-1]
		s.valid[access] = true
		_ = json.NewEncoder(w).Encode(map[string]any{
			"access_token": access, "token_type": "Bearer", "expires_in": 3600, "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
		})
	})
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		var m struct {
			Params struct{ Arguments struct{ Message string } }
		}
		_ = json.Unmarshal(body, &m)
		s.mu.Lock()
		var all strings.Builder
		_ = r.Header.Write(&all)
		s.seen[m.Params.Arguments.Message] = append(s.seen[m.Params.Arguments.Message], all.String()+string(body))
		ok := s.valid[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		s.mu.Unlock()
		if !ok {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="http://192.0.2.1/trap"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		mcp.ServeHTTP(w, r)
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// TestOwnCredentials: two people with tokens of an identity provider call a server for
// which these are exchanged, and a program that is told who they are. No token gets
// anywhere else.
func TestOwnCredentials(t *testing.T) {
	t.Parallel()
	key := idp.NewKey("k", "ES256")
	issuer, x, home := idp.NewServer(key), newExchangeServer(t), t.TempDir()
	t.Cleanup(issuer.Close)
	issuer.Set(func(s *idp.Server) { s.More = idp.Claims{"token_endpoint": x.URL + "/token"} })
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.yaml"), []byte("serve:\n  url: https://mcp.example.com/mcp\n  auth:\n    - jwt: {issuer: "+issuer.URL+", tags: [team]}\n    - token: {}\n"), 0o600))
	d := wire.Serve(t, wire.Setup{
		Program: "mcpctl", Home: home, Config: filepath.Join(home, "servers.json"), Args: []string{"-vvv"}, Env: []string{"XCHG=canary-of-the-client"},
		Servers: wire.Servers{
			"api":  {"url": x.URL + "/mcp", "auth": map[string]any{"as": "principal", "grant": "token_exchange", "issuer": issuer.URL, "clientId": "gateway", "clientSecret": "${XCHG}"}},
			"team": {"command": "fake-mcp", "env": map[string]string{"TEAM": "${principal.tag.team} of ${principal.id}"}},
		},
	})
	tokens := map[string]string{}
	for _, name := range []string{"alice", "bob"} {
		tokens[name] = key.Sign(idp.Claims{"iss": issuer.URL, "sub": name, "aud": "https://mcp.example.com/mcp", "exp": time.Now().Add(time.Hour).Unix(), "team": "team-of-" + name}, nil)
	}
	tokens["static"] = newToken(t, home, "static")
	call := func(name, tool, arguments string) string {
		t.Helper()
		c := wire.NewClient(d.URL)
		defer c.Close()
		resp, err := c.Do(t.Context(), http.MethodPost, []byte(wire.Request("1", "tools/call", `{"name":"`+tool+`","arguments":`+arguments+`,"_meta":{
			"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}`)),
			http.Header{"Authorization": {"Bearer " + tokens[name]}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {tool}})
		require.NoError(t, err)
		answer, err := wire.Read(resp)
		require.NoError(t, err)
		return answer.Message()
	}
	var answers strings.Builder
	for range 2 {
		for _, name := range []string{"alice", "bob"} {
			got := call(name, "api__echo", `{"message":"`+name+`"}`)
			if !strings.Contains(got, `"text":"`+name+`"`) {
				t.Errorf("%s: got %s", name, got)
			}
			env := call(name, "team__env", `{"name":"TEAM"}`)
			if want := "team-of-" + name + " of " + issuer.URL + "|" + name; !strings.Contains(env, want) {
				t.Errorf("%s: got %s, want %s", name, env, want)
			}
			answers.WriteString(got + env)
		}
	}
	for tool, want := range map[string]string{"api__echo": "static has come with a credential of token", "team__env": "token|static has no tag team"} {
		got := call("static", tool, `{"message":"static","name":"TEAM"}`)
		answers.WriteString(got)
		if !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", tool, got, want)
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.handed) != 2 || len(x.seen["static"]) > 0 {
		t.Errorf("%d tokens were handed in, and %d calls of a static token came", len(x.handed), len(x.seen["static"]))
	}
	places := map[string]string{"the log": d.Stderr.String(), "an answer": answers.String()}
	for who, all := range x.seen {
		places["a request of "+who] = strings.Join(all, "\n")
	}
	for place, text := range places {
		for name, token := range tokens {
			if strings.Contains(text, token) || strings.Contains(text, token[strings.LastIndexByte(token, '.')+1:]) && !strings.HasPrefix(place, "a request of") {
				t.Errorf("%s shows the token of %s", place, name)
			}
		}
		if strings.Contains(text, "canary-of-the-client") {
			t.Errorf("%s shows the secret of the client", place)
		}
		if strings.Contains(text, "canary-exchanged") && !strings.HasPrefix(place, "a request of") {
			t.Errorf("%s shows an exchanged token", place)
		}
	}
	if alice, bob := places["a request of alice"], places["a request of bob"]; alice == "" || strings.Contains(alice, "Bearer canary-exchanged-"+lastPart(tokens["bob"])) || strings.Contains(bob, "Bearer canary-exchanged-"+lastPart(tokens["alice"])) {
		t.Error("a call came with the token of another")
	}
}

func lastPart(token string) string { return token[strings.LastIndexByte(token, '.')+1:] }
