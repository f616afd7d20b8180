package web

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// admit refuses what a web page may have sent, unless AnyHost is set, and reports
// whether the request may go on.
func (o *Options) admit(w http.ResponseWriter, r *http.Request) bool {
	if o.AnyHost {
		return true
	}
	if err := local(r); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		o.drain(w, r)
		return false
	}
	return true
}

// local refuses requests that a web page could have sent through a name that
// leads here: "Servers MUST validate the Origin header" (2025-11-25,
// Transports, Security Warning). Browsers leave Origin out of some requests, such
// as those of images and links; Sec-Fetch-Site tells where these come from
// (W3C, Fetch Metadata Request Headers).
func local(r *http.Request) error {
	if !loopback(r.Host) {
		return fmt.Errorf("host %q is not this machine's loopback", r.Host)
	}
	switch origins := r.Header["Origin"]; {
	case len(origins) > 1:
		return fmt.Errorf("origin is there %d times", len(origins))
	case len(origins) == 1 && !loopbackOrigin(origins[0]):
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

// loopbackOrigin reports whether a value of Origin, SCHEME://HOST[:PORT] and
// nothing more (RFC 6454, 6.2), is of this machine.
func loopbackOrigin(origin string) bool {
	scheme, host, ok := strings.Cut(origin, "://")
	return ok && scheme != "" && strings.Trim(scheme, schemeChars) == "" && loopback(host)
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

// forgoTime is how long what is left of a refused request may take to come.
const forgoTime = 5 * time.Second

// drain reads what is left of a refused request and drops it, as much again as
// MaxBody at most: a client that sends before it reads gets the answer. Else its
// connection is reset while it sends. A client that waits for a word before it
// sends (Expect) is not made to. What has been written must be small: it goes out
// after the handler.
func (o *Options) drain(w http.ResponseWriter, r *http.Request) {
	if r.Body == nil || r.Body == http.NoBody || r.Header.Get("Expect") != "" {
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(forgoTime)) // not every server has one
	_, _ = io.CopyN(io.Discard, r.Body, o.MaxBody)                               // the client may be gone
}
