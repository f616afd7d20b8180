package auth

import (
	"context"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcpctl/mcpctl/internal/tokenstore"
)

// TestNamesOfServers: what a server may lead to depends on the address at which it has
// proven to be, not on all addresses that its name has: its name is its own to choose.
// Logins and linked accounts go by the same rule. The resolver and the roots belong to a
// process, so each case is one.
func TestNamesOfServers(t *testing.T) {
	cases := map[string]struct {
		server, addresses string
		allowed           bool
	}{
		"a public address and one of this machine":    {"https://mixed.test", "203.0.113.7 127.0.0.1", false},
		"a public address and a private one":          {"https://mixed.test", "203.0.113.7 10.0.0.1", false},
		"a private address and one of this machine":   {"https://mixed.test", "10.0.0.1 127.0.0.1", false},
		"an address where somebody else listens":      {"https://other.test:TLS", "127.0.0.1", false},
		"an address where nobody listens":             {"https://example.com:1", "127.0.0.1", false},
		"the address where the server has its own":    {"https://example.com:TLS", "127.0.0.1", true},
		"http to a name that only the server vouches": {"http://example.com:TLS", "127.0.0.1", false},
	}
	if c, ok := cases[os.Getenv(caseEnv)]; ok {
		net.DefaultResolver = resolverOf(strings.Fields(c.addresses))
		leadInside(t, strings.Replace(c.server, "TLS", os.Getenv("AUTH_TEST_TLS"), 1))
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("Go reads SSL_CERT_FILE on Linux")
	}
	t.Parallel()
	srv := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(srv.Close)
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(srv.Listener.Addr().String(), ":")
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNamesOfServers$", "-test.count=1")
			cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.Contains(strings.ToLower(v), "_proxy=") }),
				caseEnv+"="+name, "AUTH_TEST_TLS="+port, "SSL_CERT_FILE="+roots)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			want := "login refused, account refused, 0 requests"
			if c.allowed {
				want = "login led on, account led on, 2 requests"
			}
			if !strings.Contains(string(out), "outcome: "+want+"\n") {
				t.Errorf("want %q, got %s", want, out)
			}
		})
	}
}

// leadInside has a server send a login and a linked account to a service of this machine.
func leadInside(t *testing.T, server string) {
	t.Helper()
	var asked atomic.Int64
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.NotFound(w, r)
	}))
	defer inside.Close()
	u, err := url.Parse(server + "/mcp")
	if err != nil {
		t.Fatal(err)
	}
	a := New(Options{Server: u, AllowHTTP: true, Prompter: &visitor{}, Store: &tokenstore.Store{Path: filepath.Join(t.TempDir(), "auth.json")}})
	challenge := `Bearer resource_metadata="` + inside.URL + `/internal/secret?x=1"`
	_, login := a.Login(t.Context(), challenge)
	_, account := NewLinker(a).Account(t.Context(), challenge)
	fmt.Printf("outcome: login %s, account %s, %d requests\n", how(login), how(account), asked.Load())
}

func how(err error) string {
	switch {
	case errors.Is(err, errInside):
		return "refused"
	case err != nil && strings.Contains(err.Error(), "there is none at"):
		return "led on"
	}
	return fmt.Sprint("odd: ", err)
}

// TestBrowserLedInside: a public authorization server does not send the browser inside.
func TestBrowserLedInside(t *testing.T) {
	t.Parallel()
	for at, ok := range map[string]bool{
		"https://as.example/authorize": true, "http://127.0.0.1:2375/containers": false, "http://localhost/x": false, "https://10.0.0.1/x": false,
	} {
		g := &guard{most: public}
		iss := &issuer{Issuer: "https://as.example", Token: "https://as.example/token", Authorization: at}
		if err := g.check(t.Context(), iss); (err == nil) != ok || err != nil && !errors.Is(err, errInside) {
			t.Errorf("%s: %v", at, err)
		}
	}
}

// resolverOf returns a resolver that knows of every name that it has some addresses.
func resolverOf(addresses []string) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go answerNames(there, addresses) // ends with the connection
		return here, nil
	}}
}

// answerNames answers questions in the form that they have over TCP (RFC 1035, 4.2.2).
func answerNames(c net.Conn, addresses []string) {
	defer c.Close()
	for {
		var size [2]byte
		if _, err := io.ReadFull(c, size[:]); err != nil {
			return
		}
		q := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(c, q); err != nil {
			return
		}
		end := 12 // of the question
		for q[end] != 0 {
			end += int(q[end]) + 1
		}
		end += 5
		out := slices.Concat(q[:2], []byte{0x84, 0, 0, 1, 0, 0, 0, 0, 0, 0}, q[12:end])
		if q[end-3] == 1 { // A
			for _, text := range addresses {
				ip := netip.MustParseAddr(text).As4()
				out = append(out, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
				out = append(out, ip[:]...)
				out[7]++
			}
		}
		if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(out))), out...)); err != nil {
			return
		}
	}
}
