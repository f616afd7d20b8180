package authn

import (
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net/url"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/test/pki"
	"github.com/mcpctl/mcpctl/test/require"
)

// TestName: the only name of the first kind that there is any of, and nothing else.
func TestName(t *testing.T) {
	t.Parallel()
	uri := func(texts ...string) (all []*url.URL) {
		for _, text := range texts {
			u, err := url.Parse(text)
			require.NoError(t, err)
			all = append(all, u)
		}
		return all
	}
	common := &x509.Certificate{}
	common.Subject.CommonName = "spiffe://corp/root"
	all := x509.Certificate{URIs: uri("spiffe://corp/a"), DNSNames: []string{"Build.Corp"}, EmailAddresses: []string{"a@corp"}}
	for name, c := range map[string]struct {
		cert *x509.Certificate
		from []string
		want string
		no   *access.Refusal
	}{
		"URI first":             {&all, CertificateKinds(), "spiffe://corp/a", nil},
		"DNS first":             {&all, []string{DNS, URI}, "build.corp", nil},
		"mail alone":            {&all, []string{Email}, "a@corp", nil},
		"common name":           {common, CertificateKinds(), "", ErrNoName},
		"another kind":          {&x509.Certificate{DNSNames: []string{"a"}}, []string{URI, Email}, "", ErrNoName},
		"two of a kind":         {&x509.Certificate{URIs: uri("a:b", "a:c"), DNSNames: []string{"a"}}, CertificateKinds(), "", ErrSeveral},
		"a URI as DNS":          {&x509.Certificate{DNSNames: []string{"spiffe://corp/a"}}, CertificateKinds(), "", ErrNoName},
		"a URI as mail":         {&x509.Certificate{EmailAddresses: []string{"spiffe://a@corp"}}, CertificateKinds(), "", ErrNoName},
		"a mail as DNS":         {&x509.Certificate{DNSNames: []string{"a@corp"}}, CertificateKinds(), "", ErrNoName},
		"two @":                 {&x509.Certificate{EmailAddresses: []string{"a@evil@corp"}}, CertificateKinds(), "", ErrNoName},
		"a wildcard":            {&x509.Certificate{DNSNames: []string{"*.corp"}}, CertificateKinds(), "", ErrNoName},
		"a NUL":                 {&x509.Certificate{DNSNames: []string{"corp\x00.evil"}}, CertificateKinds(), "", ErrNoName},
		"empty":                 {&x509.Certificate{DNSNames: []string{""}}, CertificateKinds(), "", ErrNoName},
		"a line feed":           {&x509.Certificate{EmailAddresses: []string{"a\n@corp"}}, CertificateKinds(), "", ErrNoName},
		"a path without URI":    {&x509.Certificate{URIs: uri("/corp/a")}, CertificateKinds(), "", ErrNoName},
		"a bad one comes first": {&x509.Certificate{URIs: uri("/corp/a"), DNSNames: []string{"a"}}, CertificateKinds(), "", ErrNoName},
	} {
		if got, no := CertificateName(c.cert, c.from); got != c.want || no != c.no {
			t.Errorf("%s: got %q, %v", name, got, no)
		}
	}
}

// verify returns the chains of a certificate as a handshake does.
func verify(t *testing.T, trust *Trust, c tls.Certificate, more ...*x509.Certificate) [][]*x509.Certificate {
	t.Helper()
	between := x509.NewCertPool()
	for _, m := range more {
		between.AddCert(m)
	}
	chains, err := c.Leaf.Verify(x509.VerifyOptions{Roots: trust.Pool(), Intermediates: between, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	require.NoError(t, err)
	return chains
}

func newTrust(t *testing.T, ca, lists []byte) *Trust {
	t.Helper()
	trust, err := ParseTrust(ca, lists)
	require.NoError(t, err)
	return trust
}

// TestTrust: what TLS has verified is refused as soon as an authority does not count any
// more, has revoked it, or its time is over.
func TestTrust(t *testing.T) {
	t.Parallel()
	now := time.Now()
	root, other := pki.New(t, "root"), pki.New(t, "other")
	under := root.Under(t, "under")
	leaf, second := root.Issue(t, pki.Leaf{DNS: []string{"a"}}), root.Issue(t, pki.Leaf{DNS: []string{"b"}})
	far := under.Issue(t, pki.Leaf{DNS: []string{"c"}})
	plain := newTrust(t, root.PEM(), nil)
	chains, twoSteps := verify(t, plain, leaf), verify(t, plain, far, under.Cert)
	day := now.Add(24 * time.Hour)
	underCA := tls.Certificate{Leaf: under.Cert}
	both := append(root.PEM(), under.PEM()...)
	for name, c := range map[string]struct {
		trust  *Trust
		chains [][]*x509.Certificate
		now    time.Time
		want   *access.Refusal
	}{
		"accepted":              {plain, chains, now, nil},
		"two steps":             {plain, twoSteps, now, nil},
		"before its time":       {plain, chains, now.Add(-2 * time.Hour), ErrEnded},
		"expired":               {plain, chains, now.Add(2 * time.Hour), ErrEnded},
		"not verified":          {plain, nil, now, ErrUntrusted},
		"authority gone":        {newTrust(t, other.PEM(), nil), chains, now, ErrUntrusted},
		"not revoked":           {newTrust(t, root.PEM(), root.Revoke(t, day, second)), chains, now, nil},
		"revoked":               {newTrust(t, root.PEM(), root.Revoke(t, day, second, leaf)), chains, now, ErrRevoked},
		"no list of issuer":     {newTrust(t, append(root.PEM(), other.PEM()...), other.Revoke(t, day)), chains, now, ErrUntrusted},
		"list out of date":      {newTrust(t, root.PEM(), root.Revoke(t, now.Add(time.Minute))), chains, now.Add(2 * time.Minute), access.ErrUnavailable},
		"no list between":       {newTrust(t, root.PEM(), root.Revoke(t, day)), twoSteps, now, ErrUntrusted},
		"authority revoked":     {newTrust(t, both, append(root.Revoke(t, day, underCA), under.Revoke(t, day)...)), twoSteps, now, ErrRevoked},
		"both lists":            {newTrust(t, both, append(root.Revoke(t, day), under.Revoke(t, day)...)), twoSteps, now, nil},
		"same serial elsewhere": {newTrust(t, both, append(root.Revoke(t, day), under.Revoke(t, day, leaf)...)), chains, now, nil},
	} {
		for range 2 { // the second time from memory
			if got := c.trust.Check(c.chains, c.now); got != c.want {
				t.Errorf("%s: got %v, want %v", name, got, c.want)
			}
		}
	}
	if no := plain.Check(chains, now); no != nil {
		t.Error(no)
	}
	if no := plain.Check(chains, now.Add(3*time.Hour)); no != ErrEnded {
		t.Errorf("expired after it was remembered: got %v", no)
	}
}

// TestTrustFiles: files that do not say whom to accept are errors.
func TestTrustFiles(t *testing.T) {
	t.Parallel()
	root, other := pki.New(t, "root"), pki.New(t, "other")
	day := time.Now().Add(time.Hour)
	leaf := root.Issue(t, pki.Leaf{DNS: []string{"a"}})
	leafPEM := pki.PEM(leaf)
	for name, c := range map[string]struct{ ca, lists []byte }{
		"empty":                 {nil, nil},
		"rubbish":               {[]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), nil},
		"no authority":          {leafPEM, nil},
		"lists without any":     {root.PEM(), []byte{}},
		"lists of rubbish":      {root.PEM(), []byte("x")},
		"a certificate as list": {root.PEM(), root.PEM()},
		"a list of a stranger":  {root.PEM(), other.Revoke(t, day)},
		"a list under its name": {root.PEM(), pki.New(t, "root").Revoke(t, day)},
		"two lists":             {root.PEM(), append(root.Revoke(t, day), root.Revoke(t, day)...)},
	} {
		if _, err := ParseTrust(c.ca, c.lists); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestTrustBound: what is remembered is bounded, and costs nothing the second time.
func TestTrustBound(t *testing.T) {
	root := pki.New(t, "root")
	trust := newTrust(t, root.PEM(), nil)
	chains := verify(t, trust, root.Issue(t, pki.Leaf{DNS: []string{"a"}}))
	now := time.Now()
	for i := range maxCached + 10 {
		one := *chains[0][0]
		one.SerialNumber = big.NewInt(int64(i))
		trust.Check([][]*x509.Certificate{{&one, chains[0][1]}}, now)
	}
	if n := len(trust.seen.of); n > maxCached {
		t.Errorf("%d certificates are remembered", n)
	}
	if n := testing.AllocsPerRun(100, func() { trust.Check(chains, now) }); n > 0 {
		t.Errorf("got %v allocations", n)
	}
}
