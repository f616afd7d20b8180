package authn

import (
	"context"
	"crypto/x509"
	"strings"
	"testing"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/test/pki"
	"github.com/mcpctl/mcpctl/test/require"
)

func trust(t *testing.T, a *pki.Authority) *Trust {
	t.Helper()
	trust, err := ParseTrust(a.PEM(), nil)
	require.NoError(t, err)
	return trust
}

func credential(t *testing.T, a *pki.Authority, l pki.Leaf) access.Credential {
	t.Helper()
	c := a.Issue(t, l).Leaf
	return access.Credential{Certificate: c, Chains: [][]*x509.Certificate{{c, a.Cert}}}
}

func TestPrincipal(t *testing.T) {
	t.Parallel()
	root := pki.New(t, "root")
	now, in := time.Now(), trust(t, root)
	p := NewMTLS(MTLSOptions{
		Groups: map[string]string{"spiffe://corp/agents/*": "agents", "spiffe://corp/*": "top", "spiffe://corp/*/build": "builders", "*.corp": "hosts", "other": "none"},
		Trust:  func() *Trust { return in }, Now: func() time.Time { return now },
	})
	for name, c := range map[string]struct {
		leaf       pki.Leaf
		id, groups string
	}{
		"URI":       {pki.Leaf{URI: []string{"spiffe://corp/agents/build"}, Common: "root"}, "cert|spiffe://corp/agents/build", "agents builders"},
		"deeper":    {pki.Leaf{URI: []string{"spiffe://corp/agents/a/build"}}, "cert|spiffe://corp/agents/a/build", ""},
		"DNS":       {pki.Leaf{DNS: []string{"CI.corp"}}, "cert|ci.corp", "hosts"},
		"no groups": {pki.Leaf{Email: []string{"a@example.com"}}, "cert|a@example.com", ""},
	} {
		cred := credential(t, root, c.leaf)
		who, no := p.Principal(context.Background(), cred)
		if no != nil || who.ID != c.id || who.Name != strings.TrimPrefix(c.id, "cert|") || strings.Join(who.Groups, " ") != c.groups || !who.Expires.Equal(cred.Certificate.NotAfter) {
			t.Errorf("%s: got %+v, %v", name, who, no)
		}
		if again, _ := p.Principal(context.Background(), cred); again != who {
			t.Errorf("%s: it is not remembered", name)
		}
	}
	if who, no := p.Principal(context.Background(), credential(t, root, pki.Leaf{Common: "admin"})); who != nil || no != ErrNoName {
		t.Errorf("a common name: got %v, %v", who, no)
	}
	only := NewMTLS(MTLSOptions{From: []string{URI}})
	if who, no := only.Principal(context.Background(), credential(t, root, pki.Leaf{DNS: []string{"ci.corp"}})); who != nil || no != ErrNoName {
		t.Errorf("a kind that does not count: got %v, %v", who, no)
	}
}

// TestForm: a certificate beside a token says nothing about who asks.
func TestForm(t *testing.T) {
	t.Parallel()
	p := NewMTLS(MTLSOptions{})
	c := credential(t, pki.New(t, "root"), pki.Leaf{DNS: []string{"a"}})
	with := c
	with.Bearer = "x"
	for what, tc := range map[string]struct {
		c   access.Credential
		own bool
	}{"a certificate": {c, true}, "a certificate and a token": {with, false}, "a token": {access.Credential{Bearer: "x"}, false}, "nothing": {access.Credential{}, false}} {
		who, no := p.Principal(t.Context(), tc.c)
		if (who != nil) != tc.own || no != nil {
			t.Errorf("%s: got %v, %v", what, who, no)
		}
	}
}

// TestValid: a principal ends with its authority, and with the certificate.
func TestValid(t *testing.T) {
	t.Parallel()
	root := pki.New(t, "root")
	now, in := time.Now(), trust(t, root)
	p := NewMTLS(MTLSOptions{Trust: func() *Trust { return in }, Now: func() time.Time { return now }})
	who, no := p.Principal(context.Background(), credential(t, root, pki.Leaf{DNS: []string{"a"}}))
	if no != nil || !p.Valid(who) {
		t.Fatalf("got %v, %v", who, no)
	}
	in = trust(t, pki.New(t, "other"))
	if p.Valid(who) {
		t.Error("its authority is gone, and it is valid")
	}
	in = trust(t, root)
	if now = now.Add(2 * time.Hour); p.Valid(who) || p.Valid(&access.Principal{ID: who.ID}) {
		t.Error("it has ended, and is valid")
	}
}

func TestPrincipalAllocates(t *testing.T) {
	p := NewMTLS(MTLSOptions{})
	c := credential(t, pki.New(t, "root"), pki.Leaf{DNS: []string{"a"}})
	for range maxCached + 5 { // the bound
		one := *c.Certificate
		_, _ = p.Principal(context.Background(), access.Credential{Certificate: &one})
	}
	if n := len(p.seen.of); n > maxCached {
		t.Errorf("%d are remembered", n)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = p.Principal(context.Background(), c) }); n > 0 {
		t.Errorf("got %v allocations", n)
	}
}
