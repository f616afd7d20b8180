package proxy

import (
	"net/http"
	"time"

	"github.com/mcpctl/mcpctl/internal/access"
	"github.com/mcpctl/mcpctl/runtime/proxy/internal/httpserver"
)

// HTTPOptions are settings of an HTTP endpoint. The zero value serves loopback.
type HTTPOptions struct {
	// AnyHost accepts any Host and Origin header. Without it both must name
	// this machine's loopback, so that no web page can reach the endpoint by a
	// host name of its own (DNS rebinding).
	AnyHost bool
	// Hosts are HOST or HOST:PORT that Host and Origin may name besides.
	Hosts []string
	// IPHosts accepts any IP address there as well.
	IPHosts bool
	// Origins are those of web pages that Origin may name besides, SCHEME://HOST[:PORT]. What
	// a browser lets such a page read is up to the handler around the endpoint (CORS).
	Origins []string
	// Authenticator says who asks, by the credential of each request. Nil: nobody is asked for
	// one.
	Authenticator Authenticator
	// Principal is who asks where nobody is asked for a credential, nil for one without
	// a name.
	Principal *access.Principal
	// Refused is called with each request that is not let in, and why; nil for nobody.
	Refused func(r *http.Request, refusal *access.Refusal)
	// Unready returns a word for what keeps requests from being served as they should, ""
	// for nothing, and whether they are refused for it: /readyz says so. Nil: nothing does.
	Unready func() (word string, refuses bool)
	// Path is where the endpoint is: PATH/NAME is that of a view, as PATH?view=NAME is. "": only
	// the latter is.
	Path string
	// MaxBody bounds the body of a request, in bytes; 0 is 64 MiB.
	MaxBody int64
	// StreamMax bounds the age of a stream of events, for what lies between and
	// cuts long connections; the client comes back for the rest. Only clients of
	// 2025-11-25 in a session know how to. 0 is no bound.
	StreamMax time.Duration
	// NoCompression leaves answers as they are. Otherwise those of 1 KiB and more that are no
	// streams are compressed with gzip for clients on other machines that accept it.
	NoCompression bool
}

func (o HTTPOptions) inner() httpserver.Options {
	return httpserver.Options{
		AccessControl: httpserver.AccessControl{AnyHost: o.AnyHost, Hosts: o.Hosts, IPHosts: o.IPHosts, Origins: o.Origins, Authenticator: o.Authenticator, Principal: o.Principal, Refused: o.Refused},
		Path:          o.Path, MaxBody: o.MaxBody, StreamMax: o.StreamMax, NoCompression: o.NoCompression, Ready: o.ready,
	}
}

// Recorded returns options whose refused requests are recorded in Options.Journal, counted by
// address and reason every ten seconds. Endpoints do that themselves: it is for [Guard].
func (p *Proxy) Recorded(o HTTPOptions) HTTPOptions {
	next := o.Refused
	o.Refused = func(r *http.Request, refusal *access.Refusal) {
		p.router.Authorizer.CredentialRefused(r.RemoteAddr, refusal.Reason)
		if next != nil {
			next(r, refusal)
		}
	}
	return o
}

// ready is what /readyz says while requests are taken.
func (o HTTPOptions) ready() (status int, word string) {
	if o.Unready != nil {
		switch word, refuses := o.Unready(); {
		case refuses:
			return http.StatusServiceUnavailable, word
		case word != "":
			return http.StatusOK, "ready, " + word
		}
	}
	return http.StatusOK, "ready"
}

// Authenticator says who asks; see [HTTPOptions].
type Authenticator = httpserver.Authenticator

// What an [Authenticator] takes and returns.
type (
	// Principal is whom a credential belongs to. It is immutable, and may be shared.
	Principal = access.Principal
	// Credential is what a request carries to say who sends it. It is secret, and not
	// kept beyond the request.
	Credential = access.Credential
	// CredentialRefusal is why a credential is not accepted. It has no part of it.
	CredentialRefusal = access.Refusal
)

// Guard returns a handler that checks each request as o says before next gets it: its
// Host, its Origin and its credential. The paths of except are left out: their handlers
// check for themselves. A path with a slash at its end is all paths below it. The answer
// does not tell whether a path exists.
func Guard(o HTTPOptions, next http.Handler, except ...string) http.Handler {
	return httpserver.Guard(o.inner(), next, except)
}

// HTTPHandler is the Streamable HTTP endpoint, the http.Handler of its path.
type HTTPHandler struct{ handler *httpserver.Streamable }

// NewHTTPHandler returns an endpoint. Close ends its streams.
func (p *Proxy) NewHTTPHandler(o HTTPOptions) *HTTPHandler {
	return &HTTPHandler{httpserver.NewStreamable(p.endpoints, p.Recorded(o).inner())}
}

// Close ends all sessions, streams and requests, and returns when they have
// ended. Shut down the server that runs the handler after it.
func (h *HTTPHandler) Close() { h.handler.Close() }

// Expel ends the streams that were opened by those for whom gone reports true, and their
// calls that wait for them to come back with answers. Requests that are being answered
// are answered; the next is refused by the authenticator. A stream whose principal has Expires
// ends then without it.
func (h *HTTPHandler) Expel(gone func(*access.Principal) bool) { h.handler.Expel(gone) }

// ServeHTTP serves the endpoint.
func (h *HTTPHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.handler.ServeHTTP(w, r) }

// SSEOptions are settings of an HTTP+SSE endpoint.
type SSEOptions struct {
	HTTPOptions
	// Messages is the path that clients POST to, as they see it; "" is /messages.
	Messages string
}

// SSEHandler serves clients of the HTTP+SSE transport (2024-11-05, Transports;
// deprecated). It is the http.Handler of the path that they open the stream
// at. The stream is the session: it carries everything that goes to the client,
// and when it is lost, so is the session.
type SSEHandler struct{ handler *httpserver.SSE }

// NewSSEHandler returns an endpoint. Close ends its sessions.
func (p *Proxy) NewSSEHandler(o SSEOptions) *SSEHandler {
	return &SSEHandler{httpserver.NewSSE(p.endpoints, p.Recorded(o.HTTPOptions).inner(), o.Messages)}
}

// Close ends all sessions and requests, and returns when they have ended. Shut
// down the server that runs the handlers after it.
func (f *SSEHandler) Close() { f.handler.Close() }

// ServeHTTP serves GET: a session for as long as the stream lasts.
func (f *SSEHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) { f.handler.ServeHTTP(w, r) }

// Expel ends the sessions of those for whom gone reports true, once their requests have
// been answered.
func (f *SSEHandler) Expel(gone func(*access.Principal) bool) { f.handler.Expel(gone) }

// Messages returns the handler of the path that clients POST to.
func (f *SSEHandler) Messages() http.Handler { return f.handler.Messages() }

// Health returns the handler of two probes: /healthz is 200 as long as the
// process runs, /readyz is 200 while new requests are taken and 503 from
// [Proxy.Drain] on, or where Unready says so. Servers are connected on demand and fail one by one, so none
// makes it unready. The answers are {"status":"ok"|"ready"|"ending"}, or have the word of Unready. No lock is
// taken. Of the options, AnyHost counts.
func (p *Proxy) Health(o HTTPOptions) http.Handler { return httpserver.Health(p.endpoints, o.inner()) }
