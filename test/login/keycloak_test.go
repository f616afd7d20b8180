//go:build keycloak

package login_test

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/test/require"
	"github.com/mcpctl/mcpctl/test/wait"
	"github.com/mcpctl/mcpctl/test/wire"
)

// keycloakEnv names the folder of Keycloak's distribution; make keycloak sets it.
const keycloakEnv = "KEYCLOAK"

// keycloakLifetime is that of access tokens of the realm.
const keycloakLifetime = 3 * time.Second

// keycloak starts Keycloak with a realm, which trusts a company, and an MCP server that
// takes its tokens.
func keycloak(t *testing.T, c *company) *pair {
	t.Helper()
	dist := os.Getenv(keycloakEnv)
	if dist == "" {
		t.Fatalf("%s is not set: run make keycloak", keycloakEnv)
	}
	address := freeAddress(t)
	issuer := "http://" + address + "/realms/mcp"
	p := newPair(t, settings{Issuer: issuer, Keys: issuer + "/protocol/openid-connect/certs"})

	realm, err := os.ReadFile("testdata/keycloak-mcp.json")
	require.NoError(t, err)
	text := strings.NewReplacer("${SERVER}", p.Server, "${COMPANY}", c.URL, `"${KEYS}"`, wire.Quote(c.keys())).Replace(string(realm))
	imports := filepath.Join(dist, "data", "import")
	require.NoError(t, os.RemoveAll(imports))
	require.NoError(t, os.MkdirAll(imports, 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(imports, "mcp-realm.json"), []byte(text), 0o600))

	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	cmd := exec.Command(filepath.Join(dist, "bin", "kc.sh"), "start-dev", "--import-realm", "--db=dev-mem", "--http-host=127.0.0.1", "--http-port="+port,
		"--features=identity-assertion-jwt,jwt-authorization-grant,cimd")
	output := wire.NewOutput()
	cmd.Stderr = output
	process, err := wire.Start(cmd)
	require.NoError(t, err)
	go func() { // ends with the process
		_ = wire.Lines(process.Out, func(line []byte) { _, _ = output.Write(append(line, '\n')) })
	}()
	t.Cleanup(func() {
		process.Stop(wire.Limit)
		if t.Failed() {
			t.Logf("Keycloak:\n%s", output.Tail())
		}
	})
	wait.Until(t, output, func() bool {
		select {
		case <-process.Exited:
			t.Fatalf("Keycloak has ended:\n%s", output.Tail())
		default:
		}
		return answers(t, issuer)
	})
	return p
}

func freeAddress(t *testing.T) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer free.Close()
	return free.Addr().String()
}

func answers(t *testing.T, address string) bool {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	resp, err := (&http.Client{Timeout: time.Until(wait.Deadline(t))}).Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// TestKeycloak: what mcpctl does at Keycloak, of people and of machines.
func TestKeycloak(t *testing.T) {
	c := newCompany(t)
	p := keycloak(t, c)
	t.Run("people", func(t *testing.T) {
		_, port, err := net.SplitHostPort(freeAddress(t))
		require.NoError(t, err)
		for name, auth := range map[string]map[string]any{
			"registration": nil,
			"dpop":         {"dpop": true},
			"document":     {"clientMetadataUrl": c.URL + "/client/" + port, "callbackPort": json.Number(port)},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				u := newUser(t, notes(p.Server, auth))
				if o := u.run(t, deny, "auth", "login", "notes"); o.code != 4 || !strings.Contains(o.stderr, "access_denied") {
					t.Errorf("denied: exit %d\n%s", o.code, o.stderr)
				}
				u.calls(t, approve)
				if token := strings.TrimSpace(u.ok(t, nobody, "auth", "token", "notes")); p.takes(t, token) == (name == "dpop") {
					t.Errorf("the token is bound to a key: %v", name != "dpop")
				}
				for range 2 {
					time.Sleep(keycloakLifetime + 100*time.Millisecond)
					u.calls(t, nobody)
				}
				if o := u.run(t, nobody, "auth", "logout", "notes"); o.code != 0 || o.stderr != "" {
					t.Errorf("logout: exit %d\n%s", o.code, o.stderr)
				}
			})
		}
	})
	t.Run("machines", func(t *testing.T) {
		token := filepath.Join(t.TempDir(), "token")
		for name, m := range map[string]struct {
			auth map[string]any
			want string
		}{
			"key": {map[string]any{"grant": "client_credentials", "clientId": "robot", "clientKey": c.private()}, "you are "},
			"workload": {
				map[string]any{"grant": "jwt_bearer", "clientId": "agent", "clientSecret": "hush", "issuer": p.Issuer, "tokenFile": token},
				"you are " + person,
			},
			"enterprise": {
				map[string]any{
					"grant": "enterprise", "clientId": "agent", "clientSecret": "hush", "issuer": p.Issuer,
					"idp": map[string]any{"tokenEndpoint": c.URL + "/token", "clientId": "mcpctl", "idToken": companyID},
				},
				"you are " + person,
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				u := newUser(t, notes(p.Server, m.auth))
				for range 2 {
					if name == "workload" { // the platform of which writes another, as these are used once
						require.NoError(t, os.WriteFile(token, []byte(c.assertion(p.Issuer, "JWT")), 0o600))
					}
					if got := u.ok(t, nobody, "call", "notes", "whoami"); !strings.Contains(got, m.want) {
						t.Errorf("got %q", got)
					}
					time.Sleep(keycloakLifetime + 100*time.Millisecond)
				}
			})
		}
	})
}
