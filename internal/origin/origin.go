// Package origin holds the rules by which requests over HTTP keep their
// credentials: they go to one origin (RFC 6454) and no other.
package origin

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Of returns the origin of an http or https URL as SCHEME://HOST:PORT, in lower
// case and with the port.
func Of(u *url.URL) string {
	scheme, port := strings.ToLower(u.Scheme), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	return scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// Same reports whether two URLs have one origin.
func Same(a, b *url.URL) bool { return Of(a) == Of(b) }

// maxRequests is how many requests a chain of redirects may have.
const maxRequests = 10

// Why a redirect is not followed.
var (
	ErrTooMany   = errors.New("more than 10 redirects")
	ErrDowngrade = errors.New("it redirects from https to http; refused, since anybody on the way could read and change the answer")
)

// CheckRedirect checks a redirect, in the form of [http.Client.CheckRedirect]. It
// returns [ErrTooMany] or [ErrDowngrade].
func CheckRedirect(req *http.Request, via []*http.Request) error {
	switch {
	case len(via) >= maxRequests:
		return ErrTooMany
	case via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme != "https":
		return ErrDowngrade
	}
	return nil
}

// IsLoopback reports whether a host, in lower case, is this machine: localhost, a name
// below it (RFC 6761, 6.3), or a loopback address.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

// IsProtocols reports whether a header is one that MCP has a meaning for.
func IsProtocols(name string) bool {
	lower := strings.ToLower(name)
	return lower == "content-type" || lower == "accept" || lower == "last-event-id" || strings.HasPrefix(lower, "mcp-")
}

// IsFraming reports whether a header frames a message or controls its connection
// (RFC 9110, section 7.6.1; RFC 9112, section 6).
func IsFraming(name string) bool {
	switch lower := strings.ToLower(name); lower {
	case "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer", "expect", "http2-settings":
		return true
	default:
		return strings.HasPrefix(lower, "proxy-")
	}
}
