package authn

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
)

// Refusals of [Trust.Check].
var (
	// ErrRevoked is that a list of the issuer has the certificate.
	ErrRevoked = &access.Refusal{Status: 401, Code: "invalid_token", Description: "the certificate has been revoked", Reason: "certificate revoked"}
	// ErrEnded is that a certificate is not valid now.
	ErrEnded = &access.Refusal{Status: 401, Code: "invalid_token", Description: "the certificate has expired", Reason: "certificate expired"}
	// ErrUntrusted is that no authority that counts now has issued the certificate.
	ErrUntrusted = &access.Refusal{Status: 401, Code: "invalid_token", Description: "the certificate is not accepted", Reason: "certificate untrusted"}
)

// Trust is which certificates of clients are accepted. It is immutable but for what it
// remembers, and safe for concurrent use.
type Trust struct {
	pool  *x509.CertPool
	roots []*x509.Certificate
	// lists are by the subject of their issuer, nil where no list is asked for.
	lists map[string]*list

	seen cache[*x509.Certificate, verdict]
}

// list is what an issuer has revoked.
type list struct {
	serials map[string]bool
	until   time.Time // zero: it does not say
}

// verdict is what was found of a certificate, and until when that holds.
type verdict struct {
	refusal    *access.Refusal
	from, till time.Time
}

// ParseTrust returns what accepts certificates of the authorities in ca, in PEM. With
// lists, of X.509 CRLs in PEM or one in DER, a certificate is accepted only if the list
// of its issuer is there and does not have it. Nil lists: none is asked for.
func ParseTrust(ca, lists []byte) (*Trust, error) {
	t := &Trust{pool: x509.NewCertPool()}
	for rest := ca; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		if !c.IsCA {
			return nil, fmt.Errorf("%s is not an authority", c.Subject)
		}
		t.roots = append(t.roots, c)
		t.pool.AddCert(c)
	}
	if len(t.roots) == 0 {
		return nil, errors.New("there is no certificate in PEM")
	}
	if lists == nil {
		return t, nil
	}
	return t, t.parseLists(lists)
}

func (t *Trust) parseLists(all []byte) error {
	t.lists = map[string]*list{}
	if !bytes.Contains(all, []byte("-----BEGIN")) {
		return t.addList(all)
	}
	for rest := all; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "X509 CRL" {
			continue
		}
		if err := t.addList(block.Bytes); err != nil {
			return err
		}
	}
	if len(t.lists) == 0 {
		return errors.New("there is no list of revoked certificates in PEM")
	}
	return nil
}

// addList adds the list of one issuer.
func (t *Trust) addList(der []byte) error {
	l, err := x509.ParseRevocationList(der)
	if err != nil {
		return fmt.Errorf("not a list of revoked certificates: %w", err)
	}
	for _, e := range l.Extensions {
		if e.Critical {
			return fmt.Errorf("the list of %s has the critical extension %s, which is not supported", l.Issuer, e.Id)
		}
	}
	signed := false
	for _, c := range t.roots {
		signed = signed || bytes.Equal(c.RawSubject, l.RawIssuer) && l.CheckSignatureFrom(c) == nil
	}
	if !signed {
		return fmt.Errorf("the list of %s is not signed by one of the authorities", l.Issuer)
	}
	if t.lists[string(l.RawIssuer)] != nil {
		return fmt.Errorf("there are two lists of %s", l.Issuer)
	}
	one := &list{serials: map[string]bool{}, until: l.NextUpdate}
	for _, e := range l.RevokedCertificateEntries {
		one.serials[string(e.SerialNumber.Bytes())] = true
	}
	t.lists[string(l.RawIssuer)] = one
	return nil
}

// Pool returns the authorities, for a handshake.
func (t *Trust) Pool() *x509.CertPool { return t.pool }

// Roots returns the authorities. They must not be changed.
func (t *Trust) Roots() []*x509.Certificate { return t.roots }

// ListsUntil returns when the first of the lists is out of date, zero for never. From
// then on certificates of its issuer cannot be checked.
func (t *Trust) ListsUntil() (until time.Time) {
	for _, l := range t.lists {
		if until.IsZero() || !l.until.IsZero() && l.until.Before(until) {
			until = l.until
		}
	}
	return until
}

// Check returns why a certificate is not accepted now, nil if it is. The chains are those
// that TLS has verified: each begins with the certificate, and none is empty. A
// certificate seen before costs one look-up.
func (t *Trust) Check(chains [][]*x509.Certificate, now time.Time) *access.Refusal {
	if len(chains) == 0 {
		return ErrUntrusted
	}
	leaf := chains[0][0]
	v, ok := t.seen.find(leaf)
	if ok && !now.Before(v.from) && now.Before(v.till) {
		return v.refusal
	}
	v = t.check(chains, now)
	t.seen.put(leaf, v)
	return v.refusal
}

// check checks the chains: one that is accepted is enough.
func (t *Trust) check(chains [][]*x509.Certificate, now time.Time) (v verdict) {
	for i, chain := range chains {
		one := t.chain(chain, now)
		if one.refusal == nil {
			return one
		}
		if i == 0 {
			v = one
		}
	}
	return v
}

// chain checks one chain.
func (t *Trust) chain(chain []*x509.Certificate, now time.Time) verdict {
	const again = time.Minute // a refusal is looked at again then
	v := verdict{from: now, till: now.Add(again)}
	refuse := func(refusal *access.Refusal) verdict { v.refusal = refusal; return v }
	root := chain[len(chain)-1]
	known := false
	for _, c := range t.roots {
		known = known || c.Equal(root)
	}
	if !known {
		return refuse(ErrUntrusted)
	}
	till := root.NotAfter
	for _, c := range chain {
		if now.Before(c.NotBefore) || now.After(c.NotAfter) {
			return refuse(ErrEnded)
		}
		if c.NotAfter.Before(till) {
			till = c.NotAfter
		}
	}
	for i, c := range chain[:len(chain)-1] {
		if t.lists == nil {
			break
		}
		l := t.lists[string(chain[i+1].RawSubject)]
		switch {
		case l == nil:
			return refuse(ErrUntrusted)
		case !l.until.IsZero() && now.After(l.until):
			return refuse(access.ErrUnavailable)
		case l.serials[string(c.SerialNumber.Bytes())]:
			return refuse(ErrRevoked)
		}
		if !l.until.IsZero() && l.until.Before(till) {
			till = l.until
		}
	}
	v.till = till
	return v
}
