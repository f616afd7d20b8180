//go:build integration || keycloak

package login_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/npmtest"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// issuers is the process of the authorization servers, started by the first test that
// needs one.
var issuers struct {
	start   sync.Once
	process *wire.Process
	alive   *os.File // its standard input: it ends with this process
}

func stopIssuers() {
	if p := issuers.process; p != nil {
		_ = issuers.alive.Close()
		p.Stop(5 * time.Second)
	}
}

// pair is an authorization server and the MCP server that it protects.
type pair struct {
	Issuer, Server, Control string
	// ClientID and ClientSecret are those of the MCP server.
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
}

// settings are those of provider.mjs.
type settings struct {
	Lifetime int  `json:"lifetime,omitempty"`
	JWT      bool `json:"jwt,omitempty"`
	DPoP     bool `json:"dpop,omitempty"`
	Nonce    bool `json:"nonce,omitempty"`
	// Documents has it take URLs of metadata for the ids of clients.
	Documents bool `json:"documents,omitempty"`
	// Issuer is one that is no oidc-provider, Keys the address of its public keys.
	Issuer string `json:"issuer,omitempty"`
	Keys   string `json:"keys,omitempty"`
}

func newPair(t *testing.T, s settings) *pair {
	t.Helper()
	issuers.start.Do(func() {
		words := npmtest.Issuers(t, "provider.mjs")
		cmd := exec.Command(words[0], words[1:]...)
		stdin, alive, err := os.Pipe()
		require.NoError(t, err)
		defer stdin.Close()
		cmd.Stdin, issuers.alive = stdin, alive
		issuers.process, err = wire.Launch(cmd, "URL ")
		require.NoError(t, err)
	})
	if issuers.process == nil {
		t.Fatal("the authorization servers have not started")
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("provider.mjs:\n%s", issuers.process.Stderr.Tail())
		}
	})
	p := new(pair)
	require.NoError(t, json.Unmarshal(post(t, issuers.process.URL+"/pairs", s), p))
	return p
}

func post(t *testing.T, to string, body any) []byte {
	t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, to, bytes.NewReader(raw))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	status, answer := send(t, req)
	if status != http.StatusOK {
		t.Fatalf("%s: HTTP %d: %s", to, status, answer)
	}
	return answer
}

func send(t *testing.T, req *http.Request) (status int, body []byte) {
	t.Helper()
	resp, err := (&http.Client{Timeout: time.Until(wait.Deadline(t))}).Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, body
}

// forget has the authorization server know nothing any more, as after a restart without
// its storage.
func (p *pair) forget(t *testing.T) {
	t.Helper()
	post(t, p.Control+"/forget", nil)
}

// seen is what has succeeded at an authorization server.
type seen struct {
	Registrations int
	Documents     int
	Grants        map[string]int
}

func (p *pair) seen(t *testing.T) (s seen) {
	t.Helper()
	require.NoError(t, json.Unmarshal(post(t, p.Control+"/seen", nil), &s))
	return s
}

// active asks the authorization server whether a token can be used.
func (p *pair) active(t *testing.T, token string) bool {
	t.Helper()
	form := url.Values{"token": {token}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.Issuer+"/token/introspection", strings.NewReader(form.Encode()))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(p.ClientID, p.ClientSecret)
	status, body := send(t, req)
	var said struct{ Active *bool }
	if err := json.Unmarshal(body, &said); err != nil || said.Active == nil {
		t.Fatalf("introspection: HTTP %d: %s", status, body)
	}
	return *said.Active
}

// takes reports whether the MCP server takes a token.
func (p *pair) takes(t *testing.T, token string) bool {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.Server, strings.NewReader(wire.Request("1", "ping", "{}")))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer "+token)
	status, _ := send(t, req)
	return status != http.StatusUnauthorized
}
