package settings

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ProxyProvider says which proxies are trusted to say who asks, and how they say it.
type ProxyProvider struct {
	// From are addresses, networks, "unix", and names in certificates.
	From []string `yaml:"from"`
	// User and Groups are names of headers.
	User   string `yaml:"user"`
	Groups string `yaml:"groups"`
	// JWT is a token that the proxy has signed, in their place; nil for none.
	JWT *Assertion `yaml:"jwt"`

	// What From says.
	Networks []netip.Prefix `yaml:"-"`
	Names    []string       `yaml:"-"`
	Unix     bool           `yaml:"-"`
}

// Assertion is a token in a header in which a proxy says who asks.
type Assertion struct {
	Header string `yaml:"header"`
	// Issuer and Audience are the claims iss and aud.
	Issuer   string `yaml:"issuer"`
	Audience string `yaml:"audience"`
	// JWKS is the URL of the keys, "" for where the metadata of the issuer says.
	JWKS string `yaml:"jwks"`
	// GroupsClaim is the claim with the groups, "" for none. Name stands before them;
	// the host of the issuer without one.
	GroupsClaim string `yaml:"groupsClaim"`
	Name        string `yaml:"name"`
}

// narrowest is how many bits of an address a network has to fix: one with fewer has half
// of the Internet or more in it, and is a mistake.
const narrowest = 8

func (f *file) proxyProvider(n *yaml.Node, p *Providers) error {
	const example = "as in proxy: {from: [10.0.0.5], user: X-Forwarded-User, groups: X-Forwarded-Groups}"
	x := &ProxyProvider{}
	p.Proxy = x
	if err := f.decode("proxy", n, x, example); err != nil {
		return err
	}
	if err := f.readProxyFrom(n, x); err != nil {
		return err
	}
	if x.JWT != nil {
		return f.readAssertion(n, x)
	}
	if x.User == "" {
		return f.problemAt(n, "proxy does not say which header has the user", example)
	}
	if len(x.From) == 0 {
		return f.problemAt(n, "proxy does not say whose headers are trusted", "as in from: [10.0.0.5]: the address of the proxy")
	}
	for _, name := range []*string{&x.User, &x.Groups} {
		if *name == "" {
			continue
		}
		if reason := headerReason(*name); reason != "" {
			return f.problemAt(n, fmt.Sprintf("proxy names the header %q: %s", *name, reason), example)
		}
		*name = http.CanonicalHeaderKey(*name)
	}
	if x.User == x.Groups {
		return f.problemAt(n, "proxy has one header for user and groups", example)
	}
	return nil
}

// assertion checks what a proxy signs. It may come from anywhere.
func (f *file) readAssertion(n *yaml.Node, x *ProxyProvider) error {
	const example = "as in jwt: {header: X-Pomerium-Jwt-Assertion, issuer: https://auth.example.com, audience: mcp.example.com}"
	a, at := x.JWT, member(n, "jwt")
	wrong := func(format string, args ...any) error { return f.problemAt(at, fmt.Sprintf(format, args...), example) }
	if x.User != "" || x.Groups != "" {
		return f.problemAt(n, "proxy has headers and a signed token: which of them says who asks?", "remove user and groups, or jwt")
	}
	if a.Header == "" || a.Issuer == "" || a.Audience == "" {
		return wrong("proxy.jwt needs header, issuer and audience")
	}
	if reason := headerReason(a.Header); reason != "" {
		return wrong("proxy.jwt names the header %q: %s", a.Header, reason)
	}
	a.Header = http.CanonicalHeaderKey(a.Header)
	switch {
	case a.JWKS != "" && addressFault(a.JWKS) != "":
		return wrong("proxy.jwt.jwks is %s", addressFault(a.JWKS))
	case a.JWKS == "" && addressFault(a.Issuer) != "": // its metadata is read
		return wrong("proxy.jwt.issuer is %s, and there is no jwks", addressFault(a.Issuer))
	case strings.ContainsAny(a.Issuer, "| \t"):
		return wrong("proxy.jwt.issuer is %q", a.Issuer)
	}
	if a.Name == "" {
		a.Name = a.Issuer
		if u, err := url.Parse(a.Issuer); err == nil && u.Hostname() != "" {
			a.Name = u.Hostname()
		}
	} else if !issuerName().MatchString(a.Name) {
		return wrong("proxy.jwt.name is %q: want letters, digits, and . _ -", a.Name)
	}
	return nil
}

// proxyFrom reads from: addresses and networks, "unix", and names in certificates.
func (f *file) readProxyFrom(n *yaml.Node, x *ProxyProvider) error {
	for i, text := range x.From {
		at := member(n, "from").Content[i]
		if text == "unix" {
			x.Unix = true
			continue
		}
		network, err := netip.ParsePrefix(text)
		if address, failed := netip.ParseAddr(text); failed == nil && address.Zone() == "" {
			network, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		switch {
		case err == nil && network.Addr().Is4In6():
			return f.problemAt(at, fmt.Sprintf("proxy.from has %s, an IPv4 address in IPv6 form", text), "write "+network.Addr().Unmap().String())
		case err == nil && network.Bits() < narrowest:
			return f.problemAt(at, fmt.Sprintf("proxy.from has %s: everyone there could name any user", text), "name the address of the proxy, as in from: [10.0.0.5]")
		case err == nil:
			x.Networks = append(x.Networks, network.Masked())
		case !isName(text):
			return f.problemAt(at, fmt.Sprintf("proxy.from has %q, which is neither an address nor a name", text), "it has addresses, networks such as 10.0.0.0/24, unix, and names in certificates such as proxy.example.com")
		default:
			if tls := f.node("serve.tls"); tls == nil || member(tls, "clientCA") == nil {
				return f.problemAt(at, fmt.Sprintf("proxy.from has the name %s, and no certificate proves it", text), "as in tls: {cert: cert.pem, key: key.pem, clientCA: ca.pem}; or name the address of the proxy")
			}
			x.Names = append(x.Names, text)
		}
	}
	return nil
}

// isName reports whether a text can be a name in a certificate, and is no address with a
// slip.
func isName(text string) bool {
	const v4, v6 = "0123456789./", "0123456789abcdefABCDEF:/%."
	return strings.ContainsAny(text, ".:@") && !strings.ContainsAny(text, " \t*") && strings.Trim(text, v4) != "" && (!strings.Contains(text, ":") || strings.Trim(text, v6) != "")
}

// headerReason returns why a header cannot say who asks, "" if it can.
func headerReason(name string) string {
	if strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return "want letters, digits and hyphens"
	}
	others := []string{
		"accept", "accept-encoding", "authorization", "connection", "content-length", "content-type", "cookie", "forwarded", "host", "last-event-id", "origin",
		"user-agent", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-port", "x-forwarded-proto", "x-real-ip",
	}
	if lower := strings.ToLower(name); slices.Contains(others, lower) || strings.HasPrefix(lower, "mcp-") || strings.HasPrefix(lower, "sec-") {
		return "it has another meaning"
	}
	return ""
}
