package gateway

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/cmd/internal/ui"
	"github.com/mcpctl/mcpctl/runtime/access"
	"github.com/mcpctl/mcpctl/runtime/access/door"
	"github.com/mcpctl/mcpctl/runtime/access/tokenfile"
	"github.com/mcpctl/mcpctl/test/require"
)

// writeCert writes a certificate for a name, and its key.
func writeCert(t *testing.T, cert, key, name string, at time.Time) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	require.NoError(t, err)
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}), 0o600))
	require.NoError(t, errors.Join(os.Chtimes(cert, at, at), os.Chtimes(key, at, at)))
}

// TestTLS: serve.tls serves HTTP/1.1 and HTTP/2, and takes a new certificate over without
// a restart; one that cannot be used leaves the last.
func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	start := time.Now().Add(-time.Minute)
	writeCert(t, cert, key, "one", start)
	var log bytes.Buffer
	g := &gateway{o: Options{Command: "serve", HTTP: "127.0.0.1:0"}, h: Host{
		Log: slog.New(slog.NewTextHandler(&log, nil)), Settings: settings.Settings{Serve: settings.Serve{Access: settings.Access{TLS: settings.TLS{Cert: cert, Key: key}}}},
	}}
	srv, err := g.newServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }))
	require.NoError(t, err)
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	get := func(http2 bool) (proto, name string) {
		t.Helper()
		tr := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: http2}
		defer tr.CloseIdleConnections()
		resp, err := (&http.Client{Transport: tr, Timeout: 10 * time.Second}).Get("https://" + l.Addr().String())
		require.NoError(t, err)
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return string(body), resp.TLS.PeerCertificates[0].Subject.CommonName
	}
	if proto, name := get(false); proto != "HTTP/1.1" || name != "one" {
		t.Errorf("got %s, %s", proto, name)
	}
	if proto, _ := get(true); proto != "HTTP/2.0" {
		t.Errorf("got %s", proto)
	}
	require.NoError(t, os.WriteFile(cert, []byte("half"), 0o600))
	if _, name := get(false); name != "one" {
		t.Errorf("with half a file: got %s", name)
	}
	writeCert(t, cert, key, "two", start.Add(time.Second))
	if _, name := get(false); name != "two" {
		t.Errorf("got %s", name)
	}
	require.NoError(t, srv.Close())
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
	if log.Len() > 0 {
		t.Errorf("logged %s", log.String())
	}
}

// TestTLSFiles: a certificate or key that cannot be used is an error before anything is
// served.
func TestTLSFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key, other := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "other.pem")
	writeCert(t, cert, key, "one", time.Now())
	writeCert(t, filepath.Join(dir, "x.pem"), other, "two", time.Now())
	for name, a := range map[string]settings.TLS{
		"no certificate": {Cert: filepath.Join(dir, "none.pem"), Key: key}, "no key": {Cert: cert, Key: filepath.Join(dir, "none.pem")},
		"another's key": {Cert: cert, Key: other}, "the wrong way round": {Cert: key, Key: cert},
	} {
		g := &gateway{o: Options{Command: "serve", HTTP: "0"}, h: Host{Log: slog.New(slog.DiscardHandler), Settings: settings.Settings{Serve: settings.Serve{Access: settings.Access{TLS: a}}}}}
		_, err := g.newServer(http.NotFoundHandler())
		var kind interface{ ExitKind() string }
		if !errors.As(err, &kind) || kind.ExitKind() != "config" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// expelled counts how often streams are looked at, and whether one has to end.
type expelled struct {
	who  *access.Principal
	gone atomic.Bool
}

func (e *expelled) Expel(gone func(*access.Principal) bool) {
	if gone(e.who) {
		e.gone.Store(true)
	}
}

// TestDoorFollows: a token counts as soon as it is there, and streams end when it is
// revoked, not before.
func TestDoorFollows(t *testing.T) {
	t.Parallel()
	f := tokenfile.New(filepath.Join(t.TempDir(), tokenfile.Name))
	tokens := tokenfile.Follow(f)
	d := &entrance{Door: door.New(tokens), tokens: tokens}
	set := func(all ...access.Token) {
		t.Helper()
		require.NoError(t, f.Change(t.Context(), func([]access.Token) ([]access.Token, error) { return all, nil }))
	}
	one, text := access.NewToken("alice", nil, time.Now(), time.Time{})
	if p, no := d.Who(t.Context(), access.Credential{Bearer: text}); p != nil || no.Status != 401 {
		t.Errorf("got %v, %v", p, no)
	}
	set(one)
	p, no := d.Who(t.Context(), access.Credential{Bearer: text})
	if no != nil || p.ID != "token|alice" {
		t.Fatalf("got %v, %v", p, no)
	}
	streams := &expelled{who: p}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	g := &gateway{h: Host{Log: slog.New(slog.DiscardHandler), UI: &ui.UI{Err: io.Discard}}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.follow(ctx, g, streams)
	}()
	other, _ := access.NewToken("alice", nil, time.Now(), time.Time{})
	set(other) // rotated: the principal still has one
	time.Sleep(3 * tokensPoll)
	if streams.gone.Load() {
		t.Error("streams end though the principal has a token")
	}
	set()
	for end := time.Now().Add(10 * time.Second); !streams.gone.Load(); time.Sleep(tokensPoll / 4) {
		if time.Now().After(end) {
			t.Fatal("streams do not end")
		}
	}
	if _, no := d.Who(t.Context(), access.Credential{Bearer: text}); no == nil || no.Status != 401 {
		t.Errorf("revoked: got %v", no)
	}
	cancel()
	<-done
}
