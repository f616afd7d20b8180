package auth

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mcpctl/mcpctl/internal/origin"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/internal/rootca"
)

const (
	// requestTime bounds one request to an authorization server or for metadata.
	requestTime = 10 * time.Second
	// maxAnswer bounds an answer, in bytes.
	maxAnswer = 1 << 20
	// lookupTime bounds finding out whether a name is that of a private address.
	lookupTime = 2 * time.Second
	// proofTime bounds a server's proof that it is at an address.
	proofTime = 5 * time.Second
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
	// most is how far inside the configured server has proven to be.
	most reach
	// clear is a host that http is allowed to, "" for none.
	clear string
}

// newGuard returns the client for what a server names.
func newGuard(ctx context.Context, server *url.URL) *guard {
	g := &guard{most: reachOfServer(ctx, server)}
	direct := &http.Transport{
		DialContext:     (&net.Dialer{Timeout: requestTime, Control: g.control}).DialContext,
		TLSClientConfig: rootca.Client(), TLSHandshakeTimeout: requestTime, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 2, IdleConnTimeout: 30 * time.Second,
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
			if _, at := reachOfHost(r.Context(), r.URL.Hostname()); at > g.most {
				return nil, g.refusal(r.URL.Hostname())
			}
			return proxied.RoundTrip(r)
		}),
	}
	return g
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// reachOfServer returns how far inside the server is that may lead us on. Whoever runs
// the server also runs its name, so a name says nothing on its own: the least inside of
// its addresses counts, and an address that is not public only if the server proves with
// its certificate that it is there. Behind a proxy and over http there is no such proof,
// and no server counts as one of this machine.
func reachOfServer(ctx context.Context, server *url.URL) reach {
	host := server.Hostname()
	at, literal := reachOfLiteral(host)
	if literal {
		if at == nowhere {
			return public
		}
		return at
	}
	ips := lookup(ctx, host)
	if len(ips) == 0 {
		return public
	}
	least := slices.MinFunc(ips, func(a, b netip.Addr) int { return cmp.Compare(reachOf(a), reachOf(b)) })
	at = reachOf(least)
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: server})
	switch {
	case at == public, at == nowhere, err != nil:
		return public
	case proxy != nil, server.Scheme != "https":
		return private
	case !proves(ctx, server, least):
		return public
	}
	return at
}

// proves reports whether a server is at an address: what answers there has a certificate
// for its name.
func proves(ctx context.Context, server *url.URL, ip netip.Addr) bool {
	ctx, cancel := context.WithTimeout(ctx, proofTime)
	defer cancel()
	d := &tls.Dialer{Config: &tls.Config{ServerName: server.Hostname(), RootCAs: rootca.Pool(), MinVersion: tls.VersionTLS12}}
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(ip.String(), cmp.Or(server.Port(), "443")))
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// reachOfHost returns how far inside a host is by the least and by the most inside of its
// addresses.
func reachOfHost(ctx context.Context, host string) (least, most reach) {
	if at, literal := reachOfLiteral(host); literal {
		return at, at
	}
	least = nowhere
	ips := lookup(ctx, host)
	for _, ip := range ips {
		at := reachOf(ip)
		least, most = min(least, at), max(most, at)
	}
	if len(ips) == 0 {
		least = public
	}
	return least, most
}

// reachOfLiteral returns how far inside a host is that needs no lookup, false for others.
func reachOfLiteral(host string) (reach, bool) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return reachOf(ip), true
	}
	if origin.IsLoopback(strings.ToLower(strings.TrimSuffix(host, "."))) {
		return loopback, true
	}
	return public, false
}

// lookup returns the addresses of a name; none where it does not resolve, as behind a
// proxy it need not.
func lookup(ctx context.Context, host string) []netip.Addr {
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil
	}
	return ips
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
var errInside = errors.New("the address is further inside the network than the server's own")

// mayBeShown refuses a page for the browser that is further inside than the server.
func (g *guard) mayBeShown(ctx context.Context, page *url.URL) error {
	if least, _ := reachOfHost(ctx, page.Hostname()); least > g.most {
		return g.refusal(page.Hostname())
	}
	return nil
}

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
func clip(text string) string { return plain.Clip(text, 200) }

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
