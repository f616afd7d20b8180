package cli

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/runtimetest"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestDoctorNamesIssuer: doctor --fix asks whether the authorization server that a server
// names gets the secret of the entry, and writes nothing without a yes.
func TestDoctorNamesIssuer(t *testing.T) {
	for name, c := range map[string]struct {
		answers []any
		words   []string
		asked   int
		written bool
	}{
		"yes":         {[]any{true}, []string{"doctor", "--fix"}, 1, true},
		"no":          {[]any{false}, []string{"doctor", "--fix"}, 1, false},
		"without fix": {nil, []string{"doctor"}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			mcp := runtimetest.New().Handler(runtimetest.HTTPOptions{})
			var server *httptest.Server
			server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer := func(v map[string]any) { _ = json.NewEncoder(w).Encode(v) }
				switch {
				case r.URL.Path == "/.well-known/oauth-protected-resource":
					answer(map[string]any{"resource": server.URL, "authorization_servers": []string{server.URL}})
				case r.URL.Path == "/.well-known/oauth-authorization-server":
					answer(map[string]any{"issuer": server.URL, "token_endpoint": server.URL + "/token"})
				case r.URL.Path == "/token":
					asked.Add(1)
					answer(map[string]any{"access_token": "access", "token_type": "Bearer"})
				case r.Header.Get("Authorization") != "Bearer access":
					w.Header().Set("WWW-Authenticate", "Bearer")
					w.WriteHeader(http.StatusUnauthorized)
				default:
					mcp.ServeHTTP(w, r)
				}
			}))
			t.Cleanup(server.Close)
			s := newShop(t, `{"mcpServers":{"crm":{"url":"`+server.URL+`","auth":{"grant":"client_credentials","clientId":"m","clientSecret":"${S}"}}}}`)
			s.env = map[string]string{"S": "hush-hush-hush", "MCPCTL_HOME": t.TempDir()}
			t.Setenv("S", "hush-hush-hush") // of this process, which entries are expanded with
			var out, errOut bytes.Buffer
			a := s.app(&out, &errOut)
			script := &ui.Scripted{Answers: c.answers}
			a.asker = script
			code := a.run(t.Context(), c.words)
			raw, err := os.ReadFile(s.file)
			require.NoError(t, err)
			written := strings.Contains(string(raw), `"issuer":`)
			if len(script.Asked) != c.asked || written != c.written || (code == 0) != c.written || (asked.Load() > 0) != c.written {
				t.Errorf("exit %d, asked %q, %d requests for a token, %s\n%s%s", code, script.Asked, asked.Load(), raw, out.String(), errOut.String())
			}
			if text := out.String() + errOut.String() + strings.Join(script.Asked, ""); strings.Contains(text, "hush") || c.asked > 0 && !strings.Contains(text, server.URL) {
				t.Errorf("printed %s", text)
			}
		})
	}
}
