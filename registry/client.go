// Package registry reads an MCP registry: the public list of MCP servers, or a
// private or static one with a part of the same API (/v0.1).
//
//	client, err := registry.New(registry.Options{}) // the public registry
//	if err != nil {
//		return err
//	}
//	rec, err := client.Get(ctx, "io.github.example/server", "latest")
//
// A [Client] searches, lists and fetches records. A [Record] is one published
// version of a server: the publisher's document ([Server]) and what the
// registry says about it ([Meta]). Documents are decoded leniently, because
// registries serve invalid ones: a member of the wrong kind is left out and named
// in [Server.Faults], and [Server.Raw] has the document's bytes.
//
// All text in a record was written by strangers. Nothing here interprets it;
// package scaffold turns it into an entry under rules that keep it text.
//
// Reads are tried again after 429, a status of 500 or more, or a failed connection. A status that
// stays is a [*StatusError], a name that is not there a [*NotFoundError], a name that several
// servers have a [*AmbiguousError]. All methods may be called concurrently.
package registry

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/mcpctl/mcpctl/internal/origin"
	"github.com/mcpctl/mcpctl/runtime"
)

// Options are settings of a client. The zero value reads the public registry.
type Options struct {
	// BaseURL is the registry, with or without /v0.1 or /v0, or the URL of a file whose
	// name ends in .json: the whole list, in the form of the API. "" is [Official].
	BaseURL string
	// HTTPClient makes the requests; TryTimeout replaces its Timeout. Nil is a
	// client that honours the proxy variables. Redirects follow this package's
	// rule and then the client's: never from https to http, and without
	// credentials once they have left the origin of BaseURL.
	HTTPClient *http.Client
	// Logger logs tries; nil discards.
	Logger *slog.Logger
	// TryTimeout is how long one try may take, body included. Zero: 30 s (a
	// call to the public registry took 20 to 25 s for months).
	TryTimeout time.Duration
	// Retries is how often a read is tried again after 429, a status of 500 or
	// more, or a failed connection. Zero: 2; negative: never.
	Retries int
	// RetryWait is the first pause between tries; it doubles. Zero: 300 ms.
	RetryWait time.Duration
	// MaxRetryAfter is the longest Retry-After that is waited for; beyond it the read
	// fails and says how long to wait. Zero: 10 s.
	MaxRetryAfter time.Duration
	// MaxBody is how many bytes one answer may have. Zero: 32 MiB.
	MaxBody int64
	// MaxPages is how many pages a list may have before it is cut. Zero: 20.
	MaxPages int
	// UserAgent is the header of that name; "" is "mcpctl".
	UserAgent string
}

// Client reads one registry. All methods may be called concurrently.
type Client struct {
	o    Options
	base string // up to and including /v0.1, or the static file; without user information
	user *url.Userinfo
	file bool // base is a static file with the whole list
	http *retryablehttp.Client
}

// New returns a client. A base URL that is not http or https is a [*UsageError].
func New(o Options) (*Client, error) {
	o.BaseURL = cmp.Or(o.BaseURL, Official)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.TryTimeout = orDefault(o.TryTimeout, 30*time.Second)
	o.RetryWait = orDefault(o.RetryWait, 300*time.Millisecond)
	o.MaxBody = orDefault(o.MaxBody, 32<<20)
	o.MaxPages = orDefault(o.MaxPages, 20)
	o.MaxRetryAfter = orDefault(o.MaxRetryAfter, 10*time.Second)
	o.Retries = cmp.Or(o.Retries, 2)
	o.UserAgent = cmp.Or(o.UserAgent, "mcpctl")
	c := &Client{o: o}
	if err := c.setBase(o.BaseURL); err != nil {
		return nil, err
	}
	hc := http.Client{Transport: http.DefaultTransport}
	if o.HTTPClient != nil {
		hc = *o.HTTPClient
	}
	hc.Timeout = o.TryTimeout
	hc.CheckRedirect = redirectRule(hc.CheckRedirect)
	c.http = &retryablehttp.Client{
		HTTPClient: &hc, Logger: leveled{o.Logger},
		RetryWaitMin: o.RetryWait, RetryWaitMax: o.MaxRetryAfter, RetryMax: max(o.Retries, 0),
		CheckRetry: c.checkRetry, Backoff: retryablehttp.DefaultBackoff,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	return c, nil
}

// redirectRule follows redirects to any origin, never from https to http. Once a
// chain has left the registry's origin, credentials and other headers for the
// registry alone are removed. next, unless nil, may refuse more.
func redirectRule(next func(*http.Request, []*http.Request) error) func(*http.Request, []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		if err := origin.CheckRedirect(req, via); err != nil {
			return err
		}
		for _, r := range append(via[1:len(via):len(via)], req) {
			if !origin.Same(r.URL, via[0].URL) {
				maps.DeleteFunc(req.Header, func(name string, _ []string) bool { return name != "Accept" && name != "User-Agent" })
			}
		}
		if next != nil {
			return next(req, via)
		}
		return nil
	}
}

func orDefault[T int | int64 | time.Duration](v, d T) T {
	if v <= 0 {
		return d
	}
	return v
}

func (c *Client) setBase(raw string) error {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" {
		return &UsageError{Reason: fmt.Sprintf("registry URL %q: it must begin with https:// or http:// and a host", raw)}
	}
	c.user, u.User = u.User, nil
	u.RawQuery, u.Fragment, u.RawFragment = "", "", ""
	path := strings.TrimRight(u.EscapedPath(), "/")
	c.file = strings.HasSuffix(path, ".json")
	if !c.file {
		path = strings.TrimSuffix(path, "/servers")
		if !strings.HasSuffix(path, "/v0.1") && !strings.HasSuffix(path, "/v0") {
			path += "/v0.1"
		}
	}
	u.Path, u.RawPath = "", ""
	c.base = u.String() + path
	return nil
}

// URL returns the registry's address without API version and credentials, as in an
// entry's origin.
func (c *Client) URL() string {
	return strings.TrimSuffix(strings.TrimSuffix(c.base, "/v0.1"), "/v0")
}

// Official reports whether this is the public registry.
func (c *Client) Official() bool { return c.URL() == Official }

// checkRetry allows another try after 429, a status of 500 or more, and failed
// connections; never after a timeout (a slow registry does not get faster), an
// unknown host, a bad certificate, or a refused redirect.
func (c *Client) checkRetry(ctx context.Context, resp *http.Response, err error) (bool, error) {
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	var refused *runtime.AuthError // of a transport that obtains credentials
	if errors.Is(err, origin.ErrTooMany) || errors.Is(err, origin.ErrDowngrade) || errors.As(err, &refused) {
		return false, nil
	}
	var nerr net.Error
	var dns *net.DNSError
	switch {
	case errors.As(err, &nerr) && nerr.Timeout(), errors.As(err, &dns) && dns.IsNotFound, err == nil && retryAfter(resp) > c.o.MaxRetryAfter:
		return false, nil
	}
	again, _ := retryablehttp.DefaultRetryPolicy(ctx, resp, err)
	return again, nil
}

// retryAfter returns the pause that an answer asks for, 0 for none.
func retryAfter(resp *http.Response) time.Duration {
	h := resp.Header.Get("Retry-After")
	if h == "" || (resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode != http.StatusServiceUnavailable) {
		return 0
	}
	if s, err := time.ParseDuration(h + "s"); err == nil {
		return s
	}
	if at, err := http.ParseTime(h); err == nil {
		return time.Until(at)
	}
	return 0
}

// leveled passes retryablehttp's messages to slog at level Debug: a failed try is
// not yet an error.
type leveled struct{ log *slog.Logger }

func (l leveled) Error(msg string, kv ...any) { l.log.Debug(msg, kv...) }
func (l leveled) Warn(msg string, kv ...any)  { l.log.Debug(msg, kv...) }
func (l leveled) Info(msg string, kv ...any)  { l.log.Debug(msg, kv...) }
func (l leveled) Debug(msg string, kv ...any) { l.log.Debug(msg, kv...) }

// errNotJSON404 is a 404 of something else than a registry's code, such as a
// static file server.
var errNotJSON404 = errors.New("HTTP 404 with a page instead of JSON")

// reply is a complete answer of a registry.
type reply struct {
	body   json.RawMessage
	header http.Header
	// unchanged says that the answer with the given ETag is still the right one; body is
	// empty then.
	unchanged bool
}

// get reads one path below the base URL. The error is a [*Error]; callers look for
// errNotJSON404 inside it first.
func (c *Client) get(ctx context.Context, op, path string, query url.Values) (json.RawMessage, error) {
	r, err := c.getUnless(ctx, op, path, query, "")
	if err != nil {
		return nil, err
	}
	return r.body, nil
}

// getUnless is get, for an answer that may be unchanged since the one with an ETag.
func (c *Client) getUnless(ctx context.Context, op, path string, query url.Values, etag string) (*reply, error) {
	target := c.base + path
	if c.file {
		if path != listPath {
			return nil, &Error{Op: op, Err: errNotJSON404}
		}
		target, query = c.base, nil // a file has no parameters
	}
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	r, err := c.read(ctx, target, etag)
	if err == nil {
		return r, nil
	}
	e := &Error{Op: op, Err: err}
	var conn *runtime.ConnectError
	var proto *runtime.ProtocolError
	var refused *runtime.AuthError
	var remedy interface{ Hint() string }
	switch {
	case errors.As(err, &refused):
		e.Remedy = "the setting registry takes an object with url and headers, or auth"
		if errors.As(err, &remedy) && remedy.Hint() != "" {
			e.Remedy = remedy.Hint()
		}
	case errors.As(err, &conn), errors.As(err, &proto):
		e.Remedy = "check --registry or MCPCTL_REGISTRY"
		if c.Official() {
			e.Remedy = "check the connection, or name a mirror with --registry"
		}
	case errors.Is(err, errNotJSON404):
		e.Err = fmt.Errorf("%w (%w)", &runtime.ProtocolError{Reason: "no MCP registry at " + c.URL()}, errNotJSON404)
		e.Remedy = "check --registry or MCPCTL_REGISTRY"
	}
	return nil, e
}

func (c *Client) read(ctx context.Context, target, etag string) (*reply, error) {
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json, application/problem+json")
	req.Header.Set("User-Agent", c.o.UserAgent)
	if etag != "" {
		req.Header.Set("If-None-Match", etag)
	}
	if c.user != nil {
		pw, _ := c.user.Password()
		req.SetBasicAuth(c.user.Username(), pw)
	}
	start := time.Now()
	resp, err := c.http.Do(req)
	if err != nil {
		if resp != nil {
			_ = resp.Body.Close()
		}
		return nil, c.failure(ctx, err)
	}
	defer resp.Body.Close()
	if resp.ContentLength > c.o.MaxBody {
		return nil, c.tooLarge()
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, c.o.MaxBody+1))
	c.o.Logger.Debug("registry answer", "url", target, "status", resp.StatusCode, "bytes", len(body), "elapsed", time.Since(start))
	if err != nil {
		return nil, c.failure(ctx, err)
	}
	if int64(len(body)) > c.o.MaxBody {
		return nil, c.tooLarge()
	}
	if resp.StatusCode == http.StatusNotModified && etag != "" {
		return &reply{header: resp.Header, unchanged: true}, nil
	}
	if resp.StatusCode != http.StatusOK {
		return nil, c.refusal(resp, body)
	}
	if !json.Valid(body) {
		return nil, &runtime.ProtocolError{Reason: c.URL() + " does not answer like an MCP registry: expected JSON, got " + kindOf(resp, body), Sample: sample(body)}
	}
	return &reply{body: body, header: resp.Header}, nil
}

func (c *Client) tooLarge() error {
	return &runtime.ProtocolError{Reason: fmt.Sprintf("the answer of %s has more than %d bytes", c.URL(), c.o.MaxBody)}
}

// failure returns the error of a request without a complete answer.
func (c *Client) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var nerr net.Error
	if errors.As(err, &nerr) && nerr.Timeout() {
		return &runtime.TimeoutError{Op: c.URL(), After: c.o.TryTimeout}
	}
	if uerr, ok := errors.AsType[*url.Error](err); ok {
		err = uerr.Err // Target names the URL, without its query
	}
	if refused := (*runtime.AuthError)(nil); errors.As(err, &refused) {
		return err
	}
	return &runtime.ConnectError{Target: c.URL(), Err: err}
}

// refusal returns the error of a status.
func (c *Client) refusal(resp *http.Response, body []byte) error {
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return &runtime.AuthError{Status: resp.StatusCode, Challenge: resp.Header.Get("WWW-Authenticate")}
	}
	var p struct {
		Title  string `json:"title"`
		Detail string `json:"detail"`
		Errors []struct {
			Message  string `json:"message"`
			Location string `json:"location"`
		} `json:"errors"`
	}
	isJSON := json.Unmarshal(body, &p) == nil
	s := &StatusError{Status: resp.StatusCode, Title: p.Title, Detail: p.Detail}
	for _, e := range p.Errors {
		s.Problems = append(s.Problems, strings.TrimPrefix(e.Location+": "+e.Message, ": "))
	}
	if !isJSON {
		s.Title = http.StatusText(resp.StatusCode)
	}
	switch {
	case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500:
		err := error(s)
		if after := retryAfter(resp); after > 0 {
			err = fmt.Errorf("%w; it asks to wait %s", s, after.Round(time.Second))
		}
		return &runtime.ConnectError{Target: c.URL(), Err: err}
	case isJSON:
		return s
	case resp.StatusCode == http.StatusNotFound:
		return errNotJSON404
	}
	return &runtime.ProtocolError{Reason: fmt.Sprintf("%s does not answer like an MCP registry: HTTP %d with %s", c.URL(), resp.StatusCode, kindOf(resp, body)), Sample: sample(body)}
}

// kindOf returns a word for an answer that is not JSON.
func kindOf(resp *http.Response, body []byte) string {
	mt, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		return "nothing"
	case bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")), mt == "text/html":
		return "an HTML page"
	case err == nil && mt != "application/json":
		return mt
	}
	return "something else"
}

// sample returns the beginning of a body, short enough for one line.
func sample(body []byte) string {
	s := strings.Join(strings.Fields(string(body[:min(len(body), 200)])), " ")
	if len(s) > 80 {
		s = strings.ToValidUTF8(s[:80], "") + "…"
	}
	return s
}
