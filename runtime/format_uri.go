package runtime

import (
	"net/netip"
	"net/url"
	"strings"
)

// URI is a string of format uri or iri: RFC 3986 and 3987, with a scheme.
type URI string

// NewURI formats a URL.
func NewURI(u *url.URL) URI { return URI(u.String()) }

// Valid reports whether the text is a URI, or an IRI.
func (u URI) Valid() bool { _, err := u.URL(); return err == nil }

// URL returns the parts.
func (u URI) URL() (*url.URL, error) {
	parsed, err := URIReference(u).URL()
	if err != nil || !parsed.IsAbs() {
		return nil, formatError("a URI (RFC 3986)", string(u))
	}
	return parsed, nil
}

// URIReference is a string of format uri-reference or iri-reference: a [URI],
// or one that is relative to another.
type URIReference string

// Valid reports whether the text is a URI reference.
func (u URIReference) Valid() bool { _, err := u.URL(); return err == nil }

// URL returns the parts.
func (u URIReference) URL() (*url.URL, error) {
	parsed, err := url.Parse(string(u))
	// Package url accepts characters that must be escaped.
	if err != nil || strings.ContainsAny(string(u), " \"<>\\^`{|}") {
		return nil, formatError("a URI reference (RFC 3986)", string(u))
	}
	return parsed, nil
}

// IPv4 is a string of format ipv4: four numbers, as in RFC 2673, section 3.2.
type IPv4 string

// Valid reports whether the text is an IPv4 address.
func (a IPv4) Valid() bool { _, err := a.Addr(); return err == nil }

// Addr returns the address.
func (a IPv4) Addr() (netip.Addr, error) {
	addr, err := netip.ParseAddr(string(a))
	if err != nil || !addr.Is4() {
		return netip.Addr{}, formatError("an IPv4 address", string(a))
	}
	return addr, nil
}

// IPv6 is a string of format ipv6: RFC 4291, section 2.2, without a zone.
type IPv6 string

// Valid reports whether the text is an IPv6 address.
func (a IPv6) Valid() bool { _, err := a.Addr(); return err == nil }

// Addr returns the address.
func (a IPv6) Addr() (netip.Addr, error) {
	addr, err := netip.ParseAddr(string(a))
	if err != nil || !addr.Is6() || addr.Zone() != "" {
		return netip.Addr{}, formatError("an IPv6 address", string(a))
	}
	return addr, nil
}
