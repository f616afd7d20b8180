package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/mcpctl/mcpctl/runtime/origin"
)

const (
	// requestTime bounds one request to an authorization server or for metadata.
	requestTime = 10 * time.Second
	// maxAnswer bounds an answer, in bytes.
	maxAnswer = 1 << 20
	// lookupTime bounds finding out whether a name is that of a private address.
	lookupTime = 2 * time.Second
)

// reach is how far inside an address is. A server may only send us to addresses that
// are no further inside than its own.
type reach int

const (
	public   reach = iota
	private        // RFC 1918, RFC 4193, RFC 6598
	loopback       // this machine
	nowhere        // link-local, multicast, metadata of clouds: never
)

// reachOf returns how far inside an address is.
func reachOf(ip netip.Addr) reach {
	ip = ip.WithZone("").Unmap()
	for _, nat := range []string{"64:ff9b::/96", "2002::/16"} { // RFC 6052, RFC 3056: an IPv4 address inside
		if netip.MustParsePrefix(nat).Contains(ip) {
			b := ip.As16()
			at := b[12:]
			if nat == "2002::/16" {
				at = b[2:6]
			}
			return reachOf(netip.AddrFrom4([4]byte(at)))
		}
	}
	switch {
	case len(origin.AddressFaults(&url.URL{Host: hostOf(ip)})) > 0, ip.IsMulticast(), ip.IsUnspecified(), !ip.IsValid():
		return nowhere
	case ip.IsLoopback():
		return loopback
	case ip.IsPrivate(), netip.MustParsePrefix("100.64.0.0/10").Contains(ip), netip.MustParsePrefix("198.18.0.0/15").Contains(ip):
		return private
	}
	return public
}

func hostOf(ip netip.Addr) string {
	if ip.Is6() {
		return "[" + ip.String() + "]"
	}
	return ip.String()
}

// guard is the client for what servers name: metadata, registration and tokens. It
// follows no redirect to another origin, and none of a POST.
type guard struct {
	client *http.Client
	// most is how far inside the configured server is.
	most reach
	// clear is a host that http is allowed to, "" for none.
	clear string
}

// newGuard returns the client for what a server names.
func newGuard(ctx context.Context, server *url.URL) *guard {
	g := &guard{most: reachOfHost(ctx, server.Hostname())}
	if g.most == nowhere {
		g.most = public
	}
	direct := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: requestTime, Control: g.control}).DialContext,
		TLSHandshakeTimeout: requestTime, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 2, IdleConnTimeout: 30 * time.Second,
	}
	proxied := direct.Clone()
	proxied.DialContext = (&net.Dialer{Timeout: requestTime}).DialContext // the proxy's own address
	proxied.Proxy = http.ProxyFromEnvironment
	g.client = &http.Client{
		Timeout:       requestTime,
		CheckRedirect: sameOrigin,
		Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			p, err := http.ProxyFromEnvironment(r)
			if err != nil {
				return nil, err
			}
			if p == nil {
				return direct.RoundTrip(r)
			}
			// The proxy dials: all that can be looked at is the name.
			if at := reachOfHost(r.Context(), r.URL.Hostname()); at > g.most {
				return nil, g.refusal(r.URL.Hostname())
			}
			return proxied.RoundTrip(r)
		}),
	}
	return g
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// reachOfHost returns how far inside any address of a host is: the server's own
// privilege, and what may not be reached.
func reachOfHost(ctx context.Context, host string) reach {
	if ip, err := netip.ParseAddr(host); err == nil {
		return reachOf(ip)
	}
	if origin.IsLoopback(strings.ToLower(strings.TrimSuffix(host, "."))) {
		return loopback
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return public // behind a proxy names need not resolve
	}
	at := public
	for _, ip := range ips {
		at = max(at, reachOf(ip))
	}
	return at
}

// control refuses an address at the moment at which it is dialled: what a name led to
// before says nothing.
func (g *guard) control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if reachOf(at.Addr()) > g.most {
		return g.refusal(at.Addr().String())
	}
	return nil
}

// errInside is an address that a server must not lead us to.
var errInside = errors.New("the address is not public, and the server's own is")

func (g *guard) refusal(host string) error { return fmt.Errorf("%s: %w", host, errInside) }

// sameOrigin lets GET requests be redirected within their origin.
func sameOrigin(req *http.Request, via []*http.Request) error {
	if err := origin.CheckRedirect(req, via); err != nil {
		return err
	}
	if via[0].Method != http.MethodGet || origin.Of(req.URL) != origin.Of(via[0].URL) {
		return fmt.Errorf("a redirect to %s is not followed", origin.Of(req.URL))
	}
	return nil
}

// safeURL parses an address that came from the network: https, or http on this
// machine, and nothing in it that looks like another.
func safeURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("%q is not an address", clip(text))
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u)) {
		return nil, fmt.Errorf("%s is neither https nor on this machine", clip(text))
	}
	if faults := origin.AddressFaults(u); len(faults) > 0 {
		return nil, fmt.Errorf("%s: %s", clip(text), faults[0])
	}
	return u, nil
}

// safe is safeURL, with the host that http is allowed to.
func (g *guard) safe(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err == nil && g.clear != "" && u.Scheme == "http" && strings.EqualFold(u.Hostname(), g.clear) && len(origin.AddressFaults(u)) == 0 {
		return u, nil
	}
	return safeURL(text)
}

func isLoopback(u *url.URL) bool { return origin.IsLoopback(strings.ToLower(u.Hostname())) }

// clip bounds a text of a server's for a message.
func clip(text string) string {
	if len(text) > 200 {
		return text[:200] + "…"
	}
	return text
}

// do sends a request and reads its answer, within bounds.
func (g *guard) do(req *http.Request) (status int, header http.Header, body []byte, err error) {
	if _, err := g.safe(req.URL.String()); err != nil {
		return 0, nil, nil, err
	}
	req.Header.Set("User-Agent", "mcpctl")
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "application/json")
	}
	resp, err := g.client.Do(req)
	if err != nil {
		if at, ok := errors.AsType[*url.Error](err); ok { // its text has the whole URL, query included
			err = at.Err
		}
		return 0, nil, nil, fmt.Errorf("%s%s: %w", origin.Of(req.URL), req.URL.Path, err)
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = errors.New("the answer is too large")
	}
	if err != nil {
		return 0, nil, nil, fmt.Errorf("%s%s: %w", origin.Of(req.URL), req.URL.Path, err)
	}
	return resp.StatusCode, resp.Header, body, nil
}
