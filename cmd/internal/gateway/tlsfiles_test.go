package gateway

import (
	"bytes"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/test/pki"
	"github.com/mcpctl/mcpctl/test/require"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// folder has the files of a serve.
type folder struct {
	dir  string
	o    settings.TLS
	root *pki.Authority
	mu   sync.Mutex // guards log
	log  bytes.Buffer
}

func newFolder(t *testing.T) *folder {
	t.Helper()
	d := &folder{dir: t.TempDir(), root: pki.New(t, "root")}
	d.o = settings.TLS{Cert: d.path("cert.pem"), Key: d.path("key.pem"), ClientCA: d.path("ca.pem")}
	d.serve(t, "one")
	require.NoError(t, os.WriteFile(d.o.ClientCA, d.root.PEM(), 0o600))
	return d
}

func (d *folder) path(name string) string { return filepath.Join(d.dir, name) }

// serve writes a certificate of the server.
func (d *folder) serve(t *testing.T, name string) {
	t.Helper()
	pki.Write(t, d.root.Issue(t, pki.Leaf{Common: name, DNS: []string{"localhost"}, Server: true}), d.o.Cert, d.o.Key)
}

func (d *folder) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log.Write(p)
}

func (d *folder) logged() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log.String()
}

func (d *folder) open(t *testing.T) *TLSFiles {
	t.Helper()
	f, err := OpenTLSFiles(d.o, slog.New(slog.NewTextHandler(d, nil)))
	require.NoError(t, err)
	return f
}

// listen serves requests with the files, and returns the address. The answer is the
// protocol, and the serial number of the client's certificate.
func listen(t *testing.T, f *TLSFiles) string {
	t.Helper()
	srv := &http.Server{ReadHeaderTimeout: time.Minute, TLSConfig: f.Config(), ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := r.Proto
		if len(r.TLS.VerifiedChains) > 0 {
			text += " " + r.TLS.PeerCertificates[0].SerialNumber.String()
		}
		_, _ = io.WriteString(w, text)
	})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = srv.ServeTLS(l, "", "")
	}()
	t.Cleanup(func() {
		_ = srv.Close()
		<-served
	})
	return "https://" + l.Addr().String()
}

// get sends a request in a new connection, and returns the answer and the name of the
// server's certificate.
func get(url string, c *tls.Config) (text, name string, err error) {
	c = c.Clone() // the transport changes it
	c.InsecureSkipVerify = true
	tr := &http.Transport{TLSClientConfig: c, ForceAttemptHTTP2: c.NextProtos == nil}
	defer tr.CloseIdleConnections()
	resp, err := (&http.Client{Transport: tr}).Get(url)
	if err != nil {
		return "", "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), resp.TLS.PeerCertificates[0].Subject.CommonName, err
}

// TestServer: serve's certificate is that of the files at each handshake; files that
// cannot be used leave the last.
func TestServer(t *testing.T) {
	t.Parallel()
	d := newFolder(t)
	f := d.open(t)
	url := listen(t, f)
	served := func(want string) {
		t.Helper()
		if text, name, err := get(url, &tls.Config{}); err != nil || text != "HTTP/2.0" || name != want {
			t.Errorf("got %q, %q, %v, want %s", text, name, err, want)
		}
	}
	served("one")
	if text, _, err := get(url, &tls.Config{NextProtos: []string{"http/1.1"}}); err != nil || text != "HTTP/1.1" {
		t.Errorf("got %q, %v", text, err)
	}
	require.NoError(t, os.WriteFile(d.o.Cert, []byte("half"), 0o600))
	served("one")
	if f.Problem() == "" || strings.Count(d.logged(), "cannot be used") != 1 {
		t.Errorf("problem %q, logged %s", f.Problem(), d.logged())
	}
	served("one")
	d.serve(t, "two")
	served("two")
	if f.Problem() != "" || strings.Count(d.logged(), "cannot be used") != 1 {
		t.Errorf("problem %q, logged %s", f.Problem(), d.logged())
	}
	require.NoError(t, os.Remove(d.o.Key))
	served("two")
	d.serve(t, "three")
	served("three")
}

// TestVersion: TLS 1.2 has to be allowed.
func TestVersion(t *testing.T) {
	t.Parallel()
	d := newFolder(t)
	old := &tls.Config{MaxVersion: tls.VersionTLS12}
	if _, _, err := get(listen(t, d.open(t)), old); err == nil {
		t.Error("TLS 1.2 is served")
	}
	d.o.MinVersion = "1.2"
	if _, _, err := get(listen(t, d.open(t)), old); err != nil {
		t.Error(err)
	}
}

// TestClients: certificates of the authorities of today come through, others end the
// handshake, and none is needed.
func TestClients(t *testing.T) {
	t.Parallel()
	d := newFolder(t)
	f := d.open(t)
	url := listen(t, f)
	other := pki.New(t, "other")
	old := time.Now().Add(-time.Minute)
	with := func(c tls.Certificate) *tls.Config {
		return &tls.Config{GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &c, nil }}
	}
	leaf, stranger := d.root.Issue(t, pki.Leaf{DNS: []string{"a"}}), other.Issue(t, pki.Leaf{DNS: []string{"a"}})
	for name, c := range map[string]struct {
		cert tls.Certificate
		want string
	}{
		"ours":                     {leaf, "HTTP/2.0 " + leaf.Leaf.SerialNumber.String()},
		"a stranger's":             {stranger, ""},
		"under our name":           {pki.New(t, "root").Issue(t, pki.Leaf{DNS: []string{"a"}}), ""},
		"expired":                  {d.root.Issue(t, pki.Leaf{DNS: []string{"a"}, Ends: old}), ""},
		"not yet valid":            {d.root.Issue(t, pki.Leaf{DNS: []string{"a"}, Begins: time.Now().Add(time.Minute)}), ""},
		"a server's":               {d.root.Issue(t, pki.Leaf{DNS: []string{"a"}, Server: true}), ""},
		"issued by a leaf of ours": {tls.Certificate{Certificate: append(stranger.Certificate[:1:1], leaf.Certificate...), PrivateKey: stranger.PrivateKey}, ""},
	} {
		text, _, err := get(url, with(c.cert))
		if text != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: got %q, %v", name, text, err)
		}
	}
	if text, _, err := get(url, &tls.Config{}); err != nil || text != "HTTP/2.0" {
		t.Errorf("none: got %q, %v", text, err)
	}
	require.NoError(t, os.WriteFile(d.o.ClientCA, other.PEM(), 0o600))
	if text, _, err := get(url, with(leaf)); err == nil {
		t.Errorf("after its authority was removed: got %q", text)
	}
	if text, _, err := get(url, with(stranger)); err != nil || text == "" {
		t.Errorf("of the new authority: got %q, %v", text, err)
	}
}

// TestLists: a revoked certificate is known as soon as the list is there, and a list
// that has become too old is a change.
func TestLists(t *testing.T) {
	t.Parallel()
	d := newFolder(t)
	leaf := d.root.Issue(t, pki.Leaf{DNS: []string{"a"}})
	d.o.CRL = d.path("crl.pem")
	if _, err := OpenTLSFiles(d.o, nil); err == nil {
		t.Error("without the list: no error")
	}
	require.NoError(t, os.WriteFile(d.o.CRL, d.root.Revoke(t, time.Now().Add(-time.Minute)), 0o600))
	if _, err := OpenTLSFiles(d.o, nil); err == nil || !strings.Contains(err.Error(), "out of date") {
		t.Errorf("out of date: got %v", err)
	}
	require.NoError(t, os.WriteFile(d.o.CRL, d.root.Revoke(t, time.Now().Add(time.Hour)), 0o600))
	f := d.open(t)
	before := f.Trust()
	if f.Look() || f.Trust() != before {
		t.Error("nothing has changed")
	}
	require.NoError(t, os.WriteFile(d.o.CRL, d.root.Revoke(t, time.Now().Add(time.Hour), leaf), 0o600))
	if !f.Look() || f.Trust() == before {
		t.Error("the list is not read")
	}
	f.now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	if !f.Look() || f.Look() || !strings.Contains(f.Problem(), "out of date") || strings.Count(d.logged(), "out of date") != 1 {
		t.Errorf("problem %q, logged %s", f.Problem(), d.logged())
	}
	require.NoError(t, os.WriteFile(d.o.CRL, d.root.Revoke(t, time.Now().Add(5*time.Hour)), 0o600))
	if !f.Look() || f.Problem() != "" {
		t.Errorf("a new list: problem %q", f.Problem())
	}
}

// TestOpen: files that cannot be used are errors that name them.
func TestOpen(t *testing.T) {
	t.Parallel()
	d := newFolder(t)
	other := d.path("other.pem")
	pki.Write(t, d.root.Issue(t, pki.Leaf{Server: true}), d.path("x.pem"), other)
	for name, c := range map[string]struct {
		o     settings.TLS
		names string
	}{
		"no certificate":            {settings.TLS{Cert: d.path("none.pem"), Key: d.o.Key}, "none.pem"},
		"no key":                    {settings.TLS{Cert: d.o.Cert, Key: d.path("none.pem")}, "none.pem"},
		"another's key":             {settings.TLS{Cert: d.o.Cert, Key: other}, "other.pem"},
		"the wrong way round":       {settings.TLS{Cert: d.o.Key, Key: d.o.Cert}, "key.pem"},
		"a folder":                  {settings.TLS{Cert: d.dir, Key: d.o.Key}, d.dir},
		"no authority":              {settings.TLS{Cert: d.o.Cert, Key: d.o.Key, ClientCA: d.path("none.pem")}, "none.pem"},
		"an authority that is none": {settings.TLS{Cert: d.o.Cert, Key: d.o.Key, ClientCA: d.o.Key}, "key.pem"},
	} {
		if _, err := OpenTLSFiles(c.o, nil); err == nil || !strings.Contains(err.Error(), c.names) || strings.Contains(err.Error(), "PRIVATE") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
