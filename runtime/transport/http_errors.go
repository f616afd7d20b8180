package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"github.com/mcpctl/mcpctl/internal/ability"
	"github.com/mcpctl/mcpctl/internal/plain"
	"github.com/mcpctl/mcpctl/runtime"
)

// notSent marks an error of a request of which no byte left this process.
type notSent struct{ error }

func (e notSent) Unwrap() error        { return e.error }
func (e notSent) Is(target error) bool { return target == runtime.ErrNotSent }

// redirectError is a redirect that is not followed, to a URL without what may be
// secret in it.
type redirectError struct {
	status int
	// origin is the place's where it is another than that of the request.
	origin, to string
}

func (e *redirectError) Error() string {
	if e.origin != "" {
		return fmt.Sprintf("the server redirects to another origin, %s; refused, since credentials would go there", e.origin)
	}
	return fmt.Sprintf("the server redirects (HTTP %d) to %s in a way that would lose the request", e.status, e.to)
}

func (e *redirectError) Hint() string {
	return "if that is the right place, use the URL " + e.to
}

// ExitKind says that there is no way to the server under this URL.
func (e *redirectError) ExitKind() string { return "connect" }

// sendError is the error of a failed exchange. Sent says whether a connection was
// there to write to.
func (w *wire) sendError(ctx context.Context, err error, sent bool) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err // its text repeats the URL, query included
	}
	if redirect, ok := errors.AsType[*redirectError](err); ok {
		return redirect
	}
	if ctx.Err() != nil {
		return markUnsent(ctx.Err(), sent)
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		sent = false
	}
	// Some errors of net/http quote what the server has sent.
	ce := &runtime.ConnectError{Target: w.target, Err: w.redact.Error(err), Remedy: networkRemedy(err)}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		ce.Err = errConnectionLost
	}
	return markUnsent(ce, sent)
}

// markUnsent makes an error one of [runtime.ErrNotSent] unless it was sent.
func markUnsent(err error, sent bool) error {
	if sent {
		return err
	}
	return notSent{err}
}

var errConnectionLost = errors.New("the server closed the connection without an answer")

// ErrSessionExpired says that the server no longer knows the session a request
// was sent in. It has not acted on the request. The client has to initialise
// again (2025-11-25, Streamable HTTP, Session Management).
var ErrSessionExpired = errors.New("the session has expired")

// errSessionForgotten is [ErrSessionExpired] for a request that was not sent,
// because the server has forgotten the session and there is no new one yet.
type errSessionForgotten struct{}

func (errSessionForgotten) Error() string { return ErrSessionExpired.Error() }
func (errSessionForgotten) Is(target error) bool {
	return target == ErrSessionExpired || target == runtime.ErrNotSent
}

func (errSessionForgotten) SessionExpired() bool { return true }

// StatusError is an HTTP answer with a status that is not a success.
type StatusError struct {
	Status int
	// Header holds those of the answer's headers that carry no secrets:
	// Allow, Content-Type, Mcp-Auth-Server, Retry-After, WWW-Authenticate.
	Header http.Header
	// Body is the printable beginning of the answer's body.
	Body string
	// RPC is the JSON-RPC error in the body, nil when there is none.
	RPC *runtime.Error
	// Cause is what the status stands for: [*runtime.AuthError],
	// [ErrSessionExpired], or nil.
	Cause error
}

// Error returns the server's own message, or else what the status means and the
// beginning of the body.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("the server answered HTTP %d", e.Status)
	if name := http.StatusText(e.Status); name != "" {
		text += " " + name
	}
	switch {
	case e.Cause != nil:
		text = e.Cause.Error()
	case e.RPC != nil:
		return e.RPC.Error()
	}
	if said := e.Said(); said != "" {
		text += ": " + said
	}
	return text
}

// Said returns what the answer says for people, quoted where that is its whole body; ""
// for nothing.
func (e *StatusError) Said() string {
	switch {
	case e.RPC != nil:
		return e.RPC.Message
	case !e.bodyHelps():
		return ""
	}
	if said := OAuthText(e.Body); said != e.Body {
		return said
	}
	return strconv.Quote(e.Body)
}

// OAuthText returns the description in an error of OAuth (RFC 6749, 5.2), and any other
// body as it is.
func OAuthText(body string) string {
	var oauth struct {
		Description string `json:"error_description"`
	}
	if json.Unmarshal([]byte(body), &oauth) == nil && oauth.Description != "" {
		return plain.Line(oauth.Description)
	}
	return body
}

// bodyHelps reports whether the beginning of the body is for people: a page is not.
func (e *StatusError) bodyHelps() bool {
	return e.Body != "" && !strings.Contains(e.Header.Get("Content-Type"), "html")
}

// Unwrap returns the JSON-RPC error and the cause, as far as there are.
func (e *StatusError) Unwrap() []error {
	var out []error
	if e.Cause != nil {
		out = append(out, e.Cause)
	}
	if e.RPC != nil {
		out = append(out, e.RPC)
	}
	return out
}

// HTTPStatus returns the status, for packages that look for it by this method.
func (e *StatusError) HTTPStatus() int { return e.Status }

// HTTPBody returns the printable beginning of the body, for packages that look for it
// by this method.
func (e *StatusError) HTTPBody() string { return e.Body }

// AuthServer returns the header Mcp-Auth-Server, in which some servers name whom to ask for a
// token, "" without one.
func (e *StatusError) AuthServer() string { return e.Header.Get(headerAuthServer) }

var (
	_ ability.HTTPStatus     = (*StatusError)(nil)
	_ ability.AuthServer     = (*StatusError)(nil)
	_ ability.HTTPBody       = (*StatusError)(nil)
	_ ability.SessionExpired = (*StatusError)(nil)
	_ ability.SessionExpired = errSessionForgotten{}
	_ ability.ExitKind       = (*StatusError)(nil)
	_ ability.ExitKind       = (*redirectError)(nil)
	_ ability.StderrLines    = (*ExitError)(nil)
)

// SessionExpired reports whether the session is gone, for packages that look
// for it by this method.
func (e *StatusError) SessionExpired() bool { return errors.Is(e.Cause, ErrSessionExpired) }

// ExitKind sorts the status: auth, connect for a server that is down or busy,
// protocol for everything else.
func (e *StatusError) ExitKind() string {
	var auth *runtime.AuthError
	switch {
	case errors.As(e.Cause, &auth):
		return "auth"
	case e.RPC == nil && (e.Status >= 500 || e.Status == http.StatusTooManyRequests || e.Status == http.StatusRequestTimeout):
		return "connect"
	}
	return "protocol"
}

// Hint returns what would mend it, "" when nothing is known.
func (e *StatusError) Hint() string {
	var auth *runtime.AuthError
	switch {
	case errors.As(e.Cause, &auth) && e.Status == http.StatusUnauthorized:
		return "send credentials in a header, such as Authorization: Bearer …"
	case errors.As(e.Cause, &auth):
		return "check that the credentials sent allow this"
	case e.RPC != nil || e.Cause != nil:
		return ""
	case e.Status == http.StatusNotFound:
		return "check the path of the URL; many servers answer at /mcp"
	case e.Status == http.StatusMethodNotAllowed:
		return "check the URL; a server of the older HTTP+SSE transport has to be configured as one"
	case e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable:
		if after := e.Header.Get("Retry-After"); after != "" {
			return "try again " + retryAfter(after)
		}
		return "try again later"
	}
	return ""
}

// retryAfter words a Retry-After header, which has seconds or a date (RFC 9110, 10.2.3).
func retryAfter(value string) string {
	if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil {
		return "in " + plain.Count(n, "second") + ", as the server asks"
	}
	return "after " + value + ", as the server asks"
}

// statusError is the error of an answer that is not a success. inSession
// says that the request named a session.
func (w *wire) statusError(resp *http.Response, body []byte, rpc *runtime.Error, inSession bool) *StatusError {
	if rpc != nil && !bytes.HasPrefix(rpc.Raw, []byte("{")) { // OAuth has text there
		rpc = nil
	}
	e := &StatusError{Status: resp.StatusCode, Header: http.Header{}, Body: w.printable(body), RPC: rpc}
	for _, name := range []string{"Allow", "Content-Type", headerAuthServer, "Retry-After", "Www-Authenticate"} {
		for _, v := range resp.Header.Values(name) {
			e.Header[name] = append(e.Header[name], w.redact.String(v))
		}
	}
	challenge := e.Header.Get("Www-Authenticate")
	switch {
	case e.Status == http.StatusUnauthorized,
		e.Status == http.StatusForbidden && (rpc == nil || challenge != ""):
		e.Cause = &runtime.AuthError{Status: e.Status, Challenge: challenge}
	case inSession && sessionGone(e.Status, rpc):
		e.Cause = ErrSessionExpired
	}
	return e
}

// sessionGone reports whether an answer means an unknown session. That is 404 by
// the specification, unless the body says that it is the method which is
// missing. Servers grown from a widely copied example answer 400 and name the
// session in the message.
func sessionGone(status int, rpc *runtime.Error) bool {
	switch {
	case status == http.StatusNotFound:
		return rpc == nil || rpc.Code != runtime.CodeMethodNotFound
	case status == http.StatusBadRequest && rpc != nil:
		text := strings.ToLower(rpc.Message)
		return rpc.Code >= -32099 && rpc.Code <= -32000 && strings.Contains(text, "session") &&
			(strings.Contains(text, "no valid") || strings.Contains(text, "invalid") || strings.Contains(text, "not found") ||
				strings.Contains(text, "unknown") || strings.Contains(text, "expired"))
	}
	return false
}

// bodySample bounds what errors quote of an answer, in bytes: 500 with the mark that
// something is left out.
const bodySample = 500 - len(" …")

// printable is the printable beginning of a body, without our credentials.
func (w *wire) printable(body []byte) string {
	cut := len(body) > bodySample
	// As much as may be needed: a body can be large.
	text := string(body[:min(len(body), bodySample+w.redact.Longest())])
	s := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(w.redact.Beginning(text, bodySample), ""), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if cut {
		s += " …"
	}
	return s
}

// refused reads an answer that is no success.
func (w *wire) refused(resp *http.Response, inSession bool) *StatusError {
	defer resp.Body.Close()
	body, _, _ := w.readBody(resp) // what there is of it: the status is the news
	var rpc *runtime.Error
	messages, _ := readMessages(nil, body) // what is no JSON-RPC holds no error of it
	for i := range messages {
		if m := &messages[i]; m.isAnswer() && m.object != nil {
			rpc = w.refusal(m.object)
			break
		}
	}
	return w.statusError(resp, body, rpc, inSession)
}

// refusal reads an error object of the server, without our credentials.
func (w *wire) refusal(object []byte) *runtime.Error {
	return runtime.ParseError(w.redact.JSON(object))
}

// protocolError is the error of an answer that is not MCP. Reason may hold parts
// of it; body is all of it, nil for nothing to show.
func (w *wire) protocolError(reason string, body []byte) *runtime.ProtocolError {
	e := &runtime.ProtocolError{Reason: w.redact.String(reason)}
	if body != nil {
		e.Sample = w.printable(body)
	}
	return e
}
