package origin

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// AddressFaults returns what is suspicious about a server's address: a user
// before the host, a host that does not look like what it is, and a host where
// machines keep their own credentials. All of it is valid in a URL, and all of it
// has been used to lead a reader, or a request, elsewhere.
func AddressFaults(u *url.URL) []string {
	var out []string
	host := u.Hostname()
	if u.User != nil {
		out = append(out, fmt.Sprintf("there is a user name before the host, which is %s", asciiHost(host)))
	}
	if ascii := asciiHost(host); ascii != host {
		out = append(out, fmt.Sprintf("the host is not ASCII and may look like another; it is %s", ascii))
		host = ascii
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	ip, err := netip.ParseAddr(host)
	switch {
	case isMetadata(host) || err == nil && isLinkLocal(ip.WithZone("").Unmap()):
		out = append(out, fmt.Sprintf("%s is a link-local address, where machines keep their credentials", host))
	case err == nil && ip.IsUnspecified():
		out = append(out, fmt.Sprintf("%s is not the address of a server", host))
	case err != nil && endsInNumber(host):
		out = append(out, fmt.Sprintf("the host %s is read as an IP address by some programs and as a name by others", host))
	}
	return out
}

// isLinkLocal reports the addresses of RFC 3927 and RFC 4291, section 2.5.6, and
// those that cloud providers have for the same service. NAT64 (RFC 6052) leads
// to the address in its last four bytes.
func isLinkLocal(ip netip.Addr) bool {
	if b := ip.As16(); netip.MustParsePrefix("64:ff9b::/96").Contains(ip) {
		ip = netip.AddrFrom4([4]byte(b[12:]))
	}
	switch ip.String() {
	case "100.100.100.200", "192.0.0.192", "168.63.129.16", "fd00:ec2::254", "fd20:ce::254":
		return true
	}
	return ip.IsLinkLocalUnicast() || ip.IsLinkLocalMulticast()
}

func isMetadata(host string) bool {
	switch host {
	case "metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal", "metadata.tencentyun.com":
		return true
	}
	return false
}

// endsInNumber reports whether browsers and C libraries take a host for an IPv4
// address although it is not written as one (WHATWG URL, "ends in a number").
func endsInNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}
