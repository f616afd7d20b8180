package authn

import (
	"context"
	"crypto/x509"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/mcpctl/mcpctl/internal/access"
)

// ForwardedOptions are settings of a [Forwarded].
type ForwardedOptions struct {
	// From are the addresses of proxies, Names those of their certificates, and Unix
	// says that whoever connects to a Unix socket is one.
	From  []netip.Prefix
	Names []string
	Unix  bool
	// User and Groups are headers with a name, and with groups that commas separate.
	// Groups may be "".
	User, Groups string
	// Assertion is a header with a token instead, which Tokens verifies. Any peer may
	// send one where From, Names and Unix say nothing.
	Assertion string
	Tokens    Tokens
}

// Tokens verifies tokens. Package jwt has one.
type Tokens interface {
	Token(ctx context.Context, text string, cert *x509.Certificate) (*access.Principal, *access.Refusal)
	Valid(p *access.Principal) bool
}

// Bounds of what a header says. More is refused.
const (
	maxName   = 255 // bytes
	maxGroups = 1000
)

// ErrUnclear is that a request does not say in one place and one way who asks.
var ErrUnclear = &access.Refusal{Status: 400, Code: "invalid_request", Description: "exactly one credential is required: a header with the user, sent once, and no token", Reason: "identity header"}

// Forwarded makes principals of what proxies say. It is safe for concurrent use.
type Forwarded struct {
	o       ForwardedOptions
	ignored atomic.Uint64

	seen cache[said, *access.Principal]
}

// said is what headers say.
type said struct{ user, groups string }

// NewForwarded returns a provider.
func NewForwarded(o ForwardedOptions) *Forwarded {
	return &Forwarded{o: o}
}

// Kind is that of proxies.
func (*Forwarded) Kind() string { return "proxy" }

// Ignored returns how many requests had a header that says who asks and did not come
// from a proxy.
func (p *Forwarded) Ignored() uint64 { return p.ignored.Load() }

// named reports whether the peer is a proxy by its certificate, or by its socket.
func (p *Forwarded) named(c access.Credential) bool {
	if p.o.Unix {
		if _, err := netip.ParseAddrPort(c.Peer); err != nil {
			return true
		}
	}
	if len(p.o.Names) == 0 || c.Certificate == nil {
		return false
	}
	name, refusal := CertificateName(c.Certificate, CertificateKinds())
	return refusal == nil && slices.Contains(p.o.Names, name)
}

// listed reports whether the peer is a proxy by its address, or may be any.
func (p *Forwarded) listed(peer string) bool {
	if p.o.Assertion != "" && len(p.o.From)+len(p.o.Names) == 0 && !p.o.Unix {
		return true
	}
	at, err := netip.ParseAddrPort(peer)
	if err != nil {
		return false
	}
	ip := at.Addr().Unmap().WithZone("")
	return slices.ContainsFunc(p.o.From, func(n netip.Prefix) bool { return n.Contains(ip) })
}

// says reports whether a header says who asks, also under a name that other programs
// take for one of these, and whether it does so in one way only.
func (p *Forwarded) says(header map[string][]string) (says, clear bool) {
	clear = true
	for name, values := range header {
		for _, want := range [...]string{p.o.User, p.o.Groups, p.o.Assertion} {
			if alike(name, want) {
				says, clear = true, clear && name == want && len(values) == 1
			}
		}
	}
	return says, clear
}

// alike reports whether a name differs from a wanted one at most in case, and in
// underscores for hyphens: gateway interfaces do not distinguish these (RFC 3875,
// 4.1.18).
func alike(name, want string) bool {
	if len(name) != len(want) || want == "" {
		return false
	}
	for i := range len(name) {
		a, b := name[i], want[i]
		if a == '_' {
			a = '-'
		}
		if lower(a) != lower(b) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// Principal implements [authn.Provider]: a credential is for the provider if it comes from
// a proxy and says who asks. A proxy that is known by its certificate, or by its socket,
// has no access of its own: from there one that says nothing is refused. It allocates
// nothing for a name and groups seen before.
func (p *Forwarded) Principal(ctx context.Context, c access.Credential) (*access.Principal, *access.Refusal) {
	says, clear := p.says(c.Header)
	named := p.named(c)
	switch {
	case !named && !p.listed(c.Peer):
		if says {
			p.ignored.Add(1)
		}
		return nil, nil
	case !says && named && c.Bearer == "":
		return nil, access.ErrNoCredential
	case !says:
		return nil, nil
	case !clear || c.Bearer != "":
		return nil, ErrUnclear
	}
	if p.o.Assertion != "" {
		text := strings.TrimSpace(c.Header[p.o.Assertion][0])
		if text == "" || strings.ContainsAny(text, ", \t") {
			return nil, ErrUnclear
		}
		return p.o.Tokens.Token(ctx, text, nil)
	}
	return p.of(c.Header)
}

// of returns the principal of headers that are each there once.
func (p *Forwarded) of(header map[string][]string) (*access.Principal, *access.Refusal) {
	var s said
	if values := header[p.o.User]; values != nil {
		s.user = strings.TrimSpace(values[0])
	}
	if values := header[p.o.Groups]; p.o.Groups != "" && values != nil {
		s.groups = values[0]
	}
	if principal, ok := p.seen.find(s); ok {
		return principal, nil
	}
	if s.user == "" && s.groups == "" {
		return nil, access.ErrNoCredential // a proxy's word for nobody
	}
	groups, ok := split(s.groups)
	if !ok || !clean(s.user) || strings.Contains(s.user, ",") {
		return nil, ErrUnclear
	}
	principal := &access.Principal{ID: "proxy|" + s.user, Name: s.user, Provider: p.Kind(), Groups: groups}
	p.seen.put(s, principal)
	return principal, nil
}

// split returns the groups in the value of a header, sorted, false for what are none.
func split(text string) (groups []string, ok bool) {
	for g := range strings.SplitSeq(text, ",") {
		if g = strings.TrimSpace(g); g == "" {
			continue
		}
		if !clean(g) || len(groups) == maxGroups {
			return nil, false
		}
		groups = append(groups, g)
	}
	slices.Sort(groups)
	return slices.Compact(groups), true
}

// clean reports whether a name can be one: neither empty nor long, all of it visible.
func clean(name string) bool {
	return name != "" && len(name) <= maxName && utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// Valid reports whether one whom it has made is still let in: what a proxy says in
// headers has no end.
func (p *Forwarded) Valid(principal *access.Principal) bool {
	return p.o.Assertion == "" || p.o.Tokens.Valid(principal)
}
