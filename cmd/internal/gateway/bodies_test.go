package gateway

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpctl/mcpctl/cmd/internal/auditing"
	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/internal/audit/logfile"
	"github.com/mcpctl/mcpctl/internal/tokenstore"
	"github.com/mcpctl/mcpctl/runtime/config"
	"github.com/mcpctl/mcpctl/test/issuer"
	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// keepBodies has arguments and results be kept, without secrets.
func keepBodies(s *settings.Settings) {
	s.Audit = &settings.Audit{Bodies: &settings.Bodies{To: []string{"gh/*"}, Redact: true, Max: 16 << 10}}
}

// bodies returns the arguments and results that are kept, a line each.
func (s *shared) bodies(t *testing.T) string {
	t.Helper()
	wait.Until(t, "all records are in the log", func() bool { return s.g.audit.Journal.Health().Waiting == 0 })
	l, err := logfile.OpenReadOnly(t.Context(), filepath.Join(s.dir, auditing.LogName))
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	records := int64(0)
	require.NoError(t, l.Read(t.Context(), 0, 0, func(n int64, _ []byte) error {
		records = n + 1
		return nil
	}))
	var out strings.Builder
	for n := range records {
		for _, result := range []bool{false, true} {
			body, err := l.Body(t.Context(), n, result)
			require.NoError(t, err)
			if body != nil {
				fmt.Fprintf(&out, "%s\n", body.Data)
			}
		}
	}
	return out.String()
}

// TestBodies: what is kept of calls has no secret of the server, of whoever's connection, also
// one that comes while calls are made. The client gets every byte.
func TestBodies(t *testing.T) {
	t.Parallel()
	for name, entry := range map[string]string{
		"everybody": `{"url":"{{gh}}","headers":{"X-Api-Key":"KEY"}}`,
		"apart":     `{"url":"{{gh}}","headers":{"X-Api-Key":"KEY"},"isolation":"principal"}`,
		"principal": `{"url":"{{gh}}","headers":{"X-Api-Key":"KEY","X-User":"${principal.name}"},"auth":{"as":"principal"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const key, another = "first-key-of-gh", "second-key-of-gh"
			s := openShared(t, strings.ReplaceAll(entry, "KEY", key), keepBodies)
			require.NoError(t, s.g.h.Tokens.Put(t.Context(), tokenstore.Token{
				Server: s.backend.URL + "/mcp", Issuer: s.backend.URL, Access: "canary-of-this-user", Refresh: "canary-refresh", Source: tokenstore.SourceOAuth,
				TokenURL: s.backend.URL + "/token", Client: tokenstore.Client{Issuer: s.backend.URL, ID: "mcpctl"},
			}))
			said, shown := 0, []string{key, another}
			say := func(who string, secrets ...string) (token string) {
				t.Helper()
				said++
				all := strings.Join(secrets, " ")
				text := fmt.Sprintf("ordinary %d %s %s %s", said, all, base64.StdEncoding.EncodeToString([]byte(all)), url.QueryEscape(all))
				if got := s.say(t, who, text, "{}", ""); !strings.Contains(got, `"text":`+wire.Quote(text)) {
					t.Fatalf("the client got %s", got)
				}
				token = strings.TrimPrefix(s.bearers(text)[0], "Bearer ")
				shown = append(shown, token)
				return token
			}
			for _, who := range []string{"alice", "bob"} {
				first := "canary-of-this-user"
				if name == "principal" {
					before := s.backend.Secrets()
					s.link(t, who)
					for text, what := range s.backend.Secrets() {
						if before[text] == "" && what == "access token" {
							first = text
						}
					}
				}
				token := say(who, first, key) // there has been no connection
				s.backend.Set(func(b *issuer.Server) { b.Lifetime = 1 })
				s.backend.Expire()
				for range 3 {
					old := token
					wait.Until(t, "a fresh token", func() bool {
						token = say(who, old)
						return token != old
					})
					say(who, token, old, key)
				}
			}
			f, err := config.Parse("servers.json", []byte(`{"mcpServers":{"gh":`+strings.NewReplacer("KEY", another, "{{gh}}", s.backend.URL+"/mcp").Replace(entry)+`}}`))
			require.NoError(t, err)
			_, err = s.g.reconfigure(f, f.Entries())
			require.NoError(t, err)
			say("alice", say("alice", another, key))
			next := s.bodies(t)
			if n := strings.Count(next, "ordinary "); n != 2*said {
				t.Errorf("%d bodies of %d calls", n, said)
			}
			for _, secret := range shown {
				if strings.Contains(next, secret) || strings.Contains(next, base64.RawStdEncoding.EncodeToString([]byte(secret))) {
					t.Errorf("%q is kept", secret)
				}
			}
		})
	}
}
