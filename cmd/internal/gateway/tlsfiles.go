package gateway

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/cmd/internal/settings"
	"github.com/mcpctl/mcpctl/internal/atomicfile"
	"github.com/mcpctl/mcpctl/internal/authn"
)

const (
	// maxFile bounds a file, in bytes: a list of revoked certificates may be long.
	maxFile = 64 << 20
	// again is how long after a failure files that have not changed are read again.
	again = time.Second
)

// TLSFiles has what the files held when they were last looked at. Files that cannot be used
// leave what was there before. It is safe for concurrent use, and waits for no file
// while it holds a lock.
type TLSFiles struct {
	o      settings.TLS
	log    *slog.Logger
	now    func() time.Time
	loaded atomic.Pointer[loaded]
	busy   atomic.Bool // somebody looks
}

// loaded is what the files held. It is immutable but for what trust remembers.
type loaded struct {
	config *tls.Config
	trust  *authn.Trust // nil without clientCA
	seen   []os.FileInfo
	// problem is why what the files hold now is not in force, "" if it is.
	problem string
	tried   time.Time
}

// OpenTLSFiles reads the files. log gets what becomes of them later.
func OpenTLSFiles(o settings.TLS, log *slog.Logger) (*TLSFiles, error) {
	f := &TLSFiles{o: o, log: log, now: time.Now}
	l, err := f.read()
	if err != nil {
		return nil, err
	}
	f.loaded.Store(l)
	return f, nil
}

// Config returns the settings of a TLS server that uses the files as they are at each
// handshake.
func (f *TLSFiles) Config() *tls.Config {
	c := f.loaded.Load().config.Clone()
	c.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		f.Look()
		return f.loaded.Load().config, nil
	}
	return c
}

// Trust returns which certificates of clients are accepted, nil without clientCA.
func (f *TLSFiles) Trust() *authn.Trust { return f.loaded.Load().trust }

// Leaf returns the certificate of serve.
func (f *TLSFiles) Leaf() *x509.Certificate { return f.loaded.Load().config.Certificates[0].Leaf }

// Problem returns why what the files hold now is not in force, "" if it is.
func (f *TLSFiles) Problem() string { return f.loaded.Load().problem }

// Look reads the files if they have changed, and reports whether other ones are in
// force. It does not wait for another look.
func (f *TLSFiles) Look() (changed bool) {
	if !f.busy.CompareAndSwap(false, true) {
		return false
	}
	defer f.busy.Store(false)
	before := f.loaded.Load()
	if slices.EqualFunc(before.seen, f.stat(), atomicfile.Unchanged) && (before.problem == "" || f.now().Sub(before.tried).Abs() < again) {
		return f.outdated(before)
	}
	l, err := f.read()
	if err == nil {
		f.loaded.Store(l)
		f.log.Info("the files of serve.tls were read", "cert", f.o.Cert)
		return true
	}
	if err.Error() != before.problem {
		f.log.Warn("the files of serve.tls cannot be used: what they held before stays", "err", err)
	}
	next := *before
	next.problem, next.tried = err.Error(), f.now()
	f.loaded.Store(&next)
	return false
}

// outdated notes that a list of revoked certificates has become too old, which is a
// change: whom it is about is not let in.
func (f *TLSFiles) outdated(l *loaded) bool {
	if l.problem != "" || l.trust == nil || !expired(l.trust, f.now()) {
		return false
	}
	next := *l
	next.problem, next.tried = errOutdated.Error(), f.now()
	f.loaded.Store(&next)
	f.log.Warn("the list of revoked certificates is out of date: certificates of clients are not accepted", "crl", f.o.CRL)
	return true
}

var errOutdated = errors.New("crl: a list of revoked certificates is out of date")

func expired(t *authn.Trust, now time.Time) bool {
	until := t.ListsUntil()
	return !until.IsZero() && now.After(until)
}

func (f *TLSFiles) paths() []string {
	paths := []string{f.o.Cert, f.o.Key}
	for _, path := range []string{f.o.ClientCA, f.o.CRL} {
		if path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}

// stat returns what the system says of the files, nil for one that is not there.
func (f *TLSFiles) stat() (all []os.FileInfo) {
	for _, path := range f.paths() {
		info, err := os.Stat(path)
		if err != nil {
			info = nil
		}
		all = append(all, info)
	}
	return all
}

// read reads the files. Their state is noted before, so that a change meanwhile is seen
// at the next look.
func (f *TLSFiles) read() (*loaded, error) {
	l := &loaded{seen: f.stat()}
	var contents [][]byte
	for _, path := range f.paths() {
		b, err := atomicfile.Read(path, maxFile)
		if err != nil {
			return nil, err
		}
		contents = append(contents, b)
	}
	pair, err := tls.X509KeyPair(contents[0], contents[1])
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", f.o.Cert, f.o.Key, err)
	}
	l.config = &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "http/1.1"}}
	if f.o.MinVersion == "1.2" {
		l.config.MinVersion = tls.VersionTLS12
	}
	if f.o.ClientCA == "" {
		return l, nil
	}
	var lists []byte
	if f.o.CRL != "" {
		lists = contents[3]
	}
	if l.trust, err = authn.ParseTrust(contents[2], lists); err != nil {
		return nil, fmt.Errorf("clientCA %s: %w", f.o.ClientCA, err)
	}
	if expired(l.trust, f.now()) {
		return nil, errOutdated
	}
	l.config.ClientCAs, l.config.ClientAuth = l.trust.Pool(), tls.VerifyClientCertIfGiven
	// A resumed session would not be checked by the authorities of today.
	l.config.SessionTicketsDisabled = true
	return l, nil
}
