package httpserver

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// checkOrigin refuses requests that a web page could have sent through a name that
// leads here: "Servers MUST validate the Origin header" (2025-11-25,
// Transports, Security Warning). Browsers leave Origin out of some requests, such
// as those of images and links; Sec-Fetch-Site tells where these come from
// (W3C, Fetch Metadata Request Headers).
func (w *AccessControl) checkOrigin(r *http.Request) error {
	if !w.own(r.Host) {
		if w.Authenticator != nil {
			return fmt.Errorf("host %q is not one of serve.hosts", r.Host)
		}
		return fmt.Errorf("host %q is not this machine's loopback", r.Host)
	}
	switch origins := r.Header["Origin"]; {
	case len(origins) > 1:
		return fmt.Errorf("origin is there %d times", len(origins))
	case len(origins) == 1 && !w.ownOrigin(origins[0]):
		return fmt.Errorf("origin %q is not allowed", origins[0])
	case len(origins) == 1:
		return nil
	}
	for _, site := range r.Header["Sec-Fetch-Site"] {
		if site != "none" && site != "same-origin" {
			return errors.New("a web page of another site has sent this: Sec-Fetch-Site is " + strconv.Quote(site))
		}
	}
	return nil
}

// own reports whether HOST[:PORT] is this machine's loopback, one of Hosts, or with
// IPHosts an address.
func (w *AccessControl) own(hostport string) bool {
	if loopback(hostport) {
		return true
	}
	host, _, ok := cutPort(hostport)
	if w.IPHosts && ok && net.ParseIP(strings.Trim(host, "[]")) != nil || w.IPHosts && net.ParseIP(hostport) != nil {
		return true // nobody's name leads here
	}
	return slices.ContainsFunc(w.Hosts, func(h string) bool { return strings.EqualFold(h, hostport) || strings.EqualFold(h, host) })
}

// ownOrigin reports whether a value of Origin, SCHEME://HOST[:PORT] and nothing more
// (RFC 6454, 6.2), is of this machine, of one of Hosts, or one of Origins.
func (w *AccessControl) ownOrigin(origin string) bool {
	if slices.ContainsFunc(w.Origins, func(o string) bool { return strings.EqualFold(o, origin) }) {
		return true
	}
	scheme, host, ok := strings.Cut(origin, "://")
	return ok && scheme != "" && strings.Trim(scheme, schemeChars) == "" && w.own(host)
}

const schemeChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-."

// loopback reports whether HOST[:PORT] (RFC 9110, 7.2) names this machine's
// loopback: localhost, an address of 127.0.0.0/8 in its usual form, or ::1 in
// brackets. Nothing else is taken, though some of it would lead here.
func loopback(hostport string) bool {
	if host, port, ok := cutPort(hostport); ok {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return false
		}
		hostport = host
	}
	const name = "localhost"
	if len(hostport) == len(name) && strings.EqualFold(hostport, name) { // letters that fold to its own are longer
		return true
	}
	address, bracketed := strings.CutPrefix(hostport, "[")
	if bracketed {
		address, bracketed = strings.CutSuffix(address, "]")
	}
	ip := net.ParseIP(address)
	return ip != nil && ip.IsLoopback() && bracketed == strings.Contains(address, ":")
}

// cutPort splits HOST:PORT at the last colon outside of brackets.
func cutPort(hostport string) (host, port string, ok bool) {
	at := strings.LastIndexByte(hostport, ':')
	if at < 0 || at < strings.LastIndexByte(hostport, ']') {
		return hostport, "", false
	}
	return hostport[:at], hostport[at+1:], true
}
