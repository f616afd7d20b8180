package auth

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// caseEnv says which case of TestThroughProxy this process is.
const caseEnv = "AUTH_TEST_CASE"

// TestThroughProxy: with a proxy in the environment only names are looked at, the
// proxy's own address is reached, and what leads inside is not asked of it. The
// environment is read once in a process, so each case is one.
func TestThroughProxy(t *testing.T) {
	cases := map[string]struct {
		issuer, noProxy, want string
		asked                 []string // of the proxy
	}{
		"a public name":            {issuer: "https://example.com", want: "none", asked: []string{"example.com:443"}},
		"a private address":        {issuer: "https://10.0.0.1", want: errInside.Error()},
		"a name of this machine":   {issuer: "https://localhost:8443", want: errInside.Error()},
		"a name that is exempted":  {issuer: "https://example.com", noProxy: "example.com", want: "example.com"},
		"an address of the clouds": {issuer: "https://169.254.169.254", want: "169.254.169.254"},
	}
	if c, ok := cases[os.Getenv(caseEnv)]; ok {
		net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
			return nil, errors.New("no resolver") // names are known to the proxy alone
		}}
		server := &url.URL{Scheme: "https", Host: "mcp.example.com", Path: "/mcp"}
		_, err := newGuard(t.Context(), server).issuerOf(t.Context(), c.issuer)
		_, _ = io.WriteString(os.Stdout, "outcome: "+strings.ReplaceAll(errorText(err), "\n", " ")+"\n")
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("Go reads SSL_CERT_FILE on Linux")
	}
	t.Parallel()
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": "https://" + r.Host, "token_endpoint": "https://" + r.Host + "/token"})
	}))
	t.Cleanup(srv.Close)
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newConnectProxy(t, srv.Listener.Addr().String())
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestThroughProxy$", "-test.count=1")
			cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.Contains(strings.ToLower(v), "_proxy=") }),
				caseEnv+"="+name, "HTTPS_PROXY="+p.URL, "NO_PROXY="+c.noProxy, "SSL_CERT_FILE="+roots)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			_, outcome, _ := strings.Cut(string(out), "outcome: ")
			outcome, _, _ = strings.Cut(outcome, "\n")
			if !strings.Contains(outcome, c.want) {
				t.Errorf("got %q, want %q", outcome, c.want)
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			if !slices.Equal(p.asked, c.asked) {
				t.Errorf("the proxy was asked for %v", p.asked)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return "none"
	}
	return err.Error()
}

// connectProxy leads every CONNECT to one address.
type connectProxy struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func newConnectProxy(t *testing.T, to string) *connectProxy {
	t.Helper()
	p := &connectProxy{}
	var tunnels sync.WaitGroup
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tunnels.Add(1) // Close waits for a connection until it is hijacked
		defer tunnels.Done()
		p.mu.Lock()
		p.asked = append(p.asked, r.Host)
		p.mu.Unlock()
		there, err := (&net.Dialer{}).DialContext(context.WithoutCancel(r.Context()), "tcp", to)
		if err != nil || r.Method != http.MethodConnect {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		here, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			_ = there.Close()
			return
		}
		_, _ = io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n")
		for _, c := range [][2]net.Conn{{here, there}, {there, here}} {
			tunnels.Go(func() { // ends with either side
				_, _ = io.Copy(c[0], c[1])
				_ = c[0].Close()
			})
		}
	}))
	t.Cleanup(func() {
		p.Close()
		tunnels.Wait()
	})
	return p
}
