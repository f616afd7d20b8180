package settings

import (
	"fmt"
	"net/http"
	"net/netip"
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

	// What From says.
	Networks []netip.Prefix `yaml:"-"`
	Names    []string       `yaml:"-"`
	Unix     bool           `yaml:"-"`
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
	if err := f.proxyFrom(n, x); err != nil {
		return err
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

// proxyFrom reads from: addresses and networks, "unix", and names in certificates.
func (f *file) proxyFrom(n *yaml.Node, x *ProxyProvider) error {
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
