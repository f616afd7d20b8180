package policy

import (
	"net/netip"
	"strconv"
	"strings"
)

// HostOf returns the host of an absolute URL in small letters, without user information,
// port and the dot at its end, and an IP address in the usual form, without brackets. It
// reports false for a text of which programs disagree about the host: white space and
// control characters, a backslash, percent signs and characters beyond ASCII in the host,
// two at signs, a number that is no address.
func HostOf(text string) (string, bool) {
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c == 0x7f || c == '\\' {
			return "", false
		}
	}
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || !IsScheme(scheme) {
		return "", false
	}
	authority := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority = rest[:i]
	}
	if _, host, ok := strings.Cut(authority, "@"); ok {
		authority = host
	}
	host, ok := withoutPort(authority)
	if !ok {
		return "", false
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		return ipv6(inner)
	}
	return hostName(strings.ToLower(host))
}

// withoutPort returns an authority without user information and without its port.
func withoutPort(authority string) (string, bool) {
	end := 0
	if strings.HasPrefix(authority, "[") {
		if end = strings.IndexByte(authority, ']') + 1; end == 0 {
			return "", false
		}
	} else if end = strings.IndexByte(authority, ':'); end < 0 {
		end = len(authority)
	}
	host, port := authority[:end], authority[end:]
	if port == "" || port == ":" {
		return host, true
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(port, ":"), 10, 16)
	return host, port[0] == ':' && err == nil && n < 1<<16
}

func ipv6(text string) (string, bool) {
	addr, err := netip.ParseAddr(strings.TrimSuffix(text, "]"))
	if err != nil || addr.Zone() != "" || addr.Is4() {
		return "", false
	}
	return addr.Unmap().String(), true
}

// hostName returns a host that is a name or an IPv4 address in any of the forms that
// inet_aton takes.
func hostName(host string) (string, bool) {
	host = strings.TrimSuffix(host, ".")
	labels := strings.Split(host, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 {
			return "", false
		}
		for i := range len(label) {
			if c := label[i]; !isLetter(c) && (c < '0' || c > '9') && c != '-' && c != '_' {
				return "", false
			}
		}
	}
	last := labels[len(labels)-1]
	if _, ok := ipv4Part(last); !ok && (last[0] < '0' || last[0] > '9') {
		return host, len(host) <= 253
	}
	return ipv4(labels)
}

// ipv4 reads the parts of an address: the last one fills what the others leave.
func ipv4(parts []string) (string, bool) {
	if len(parts) > 4 {
		return "", false
	}
	var addr uint64
	for i, part := range parts {
		n, ok := ipv4Part(part)
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		if !ok || n >= 1<<bits {
			return "", false
		}
		addr = addr<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(addr >> 24), byte(addr >> 16), byte(addr >> 8), byte(addr)}).String(), true
}

// ipv4Part reads a number in decimal, octal with 0 in front, or hexadecimal with 0x.
func ipv4Part(text string) (uint64, bool) {
	base := 10
	switch {
	case strings.HasPrefix(text, "0x"):
		base, text = 16, text[2:]
		if text == "" {
			return 0, true
		}
	case len(text) > 1 && text[0] == '0':
		base, text = 8, text[1:]
	}
	n, err := strconv.ParseUint(text, base, 32)
	return n, err == nil
}
