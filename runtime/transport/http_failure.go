package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

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
	ce := &runtime.ConnectError{Target: w.target, Err: w.redact.Error(err), Remedy: remedy(err)}
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

func remedy(err error) string {
	var (
		dns       *net.DNSError
		authority x509.UnknownAuthorityError
		hostname  x509.HostnameError
		cert      *tls.CertificateVerificationError
		record    tls.RecordHeaderError
		timeout   net.Error
	)
	switch {
	case errors.As(err, &dns):
		return "check the host name in the URL, and that this machine is online"
	case errors.Is(err, syscall.ECONNREFUSED), strings.Contains(err.Error(), "refused"):
		return "start the server, or check host and port in the URL"
	case errors.As(err, &authority):
		return "the certificate is not signed by an authority this machine trusts; SSL_CERT_FILE can name one more"
	case errors.As(err, &hostname), errors.As(err, &cert):
		return "the server's certificate does not hold for this address; check the host name in the URL"
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return "the server does not speak TLS on this port; try http:// in the URL"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "check host and port in the URL, and whether a firewall or proxy is in the way"
	}
	return ""
}
