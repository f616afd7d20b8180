package catalog

import (
	"net/url"
	"strings"
)

// Clients see a server's URI as it is where one server alone has its scheme and
// authority, and wrapped otherwise: mcpctl+SCHEME://SERVER/REST, where REST is
// what stands behind the scheme's colon, every byte of it. ui:// keeps its
// scheme, which hosts insist on: ui://SERVER/REST. https and http stay as they
// are: they promise that a client can fetch them itself.
const wrapPrefix = "mcpctl+"

// Wrap returns the form of a server's URI or template that names the server.
func Wrap(server, uri string) string {
	server = url.PathEscape(server)
	if rest, ok := strings.CutPrefix(uri, "ui://"); ok {
		return "ui://" + server + "/" + rest
	}
	scheme, ok := SchemeOf(uri)
	if !ok {
		return wrapPrefix + "://" + server + "/" + uri
	}
	return wrapPrefix + uri[:len(scheme)] + "://" + server + "/" + uri[len(scheme)+1:]
}

// Unwrap splits a wrapped URI; false for any other. A ui URI may look wrapped
// and not be: only the server's name says. "Schemes are case-insensitive" (RFC
// 3986, 3.1).
func Unwrap(uri string) (server, bare string, ok bool) {
	scheme, rest, ok := strings.Cut(uri, "://")
	server, rest, ok2 := strings.Cut(rest, "/")
	if !ok || !ok2 {
		return "", "", false
	}
	server, err := url.PathUnescape(server)
	inner, wrapped := cutFold(scheme, wrapPrefix)
	switch {
	case err != nil:
		return "", "", false
	case strings.EqualFold(scheme, "ui"):
		return server, "ui://" + rest, true
	case !wrapped:
		return "", "", false
	case inner == "":
		return server, rest, true
	}
	return server, inner + ":" + rest, true
}

// cutFold is strings.CutPrefix without regard to case.
func cutFold(s, prefix string) (after string, found bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// SchemeOf returns the scheme of a URI (RFC 3986, 3.1) in lower case.
func SchemeOf(uri string) (string, bool) {
	for i := range len(uri) {
		switch c := uri[i]; {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return strings.ToLower(uri[:i]), true
		default:
			return "", false
		}
	}
	return "", false
}

// authorityOf returns what stands between // and the path, "" for none.
func authorityOf(uri, scheme string) string {
	rest, ok := strings.CutPrefix(uri[len(scheme)+1:], "//")
	if !ok {
		return ""
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	return rest
}

// Wrapped reports whether a URI has the scheme of a wrapped one.
func Wrapped(uri string) bool {
	_, wrapped := cutFold(uri, wrapPrefix)
	return wrapped
}
