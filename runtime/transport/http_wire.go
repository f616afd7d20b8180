package transport

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcpctl/mcpctl/internal/ability"
	"github.com/mcpctl/mcpctl/internal/http1client"
	"github.com/mcpctl/mcpctl/internal/origin"
	"github.com/mcpctl/mcpctl/internal/revision"
	"github.com/mcpctl/mcpctl/internal/rootca"
	"github.com/mcpctl/mcpctl/internal/secret"
	"github.com/mcpctl/mcpctl/runtime"
)

// HTTPOptions are settings of [NewHTTP] and [OpenSSE]. The zero value is
// useful.
type HTTPOptions struct {
	// Client sends the requests. Nil makes one of our own, which ends with the
	// transport: no overall timeout, no transparent compression, proxies from
	// the environment. Redirects follow the transport's rule, and then the
	// client's: to the same origin only, by 307 and 308 only.
	Client *http.Client
	// Headers go with every request. They never replace a header that the
	// protocol owns (Mcp-*, Content-Type, Accept, Last-Event-ID) or that frames
	// a message or connection, and win over the Authorizer.
	Headers map[string]string
	// Handler gets what belongs to no call; nil is [runtime.NopHandler]. Its
	// methods must not call Close.
	Handler runtime.Handler
	// Authorizer adds credentials to requests; nil sends none.
	Authorizer Authorizer
	// Logger gets what the server does wrong and what is given up (never
	// headers or payloads); nil discards.
	Logger *slog.Logger
	// MaxMessage bounds one message of the server, in bytes; 0 is 64 MiB. A
	// longer one fails its call with a [*runtime.ProtocolError].
	MaxMessage int64
	// StringIDs sends request ids as strings.
	StringIDs bool
	// Redactor replaces credentials in errors: a server may repeat what it was
	// sent. Results are not looked at. Nil replaces nothing.
	Redactor *secret.Redactor
}

// defaultMaxMessage lets an image of 20 MB through, which takes 27 MB in base64,
// also where it is repeated as structured content. A bound of 8 MB, as some
// clients have, would lose it.
const defaultMaxMessage = 64 << 20

// wire sends HTTP requests to one server. It is the part that both transports
// share.
type wire struct {
	client *http.Client        // with own: for its rule of redirects alone
	own    *http1client.Client // ours to close; nil when the caller brought a client
	static http.Header
	host   string // from the static headers; "" is the URL's
	auth   Authorizer
	log    *slog.Logger
	max    int64
	ids    ids
	large  atomic.Bool // the server has given a large answer
	target string      // the URL without query and user, for messages
	redact *secret.Redactor
	trace  *wireLog
}

// newWire checks a URL and the options; the URL comes back without fragment.
func newWire(rawURL string, o *HTTPOptions) (*wire, *url.URL, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		// The error would repeat the whole URL, secrets in it included.
		return nil, nil, errors.New("the server's URL is malformed")
	}
	u.Fragment = ""
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, nil, fmt.Errorf("URL %s: want http:// or https:// and a host", o.Redactor.String(display(u)))
	}
	w := &wire{
		auth: o.Authorizer, log: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)), max: o.MaxMessage, ids: ids{strings: o.StringIDs}, static: http.Header{},
		target: o.Redactor.String(display(u)), redact: o.Redactor,
	}
	w.trace = newWireLog(w.log, w.redact)
	if w.max <= 0 {
		w.max = defaultMaxMessage
	}
	if o.Handler == nil {
		o.Handler = runtime.NopHandler{}
	}
	for name, value := range o.Headers {
		if err := w.addStatic(name, value); err != nil {
			return nil, nil, err
		}
	}
	w.client = &http.Client{}
	if o.Client != nil {
		*w.client = *o.Client
	} else {
		w.own = http1client.New(newRoundTripper())
	}
	w.client.CheckRedirect = w.redirectRule(w.client.CheckRedirect)
	return w, u, nil
}

// ids are those of requests.
type ids struct {
	last    atomic.Uint64
	strings bool
}

// appendNext appends one that was not used before, raw.
func (i *ids) appendNext(b []byte) []byte {
	n := i.last.Add(1)
	if i.strings {
		return append(strconv.AppendUint(append(b, '"'), n, 10), '"')
	}
	return strconv.AppendUint(b, n, 10)
}

func (w *wire) addStatic(name, value string) error {
	if !revision.IsToken(name) {
		return fmt.Errorf("header %q: not a valid name", name)
	}
	if !isValue(value) {
		return fmt.Errorf("header %s: the value holds a control character", name)
	}
	name = textproto.CanonicalMIMEHeaderKey(name)
	switch {
	case name == "Host":
		w.host = value
	case origin.IsProtocols(name), origin.IsFraming(name):
		w.log.Warn("configured header left out: the protocol owns it", "header", name)
	default:
		w.static[name] = []string{value}
	}
	return nil
}

// newRoundTripper returns a connection pool that lets many calls to one server
// run at once.
func newRoundTripper() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          256,
		MaxIdleConnsPerHost:   64,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		TLSClientConfig:       rootca.Client(),
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true,
		// A quiet stream is legal for hours; a dead connection is not.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second},
	}
}

// redirectRule follows redirects that neither change the request nor send its
// credentials elsewhere.
func (w *wire) redirectRule(next func(*http.Request, []*http.Request) error) func(*http.Request, []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		from, status := via[len(via)-1].URL, 0
		if req.Response != nil {
			status = req.Response.StatusCode
		}
		if same := origin.Same(from, req.URL); !same || status != http.StatusTemporaryRedirect && status != http.StatusPermanentRedirect {
			e := &redirectError{status: status, to: w.redact.String(display(req.URL))}
			if !same {
				e.origin = w.redact.String(origin.Of(req.URL))
			}
			return e
		}
		if err := origin.CheckRedirect(req, via); err != nil {
			return err
		}
		if next != nil {
			return next(req, via)
		}
		return nil
	}
}

// outgoing is one HTTP request in the making.
type outgoing struct {
	method string
	url    *url.URL
	accept string
	body   []byte      // nil sends none
	header http.Header // what the protocol adds, canonical; the request's own, nil for nothing
	// complete says that header is what another request like this one was sent
	// with: nothing may be added.
	complete bool
	gzip     bool              // the answer may be compressed
	note     *http1client.Note // how far the request has come; nil for a new one
}

const (
	acceptBoth   = "application/json, text/event-stream"
	acceptStream = "text/event-stream"
)

// do sends a request and returns the answer, whatever its status. After a
// challenge it is sent once more when the authorizer says so; nothing else is
// ever repeated, since a call may act. Sent reports whether a connection was
// there to write to.
func (w *wire) do(ctx context.Context, o outgoing) (resp *http.Response, sent bool, err error) {
	note := o.note
	if note == nil {
		note = new(http1client.Note)
	}
	note.Wrote = ability.Sent(ctx)
	for try := 1; ; try++ {
		if try > 1 {
			o.header = o.header.Clone() // of the last request somebody may still be reading
		}
		req, err := w.request(ctx, o)
		if err != nil {
			return nil, sent, markUnsent(err, sent)
		}
		w.trace.Sent(o.body)
		resp, err := w.send(req, note)
		sent = note.Connected()
		if err != nil {
			return nil, sent, w.sendError(ctx, err, sent)
		}
		if o.gzip {
			unzipAnswer(resp)
		}
		resp.Body = w.trace.Body(resp.Body)
		if w.auth == nil || try > 1 || !challenged(resp) {
			return resp, true, nil
		}
		retry, err := w.auth.Challenged(ctx, resp)
		if err != nil {
			body, _, _ := w.readBody(resp) // what there is of it
			_ = resp.Body.Close()
			return nil, true, &challengeError{err, w.printable(body), w.redact.String(resp.Header.Get(headerAuthServer))}
		}
		if !retry {
			return resp, true, nil
		}
		discard(resp.Body)
	}
}

// shares reports whether the headers of one request may be sent with another, too:
// authorizers, and clients that are not ours, may add to them.
func (w *wire) shares() bool { return w.auth == nil && w.own != nil }

func (w *wire) request(ctx context.Context, o outgoing) (*http.Request, error) {
	h := o.header
	if h == nil {
		h = make(http.Header, ownHeaders)
	}
	req := (&http.Request{
		Method: o.method, URL: o.url, Host: o.url.Host, Header: h, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	if o.body != nil {
		req.ContentLength = int64(len(o.body))
		req.Body = http1client.NewBody(o.body)
	}
	if w.host != "" {
		req.Host = w.host
	}
	if o.complete {
		return req, nil
	}
	h["User-Agent"] = userAgent
	if w.auth != nil {
		if err := w.auth.Authorize(ctx, req); err != nil {
			return nil, err
		}
	}
	maps.Copy(h, w.static) // among which is none of the protocol's: see addStatic
	if o.body != nil {
		h["Content-Type"] = contentType
	}
	if o.gzip {
		h["Accept-Encoding"] = acceptsGzip
	}
	switch o.accept {
	case "":
	case acceptBoth:
		h["Accept"] = acceptsBoth
	default:
		h["Accept"] = []string{o.accept}
	}
	if user := o.url.User; user != nil && h["Authorization"] == nil {
		password, _ := user.Password()
		req.SetBasicAuth(user.Username(), password)
	}
	return req, nil
}

// ownHeaders is how many headers a request has that are not the configuration's,
// nor those that repeat its parts.
const ownHeaders = 6

//nolint:gochecknoglobals // constant header values, shared so that no request allocates its own
var (
	userAgent   = []string{"mcpctl"}
	contentType = []string{"application/json"}
	acceptsBoth = []string{acceptBoth}
	acceptsGzip = []string{"gzip"}
)

// send sends one request. A client of our own has nothing to add to its
// connections but redirects, and takes part where there is one only: it copies
// each header.
func (w *wire) send(req *http.Request, note *http1client.Note) (*http.Response, error) {
	if w.own == nil {
		return w.client.Do(http1client.Standard(req, note))
	}
	resp, err := w.own.Do(req, note)
	if err != nil || !redirects(resp.StatusCode) {
		return resp, err
	}
	again := *w.client
	again.Transport = &resumed{rest: w.own, note: note, first: resp}
	return again.Do(http1client.Standard(req, note))
}

func redirects(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// resumed returns the answer of a request that was sent before, and then sends
// what follows.
type resumed struct {
	rest  *http1client.Client
	note  *http1client.Note
	first *http.Response
}

func (r *resumed) RoundTrip(req *http.Request) (*http.Response, error) {
	if first := r.first; first != nil {
		r.first = nil
		if req.Body != nil {
			_ = req.Body.Close() // as RoundTrip has to
		}
		return first, nil
	}
	return r.rest.Do(req, r.note)
}

const (
	// discardSize bounds what is read of a body nobody wants, to keep its
	// connection; more, and the connection is closed.
	discardSize = 64 << 10
	// errorBody bounds what is read of an answer that is no success and not
	// JSON.
	errorBody = 64 << 10
)

// closeIdle closes the connections of a client of our own.
func (w *wire) closeIdle() {
	if w.own != nil {
		w.own.Close()
	}
}

// discard reads the rest of a body and closes it.
func discard(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, discardSize)
	_ = body.Close()
}

// mediaType is the answer's media type in lower case, without parameters.
func mediaType(resp *http.Response) string {
	t, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(t))
}

func isJSON(media string) bool {
	return media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
}

const mediaStream = "text/event-stream"

// errTooLarge is a body beyond the limit.
var errTooLarge = errors.New("answer too large")

// readBody reads a whole body where it is JSON by its type or its first byte,
// and the beginning of any other.
func (w *wire) readBody(resp *http.Response) (body []byte, whole bool, err error) {
	structured := isJSON(mediaType(resp))
	size := int64(512)
	if n := resp.ContentLength; n > 0 && n <= w.max && structured {
		size = n + 1 // one more, so that the end is seen without growing
	}
	body = make([]byte, 0, size)
	for {
		if len(body) == cap(body) {
			body = append(body, 0)[:len(body)]
		}
		n, err := resp.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		structured = structured || looksLikeJSON(body)
		switch {
		case !structured && len(body) > errorBody:
			return body[:errorBody], false, nil
		case int64(len(body)) > w.max && structured:
			return nil, false, errTooLarge
		case errors.Is(err, io.EOF):
			if len(body) > gzipAbove {
				w.large.Store(true)
			}
			return body, true, nil
		case err != nil:
			return body, false, err
		}
	}
}

func looksLikeJSON(b []byte) bool {
	b = bytes.TrimLeft(b, " \t\r\n")
	return len(b) > 0 && (b[0] == '{' || b[0] == '[')
}

// display is a URL without user and query, which may be secret.
func display(u *url.URL) string {
	v := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return v.String()
}
